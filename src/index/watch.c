/*
 * When to sync. A change is due debounce_ms after the last one, and at the
 * latest MAX_QUIET times that after the first, so that a file which is written
 * all the time is not put off for ever. Vectors give way: while they are made
 * the watch is asked, and what has settled meanwhile is indexed first.
 */
#include "index/watch.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "index/growth.h"
#include "source/sessions.h"
#include "source/watch.h"

#define NEVER INT64_MAX
#define MS ((int64_t)1000000)
#define MAX_QUIET 4
#define MAX_PATHS 256 /* source_walk_some() takes no more either */
#define RETRY_MIN_MS 1000 /* after a failure, doubled up to a minute */
#define RETRY_MAX_MS 60000
#define LOCK_WAIT_MS 10000 /* for another process that syncs */
#define TALK_QUIET_MS 5000 /* as OpenClaw's timer */
#define TALK_MAX_QUIET 4
#define PROVIDER_MS 60000 /* before a provider that failed is asked again */

struct index_watch {
	struct index_watch_opts o;
	struct index_opts index; /* a copy, with what follows */
	struct source_opts source; /* a copy, with the watch */
	struct session_opts sessions; /* the same */
	struct growth growth;
	struct watch *watch;
	struct arena waiting; /* paths that have changed */
	const char **paths;
	size_t path_count, path_cap;
	bool rescan; /* the paths do not tell all */
	int64_t first_ns, last_ns; /* of the changes that wait; NEVER: none */
	int64_t talk_first_ns, talk_last_ns; /* of talks that grow slowly */
	int64_t retry_ns, interval_ns, poll_ns, vectors_ns;
	int retry_ms;
	bool started, interrupted;
	struct arena report_arena;
	struct index_report report;
	atomic_bool clean, hurry;
};

/* Vectors give way to what has changed in the meantime. */
static int on_progress(void *ctx, const char *phase, int64_t done,
		       int64_t total, double rate, double left_s)
{
	struct index_watch *w = ctx;
	const struct index_opts *i = w->o.index;
	int64_t now = clock_mono_ns();

	if (i->progress && i->progress(i->progress_ctx, phase, done, total,
				       rate, left_s))
		return 1;
	if (strcmp(phase, "vectors") || !w->watch)
		return 0;
	if (atomic_load(&w->hurry)) {
		w->interrupted = true;
		return 1;
	}
	if (w->first_ns == NEVER && !watch_is_quiet(w->watch))
		w->first_ns = w->last_ns = now;
	if (w->first_ns == NEVER || now < w->first_ns + w->o.debounce_ms * MS)
		return 0;
	w->interrupted = true;
	return 1;
}

int index_watch_new(struct index_watch **out, const struct index_watch_opts *o,
		    struct remem_err *err)
{
	struct index_watch *w = mem_zalloc(sizeof(*w));
	int rc = 0;

	*out = NULL;
	if (!w)
		return fail_nomem(err);
	w->o = *o;
	w->source = *o->index->source;
	w->index = *o->index;
	w->index.source = &w->source;
	w->index.progress = on_progress;
	w->index.progress_ctx = w;
	if (!w->index.wait_ms)
		w->index.wait_ms = LOCK_WAIT_MS;
	w->first_ns = w->last_ns = w->retry_ns = NEVER;
	w->talk_first_ns = w->talk_last_ns = NEVER;
	w->growth.delta_bytes = o->delta_bytes;
	w->growth.delta_messages = o->delta_messages;
	w->growth.shrunk_counts = o->shrunk_counts;
	if (!w->o.quiet_ms)
		w->o.quiet_ms = TALK_QUIET_MS;
	w->interval_ns = w->poll_ns = w->vectors_ns = NEVER;
	arena_init(&w->report_arena, 0);
	arena_init(&w->waiting, 0);
	if (o->watch && (rc = watch_new(&w->watch, err))) {
		index_watch_free(w);
		return rc;
	}
	w->source.watch = w->watch;
	if (w->source.sessions) {
		w->sessions = *w->source.sessions;
		w->sessions.watch = w->watch;
		w->source.sessions = &w->sessions;
	}
	*out = w;
	return 0;
}

