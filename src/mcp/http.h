/* The server by HTTP. */
#ifndef MCP_HTTP_H
#define MCP_HTTP_H

#include "front.h"

/* Until a signal. Says on standard output where it is. */
int http_serve(const struct mcp_opts *o, struct remem_err *err);

#endif
