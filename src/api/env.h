/* The caller's environment as it was given to remem_open(), and the folders
 * that follow from it. The library itself never reads the environment. */
#ifndef API_ENV_H
#define API_ENV_H

#include "base/arena.h"
#include "base/err.h"

struct env {
	const char *const *vars; /* "NAME=value", NULL-terminated */
	const char *home; /* absolute; "" if unknown */
};

/* Copies vars (NULL: none) into the arena and finds the home folder. */
int env_init(struct env *e, struct arena *a, const char *const *vars,
	     struct remem_err *err);
/* NULL when it is not set or empty. name_len bytes of name count. */
const char *env_get(const struct env *e, const char *name);
const char *env_getn(const struct env *e, const char *name, size_t name_len);
/*
 * $XDG_…_HOME/remem, else home + fallback ("/.cache") + "/remem". Relative
 * values do not count, as the standard says. NULL without a home.
 */
const char *env_dir(const struct env *e, struct arena *a, const char *var,
		    const char *fallback);

#endif
