/* Settings of batch jobs, waiting for them, and what is said of them. */
#include "api/batch.h"

#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/progress.h"
#include "embed/batch.h"

#define SLICE_MS 100 /* how often a wait looks whether it is to end */
/* Between two runs, also where one did not get as far as the jobs, since the
 * provider is left alone or another process was at work. */
#define PAUSE_MS 1000
#define MS INT64_C(1000000)

bool batch_wanted(struct remem *r)
{
	const struct settings *s = &r->settings;
	struct embedder *e;

	if (!settings_bool(s, "memorySearch.remote.batch.enabled"))
		return false;
	e = handle_text_only(r) ? NULL : handle_embedder(r, NULL);
	return e && embed_batch_terms(e);
}

double batch_share(struct remem *r, int64_t texts)
{
	int64_t least = settings_int(&r->settings,
				     "memorySearch.remote.batch.minTexts");

	return texts >= least && batch_wanted(r) ?
		       embed_batch_terms(r->embedder)->share : 1;
}

static struct index_batch *make(struct remem *r)
{
	const struct settings *s = &r->settings;
	struct index_batch *b = ARENA_NEW(&r->a, struct index_batch);

	if (!b)
		return NULL;
	b->state = handle_state(r);
	b->scope = r->agent;
	b->concurrency =
		(int)settings_int(s, "memorySearch.remote.batch.concurrency");
	b->poll_ms = (int)settings_int(
		s, "memorySearch.remote.batch.pollIntervalMs");
	b->least = (int)settings_int(s, "memorySearch.remote.batch.minTexts");
	return b->state ? b : NULL;
}

/* Jobs that are open are seen to even where no more are wanted. */
static bool any_open(struct remem *r)
{
	struct batch_job *list;
	struct state *s = NULL;
	struct arena a = ARENA_INIT;
	size_t n = 0;

	if (r->id[0] && r->state_base &&
	    !state_open(&s, r->state_base, r->id, true, NULL) &&
	    state_batch_list(s, &a, r->agent, true, &list, &n, NULL))
		n = 0;
	state_close(s);
	arena_release(&a);
	return n > 0;
}

void batch_connect(struct index_opts *o, struct remem *r)
{
	const char *name = settings_str(&r->settings, "memorySearch.provider");
	bool wanted;

	o->batch = NULL;
	/* Most providers have none, and then nothing is opened to know it. */
	if (r->read_only || !embed_batch_terms_of(name))
		return;
	wanted = batch_wanted(r);
	if (!wanted && !any_open(r))
		return;
	if (!r->batch)
		r->batch = make(r);
	o->batch = r->batch;
	if (o->batch && !wanted)
		o->batch->least = INT32_MAX; /* no new ones */
}

/* ---- waiting ---------------------------------------------------------- */

static int64_t pause_end(const struct index_batch *b)
{
	return clock_mono_ns() +
	       (b->poll_ms < PAUSE_MS ? b->poll_ms : PAUSE_MS) * MS;
}

static bool step(const struct remem_index_opts *o, struct progress *p,
		 int64_t done)
{
	return o->progress && progress_step(p, done);
}

bool batch_wait(struct remem *r, const struct remem_index_opts *o,
		int64_t start_ns, bool *stopped)
{
	const struct settings *s = &r->settings;
	struct index_batch *b = r->batch;
	int64_t minutes = settings_int(
		s, "memorySearch.remote.batch.timeoutMinutes");
	int64_t end = start_ns + minutes * 60000 * MS, pause;
	struct progress p;

	*stopped = false;
	if (!b || !b->jobs || (o->wait_ms >= 0 &&
	    !settings_bool(s, "memorySearch.remote.batch.wait")))
		return false;
	progress_init(&p, o->progress, o->progress_ctx);
	progress_phase(&p, "batch", b->texts);
	if (step(o, &p, b->done))
		*stopped = true;
	pause = pause_end(b);
	while (!*stopped && (clock_mono_ns() < pause ||
			     clock_now_ms() < b->next_ms)) {
		struct timespec t = { 0, SLICE_MS * MS };

		if (o->wait_ms >= 0 && clock_mono_ns() >= end)
			return false;
		nanosleep(&t, NULL);
		*stopped = step(o, &p, 0);
	}
	return !*stopped && (o->wait_ms < 0 || clock_mono_ns() < end);
}

