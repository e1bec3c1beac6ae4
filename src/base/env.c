/* Variables by name; see env.h. */
#include "base/env.h"

#include <string.h>

const char *env_findn(const char *const *vars, const char *name,
		      size_t name_len)
{
	for (size_t i = 0; vars && vars[i]; i++) {
		const char *v = vars[i];

		if (!strncmp(v, name, name_len) && v[name_len] == '=')
			return v[name_len + 1] ? v + name_len + 1 : NULL;
	}
	return NULL;
}

const char *env_find(const char *const *vars, const char *name)
{
	return env_findn(vars, name, strlen(name));
}

const char *env_folder(const char *const *vars, const char *name)
{
	const char *value = env_find(vars, name);

	return value && value[0] == '/' ? value : NULL;
}
