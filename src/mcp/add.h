/* Adding a text to memory, as the tools of all profiles do. */
#ifndef MCP_ADD_H
#define MCP_ADD_H

#include "mcp/tool.h"

/* Options as an agent has them: what others read along with is not the
 * agent's own word. */
void add_begin(struct call *c, struct remem_append_opts *o);

#endif
