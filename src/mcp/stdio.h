/* The server on standard input and output. */
#ifndef MCP_STDIO_H
#define MCP_STDIO_H

#include "front.h"

/* Until the input ends, the output breaks or a signal comes. Does not return
 * if a client that does not read leaves no other way. */
int stdio_serve(const struct mcp_opts *o, struct remem_err *err);

#endif
