/* A search as the tools of all profiles make it. */
#ifndef MCP_ASK_H
#define MCP_ASK_H

#include "mcp/tool.h"

struct ask { /* an answer, read */
	yyjson_doc *doc;
	yyjson_val *root, *hits;
};

/* Fills what all profiles have in common from the call's arguments. */
void ask_begin(struct call *c, struct remem_search_opts *o);
/* The question is the argument query. */
int ask_run(struct ask *k, struct call *c, struct remem_search_opts *o,
	    struct remem_err *err);
void ask_end(struct ask *k);

#endif
