/* Jobs of batch interfaces: planned, handed over, asked after, fetched. */
#include "index/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"

#define MINUTE_MS INT64_C(60000)
#define HOUR_MS (60 * MINUTE_MS)
#define POLL_MAX_MS (5 * MINUTE_MS)
#define SLOW_SHARE 10 /* a job is asked after when a tenth of its age passed */
/* A job that was handed over and cannot be found yet may still appear. */
#define UNSURE_MS (30 * 1000)
#define FAILURES 2 /* then no more jobs are made in this run */
#define OFF_MS (6 * HOUR_MS) /* until jobs are made again */
#define FORGOTTEN_MS (30 * 24 * HOUR_MS) /* vendors keep answers no longer */

/* ---- what is under way ------------------------------------------------ */

int jobs_by_key(const void *a, const void *b)
{
	return memcmp(a, b, SHA256_BYTES);
}

bool jobs_hold(const struct jobs *j, const unsigned char *key)
{
	return j && j->busy_count &&
	       bsearch(key, j->busy, j->busy_count, SHA256_BYTES, jobs_by_key);
}

static int add_busy(struct jobs *j, const struct batch_line *lines, size_t n)
{
	if (!mem_grow(&j->busy, &j->busy_cap, j->busy_count + n,
		      sizeof(*j->busy)))
		return REMEM_ENOMEM;
	for (size_t i = 0; i < n; i++)
		memcpy(j->busy[j->busy_count++], lines[i].key, SHA256_BYTES);
	return 0;
}

/* The list and the keys as they are written down now. */
int jobs_reload(struct jobs *j, struct remem_err *err)
{
	int rc;

	arena_reset(&j->a);
	j->busy_count = 0;
	rc = state_batch_list(j->o->state, &j->a, j->o->scope, true, &j->list,
			      &j->count, err);
	for (size_t i = 0; i < j->count && !rc; i++) {
		struct arena a = ARENA_INIT;
		struct batch_line *lines;
		size_t n;

		rc = state_batch_lines(j->o->state, &a, j->list[i].id, &lines,
				       &n, err);
		if (!rc && n && add_busy(j, lines, n))
			rc = fail_nomem(err);
		arena_release(&a);
	}
	if (j->busy_count)
		qsort(j->busy, j->busy_count, SHA256_BYTES, jobs_by_key);
	return rc;
}

bool jobs_wait(const struct sync *y)
{
	const struct index_batch *o = y->o->batch;
	struct arena a = ARENA_INIT;
	struct batch_job *list;
	size_t n = 0;

	if (!o || !o->state || y->o->vector_budget_ms > 0 ||
	    state_batch_list(o->state, &a, o->scope, true, &list, &n, NULL))
		n = 0;
	arena_release(&a);
	return n > 0;
}

int jobs_open(struct vector_run *v, struct remem_err *err)
{
	struct index_batch *o = v->y->o->batch;
	struct jobs *j;
	int rc;

	v->jobs = NULL;
	if (!o || !o->state || !v->info->remote)
		return 0;
	j = mem_zalloc(sizeof(*j));
	if (!j)
		return fail_nomem(err);
	j->v = v;
	j->o = o;
	v->jobs = j;
	if (!(rc = jobs_reload(j, err)))
		j->terms = embed_batch_terms(v->e);
	if (!rc && j->terms)
		rc = embed_batch_new(&j->b, v->e, err);
	if (rc) {
		jobs_close(j);
		v->jobs = NULL;
	}
	return rc;
}

void jobs_close(struct jobs *j)
{
	if (!j)
		return;
	embed_batch_free(j->b);
	arena_release(&j->a);
	mem_free(j->busy);
	mem_free(j);
}

/* ---- steps of one job ------------------------------------------------- */

void jobs_reason(struct jobs *j, struct batch_job *job,
			const char *reason)
{
	job->reason = arena_strdup(&j->a, reason);
	if (!job->reason)
		job->reason = "";
}

