/*
 * remem_watch(): the loop around index/watch, its settings, and what happens
 * as lines of JSON. Between two changes it sleeps in one poll().
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "api/handle.h"
#include "api/public.h"
#include "base/alloc.h"
#include "base/json.h"
#include "index/watch.h"
#include "source/watch_os.h"

struct remem_watch {
	struct remem *r;
	struct remem_watch_opts o;
	struct index_opts index;
	struct index_watch *watch;
	int stop[2]; /* a pipe */
	int index_fd; /* what is told of the index's folder, -1 */
	atomic_bool stopped;
	bool announced;
	const char *problem; /* as announced */
	const char *off; /* why there are no vectors */
};

/* ---- events ----------------------------------------------------------- */

static int give(struct remem_watch *w, struct buf *b, struct remem_err *err)
{
	int rc = buf_check(b, err);

	if (!rc && w->o.event && !atomic_load(&w->stopped) &&
	    w->o.event(w->o.ctx, buf_str(b)))
		remem_watch_stop(w);
	buf_release(b);
	return rc;
}

static void begin(struct json *j, struct buf *b, const char *event)
{
	json_begin(j, b);
	json_obj(j);
	json_kint(j, "version", 1);
	json_kstr(j, "event", event);
}

/* Once, and again when what is wrong with it has changed. */
static int tell_watching(struct remem_watch *w, struct remem_err *err)
{
	const char *problem = index_watch_problem(w->watch);
	struct buf b = BUF_INIT(0);
	struct json j;

	if (w->announced && problem == w->problem)
		return 0;
	w->announced = true;
	w->problem = problem;
	begin(&j, &b, "watching");
	json_kstr(&j, "workspace", w->r->workspace);
	json_kint(&j, "folders", (int64_t)index_watch_folders(w->watch));
	json_kstr(&j, "problem", problem);
	json_end(&j);
	return give(w, &b, err);
}

static int tell_synced(struct remem_watch *w, const struct index_watch_step *s,
		       struct remem_err *err)
{
	const struct index_report *r = s->report;
	struct buf b = BUF_INIT(0);
	struct json j;

	handle_commit_notes(w->r);
	begin(&j, &b, "synced");
	json_kstr(&j, "reason", s->reason);
	json_kint(&j, "files", r->files);
	json_kint(&j, "indexed", r->indexed);
	json_kint(&j, "added", r->added);
	json_kint(&j, "changed", r->changed);
	json_kint(&j, "renamed", r->renamed);
	json_kint(&j, "removed", r->removed);
	json_kint(&j, "vectors", r->vectors_done + r->vectors_cached);
	json_kint(&j, "pending", r->vectors_pending);
	json_kbool(&j, "complete", r->complete);
	json_kbool(&j, "shared", r->shared);
	json_kstr(&j, "degraded", r->degraded ? r->degraded : w->off);
	json_kint(&j, "tookMs", r->took_ms);
	json_end(&j);
	return give(w, &b, err);
}

static int tell_failed(struct remem_watch *w, const struct index_watch_step *s,
		       struct remem_err *err)
{
	struct buf b = BUF_INIT(0);
	struct json j;

	begin(&j, &b, "failed");
	json_kstr(&j, "reason", s->reason);
	json_key(&j, "error");
	json_obj(&j);
	json_kstr(&j, "type", err_type(s->err.code));
	json_kstr(&j, "message", s->err.message);
	json_kstr(&j, "action", s->err.action);
	json_end(&j);
	json_end(&j);
	return give(w, &b, err);
}

/* ---- life ------------------------------------------------------------- */

static int on_progress(void *ctx, const char *phase, int64_t done,
		       int64_t total, double rate, double left_s)
{
	const struct remem_watch *w = ctx;

	(void)phase, (void)done, (void)total, (void)rate, (void)left_s;
	return atomic_load(&w->stopped);
}

static int check(const struct remem *r, const struct index_watch_opts *o,
		 struct remem_err *err)
{
	if (r->read_only) {
		fail(err, REMEM_EPERM, "nothing is written: read-only");
		fail_action(err, "leave out --read-only");
		return REMEM_EPERM;
	}
	if (o->watch || o->interval_ms)
		return 0;
	fail(err, REMEM_EINVAL, "watching is switched off by "
				"memorySearch.sync.watch");
	fail_action(err, "set memorySearch.sync.watch to true");
	return REMEM_EINVAL;
}

static int open_pipe(int fds[2], struct remem_err *err)
{
	if (pipe(fds)) {
		fds[0] = fds[1] = -1;
		return fail_errno(err, REMEM_EIO, errno, "cannot make a pipe");
	}
	for (int i = 0; i < 2; i++) {
		fcntl(fds[i], F_SETFD, FD_CLOEXEC);
		fcntl(fds[i], F_SETFL, O_NONBLOCK);
	}
	return 0;
}

