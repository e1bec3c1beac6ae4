/* Memory as it stood on a day, from the git history of the workspace. */
#ifndef API_AS_OF_H
#define API_AS_OF_H

#include "api/handle.h"

/*
 * Opens a workspace of its own with the notes of that day, kept in the cache
 * for the next question; *out is closed with remem_close(). Only the builtin
 * model is asked: a look back costs nothing. REMEM_ENOTFOUND: no repository,
 * or no commit up to then.
 */
int as_of_open(struct remem **out, struct remem *r, const char *day,
	       struct remem_err *err);

#endif
