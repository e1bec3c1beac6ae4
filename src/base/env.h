/* Variables of an environment as it is handed over: "NAME=value" strings that
 * end with NULL. The list itself may be NULL. */
#ifndef BASE_ENV_H
#define BASE_ENV_H

#include <stddef.h>

/* The value; NULL when it is not set or empty. Borrowed. The second takes
 * name_len bytes of name. */
const char *env_find(const char *const *vars, const char *name);
const char *env_findn(const char *const *vars, const char *name,
		      size_t name_len);
/* The same for a folder: relative ones do not count, as the XDG standard says
 * of its own. */
const char *env_folder(const char *const *vars, const char *name);

#endif