void index_watch_free(struct index_watch *w)
{
	if (!w)
		return;
	watch_free(w->watch);
	growth_release(&w->growth);
	arena_release(&w->report_arena);
	arena_release(&w->waiting);
	mem_free(w);
}

int index_watch_fd(const struct index_watch *w)
{
	return w->watch ? watch_fd(w->watch) : -1;
}

size_t index_watch_folders(const struct index_watch *w)
{
	return w->watch ? watch_folders(w->watch) : 0;
}

const char *index_watch_problem(const struct index_watch *w)
{
	return w->watch ? watch_problem(w->watch) : NULL;
}

bool index_watch_is_clean(const struct index_watch *w)
{
	/* In this order: what was taken from the queue is in the flag. */
	return w->watch && watch_is_quiet(w->watch) && atomic_load(&w->clean);
}

void index_watch_hurry(struct index_watch *w)
{
	atomic_store(&w->hurry, true);
}

/* ---- when ------------------------------------------------------------- */

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t settled_at(int64_t first_ns, int64_t last_ns, int quiet_ms,
			  int most)
{
	int64_t quiet = quiet_ms * MS;

	return first_ns == NEVER ? NEVER :
	       smaller(last_ns + quiet, first_ns + most * quiet);
}

static int64_t changes_due(const struct index_watch *w)
{
	if (atomic_load(&w->hurry) && w->first_ns != NEVER)
		return 0;
	return settled_at(w->first_ns, w->last_ns, w->o.debounce_ms, MAX_QUIET);
}

static int64_t talks_due(const struct index_watch *w)
{
	if (atomic_load(&w->hurry) && w->talk_first_ns != NEVER)
		return 0;
	return settled_at(w->talk_first_ns, w->talk_last_ns, w->o.quiet_ms,
			  TALK_MAX_QUIET);
}

static int64_t next_due(const struct index_watch *w)
{
	int64_t due = smaller(smaller(changes_due(w), talks_due(w)),
			      w->interval_ns);

	if (!w->started)
		return 0;
	/* While a sync fails nothing else makes it succeed sooner. */
	if (w->retry_ns != NEVER)
		return w->retry_ns;
	return smaller(smaller(due, w->poll_ns), w->vectors_ns);
}

int index_watch_wait_ms(const struct index_watch *w)
{
	int64_t due = next_due(w), left;

	if (due == NEVER)
		return -1;
	left = due - clock_mono_ns();
	if (left <= 0)
		return 0;
	left = (left + MS - 1) / MS;
	return left > INT32_MAX ? INT32_MAX : (int)left;
}

static const char *reason_of(const struct index_watch *w, int64_t now)
{
	if (!w->started)
		return "start";
	if (w->retry_ns != NEVER)
		return "retry";
	if (changes_due(w) <= now || talks_due(w) <= now)
		return "watch";
	if (w->interval_ns <= now)
		return "interval";
	return w->poll_ns <= now ? "poll" : "vectors";
}

/* ---- one step --------------------------------------------------------- */

/* A change that is due already is not put off by the next one. */
static void note_change(struct index_watch *w)
{
	int64_t now = clock_mono_ns();

	w->first_ns = smaller(w->first_ns, now);
	if (w->last_ns == NEVER || changes_due(w) > now)
		w->last_ns = now;
}

static void note_talk(struct index_watch *w)
{
	w->talk_last_ns = clock_mono_ns();
	w->talk_first_ns = smaller(w->talk_first_ns, w->talk_last_ns);
}

static void keep_path(struct index_watch *w, const char *path)
{
	for (size_t i = 0; i < w->path_count; i++)
		if (!strcmp(w->paths[i], path))
			return;
	if (w->path_count < MAX_PATHS)
		w->paths = arena_grow(&w->waiting, w->paths, &w->path_cap,
				      w->path_count + 1, sizeof(*w->paths));
	path = arena_strdup(&w->waiting, path);
	if (w->path_count >= MAX_PATHS || w->waiting.failed)
		w->rescan = true;
	else
		w->paths[w->path_count++] = path;
}