/* ---- what is said ----------------------------------------------------- */

void batch_put_report(struct json *j, struct remem *r)
{
	const struct index_batch *b = r->batch;

	json_key(j, "batch");
	if (!b || (!b->jobs && b->least == INT32_MAX)) {
		json_put_null(j);
		return;
	}
	json_obj(j);
	json_kint(j, "jobs", b->jobs);
	json_kint(j, "texts", b->texts);
	json_kint(j, "done", b->done);
	json_ktime(j, "nextAt", b->jobs ? b->next_ms : 0);
	json_kstr(j, "off", b->off[0] ? b->off : NULL);
	json_end(j);
}

static void put_job(struct json *j, const struct batch_job *job)
{
	static const char *const steps[] = {
		[JOB_PLANNED] = "planned", [JOB_SENDING] = "sending",
		[JOB_RUNNING] = "running", [JOB_CANCELLING] = "cancelling",
		[JOB_READY] = "ready",	   [JOB_ENDED] = "ended",
	};
	bool known = job->step >= JOB_PLANNED && job->step <= JOB_ENDED;

	json_obj(j);
	json_kstr(j, "name", job->name);
	json_kstr(j, "id", job->remote[0] ? job->remote : NULL);
	json_kstr(j, "provider", job->provider);
	json_kstr(j, "model", job->model);
	json_kstr(j, "state", known ? steps[job->step] : NULL);
	json_kint(j, "texts", job->lines);
	json_kint(j, "tokens", job->tokens);
	json_kint(j, "done", job->step == JOB_ENDED ? job->done :
						      job->remote_done);
	json_kint(j, "failed", job->failed);
	json_ktime(j, "sentAt", job->sent_ms);
	json_ktime(j, "askedAt", job->asked_ms);
	json_ktime(j, "nextAt", job->next_ms);
	json_ktime(j, "endedAt", job->ended_ms);
	json_kstr(j, "reason", job->reason[0] ? job->reason : NULL);
	json_end(j);
}

void batch_put_status(struct json *j, struct remem *r)
{
	bool enabled = settings_bool(&r->settings,
				     "memorySearch.remote.batch.enabled");
	struct arena a = ARENA_INIT;
	struct batch_job *list = NULL;
	struct state *s = NULL;
	size_t n = 0;

	if (r->id[0] && r->state_base &&
	    !state_open(&s, r->state_base, r->id, true, NULL) &&
	    state_batch_list(s, &a, r->agent, false, &list, &n, NULL))
		n = 0;
	json_key(j, "batch");
	json_obj(j);
	json_kbool(j, "enabled", enabled);
	json_kbool(j, "available", enabled && batch_wanted(r));
	json_key(j, "jobs");
	json_arr(j);
	for (size_t i = 0; i < n; i++)
		put_job(j, &list[i]);
	json_arr_end(j);
	json_end(j);
	state_close(s);
	arena_release(&a);
}

/* ---- calling them off ------------------------------------------------- */

int batch_cancel(struct remem *r, struct remem_err *err)
{
	struct index_opts o = { 0 };
	const char *off = NULL;
	int asked, left, rc;

	if (!handle_embedder(r, &off) || off)
		return fail(err, REMEM_ENOTSUP, "the provider of batch jobs "
			    "cannot be reached: %s", off ? off : "");
	batch_connect(&o, r);
	if (!o.batch)
		return 0;
	rc = index_batch_cancel(o.batch, r->embedder, &asked, &left, err);
	if (rc || !left)
		return rc;
	fail(err, REMEM_EREMOTE, "%d of %d batch jobs could not be cancelled "
	     "and go on with the provider", left, asked + left);
	fail_action(err, "remem status lists them; try again in a minute");
	return REMEM_EREMOTE;
}
