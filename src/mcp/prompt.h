/* Prompts: texts that a user picks in their host. */
#ifndef MCP_PROMPT_H
#define MCP_PROMPT_H

#include "mcp/request.h"

void prompts_put_list(struct json *j);
void prompts_get(struct request *q, struct answer *a, struct worker *w);

#endif