int jobs_put(struct jobs *j, struct batch_job *job, bool reserve,
	       int64_t used, struct remem_err *err)
{
	return state_batch_put(j->o->state, job, reserve, used, err);
}

/* Two are enough: it will not be better the third time. */
void jobs_failure(struct jobs *j, const char *reason)
{
	struct index_batch *o = j->o;

	log_msg(LOG_WARN, "embed", "a batch job failed: %s", reason);
	if (++o->failures < FAILURES || o->off[0])
		return;
	o->off_ms = clock_now_ms();
	snprintf(o->off, sizeof(o->off), "batch jobs failed twice, the rest is "
		 "sent at once: %.150s", reason);
}

/* It is over. Its lines are free again, as far as they have no vector. */
int jobs_end(struct jobs *j, struct batch_job *job, int64_t used,
		   struct remem_err *err)
{
	const char *files[] = { job->input, job->output, job->errors };
	int rc;

	job->step = JOB_ENDED;
	job->ended_ms = clock_now_ms();
	job->next_ms = 0;
	job->failed = job->lines - job->done;
	if (job->done * 2 < job->lines)
		jobs_failure(j, job->reason[0] ? job->reason :
			      "most of its texts have no vector");
	else
		j->o->failures = 0;
	if ((rc = jobs_put(j, job, false, used, err)))
		return rc;
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		embed_batch_discard(j->b, files[i]);
	return 0;
}

int64_t jobs_paid(const struct batch_job *job)
{
	int64_t n = job->remote_done < job->lines ? job->remote_done :
						    job->lines;

	return n > 0 ? (int64_t)((double)job->tokens * (double)n /
				 (double)job->lines) : 0;
}

/* Nobody fetches what it has done, which is paid for all the same. */
static int end_with(struct jobs *j, struct batch_job *job, const char *reason,
		    struct remem_err *err)
{
	jobs_reason(j, job, reason);
	return jobs_end(j, job, jobs_paid(job), err);
}

/* When it is asked after next: the older, the less often. */
static int64_t next_look(const struct jobs *j, const struct batch_job *job)
{
	int64_t now = clock_now_ms(), wait = (now - job->sent_ms) / SLOW_SHARE;

	if (wait > POLL_MAX_MS)
		wait = POLL_MAX_MS;
	return now + (wait > j->o->poll_ms ? wait : j->o->poll_ms);
}

/* The provider did not answer, or wants to be asked later. */
int jobs_put_off(struct jobs *j, struct batch_job *job,
		   const struct remem_err *why, struct remem_err *err)
{
	int64_t wait = j->o->poll_ms;

	for (int i = 0; i < job->tries && wait < POLL_MAX_MS; i++)
		wait *= 2;
	if (wait > POLL_MAX_MS)
		wait = POLL_MAX_MS;
	if (j->b->retry_after_ms > wait)
		wait = j->b->retry_after_ms < HOUR_MS ? j->b->retry_after_ms :
							HOUR_MS;
	job->tries++;
	job->asked_ms = clock_now_ms();
	job->next_ms = job->asked_ms + wait;
	jobs_reason(j, job, why->message);
	if (j->b->status == 401 || j->b->status == 402 || j->b->status == 403)
		vectors_degrade(j->v, why);
	return jobs_put(j, job, false, 0, err);
}

bool jobs_fatal(int rc)
{
	return rc == REMEM_ENOMEM || rc == REMEM_ECANCELLED;
}

