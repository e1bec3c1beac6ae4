/*
 * The walk of some paths. From their root down, each folder on the way is
 * opened, its ignore files are read and the one name is judged as the whole
 * walk would; only below the path itself everything is listed. Where the way
 * ends earlier (a name that is gone or is skipped) what is known of everything
 * below that name is settled with it: that is the path's scope.
 *
 * What depends on more than the way is left to the whole walk.
 */
#include "source/source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "source/names.h"
#include "source/walk.h"

/* More paths than this: a walk of everything costs no more. */
#define MAX_PATHS 256

struct some {
	struct walker w;
	const char **scopes;
	int count;
	bool later; /* the last entry is not stat'ed yet */
	bool whole; /* cannot be told from these paths */
};

static bool is_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return n && !strncmp(path, folder, n) &&
	       (folder[n - 1] == '/' || path[n] == '/');
}

static bool is_at_or_below(const char *path, const char *folder)
{
	return !strcmp(path, folder) || is_below(path, folder);
}

/* A scope with '/' at the end is that one name alone: of a root. */
static bool takes_in(const char *scope, const char *path)
{
	size_t n = strlen(scope);

	return !strcmp(path, scope) ||
	       (n && scope[n - 1] != '/' && is_below(path, scope));
}

static void add_scope(struct some *s, const char *path)
{
	int to = 0;

	for (int i = 0; i < s->count; i++)
		if (takes_in(s->scopes[i], path))
			return;
	for (int i = 0; i < s->count; i++)
		if (!takes_in(path, s->scopes[i]))
			s->scopes[to++] = s->scopes[i];
	s->scopes[to] = path;
	s->count = to + 1;
}

/* ---- the way down ----------------------------------------------------- */

/* Which ignore files are in the folder, without reading it. */
static void see_ignore_files(struct walker *w, int fd)
{
	struct stat st;

	w->ignore_files = 0;
	for (int i = 0; name_ignore_files[i]; i++)
		if (!fstatat(fd, name_ignore_files[i], &st,
			     AT_SYMLINK_NOFOLLOW) &&
		    (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode)))
			w->ignore_files |= 1u << i;
}

static unsigned char dirent_type(unsigned mode)
{
	return S_ISDIR(mode) ? DT_DIR : S_ISREG(mode) ? DT_REG :
	       S_ISLNK(mode) ? DT_LNK : DT_FIFO; /* or any other */
}

/* The entry of one name. False: it is not there, or the whole is needed. */
static bool judge_name(struct some *s, int fd, const char *name,
		       const struct ignore *ig)
{
	size_t first = s->w.count, n = strlen(name);
	struct dirent d = { 0 };
	struct stat st;

	if (n >= sizeof(d.d_name))
		return false;
	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW)) {
		s->whole |= errno != ENOENT && errno != ENOTDIR;
		return false;
	}
	memcpy(d.d_name, name, n + 1);
	d.d_type = dirent_type(st.st_mode);
	walk_name(&s->w, fd, &d);
	s->later = walk_judge(&s->w, first, fd, ig);
	return s->w.count > first;
}

static char *next_name(struct some *s, const char **rest)
{
	size_t n = strcspn(*rest, "/");
	char *name = arena_strndup(&s->w.scratch, *rest, n);

	*rest += n;
	*rest += **rest == '/';
	return name;
}

/* Where the way ends: everything from there on is listed. */
static void end_here(struct some *s, const char *name, size_t first,
		     const struct ignore *ig)
{
	struct walker *w = &s->w;

	add_scope(s, arena_printf(w->a, "%s%s", buf_str(&w->path), name));
	if (w->count > first)
		walk_entries(w, first, s->later, ig);
	w->count = first;
}

/* One step: true when w->path has become the folder below. */
static bool step_down(struct some *s, const char **rest,
		      const struct ignore **ig)
{
	struct walker *w = &s->w;
	size_t first = w->count, listed = w->l->count;
	const char *name;
	bool there;
	DIR *d;

	if (w->depth++ >= WALK_MAX_DEPTH || !(d = walk_open(w))) {
		s->whole = true;
		return false;
	}
	see_ignore_files(w, dirfd(d));
	*ig = walk_rules(w, dirfd(d), *ig);
	/* An ignore file that cannot be read was listed. */
	s->whole |= w->l->count != listed;
	name = next_name(s, rest);
	there = name && !s->whole && judge_name(s, dirfd(d), name, *ig);
	closedir(d);
	if (!name || s->whole || walk_failed(w))
		return false;
	if (there && **rest && w->entries[first]->folder &&
	    !w->entries[first]->skip) {
		buf_adds(&w->path, w->entries[first]->name);
		w->count = first;
		return true;
	}
	end_here(s, name, first, *ig);
	return false;
}

/* ---- from a root ------------------------------------------------------ */

/* rel is at or below memory/, or a note beside it. */
static void walk_in_workspace(struct some *s, const char *rel)
{
	struct walker *w = &s->w;
	size_t listed = w->l->count;
	const struct ignore *ig = walk_workspace_rules(w);
	struct stat st;

	s->whole |= w->l->count != listed;
	if (!is_at_or_below(rel, "memory")) {
		add_scope(s, rel);
		walk_fixed(w, rel, false, ig);
		return;
	}
	if (!strcmp(rel, "memory") ||
	    fstatat(w->roots[0].fd, "memory", &st, AT_SYMLINK_NOFOLLOW) ||
	    !S_ISDIR(st.st_mode)) {
		add_scope(s, "memory");
		walk_fixed(w, "memory", true, ig);
		return;
	}
	rel += strlen("memory/");
	buf_adds(&w->path, "memory/");
	while (step_down(s, &rel, &ig))
		;
}

