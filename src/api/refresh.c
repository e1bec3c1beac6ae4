/*
 * Sync before a search. The text of changed files is indexed within
 * sync.searchBudgetMs, a first index within ten times as much; vectors of what
 * is new get sync.vectorBudgetMs the first time and a tenth of it later, so
 * that a backlog does not slow down every search.
 */
#include "api/refresh.h"

#include <string.h>

#include "api/check.h"
#include "base/clock.h"
#include "base/log.h"

#define FIRST_FACTOR 10
#define LATER_PART 10

struct bound {
	int64_t end_ns;
	bool stopped;
	struct refresh *y;
};

static int within(void *ctx, const char *phase, int64_t done, int64_t total,
		  double rate, double left_s)
{
	struct bound *b = ctx;
	struct refresh *y = b->y;

	if (y->progress && y->progress(y->progress_ctx, phase, done, total,
				       rate, left_s)) {
		y->cancelled = true;
		return 1;
	}
	/* Vectors have a budget of their own. */
	if (!strcmp(phase, "vectors") || clock_mono_ns() < b->end_ns)
		return 0;
	b->stopped = true;
	return 1;
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void bound_index(struct index_opts *o, struct bound *b,
			struct refresh *y, const struct settings *s,
			bool first)
{
	int64_t text = settings_int(s, "memorySearch.sync.searchBudgetMs");
	int64_t vectors = settings_int(s, "memorySearch.sync.vectorBudgetMs");

	if (first)
		text *= FIRST_FACTOR;
	else
		vectors /= LATER_PART;
	if (y->deadline_ms) {
		text = smaller(text, y->deadline_ms / 2);
		vectors = smaller(vectors, y->deadline_ms / 4);
	}
	o->text_only = y->text_only || !vectors;
	o->vector_budget_ms = (int)vectors;
	/* Another process that syncs does our work; its result is waited for
	 * as long as our own would take. */
	o->wait_ms = (int)text;
	b->end_ns = clock_mono_ns() + text * 1000000;
	b->stopped = false;
	b->y = y;
	o->progress = within;
	o->progress_ctx = b;
}

static void behind(struct refresh *y, struct arena *a, const char *what)
{
	y->stale = true;
	y->why = arena_strdup(a, what);
}

/* Errors of the sync are not errors of the search. */
static int run_index(struct refresh *y, struct remem *r, struct arena *a,
		     bool first, bool force, struct remem_err *err)
{
	struct remem_err why = { 0 };
	struct index_report report = { 0 };
	struct index_opts o;
	struct bound b;
	int rc;

	if ((rc = handle_id(r, true, &why))) {
		behind(y, a, why.message);
		return a->failed ? fail_nomem(err) : 0;
	}
	handle_index_opts(&o, r);
	bound_index(&o, &b, y, &r->settings, first);
	o.force = force;
	if (!o.text_only && !handle_text_only(r))
		handle_vectors(&o, r, false, NULL);
	handle_close_reader(r);
	rc = index_run(&report, a, &o, &why);
	if (rc == REMEM_ENOMEM || a->failed)
		return fail_nomem(err);
	if (y->cancelled)
		return fail(err, REMEM_ECANCELLED, "cancelled");
	if (b.stopped || rc == REMEM_ECANCELLED)
		behind(y, a, "the index is not complete yet; run: remem index");
	else if (rc == REMEM_EBUSY)
		behind(y, a, "another process is indexing; ask again soon");
	else if (rc)
		behind(y, a, why.message);
	if (rc)
		log_msg(LOG_INFO, "sync", "before a search: %s", why.message);
	return 0;
}

static int reopen(struct refresh *y, struct remem *r, struct arena *a,
		  struct remem_err *err)
{
	struct remem_err why = { 0 };
	int rc = handle_reader(r, &why);

	if (rc == REMEM_ENOMEM)
		return fail_nomem(err);
	if (rc && !y->why)
		behind(y, a, why.message);
	return 0;
}

static bool may_look(const struct refresh *y, const struct remem *r)
{
	return !y->never && settings_bool(&r->settings, y->session ?
					  "memorySearch.sync.onSessionStart" :
					  "memorySearch.sync.onSearch");
}

static bool may_sync(const struct refresh *y, const struct remem *r)
{
	return may_look(y, r) && !r->read_only;
}

int refresh_rebuild(struct refresh *y, struct remem *r, struct arena *a,
		 struct remem_err *err)
{
	int rc;

	handle_close_reader(r);
	if (!may_sync(y, r)) {
		behind(y, a, "the index is damaged; run: remem index");
		return 0;
	}
	log_msg(LOG_WARN, "sync", "the index is damaged and built anew");
	if ((rc = run_index(y, r, a, true, true, err)))
		return rc;
	return reopen(y, r, a, err);
}

static int make_first(struct refresh *y, struct remem *r, struct arena *a,
		      struct remem_err *err)
{
	int rc;

	if (!may_sync(y, r)) {
		behind(y, a, "there is no index yet; run: remem index");
		return 0;
	}
	if ((rc = run_index(y, r, a, true, false, err)))
		return rc;
	return reopen(y, r, a, err);
}

/* The look at the disk goes on beside the search from this many files on:
 * below it a thread costs more than it saves. */
#define BESIDE_FILES 500

static int begin_check(struct refresh *y, struct remem *r, struct arena *a,
		       struct remem_err *err)
{
	struct store_info info;
	struct remem_err why = { 0 };
	int rc;

	if (!may_look(y, r)) {
		/* No look at the disk, but one at whether a run ever ended. */
		if (!r->ops->meta_get(r->store, a, "indexed_at_ms"))
			behind(y, a, "the index is not complete yet; "
			       "run: remem index");
		return 0;
	}
	rc = r->ops->info(r->store, &info, &why);
	if (rc == REMEM_ECORRUPT)
		return refresh_rebuild(y, r, a, err);
	if (rc && err)
		*err = why;
	if (rc)
		return rc;
	y->check = check_begin(r, info.files >= BESIDE_FILES);
	return y->check ? 0 : fail_nomem(err);
}

int refresh_begin(struct refresh *y, struct remem *r, struct arena *a,
		  struct remem_err *err)
{
	struct remem_err why = { 0 };
	int rc = handle_reader(r, &why);

	y->stale = false;
	y->why = NULL;
	y->check = NULL;
	if (!rc)
		rc = begin_check(y, r, a, err);
	else if (rc == REMEM_ENOTFOUND)
		rc = make_first(y, r, a, err);
	else if (rc == REMEM_ECORRUPT)
		rc = refresh_rebuild(y, r, a, err);
	else if (err)
		*err = why;
	if (!rc && a->failed)
		rc = fail_nomem(err);
	return rc;
}

static int index_changes(struct refresh *y, struct remem *r, struct arena *a,
			 int64_t dirty, struct remem_err *err)
{
	int rc;

	if (!may_sync(y, r)) {
		y->stale = true;
		y->why = arena_printf(a, "%lld files have changed since the "
				      "index was made", (long long)dirty);
		return 0;
	}
	if ((rc = run_index(y, r, a, false, false, err)))
		return rc;
	return reopen(y, r, a, err);
}

int refresh_end(struct refresh *y, bool *again, struct remem *r,
		struct arena *a, struct remem_err *err)
{
	struct remem_err why = { 0 };
	struct check *c = y->check;
	int64_t dirty;
	bool moved;
	bool vectors;
	int rc;

	*again = false;
	y->check = NULL;
	if (!c)
		return 0;
	rc = check_end(c, &dirty, &moved, r, &why);
	if (rc == REMEM_ENOMEM)
		return fail_nomem(err);
	vectors = !rc && !dirty && !y->text_only && may_sync(y, r) &&
		  handle_wants_back(r);
	*again = rc == REMEM_ECORRUPT || (!rc && (dirty || moved || vectors));
	if (rc == REMEM_ECORRUPT)
		return refresh_rebuild(y, r, a, err);
	if (rc)
		behind(y, a, why.message);
	else if (dirty || vectors)
		return index_changes(y, r, a, dirty, err);
	return 0;
}
