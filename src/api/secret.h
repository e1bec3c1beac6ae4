/* Keys by reference: a text with ${VAR}, {file: PATH}, {command: [..]}. What
 * they give is never logged, shown or put into an error. */
#ifndef API_SECRET_H
#define API_SECRET_H

#include "api/settings.h"

/*
 * The value of a SECRET setting in the arena of the settings; *out is NULL
 * when it is not set. REMEM_EINVAL when a variable is not set, REMEM_EIO for
 * a file or command that does not give one; the words name the reference only.
 */
int secret_resolve(const char **out, const struct settings *s,
		   const char *name, struct remem_err *err);
/* What a file gives, which is called name in messages. */
int secret_file(const char **out, const struct settings *s, const char *path,
		const char *name, struct remem_err *err);
/* "Name: value" lines of a SECRET map, NULL-terminated; NULL when empty. */
int secret_headers(const char *const **out, const struct settings *s,
		   const char *name, struct remem_err *err);

#endif