/* What the provider says of it. */
static int take_status(struct jobs *j, struct batch_job *job,
		       const struct batch_status *s, struct remem_err *err)
{
	static const char *const words[] = {
		[BATCH_FAILED] = "the provider failed at it",
		[BATCH_EXPIRED] = "it was not done in time",
		[BATCH_CANCELLED] = "it was cancelled",
	};

	job->remote = arena_strdup(&j->a, s->id);
	job->output = arena_strdup(&j->a, s->output);
	job->errors = arena_strdup(&j->a, s->errors);
	job->remote_done = s->done;
	job->asked_ms = clock_now_ms();
	job->tries = 0;
	if (j->a.failed)
		return fail_nomem(err);
	if (s->state == BATCH_RUNNING) {
		if (job->step != JOB_CANCELLING)
			job->step = JOB_RUNNING;
		job->next_ms = next_look(j, job);
		return jobs_put(j, job, false, 0, err);
	}
	job->step = JOB_READY;
	job->next_ms = 0;
	if (s->state != BATCH_DONE && !job->reason[0])
		jobs_reason(j, job, s->reason[0] ? s->reason :
						   words[s->state]);
	return jobs_put(j, job, false, 0, err);
}

/* ---- asking after them ------------------------------------------------ */

static int64_t deadline(const struct jobs *j, const struct batch_job *job)
{
	return job->sent_ms + (j->terms->window_hours + 1) * HOUR_MS;
}

/* It has had more than its time. */
static int call_off(struct jobs *j, struct batch_job *job,
		    struct remem_err *err)
{
	struct remem_err why = { 0 };
	char text[96];
	int rc;

	snprintf(text, sizeof(text), "it was not done within %d hours",
		 j->terms->window_hours);
	if (job->step == JOB_CANCELLING)
		return clock_now_ms() < deadline(j, job) + HOUR_MS ?
		       0 : end_with(j, job, text, err);
	rc = embed_batch_cancel(j->b, job->remote, vectors_stop, j->v, &why);
	if (jobs_fatal(rc)) {
		*err = why;
		return rc;
	}
	job->step = JOB_CANCELLING;
	jobs_reason(j, job, text);
	return jobs_put(j, job, false, 0, err);
}

static int look(struct jobs *j, struct batch_job *job, struct remem_err *err)
{
	struct batch_status s;
	struct remem_err why = { 0 };
	int rc = embed_batch_look(j->b, job->remote, &s, vectors_stop, j->v,
				  &why);

	if (jobs_fatal(rc)) {
		*err = why;
		return rc;
	}
	if (rc && clock_now_ms() >= job->made_ms + FORGOTTEN_MS)
		return end_with(j, job, "it was never fetched", err);
	if (rc)
		return jobs_put_off(j, job, &why, err);
	if (s.state == BATCH_NONE)
		return end_with(j, job, "the provider does not know it any "
				"more", err);
	if ((rc = take_status(j, job, &s, err)) || job->step == JOB_READY ||
	    clock_now_ms() < deadline(j, job))
		return rc;
	return call_off(j, job, err);
}

/* Handed over, as far as it is known; a refusal is an end. */
int jobs_hand_over(struct jobs *j, struct batch_job *job,
		     struct remem_err *err)
{
	struct batch_status s;
	struct remem_err why = { 0 };
	bool unsure;
	int rc = embed_batch_create(j->b, job->name, job->input, &s, &unsure,
				    vectors_stop, j->v, &why);

	if (jobs_fatal(rc)) {
		*err = why;
		return rc;
	}
	if (!rc)
		return take_status(j, job, &s, err);
	if (!unsure || job->tries >= JOB_TRIES)
		return end_with(j, job, why.message, err);
	return jobs_put_off(j, job, &why, err);
}

/* Whether it arrived. One that is not there is sent, but not before it would
 * have appeared. */
static int reconcile(struct jobs *j, struct batch_job *job,
		     struct remem_err *err)
{
	struct batch_status s;
	struct remem_err why = { 0 };
	int64_t sure_ms = (job->asked_ms ? job->asked_ms : job->sent_ms) +
			  UNSURE_MS;
	int rc = embed_batch_find(j->b, job->name, &s, vectors_stop, j->v,
				  &why);

