/*
 * Opening roots. A root may be a link: it is resolved once, here. The shown
 * name is where it was declared, not where the link leads: an extra path
 * "notes" inside the workspace stays "notes/…".
 */
#include "source/roots.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/path.h"
#include "source/names.h"

void roots_close(struct source_root *roots, int count)
{
	for (int i = 0; i < count; i++) {
		if (roots[i].fd >= 0)
			close(roots[i].fd);
		roots[i].fd = -1;
	}
}

char *roots_relative(struct arena *a, const char *from, const char *path)
{
	size_t same = 0, i = 0;
	char *out, *to;
	int ups = 0;

	while (from[i] && from[i] == path[i]) {
		i++;
		if (path[i] == '/')
			same = i;
	}
	if (!from[i] && (path[i] == '/' || !path[i]))
		same = i;
	else if (!path[i] && from[i] == '/')
		same = i;
	for (const char *s = from + same; *s; s++)
		ups += s[0] == '/' && s[1];
	path += same;
	while (*path == '/')
		path++;
	out = arena_alloc(a, (size_t)ups * 3 + strlen(path) + 1);
	if (!out)
		return NULL;
	to = out;
	for (int u = 0; u < ups; u++) {
		memcpy(to, "../", 3);
		to += 3;
	}
	memcpy(to, path, strlen(path)); /* the NUL is there */
	/* "../.." rather than "../../" when nothing comes behind. */
	if (!*path && to > out)
		to[-1] = '\0';
	return out;
}

bool root_wants(const char **media, const struct root_more *m, const char *rel,
		const char *name)
{
	*media = m->extra ? name_media(name) : NULL;
	return m->pattern ? path_glob(m->pattern, rel) :
			    *media || name_is_note(name);
}

static const char *folder_prefix(struct arena *a, const char *shown)
{
	return shown && shown[0] ? arena_printf(a, "%s/", shown) : "";
}

/* Where an extra path was declared: the folder above it resolved, its own
 * last name kept. NULL with errno when the folder above is not there. */
static char *declared_place(struct arena *a, const struct source_opts *o,
			    const char *path)
{
	char *full = path[0] == '/' ? arena_strdup(a, path) :
				      path_join(a, o->workspace, path);
	size_t n = full ? strlen(full) : 0;
	struct remem_err ignored;
	const char *base;
	char *above;

	if (!full)
		return NULL;
	while (n > 1 && full[n - 1] == '/')
		full[--n] = '\0';
	base = path_base(full);
	if (!base[0] || !strcmp(base, ".") || !strcmp(base, ".."))
		return path_real(&above, a, full, &ignored) ? NULL : above;
	if (path_real(&above, a, path_dir(a, full), &ignored))
		return NULL;
	return path_join(a, above, base);
}

static void set_problem(struct source_root *r, struct arena *a, int errnum)
{
	struct remem_err e;

	fail_errno(&e, REMEM_EIO, errnum, "cannot be read");
	r->problem = arena_strdup(a, e.message);
	r->incomplete = true;
}

/* One file: its folder is opened, so that the name is read beneath it. */
static void open_single(struct source_root *r, struct root_more *m,
			struct arena *a, const char *real)
{
	struct stat st;

	r->path = path_dir(a, real);
	r->single = arena_strdup(a, path_base(real));
	r->prefix = folder_prefix(a, strchr(m->shown, '/') ?
					     path_dir(a, m->shown) : "");
	if (!r->path)
		return;
	r->fd = open(r->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r->fd < 0 || fstat(r->fd, &st)) {
		set_problem(r, a, errno);
		return;
	}
	m->dev = (uint64_t)st.st_dev;
	m->inode = (uint64_t)st.st_ino;
}

static void open_folder(struct source_root *r, struct root_more *m,
			struct arena *a, const char *real,
			const struct stat *st)
{
	r->path = real;
	m->dev = (uint64_t)st->st_dev;
	m->inode = (uint64_t)st->st_ino;
	r->fd = open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r->fd < 0)
		set_problem(r, a, errno);
}

static void open_extra(struct source_root *r, struct root_more *m,
		       struct arena *a, const struct source_opts *o,
		       const struct source_extra *x)
{
	char *place = declared_place(a, o, x->path), *real = NULL;
	struct remem_err ignored;
	struct stat st;

	m->extra = true;
	m->pattern = x->pattern;
	r->path = place ? place : arena_strdup(a, x->path);
	m->shown = place ? roots_relative(a, o->workspace, place) :
			   arena_strdup(a, x->path);
	r->prefix = folder_prefix(a, m->shown);
	if (!place) {
		r->problem = "not there, and neither is the folder above it";
		r->incomplete = true;
	} else if (stat(place, &st)) {
		if (errno == ENOENT || errno == ENOTDIR)
			r->problem = "not there";
		else
			set_problem(r, a, errno);
	} else if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)) {
		r->problem = "neither a folder nor a regular file";
	} else if (path_real(&real, a, place, &ignored)) {
		set_problem(r, a, errno);
	} else if (S_ISDIR(st.st_mode)) {
		open_folder(r, m, a, real, &st);
	} else {
		open_single(r, m, a, real);
	}
}

static int open_workspace(struct source_root *r, struct root_more *m,
			  const char *path, struct remem_err *err)
{
	struct stat st;

	r->path = path;
	r->prefix = m->shown = "";
	r->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r->fd < 0 || fstat(r->fd, &st))
		return file_fail(err, errno, "open workspace", path);
	m->dev = (uint64_t)st.st_dev;
	m->inode = (uint64_t)st.st_ino;
	return 0;
}

int roots_open(struct source_root **roots, struct root_more **more, int *count,
	       struct arena *a, const struct source_opts *o,
	       struct remem_err *err)
{
	int n = 1 + o->extra_count, rc;
	struct source_root *r = ARENA_ARRAY(a, struct source_root, (size_t)n);
	struct root_more *m = ARENA_ARRAY(a, struct root_more, (size_t)n);

	if (!r || !m)
		return fail_nomem(err);
	for (int i = 0; i < n; i++)
		r[i].fd = -1;
	rc = open_workspace(&r[0], &m[0], o->workspace, err);
	for (int i = 1; i < n && !rc; i++)
		open_extra(&r[i], &m[i], a, o, &o->extra[i - 1]);
	if (!rc && a->failed)
		rc = fail_nomem(err);
	if (rc) {
		roots_close(r, n);
		return rc;
	}
	*roots = r;
	*more = m;
	*count = n;
	return 0;
}
