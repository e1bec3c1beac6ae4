/*
 * Ignore files, as git reads them: blank lines and # comments; ! takes back;
 * a / at the end means folders only; a / elsewhere ties the pattern to the
 * folder of the ignore file; ** any number of folders; *, ?, [..], \x within
 * a name. The last rule that matches decides, deeper folders before upper
 * ones. Only what is given is judged: a caller that does not walk into an
 * ignored folder gets git's meaning.
 */
#ifndef SOURCE_IGNORE_H
#define SOURCE_IGNORE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

#define IGNORE_MAX_RULES 4096 /* of one folder; later ones do not count */

struct ignore; /* rules of one folder, linked to those of the folder above */

/* above may be NULL. base: the folder below the root, "" or ending in '/'. */
struct ignore *ignore_new(struct arena *a, const struct ignore *above,
			  const char *base);
/* Adds the rules of one file; name is what ignore_match() says. */
void ignore_add(struct ignore *ig, struct arena *a, const char *name,
		const char *text, size_t len);
/* The name of the file whose rule ignores path (below the root, no slash at
 * the end); NULL when it is not ignored. ig may be NULL. */
const char *ignore_match(const struct ignore *ig, const char *path,
			 bool is_folder);

#endif
