/* Path strings. Names are bytes; '/' separates. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

/* dir + "/" + name; dir may be "" . In the arena. */
char *path_join(struct arena *a, const char *dir, const char *name);
/* Everything before the last '/'; "." if there is none. */
char *path_dir(struct arena *a, const char *path);
/* Borrowed pointer behind the last '/'. */
const char *path_base(const char *path);
/* "a/./b//c" and "a/x/../b" tidied without touching the disk; false when it
 * would leave its root or is absolute (or the arena failed). Result in the
 * arena; "" is the root itself. */
bool path_tidy_rel(char **out, struct arena *a, const char *path);
/* realpath() into the arena. */
int path_real(char **out, struct arena *a, const char *path,
	      struct remem_err *err);
/* "~" and "~/x" by home; others unchanged. */
char *path_expand(struct arena *a, const char *path, const char *home);
/*
 * Glob over '/'-separated names: * any bytes of a name, ? one character,
 * [a-z] and [!a-z] sets of characters, \x the character x itself, a name **
 * any number of names (at the end: at least one). Dots are not special. Time
 * is bounded by the product of the lengths for each name.
 */
bool path_glob(const char *pattern, const char *path);

#endif