static void walk_in_extra(struct some *s, const char *rel)
{
	struct walker *w = &s->w;
	const struct source_root *r = &w->roots[w->root];
	size_t before = w->l->count;
	const struct ignore *ig = NULL;

	if (r->single) {
		add_scope(s, w->more[w->root].shown);
		walk_extra(w);
		return;
	}
	/* What is listed when there is no note in it, and when there is. */
	add_scope(s, r->prefix);
	while (step_down(s, &rel, &ig))
		;
	walk_stat_end(w);
	s->whole |= w->l->count == before;
}

static bool is_fixed(const char *path)
{
	for (int i = 0; name_fixed_files[i]; i++)
		if (!strcmp(path, name_fixed_files[i]))
			return true;
	return is_at_or_below(path, "memory");
}

/* Whether a walk of root i lists the path. *whole: it lists more of what is
 * there than the path. */
static bool is_in_root(const struct walker *w, int i, const char *path,
		       bool *whole)
{
	const char *shown = w->more[i].shown, *prefix = w->roots[i].prefix;

	if (!i)
		return is_fixed(path);
	if (!shown || is_at_or_below(shown, path) || !prefix[0])
		*whole = true;
	if (w->roots[i].single)
		return shown && !strcmp(path, shown);
	return is_below(path, prefix);
}

/* An absolute path as it is shown; NULL: it is in no root. */
static const char *shown_path(const struct walker *w, const char *path)
{
	const char *best = NULL;
	size_t len = 0;

	if (path[0] != '/')
		return path;
	for (int i = 0; i < w->root_count; i++) {
		const struct source_root *r = &w->roots[i];
		size_t n = r->path ? strlen(r->path) : 0;

		if (!n || n < len || !is_at_or_below(path, r->path))
			continue;
		len = n;
		best = arena_printf(w->a, "%s%s", r->prefix,
				    path + n + (path[n] == '/'));
	}
	return best;
}

/* "memory/x/" and the like become "memory/x", the folder of an ignore file
 * stands for it. */
static const char *tidy_path(struct some *s, const char *path)
{
	size_t n = strlen(path);
	const char *base;

	while (n > 1 && path[n - 1] == '/')
		n--;
	path = arena_strndup(s->w.a, path, n);
	if (!path)
		return NULL;
	base = path_base(path);
	if (name_ignore_file(base) < 0)
		return path;
	/* Of a root, or above the roots. */
	if (base == path || !strchr(path, '/')) {
		s->whole = true;
		return NULL;
	}
	return path_dir(s->w.a, path);
}

static void walk_path(struct some *s, const char *given)
{
	struct walker *w = &s->w;
	const char *path = shown_path(w, given);
	int root = -1, hits = 0;

	path = path ? tidy_path(s, path) : NULL;
	if (!path || s->whole)
		return;
	s->whole |= !path[0] || !strcmp(path, ".");
	for (int i = 0; i < w->root_count; i++) {
		if (!is_in_root(w, i, path, &s->whole))
			continue;
		root = i;
		hits++;
	}
	s->whole |= hits > 1 || (hits && w->roots[root].fd < 0);
	if (!hits || s->whole)
		return;
	w->root = root;
	w->depth = 0;
	buf_reset(&w->path);
	buf_adds(&w->path, w->roots[root].prefix);
	if (root)
		walk_in_extra(s, path + strlen(w->roots[root].prefix));
	else
		walk_in_workspace(s, path);
}

static void walk_paths(struct some *s, const char *const *paths, size_t n)
{
	s->w.l->unordered = true;
	s->scopes = ARENA_ARRAY(s->w.a, const char *, 6 * n + 6);
	for (size_t i = 0; i < n && !s->whole && !walk_failed(&s->w); i++) {
		walk_path(s, paths[i]);
		/* One of the two is warned of when both are there. */
		if (!strcasecmp(path_base(paths[i]), "memory.md")) {
			walk_path(s, "MEMORY.md");
			walk_path(s, "memory.md");
		}
	}
	walk_stat_end(&s->w);
	s->whole |= s->w.twins;
}

int source_walk_some(struct source_list *out, struct arena *a,
		     const struct source_opts *o, const char *const *paths,
		     size_t n, struct remem_err *err)
{
	struct some s = { 0 };
	struct list l;
	int rc;

	memset(out, 0, sizeof(*out));
	if (o->follow_links || n > MAX_PATHS)
		return source_walk(out, a, o, err);
	rc = walk_begin(&s.w, &l, a, o, err);
	if (!rc)
		walk_paths(&s, paths, n);
	rc = walk_end(&s.w, out, rc, err);
	if (rc)
		return rc;
	if (s.whole) {
		source_list_release(out);
		return source_walk(out, a, o, err);
	}
	out->scopes = s.scopes;
	out->scope_count = s.count;
	return 0;
}
