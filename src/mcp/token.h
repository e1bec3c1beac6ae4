/* The word that opens the HTTP server, kept in a file of the user's. */
#ifndef MCP_TOKEN_H
#define MCP_TOKEN_H

#include <stdbool.h>

#include "base/buf.h"

/*
 * The token of file, which is made (mode 0600) if it is not there. file NULL:
 * remem/mcp-token in the state folder that env names. *path says which it was.
 * REMEM_EPERM: others may read it.
 */
int token_get(struct buf *token, struct buf *path, const char *file,
	      const char *const *env, bool read_only, struct remem_err *err);
/* In the same time whatever differs. */
bool token_equal(const char *token, const char *given);

#endif