static void forget_paths(struct index_watch *w)
{
	arena_reset(&w->waiting);
	w->paths = NULL;
	w->path_count = w->path_cap = 0;
	w->rescan = false;
}

static int take_changes(struct index_watch *w, struct remem_err *err)
{
	struct watch_batch b;
	int rc;

	if (!w->watch)
		return 0;
	rc = watch_take(w->watch, &b, err);
	if (b.rescan)
		note_change(w);
	w->rescan |= b.rescan;
	for (size_t i = 0; i < b.count; i++) {
		const struct watch_path *p = &b.paths[i];

		if (p->talk && !growth_note(&w->growth, p->full, p->entry)) {
			note_talk(w);
			continue;
		}
		note_change(w);
		if (!p->talk && !w->rescan)
			keep_path(w, p->path);
	}
	return rc;
}

static void failed(struct index_watch *w, const struct index_watch_step *out)
{
	w->retry_ms = !w->retry_ms ? RETRY_MIN_MS :
		      w->retry_ms * 2 < RETRY_MAX_MS ? w->retry_ms * 2 :
						       RETRY_MAX_MS;
	w->retry_ns = clock_mono_ns() + w->retry_ms * MS;
	w->rescan = true;
	log_msg(LOG_TRACE, "watch", "%s: again in %d s", out->err.message,
		w->retry_ms / 1000);
}

static void plan_next(struct index_watch *w)
{
	const struct index_report *r = &w->report;
	int64_t now = clock_mono_ns();
	int poll_ms = w->watch ? watch_poll_ms(w->watch) : -1;

	w->retry_ms = 0;
	w->retry_ns = NEVER;
	w->interval_ns = w->o.interval_ms ? now + w->o.interval_ms * MS : NEVER;
	w->poll_ns = poll_ms >= 0 ? now + poll_ms * MS : NEVER;
	w->vectors_ns = NEVER;
	if (w->index.embedder && !w->index.text_only &&
	    (w->interrupted || r->vectors_pending || r->degraded))
		w->vectors_ns = r->degraded ? now + PROVIDER_MS * MS : now;
}

static void sync_now(struct index_watch *w, struct index_watch_step *out)
{
	static const char *const none = NULL; /* only talks have changed */
	bool some = !strcmp(out->reason, "watch") && !w->rescan;

	/* What comes from now on is another change. */
	w->first_ns = w->last_ns = NEVER;
	w->talk_first_ns = w->talk_last_ns = NEVER;
	w->interrupted = false;
	arena_reset(&w->report_arena);
	out->rc = some ? index_paths(&w->report, &w->report_arena, &w->index,
				     w->path_count ? w->paths : &none,
				     w->path_count, &out->err) :
			 index_run(&w->report, &w->report_arena, &w->index,
				   &out->err);
	forget_paths(w);
	out->synced = true;
	out->report = &w->report;
	w->started = true;
	if (w->interrupted && out->rc == REMEM_ECANCELLED)
		out->rc = 0;
	if (out->rc) {
		failed(w, out);
	} else {
		growth_synced(&w->growth);
		plan_next(w);
	}
}

int index_watch_step(struct index_watch *w, struct index_watch_step *out,
		     struct remem_err *err)
{
	int64_t now;
	int rc;

	memset(out, 0, sizeof(*out));
	/* Before the queue is emptied, see index_watch_is_clean(). */
	atomic_store(&w->clean, false);
	if ((rc = take_changes(w, err)))
		return rc;
	now = clock_mono_ns();
	if (next_due(w) <= now) {
		out->reason = reason_of(w, now);
		sync_now(w, out);
		if (out->rc == REMEM_ENOMEM)
			return fail_nomem(err);
	}
	/* With nothing waiting it has come too late, or was for the vectors. */
	atomic_store(&w->hurry, false);
	atomic_store(&w->clean, w->started && w->first_ns == NEVER &&
		     w->talk_first_ns == NEVER &&
		     w->retry_ns == NEVER && w->poll_ns == NEVER);
	return 0;
}