	if (jobs_fatal(rc)) {
		*err = why;
		return rc;
	}
	/* A server that has no list never tells. */
	if (rc && clock_now_ms() >= deadline(j, job))
		return end_with(j, job, why.message, err);
	if (rc)
		return jobs_put_off(j, job, &why, err);
	if (s.state != BATCH_NONE)
		return take_status(j, job, &s, err);
	if (clock_now_ms() < sure_ms) {
		job->next_ms = sure_ms;
		return jobs_put(j, job, false, 0, err);
	}
	job->sent_ms = job->asked_ms = clock_now_ms();
	if ((rc = jobs_put(j, job, false, 0, err)))
		return rc;
	return jobs_hand_over(j, job, err);
}

bool jobs_ours(const struct jobs *j, const struct batch_job *job)
{
	return !strcmp(job->provider, j->v->info->provider) &&
	       !strcmp(job->base, embed_batch_base(j->b));
}

/* Its vectors are of no use any more, or it is out of reach. */
static int leave(struct jobs *j, struct batch_job *job, struct remem_err *err)
{
	struct remem_err why = { 0 };

	if (!jobs_ours(j, job)) {
		job->input = job->output = job->errors = "";
		return clock_now_ms() < job->made_ms + FORGOTTEN_MS ?
		       0 : end_with(j, job, "it was never fetched", err);
	}
	if (job->remote[0] && job->step != JOB_READY &&
	    embed_batch_cancel(j->b, job->remote, vectors_stop, j->v, &why))
		log_msg(LOG_WARN, "embed", "a batch job of another model goes "
			"on: %s", why.message);
	return end_with(j, job, "the model was changed", err);
}

static int one_step(struct jobs *j, struct batch_job *job,
		    struct remem_err *err)
{
	if (!jobs_ours(j, job) ||
	    strcmp(job->fingerprint, j->v->info->fingerprint) != 0)
		return leave(j, job, err);
	if (job->step == JOB_PLANNED)
		return state_batch_drop(j->o->state, job->id, err);
	if (job->next_ms > clock_now_ms())
		return 0;
	if (job->step == JOB_SENDING)
		return reconcile(j, job, err);
	if (job->step == JOB_RUNNING || job->step == JOB_CANCELLING)
		return look(j, job, err);
	return 0;
}

static int ask_all(struct jobs *j, struct remem_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < j->count && !rc; i++) {
		struct batch_job *job = &j->list[i];

		if (vectors_stop(j->v))
			return 0;
		rc = one_step(j, job, err);
		if (!rc && job->step == JOB_READY &&
		    job->next_ms <= clock_now_ms())
			rc = jobs_collect(j, job, err);
	}
	return rc ? rc : jobs_reload(j, err);
}

/* ---- the whole -------------------------------------------------------- */

static void say_open(struct jobs *j)
{
	struct index_batch *o = j->o;

	o->jobs = o->texts = o->done = o->next_ms = 0;
	for (size_t i = 0; j->b && i < j->count; i++) {
		const struct batch_job *job = &j->list[i];

		if (!jobs_ours(j, job))
			continue;
		o->jobs++;
		o->texts += job->lines;
		o->done += job->remote_done;
		if (o->jobs == 1 || job->next_ms < o->next_ms)
			o->next_ms = job->next_ms;
	}
}

static int group_by_key(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return memcmp(x->key, y->key, SHA256_BYTES);
}

/* Lines of a job that no passage waits for. */
static int forget_lines(struct jobs *j, const struct batch_job *job,
			struct remem_err *err)
{
	const struct portion *p = &j->v->p;
	struct arena a = ARENA_INIT;
	struct batch_line *lines;
	struct group want = { 0 };
	size_t n;
	int rc = state_batch_lines(j->o->state, &a, job->id, &lines, &n, err);

	for (size_t i = 0; i < n && !rc; i++) {
		memcpy(want.key, lines[i].key, SHA256_BYTES);
		if (!p->group_count ||
		    !bsearch(&want, p->groups, (size_t)p->group_count,
			     sizeof(want), group_by_key))
			rc = state_batch_forget(j->o->state, job->id,
						lines[i].key, err);
	}
	arena_release(&a);
	return rc;
}

