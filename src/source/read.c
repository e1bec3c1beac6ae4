/* Reading what was listed, and opening what was asked for by its path. */
#include "source/source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/path.h"
#include "source/list.h"
#include "source/names.h"
#include "source/roots.h"

static int open_rel(int root_fd, const char *rel, const char *shown,
		    bool follow_links, struct remem_err *err)
{
	int fd;

	if (!follow_links)
		return file_open_beneath(root_fd, rel, err);
	fd = openat(root_fd, rel,
		    O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? file_fail(err, errno, "open", shown) : fd;
}

int source_read(struct buf *out, const struct source_list *l,
		struct source_file *f, bool follow_links,
		struct remem_err *err)
{
	const struct source_root *r = &l->roots[f->root];
	struct list_stat now;
	struct stat st;
	int fd, rc = 0;

	if (r->fd < 0)
		return fail(err, REMEM_ENOTFOUND, "'%s' is not there",
			    f->path);
	fd = open_rel(r->fd, f->rel, f->path, follow_links, err);
	f->gone = fd == REMEM_ENOTFOUND;
	if (fd < 0)
		return fd;
	if (fstat(fd, &st)) {
		rc = file_fail(err, errno, "read", f->path);
	} else if (!S_ISREG(st.st_mode)) {
		rc = fail(err, REMEM_EINVAL, "'%s' is not a regular file",
			  f->path);
	} else {
		list_stat_take(&now, &st);
		list_stat_put(f, &now);
		rc = file_read_fd(out, fd, f->path, err);
	}
	close(fd);
	return rc;
}

bool source_can_read(const struct source_list *l, const struct source_file *f,
		     bool follow_links)
{
	const struct source_root *r = &l->roots[f->root];
	int fd = r->fd < 0 ? -1 : open_rel(r->fd, f->rel, f->path,
					   follow_links, NULL);
	bool yes = false;
	char c;

	if (fd >= 0) {
		yes = read(fd, &c, 1) >= 0;
		close(fd);
	}
	return yes;
}

/* ---- by path ---------------------------------------------------------- */

/* As path_tidy_rel, but ".." at the beginning stay. NULL for no path. */
static char *tidy(struct arena *a, const char *path)
{
	size_t n = strlen(path);
	char *out = arena_alloc(a, n + 2), *to = out;

	if (!out)
		return NULL;
	if (*path == '/')
		*to++ = '/';
	while (*path) {
		size_t k = strcspn(path, "/");
		bool up = k == 2 && path[0] == '.' && path[1] == '.';
		char *last = to;

		while (last > out && last[-1] != '/')
			last--;
		if (up && to > out && strcmp(last, "..")) {
			to = last > out + 1 ? last - 1 : last;
		} else if (k && !(k == 1 && path[0] == '.')) {
			if (to > out && to[-1] != '/')
				*to++ = '/';
			memcpy(to, path, k);
			to += k;
		}
		*to = '\0';
		path += k;
		path += strspn(path, "/");
	}
	*to = '\0';
	return out;
}

static const char *below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	if (n && folder[n - 1] == '/')
		n--;
	if (strncmp(path, folder, n) || path[n] != '/')
		return NULL;
	return path + n + 1;
}

struct place {
	int root;
	const char *rel, *shown;
};

/* The root with the longest fitting prefix, and the path below it. */
static bool locate(struct place *out, struct arena *a, const char *path,
		   const struct source_root *roots,
		   const struct root_more *more, int count)
{
	size_t best = 0;
	bool found = false;

	for (int i = 0; i < count; i++) {
		const struct source_root *r = &roots[i];
		bool absolute = path[0] == '/';
		const char *base = absolute ? r->path : r->prefix;
		const char *rel = base[0] ? below(path, base) : path;

		if (!rel || !rel[0] || !strncmp(rel, "../", 3))
			continue;
		if (r->single && strcmp(absolute ? rel : path,
					absolute ? r->single : more[i].shown))
			continue;
		if (found && strlen(base) < best)
			continue;
		best = strlen(base);
		found = true;
		out->root = i;
		out->rel = r->single ? r->single : rel;
		out->shown = r->single ? more[i].shown :
			     arena_printf(a, "%s%s", r->prefix, rel);
	}
	return found;
}

static bool is_allowed(const struct source_opts *o, const char *name, size_t n)
{
	for (const char *const *p = o->allow_hidden; p && *p; p++)
		if (strlen(*p) == n && !memcmp(*p, name, n))
			return true;
	return false;
}

/* Whether the walk could list it: no hidden folder, a note by its name. */
static bool is_listable(const struct source_opts *o, const char *rel,
			const char *pattern)
{
	for (const char *s = rel; s; s = strchr(s, '/')) {
		size_t n;

		s += *s == '/';
		n = strcspn(s, "/");
		if (n == 4 && !memcmp(s, ".git", 4))
			return false;
		if (s[0] == '.' && !is_allowed(o, s, n))
			return false;
	}
	return pattern ? path_glob(pattern, rel) : name_is_note(rel) ||
	       (o->media_listable && name_media_kind(rel));
}

static int open_place(int *fd, const struct source_root *r,
		      const struct place *p, bool follow_links,
		      struct remem_err *err)
{
	struct stat st;
	int f = open_rel(r->fd, p->rel, p->shown, follow_links, err);

	if (f < 0)
		return f;
	if (fstat(f, &st) || !S_ISREG(st.st_mode)) {
		close(f);
		return fail(err, REMEM_EPERM, "'%s' is not a regular file",
			    p->shown);
	}
	*fd = f;
	return 0;
}

int source_open_path(int *fd, struct arena *a, const struct source_opts *o,
		     const char *path, const char **shown,
		     struct remem_err *err)
{
	const char *wanted = tidy(a, path);
	struct source_root *roots;
	struct root_more *more;
	struct place p = { 0, NULL, NULL };
	int count, rc;

	*fd = -1;
	if (!wanted)
		return fail_nomem(err);
	if ((rc = roots_open(&roots, &more, &count, a, o, err)))
		return rc;
	if (!locate(&p, a, wanted, roots, more, count)) {
		rc = fail(err, REMEM_EPERM, "'%s' is beneath no root of the "
			  "workspace", path);
		fail_action(err, "files elsewhere are declared by "
				 "memorySearch.extraPaths");
	} else if (a->failed) {
		rc = fail_nomem(err);
	} else if (!roots[p.root].single &&
		   !is_listable(o, p.rel, more[p.root].pattern)) {
		rc = fail(err, REMEM_EPERM, "'%s' is no note", path);
	} else if (roots[p.root].fd < 0) {
		rc = fail(err, REMEM_ENOTFOUND, "'%s' is not there", path);
	} else {
		*shown = p.shown;
		rc = open_place(fd, &roots[p.root], &p, o->follow_links, err);
	}
	roots_close(roots, count);
	return rc;
}