static int prepare(struct remem_watch *w, struct remem_err *err)
{
	const struct settings *s = &w->r->settings;
	struct index_watch_opts o = {
		.index = &w->index,
		.watch = settings_bool(s, "memorySearch.sync.watch"),
		.debounce_ms = (int)settings_int(
			s, "memorySearch.sync.watchDebounceMs"),
		.interval_ms = 60000 * settings_int(
			s, "memorySearch.sync.intervalMinutes"),
		.delta_bytes = settings_int(
			s, "memorySearch.sync.sessions.deltaBytes"),
		.delta_messages = settings_int(
			s, "memorySearch.sync.sessions.deltaMessages"),
		.shrunk_counts = settings_bool(
			s, "memorySearch.sync.sessions.postCompactionForce"),
	};
	int rc;

	if ((rc = check(w->r, &o, err)) || (rc = open_pipe(w->stop, err)) ||
	    (rc = handle_id(w->r, true, err)))
		return rc;
	handle_index_opts(&w->index, w->r);
	w->index.progress = on_progress;
	w->index.progress_ctx = w;
	if (!handle_text_only(w->r))
		handle_vectors(&w->index, w->r, false, &w->off);
	if (w->index.embedder)
		embedder_behind(w->index.embedder);
	return index_watch_new(&w->watch, &o, err);
}

PUBLIC int remem_watch_new(struct remem_watch **out, struct remem *r,
			   const struct remem_watch_opts *opts,
			   struct remem_err *err)
{
	struct remem_watch *w;
	int rc;

	*out = NULL;
	if (!(w = mem_zalloc(sizeof(*w))))
		return fail_nomem(err);
	w->stop[0] = w->stop[1] = w->index_fd = -1;
	w->r = r;
	if ((rc = opts_take(&w->o, sizeof(w->o), opts, err)) ||
	    (rc = prepare(w, err))) {
		remem_watch_free(w);
		return rc;
	}
	*out = w;
	return 0;
}

PUBLIC void remem_watch_free(struct remem_watch *w)
{
	if (!w)
		return;
	index_watch_free(w->watch);
	if (w->index_fd >= 0)
		close(w->index_fd);
	for (int i = 0; i < 2; i++)
		if (w->stop[i] >= 0)
			close(w->stop[i]);
	mem_free(w);
}

static void wake(struct remem_watch *w)
{
	int saved = errno;
	ssize_t n = write(w->stop[1], "", 1);

	(void)n; /* full: it is awake already */
	errno = saved;
}

PUBLIC void remem_watch_stop(struct remem_watch *w)
{
	atomic_store(&w->stopped, true);
	wake(w);
}

PUBLIC void remem_watch_hurry(struct remem_watch *w)
{
	index_watch_hurry(w->watch);
	wake(w);
}

PUBLIC int remem_watch_is_clean(const struct remem_watch *w)
{
	return index_watch_is_clean(w->watch);
}

/* ---- the loop --------------------------------------------------------- */

static int one_step(struct remem_watch *w, struct remem_err *err)
{
	struct index_watch_step s;
	int rc = index_watch_step(w->watch, &s, err);

	if (rc || !s.synced || atomic_load(&w->stopped))
		return rc;
	rc = s.rc ? tell_failed(w, &s, err) : tell_synced(w, &s, err);
	return rc ? rc : tell_watching(w, err);
}

static void on_generation(void *ctx, const struct watch_event *e)
{
	bool *seen = ctx;

	*seen |= e->what == WATCH_FILE && e->entry &&
		 !strcmp(e->name, "current");
}

/* Another generation of the index has been published. */
static int look_at_index(struct remem_watch *w, struct remem_err *err)
{
	struct buf b = BUF_INIT(0);
	bool seen = false;
	struct json j;

	if (w->index_fd < 0)
		return 0;
	watch_os_read(w->index_fd, on_generation, &seen);
	if (!seen)
		return 0;
	begin(&j, &b, "generation");
	json_end(&j);
	return give(w, &b, err);
}

static int rest(struct remem_watch *w, struct remem_err *err)
{
	struct pollfd p[3] = {
		{ .fd = w->stop[0], .events = POLLIN },
		{ .fd = index_watch_fd(w->watch), .events = POLLIN },
		{ .fd = w->index_fd, .events = POLLIN },
	};
	char space[64];

	if (poll(p, 3, index_watch_wait_ms(w->watch)) < 0 && errno != EINTR)
		return fail_errno(err, REMEM_EIO, errno,
				  "cannot wait for changes");
	while (read(w->stop[0], space, sizeof(space)) > 0)
		;
	return p[2].revents ? look_at_index(w, err) : 0;
}

/* The folder of the index has one file that is replaced when a generation is
 * published. Where it cannot be watched readers find out when they read. */
static void watch_index(struct remem_watch *w)
{
	int dir;

	if (w->index_fd >= 0 || !w->o.event || !w->r->index_dir)
		return;
	dir = open(w->r->index_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return;
	w->index_fd = watch_os_open();
	if (w->index_fd >= 0 &&
	    watch_os_add(w->index_fd, dir, w->r->index_dir) < 0) {
		close(w->index_fd);
		w->index_fd = -1;
	}
	close(dir);
}

PUBLIC int remem_watch(struct remem_watch *w, struct remem_err *err)
{
	int rc = 0;

	handle_close_reader(w->r);
	while (!rc && !atomic_load(&w->stopped)) {
		rc = one_step(w, err);
		watch_index(w);
		if (!rc && !atomic_load(&w->stopped))
			rc = rest(w, err);
	}
	return rc;
}
