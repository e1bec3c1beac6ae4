/*
 * From what the system tells to paths. A folder may belong to several roots
 * (an extra file lies in the workspace): entries are sorted by id and root,
 * and an event is looked at for each of them. Ids of the system only grow, so
 * new folders nearly always go to the end.
 */
#include "source/watch.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/log.h"
#include "base/path.h"
#include "source/names.h"
#include "source/watch_os.h"

#define MAX_PATHS 256 /* from there on a walk costs no more */
#define POLL_MS 20000 /* what nobody tells is found in half a minute */
#define LOST_MIN_MS 2000 /* a root that is gone, doubled up to a minute */
#define LOST_MAX_MS 60000
#define TALKS (-1) /* root of a folder of transcripts */

struct folder {
	int id, root;
	unsigned round; /* of the last walk that named it */
	char *shown;
};

struct root {
	char *path, *prefix, *pattern, *single;
	bool extra;
};

struct watch {
	int fd;
	struct folder *folders; /* by id, then root */
	size_t count, cap;
	struct root *roots;
	int root_count;
	unsigned round, talks_round;
	bool follow_links;
	bool shared; /* a folder that others change unseen */
	bool refused; /* a folder that could not be watched */
	bool told; /* the user knows of it */
	bool failed; /* no memory: the next batch is a rescan */
	int lost_ms; /* 0: all roots are there */
	struct arena a; /* of the batch */
	struct watch_path *paths;
	size_t path_count, path_cap;
	bool rescan;
};

int watch_new(struct watch **out, struct remem_err *err)
{
	struct watch *w = mem_zalloc(sizeof(*w));

	*out = w;
	if (!w)
		return fail_nomem(err);
	arena_init(&w->a, 0);
	w->fd = watch_os_open();
	if (w->fd < 0)
		log_msg(LOG_WARN, "watch", "folders cannot be watched (%s); "
			"they are looked at every %d s", strerror(-w->fd),
			POLL_MS / 1000);
	w->told = w->fd < 0;
	return 0;
}

static void forget_roots(struct watch *w)
{
	for (int i = 0; i < w->root_count; i++) {
		mem_free(w->roots[i].path);
		mem_free(w->roots[i].prefix);
		mem_free(w->roots[i].pattern);
		mem_free(w->roots[i].single);
	}
	mem_free(w->roots);
	w->roots = NULL;
	w->root_count = 0;
}

void watch_free(struct watch *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->count; i++)
		mem_free(w->folders[i].shown);
	mem_free(w->folders);
	forget_roots(w);
	arena_release(&w->a);
	if (w->fd >= 0)
		close(w->fd);
	mem_free(w);
}

int watch_fd(const struct watch *w)
{
	return w->fd >= 0 ? w->fd : -1;
}

size_t watch_folders(const struct watch *w)
{
	return w->count;
}

const char *watch_problem(const struct watch *w)
{
	if (w->fd < 0)
		return "the system has no watch left for this user";
	if (w->refused)
		return "some folders cannot be watched: no watches left";
	if (w->shared)
		return "some folders are on a network file system";
	return w->lost_ms ? "a folder of notes is not there" : NULL;
}

int watch_poll_ms(const struct watch *w)
{
	bool polled = w->fd < 0 || w->refused || w->shared || w->failed;

	if (w->lost_ms && (!polled || w->lost_ms < POLL_MS))
		return w->lost_ms;
	return polled ? POLL_MS : -1;
}

bool watch_is_quiet(const struct watch *w)
{
	struct pollfd p = { .fd = w->fd, .events = POLLIN };

	return w->fd < 0 || poll(&p, 1, 0) == 0;
}

/* ---- what is watched -------------------------------------------------- */

