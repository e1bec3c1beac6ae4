/* Variables by name, home folder, folders by the XDG standard. */
#include "api/env.h"

#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "base/env.h"

const char *env_getn(const struct env *e, const char *name, size_t name_len)
{
	return env_findn(e->vars, name, name_len);
}

const char *env_get(const struct env *e, const char *name)
{
	return env_getn(e, name, strlen(name));
}

static const char *find_home(const struct env *e, struct arena *a)
{
	const char *home = env_get(e, "HOME");
	struct passwd pw, *found = NULL;
	char *space;
	size_t size = 16384;

	if (home && home[0] == '/')
		return home;
	space = arena_alloc(a, size);
	if (!space || getpwuid_r(geteuid(), &pw, space, size, &found) || !found)
		return "";
	return found->pw_dir && found->pw_dir[0] == '/' ? found->pw_dir : "";
}

int env_init(struct env *e, struct arena *a, const char *const *vars,
	     struct remem_err *err)
{
	const char **copy;
	size_t n = 0;

	while (vars && vars[n])
		n++;
	copy = ARENA_ARRAY(a, const char *, n + 1);
	for (size_t i = 0; copy && i < n; i++)
		copy[i] = arena_strdup(a, vars[i]);
	if (a->failed)
		return fail_nomem(err);
	e->vars = copy;
	e->home = find_home(e, a);
	return a->failed ? fail_nomem(err) : 0;
}

const char *env_dir(const struct env *e, struct arena *a, const char *var,
		    const char *fallback)
{
	const char *base = env_get(e, var);

	if (base && base[0] == '/')
		return arena_printf(a, "%s/remem", base);
	if (!e->home[0])
		return NULL;
	return arena_printf(a, "%s%s/remem", e->home, fallback);
}
