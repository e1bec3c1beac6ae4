/* A workspace in a fresh folder, for tests of source and index. */
#ifndef TEST_WORKSPACE_H
#define TEST_WORKSPACE_H

#include "base_tmp.h"

#include "base/arena.h"
#include "source/source.h"

struct ws {
	struct tmp tmp;
	char dir[512]; /* the workspace: tmp/ws, real path */
	struct source_opts o;
};

static inline void ws_begin(struct ws *w)
{
	char real[512];

	memset(w, 0, sizeof(*w));
	tmp_begin(&w->tmp);
	assert_int_equal(chmod(w->tmp.dir, 0755), 0);
	snprintf(w->dir, sizeof(w->dir), "%s/ws", w->tmp.dir);
	assert_int_equal(mkdir(w->dir, 0755), 0);
	assert_non_null(realpath(w->dir, real));
	strcpy(w->dir, real);
	w->o.workspace = w->dir;
}

static inline void ws_end(struct ws *w)
{
	tmp_end(&w->tmp);
}

/* Absolute; name is below the workspace and may begin with "../". */
static inline const char *ws_path(struct ws *w, const char *name)
{
	static char path[2][8192];
	static int turn;

	turn ^= 1;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", w->dir, name);
	return path[turn];
}

/* Writes a file, making its folders. */
static inline void ws_put(struct ws *w, const char *name, const char *text)
{
	char folder[8192];
	char *slash;
	FILE *f;

	snprintf(folder, sizeof(folder), "%s", ws_path(w, name));
	slash = strrchr(folder, '/');
	*slash = '\0';
	assert_int_equal(dir_make(folder, 0755, NULL), 0);
	f = fopen(ws_path(w, name), "w");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
	assert_int_equal(fclose(f), 0);
}

static inline void ws_remove(struct ws *w, const char *name)
{
	assert_int_equal(unlink(ws_path(w, name)), 0);
}

static inline void ws_link(struct ws *w, const char *target, const char *name)
{
	assert_int_equal(symlink(target, ws_path(w, name)), 0);
}

/* Root reads everything: tests of closed folders become somebody else. */
static inline void ws_be_user(bool on)
{
	if (getuid() != 0)
		return;
	if (on) {
		assert_int_equal(setegid(65534), 0);
		assert_int_equal(seteuid(65534), 0);
	} else {
		assert_int_equal(seteuid(0), 0);
		assert_int_equal(setegid(0), 0);
	}
}

#endif