/* The first entry of this id, or where it would stand. */
static size_t find(const struct watch *w, int id)
{
	size_t lo = 0, hi = w->count;

	if (hi && w->folders[hi - 1].id < id)
		return hi;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (w->folders[mid].id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static char *copy(struct watch *w, const char *s)
{
	char *out = s ? mem_strdup(s) : NULL;

	w->failed = w->failed || (s && !out);
	return out;
}

void watch_begin(struct watch *w, const struct source_opts *o,
		 const struct source_root *roots, const struct root_more *more,
		 int count)
{
	forget_roots(w);
	w->round++;
	w->refused = w->shared = w->failed = false;
	w->follow_links = o->follow_links;
	w->roots = mem_zarray((size_t)count, sizeof(*w->roots));
	w->failed = !w->roots;
	w->root_count = w->roots ? count : 0;
	for (int i = 0; i < w->root_count; i++) {
		struct root *r = &w->roots[i];

		r->path = copy(w, roots[i].path);
		r->prefix = copy(w, roots[i].prefix);
		r->pattern = copy(w, more[i].pattern);
		r->single = copy(w, roots[i].single);
		r->extra = more[i].extra;
	}
}

static void refuse(struct watch *w, int errnum, const char *shown)
{
	/* Gone again, or closed to us: the walk says so itself. */
	if (errnum != ENOSPC && errnum != ENOMEM)
		return;
	w->refused = true;
	if (w->told)
		return;
	w->told = true;
	log_msg(LOG_WARN, "watch", "'%s' and others cannot be watched: all "
		"watches are in use; they are looked at every %d s. More are "
		"allowed by: sysctl fs.inotify.max_user_watches=524288", shown,
		POLL_MS / 1000);
}

static void put_folder(struct watch *w, int id, int root, const char *shown)
{
	size_t i = find(w, id);
	struct folder *f;

	while (i < w->count && w->folders[i].id == id &&
	       w->folders[i].root < root)
		i++;
	f = i < w->count ? &w->folders[i] : NULL;
	if (!f || f->id != id || f->root != root) {
		if (!mem_grow(&w->folders, &w->cap, w->count + 1, sizeof(*f))) {
			w->failed = true;
			return;
		}
		f = &w->folders[i];
		memmove(f + 1, f, (w->count++ - i) * sizeof(*f));
		*f = (struct folder){ .id = id, .root = root };
	}
	f->round = root == TALKS ? w->talks_round : w->round;
	if (f->shown && !strcmp(f->shown, shown))
		return;
	mem_free(f->shown);
	f->shown = copy(w, shown);
}

void watch_folder(struct watch *w, int root, const char *shown, int folder_fd)
{
	const struct root *r = root < w->root_count ? &w->roots[root] : NULL;
	char *path;
	int id;

	w->shared |= watch_os_is_shared(folder_fd);
	if (w->fd < 0 || !r || !r->prefix || !r->path)
		return;
	path = path_join(&w->a, r->path, shown + strlen(r->prefix));
	id = watch_os_add(w->fd, folder_fd, path ? path : r->path);
	if (id < 0)
		refuse(w, -id, shown);
	else
		put_folder(w, id, root, shown);
}

/* Lets go what stood there at an earlier walk. */
static void sweep(struct watch *w, bool talks)
{
	unsigned round = talks ? w->talks_round : w->round;
	size_t to = 0;

	for (size_t i = 0; i < w->count; i++) {
		struct folder *f = &w->folders[i];
		bool twin = (i + 1 < w->count && f[1].id == f->id) ||
			    (to && w->folders[to - 1].id == f->id);

		if ((f->root == TALKS) != talks || f->round == round) {
			w->folders[to++] = *f;
			continue;
		}
		if (!twin)
			watch_os_drop(w->fd, f->id);
		mem_free(f->shown);
	}
	w->count = to;
}

void watch_end(struct watch *w, const struct source_root *roots, bool whole)
{
	bool lost = false;

	for (int i = 0; i < w->root_count; i++)
		lost |= roots[i].fd < 0;
	if (!lost)
		w->lost_ms = 0;
	else if (!w->lost_ms)
		w->lost_ms = LOST_MIN_MS;
	else if (w->lost_ms < LOST_MAX_MS)
		w->lost_ms = w->lost_ms * 2 < LOST_MAX_MS ? w->lost_ms * 2 :
							    LOST_MAX_MS;
	if (whole && !w->failed)
		sweep(w, false);
}

void watch_talks_begin(struct watch *w)
{
	w->talks_round++;
}

void watch_talks_folder(struct watch *w, const char *path, int folder_fd)
{
	char *shown = arena_printf(&w->a, "%s/", path);
	int id;

	w->shared |= watch_os_is_shared(folder_fd);
	if (w->fd < 0 || !shown)
		return;
	id = watch_os_add(w->fd, folder_fd, path);
	if (id < 0)
		refuse(w, -id, path);
	else
		put_folder(w, id, TALKS, shown);
}

void watch_talks_end(struct watch *w)
{
	if (!w->failed)
		sweep(w, true);
}

/* ---- what has changed ------------------------------------------------- */

static void add_path(struct watch *w, const struct folder *f,
		     const struct watch_event *e)
{
	const struct root *r = f->root == TALKS ? NULL : &w->roots[f->root];
	struct watch_path *p;

	if (w->path_count >= MAX_PATHS) {
		w->rescan = true;
		return;
	}
	w->paths = arena_grow(&w->a, w->paths, &w->path_cap, w->path_count + 1,
			      sizeof(*p));
	if (!w->paths) {
		w->path_count = w->path_cap = 0;
		w->rescan = true;
		return;
	}
	p = &w->paths[w->path_count];
	p->path = arena_printf(&w->a, "%s%s", f->shown, e->name);
	p->full = !r ? p->path :
		  arena_printf(&w->a, "%s/%s%s", r->path,
			       f->shown + strlen(r->prefix), e->name);
	p->talk = !r;
	p->entry = e->entry;
	/* Writing a file tells of it many times. */
	if (!w->path_count || w->a.failed || strcmp(p->path, p[-1].path))
		w->path_count++;
	else
		p[-1].entry |= e->entry;
}

/* The workspace itself is not walked: it has files by name, and memory/. */
static bool is_workspace(const struct folder *f)
{
	return f->root == 0 && !f->shown[0];
}

static bool is_fixed(const char *name)
{
	for (int i = 0; name_fixed_files[i]; i++)
		if (!strcmp(name, name_fixed_files[i]))
			return true;
	return false;
}

static void on_folder(struct watch *w, const struct folder *f, const char *name)
{
	const struct root *r = &w->roots[f->root];

	if (!strcmp(name, ".git") || r->single)
		return;
	/* One of the other roots may have come back inside the workspace. */
	if (!is_workspace(f) || w->lost_ms || !strcmp(name, "memory"))
		w->rescan = true;
}

static void on_file(struct watch *w, const struct folder *f,
		    const struct watch_event *e)
{
	const struct root *r = &w->roots[f->root];
	struct root_more m = { .pattern = r->pattern, .extra = r->extra };
	const char *name = e->name, *media;
	char *rel;

	if (r->single) {
		if (!strcmp(name, r->single))
			add_path(w, f, e);
		return;
	}
	if (name_ignore_file(name) >= 0) {
		w->rescan = true;
		return;
	}
	if (name_is_temp(name))
		return;
	if (is_workspace(f)) {
		if (is_fixed(name))
			add_path(w, f, e);
		else if (!strcmp(name, "memory"))
			w->rescan = true;
		return;
	}
	rel = arena_printf(&w->a, "%s%s", f->shown + strlen(r->prefix), name);
	if (rel && root_wants(&media, &m, rel, name))
		add_path(w, f, e);
	else if (w->follow_links && e->entry)
		w->rescan = true; /* it may be a link to a folder */
}

static bool ends(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n > m && !strcmp(name + n - m, end);
}

/* What lies beside transcripts and stores only while they are written. */
static void on_talk(struct watch *w, const struct folder *f,
		    const struct watch_event *e)
{
	if (e->what == WATCH_FOLDER)
		w->rescan = true;
	else if (!name_is_temp(e->name) && !ends(e->name, "-shm") &&
		 !ends(e->name, "-journal") && !ends(e->name, ".lock"))
		add_path(w, f, e);
}

static void drop_entry(struct watch *w, int id)
{
	for (size_t i = find(w, id); i < w->count && w->folders[i].id == id;) {
		mem_free(w->folders[i].shown);
		w->count--;
		memmove(&w->folders[i], &w->folders[i + 1],
			(w->count - i) * sizeof(*w->folders));
	}
}

static void on_event(void *ctx, const struct watch_event *e)
{
	struct watch *w = ctx;

	if (e->what == WATCH_LOST)
		w->rescan = true;
	if (e->what == WATCH_LOST || w->failed)
		return;
	if (e->what == WATCH_ENDED) {
		w->rescan |= find(w, e->id) < w->count &&
			     w->folders[find(w, e->id)].id == e->id;
		drop_entry(w, e->id);
		return;
	}
	for (size_t i = find(w, e->id); i < w->count &&
	     w->folders[i].id == e->id; i++) {
		if (e->what == WATCH_SELF)
			w->rescan = true;
		else if (w->folders[i].root == TALKS)
			on_talk(w, &w->folders[i], e);
		else if (e->what == WATCH_FOLDER)
			on_folder(w, &w->folders[i], e->name);
		else
			on_file(w, &w->folders[i], e);
	}
}

static int by_path(const void *x, const void *y)
{
	const struct watch_path *a = x, *b = y;

	return strcmp(a->path, b->path);
}

static void sort_paths(struct watch *w)
{
	size_t to = 0;

	if (w->path_count > 1)
		qsort(w->paths, w->path_count, sizeof(*w->paths), by_path);
	for (size_t i = 0; i < w->path_count; i++)
		if (!to || strcmp(w->paths[i].path, w->paths[to - 1].path))
			w->paths[to++] = w->paths[i];
		else
			w->paths[to - 1].entry |= w->paths[i].entry;
	w->path_count = to;
}

int watch_take(struct watch *w, struct watch_batch *out, struct remem_err *err)
{
	memset(out, 0, sizeof(*out));
	arena_reset(&w->a);
	w->paths = NULL;
	w->path_count = w->path_cap = 0;
	w->rescan = false;
	if (w->fd >= 0)
		watch_os_read(w->fd, on_event, w);
	if (w->a.failed) {
		/* What it was is lost, that it was is not. */
		arena_release(&w->a);
		arena_init(&w->a, 0);
		out->rescan = true;
		return fail_nomem(err);
	}
	sort_paths(w);
	out->paths = w->paths;
	out->count = w->path_count;
	out->rescan = w->rescan;
	return 0;
}
