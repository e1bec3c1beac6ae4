/* Which folder is the workspace. */
#include "source/source.h"

#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/file.h"
#include "base/path.h"

static bool is_folder(const char *path)
{
	struct stat st;

	return path && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_workspace(struct arena *a, const char *dir)
{
	static const char *const signs[] = { "remem.yaml", "MEMORY.md" };

	for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
		const char *p = path_join(a, dir, signs[i]);

		if (p && file_exists(p))
			return true;
	}
	return false;
}

/* The nearest folder from cwd upwards that looks like one; NULL if none. */
static const char *search_up(struct arena *a, const char *cwd)
{
	const char *dir = arena_strdup(a, cwd);

	while (dir && dir[0] == '/') {
		if (is_workspace(a, dir))
			return dir;
		if (!dir[1])
			break;
		dir = path_dir(a, dir);
	}
	return NULL;
}

static int take(const char **out, struct arena *a, const char *path,
		struct remem_err *err)
{
	char *real;
	int rc = path_real(&real, a, path, err);

	if (rc)
		return rc;
	*out = real;
	return 0;
}

static int find_explicit(const char **out, struct arena *a, const char *path,
			 const char *cwd, struct remem_err *err)
{
	if (path[0] != '/' && cwd)
		path = path_join(a, cwd, path);
	if (!path)
		return fail_nomem(err);
	if (!file_exists(path)) {
		fail(err, REMEM_ENOTFOUND, "there is no workspace '%s'", path);
		fail_action(err, "make one with: remem init '%s'", path);
		return REMEM_ENOTFOUND;
	}
	if (!is_folder(path))
		return fail(err, REMEM_EINVAL,
			    "the workspace '%s' is not a folder", path);
	return take(out, a, path, err);
}

int source_find_workspace(const char **out, struct arena *a,
			  const char *explicit_path, const char *cwd,
			  const char *home, struct remem_err *err)
{
	const char *found;

	if (explicit_path && explicit_path[0])
		return find_explicit(out, a, explicit_path, cwd, err);
	found = cwd ? search_up(a, cwd) : NULL;
	if (!found && home) {
		found = path_join(a, home, ".openclaw/workspace");
		if (!is_folder(found))
			found = path_join(a, home, ".remem");
		if (!is_folder(found))
			found = NULL;
	}
	if (a->failed)
		return fail_nomem(err);
	if (found)
		return take(out, a, found, err);
	fail(err, REMEM_ENOTFOUND, "no workspace was found");
	fail_action(err, "make one with: remem init, or name one with "
			 "--workspace");
	return REMEM_ENOTFOUND;
}
