/*
 * Resources: notes that a host may put into a conversation by itself.
 * memory://MEMORY.md, memory://USER.md, memory://today, memory://yesterday,
 * and memory://PATH for any other note.
 */
#ifndef MCP_RESOURCE_H
#define MCP_RESOURCE_H

#include "mcp/request.h"

void resources_put_list(struct json *j, const struct mcp_opts *o,
			const struct era *era);
void resources_put_templates(struct json *j, const struct mcp_opts *o);
void resources_read(struct request *q, struct answer *a, struct worker *w);

#endif
