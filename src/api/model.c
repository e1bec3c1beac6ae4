/*
 * Where models are. The builtin one: the setting, then the models folders of the XDG
 * standard, then beside the program (a build tree has share/ beside it, an
 * installed one in ../share), then beside this library. A local one
 * is a path, or a name in these folders, of which the setting's is the first.
 * llama.cpp's libraries have folders of their own beside those.
 */
#define _GNU_SOURCE
#include "api/handle.h"

#include <dlfcn.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/path.h"
#include "embed/runtime.h"

#define FOLDERS_MAX 40

struct folders {
	struct arena *a;
	const char **at;
	size_t count;
};

static void add(struct folders *f, const char *base, const char *rest)
{
	char *path;

	if (!base || f->count + 1 >= FOLDERS_MAX || !f->at)
		return;
	path = arena_printf(f->a, "%s%s", base, rest);
	for (size_t i = 0; path && i < f->count; i++)
		if (!strcmp(f->at[i], path))
			return;
	if (path)
		f->at[f->count++] = path;
}

static void add_list(struct folders *f, const char *list)
{
	while (*list) {
		size_t n = strcspn(list, ":");

		if (n && list[0] == '/')
			add(f, arena_strndup(f->a, list, n), "/remem/models");
		list += n + (list[n] == ':');
	}
}

static void add_around(struct folders *f, const char *file)
{
	const char *dir = file ? path_dir(f->a, file) : NULL;

	add(f, dir, "/share/remem/models");
	add(f, dir, "/../share/remem/models");
	/* A library may lie one deeper: lib/x86_64-linux-gnu. */
	add(f, dir, "/../../share/remem/models");
}

static const char *library_path(struct arena *a)
{
	static const char here;
	Dl_info info;
	char *real;

	if (!dladdr(&here, &info) || !info.dli_fname ||
	    path_real(&real, a, info.dli_fname, NULL))
		return NULL;
	return real;
}

const char *const *model_folders(struct arena *a, struct remem *r)
{
	struct folders f = { a, ARENA_ARRAY(a, const char *, FOLDERS_MAX), 0 };
	const char *home = env_dir(&r->env, a, "XDG_DATA_HOME",
				   "/.local/share");
	const char *dirs = env_get(&r->env, "XDG_DATA_DIRS");
	const char *own = settings_str(&r->settings,
				       "memorySearch.local.modelCacheDir");

	if (own[0])
		add(&f, path_expand(a, own, r->env.home), "");
	add(&f, home, "/models");
	add_list(&f, dirs ? dirs : "/usr/local/share:/usr/share");
	add_around(&f, r->program);
	add_around(&f, library_path(a));
	return f.at;
}

static int not_found(const char *const *folders, struct remem_err *err)
{
	struct buf b = BUF_INIT(0);
	int rc = REMEM_ENOTFOUND;

	for (size_t i = 0; i < 3 && folders[i]; i++)
		buf_addf(&b, "%s%s", i ? ", " : "", folders[i]);
	fail(err, rc, "the builtin model '%s' is not in %s%s", MODEL_FILE,
	     buf_str(&b), folders[0] && folders[1] && folders[2] &&
	     folders[3] ? ", …" : "");
	fail_action(err, "put it there, or set "
		    "memorySearch.builtin.modelPath to where it is");
	buf_release(&b);
	return rc;
}

int model_find(const char **out, struct remem *r, struct remem_err *err)
{
	const char *set = settings_str(&r->settings,
				       "memorySearch.builtin.modelPath");
	const char *const *folders;

	*out = NULL;
	if (set[0]) {
		*out = path_expand(&r->a, set, r->env.home);
		return *out ? 0 : fail_nomem(err);
	}
	if (r->model_path) {
		*out = r->model_path;
		return 0;
	}
	folders = model_folders(&r->a, r);
	for (size_t i = 0; folders && folders[i]; i++) {
		char *path = path_join(&r->a, folders[i], MODEL_FILE);

		if (path && file_exists(path)) {
			*out = r->model_path = path;
			return 0;
		}
	}
	return r->a.failed ? fail_nomem(err) : not_found(folders, err);
}

const char *const *runtime_folders(struct arena *a, struct remem *r)
{
	struct folders f = { a, ARENA_ARRAY(a, const char *, FOLDERS_MAX), 0 };
	const char *own = settings_str(&r->settings,
				       "memorySearch.local.runtimeDir");
	const char *home = env_dir(&r->env, a, "XDG_DATA_HOME",
				   "/.local/share");
	const char *dir = r->program ? path_dir(a, r->program) : NULL;
	const char *base;

	if (own[0]) {
		add(&f, path_expand(a, own, r->env.home), "");
		return f.at;
	}
	base = home ? arena_printf(a, "%s/runtime", home) : NULL;
	for (int i = 0; runtime_at(i); i++)
		if (base && runtime_at(i) == runtime_here())
			add(&f, arena_printf(a, "%s/llama-%s", base,
					     runtime_at(i)->release), "");
	add(&f, dir, "/llama/lib"); /* of a build tree */
	add(&f, dir, "/../lib/remem/llama");
	/* Of the system: used if its release is known. */
	add(&f, "/usr/local/lib", "");
	add(&f, "/usr/lib", "");
	return f.at;
}

/* The path as it is, or the file of that name in a models folder. */
static const char *find_local(struct remem *r, const char *set)
{
	const char *path = path_expand(&r->a, set, r->env.home);
	const char *const *folders = model_folders(&r->a, r);

	if (!path || strchr(set, '/') || file_exists(path))
		return path;
	for (size_t i = 0; folders && folders[i]; i++) {
		char *here = path_join(&r->a, folders[i], set);
		char *file = here ? arena_printf(&r->a, "%s.gguf", here) :
				    NULL;

		if (here && file_exists(here))
			return here;
		if (file && file_exists(file))
			return file;
	}
	return path;
}

int model_local(const char **out, struct remem *r, const char *set,
		struct remem_err *err)
{
	*out = set && set[0] ? find_local(r, set) : NULL;
	return r->a.failed ? fail_nomem(err) : 0;
}