/* What was forgotten for good is not to come back as the answer of a job. */
static int forget_gone(struct jobs *j, struct remem_err *err)
{
	struct vector_run *v = j->v;
	int64_t all = v->y->r->vectors_pending + 1;
	int rc = 0;

	if (!j->count)
		return 0;
	rc = vectors_portion(v, all < INT32_MAX ? (int)all : INT32_MAX, err);
	if (!rc && v->p.group_count)
		qsort(v->p.groups, (size_t)v->p.group_count,
		      sizeof(*v->p.groups), group_by_key);
	for (size_t i = 0; i < j->count && !rc; i++)
		rc = forget_lines(j, &j->list[i], err);
	return rc ? rc : jobs_reload(j, err);
}

int jobs_step(struct jobs *j, bool *rest, struct remem_err *err)
{
	int rc;

	*rest = true;
	if (!j->b)
		return 0;
	/* While somebody waits for a search, nobody is asked. */
	if (j->v->deadline_ns) {
		*rest = j->v->y->r->vectors_pending <
			(int64_t)j->busy_count + j->o->least;
		return 0;
	}
	if (j->v->y->o->purge && (rc = forget_gone(j, err)))
		return rc;
	if (j->o->off[0] && clock_now_ms() > j->o->off_ms + OFF_MS) {
		j->o->off[0] = '\0';
		j->o->failures = 0;
	}
	if (!(rc = ask_all(j, err)))
		rc = jobs_make(j, rest, err);
	say_open(j);
	if (j->o->off[0] && !j->v->y->r->degraded && !rc)
		log_msg(LOG_WARN, "embed", "%s", j->o->off);
	return rc;
}

/* ---- calling them off ------------------------------------------------- */

/* One whose id is not known yet is looked for first. */
static int cancel_one(struct jobs *j, struct batch_job *job,
		      struct remem_err *err)
{
	struct batch_status s;
	int rc;

	if (job->step == JOB_PLANNED)
		return state_batch_drop(j->o->state, job->id, err);
	if (job->step == JOB_SENDING) {
		if ((rc = embed_batch_find(j->b, job->name, &s, NULL, NULL,
					   err)))
			return rc;
		if (s.state == BATCH_NONE)
			return fail(err, REMEM_EBUSY, "it is not known yet "
				    "whether the provider has it");
		if ((rc = take_status(j, job, &s, err)))
			return rc;
	}
	if (job->step != JOB_RUNNING)
		return 0;
	if ((rc = embed_batch_cancel(j->b, job->remote, NULL, NULL, err)))
		return rc;
	job->step = JOB_CANCELLING;
	jobs_reason(j, job, "it was cancelled");
	job->next_ms = 0;
	return jobs_put(j, job, false, 0, err);
}

int index_batch_cancel(struct index_batch *o, struct embedder *e, int *asked,
		       int *left, struct remem_err *err)
{
	struct vector_run v = { .e = e, .info = embedder_info(e) };
	struct jobs j = { .v = &v, .o = o, .a = ARENA_INIT };
	int rc;

	*asked = *left = 0;
	if ((rc = embed_batch_new(&j.b, e, err)))
		return rc;
	j.terms = embed_batch_terms(e);
	rc = state_batch_list(o->state, &j.a, o->scope, true, &j.list,
			      &j.count, err);
	for (size_t i = 0; i < j.count && !rc; i++) {
		struct remem_err why = { 0 };

		if (jobs_ours(&j, &j.list[i]) &&
		    !cancel_one(&j, &j.list[i], &why)) {
			++*asked;
			continue;
		}
		++*left;
		log_msg(LOG_WARN, "embed", "the batch job %s goes on: %s",
			j.list[i].name, why.message[0] ? why.message :
			"it is another provider's");
	}
	embed_batch_free(j.b);
	arena_release(&j.a);
	mem_free(j.busy);
	return rc;
}
