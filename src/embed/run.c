/*
 * Many documents through a remote provider. One loop in the caller's thread:
 * it sends what may be sent, waits for what comes back, and decides. Pieces
 * of a refused request go first, so that a limit is known before more of the
 * same size is sent. The first request of several texts goes alone: it shows
 * the limits, and whether a text has the same vector in a batch as alone.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/trouble.h"
#include "base/log.h"
#include "base/utf8.h"
#include "embed/check.h"
#include "embed/flight.h"
#include "embed/job.h"
#include "text/token.h"

#define MS INT64_C(1000000)
#define TICK_NS (100 * MS) /* how often cancel is asked */
#define FLOOR_BYTES 16 /* a text that is refused at this is not too long */
#define CONCURRENCY 4
#define RAMP 8 /* good answers before one more may be in flight */
#define BATCH_TIMEOUT_MS 120000
#define ALIKE 0.999 /* cosine of the self check; half precision gives .9999 */

struct run {
	struct embedder *e;
	const struct embed_sink *sink;
	struct arena a;
	struct job_list jobs;
	struct flight *f;
	int in_flight, at_most; /* now */
	int good; /* answers since at_most changed */
	int64_t cool_ns; /* nothing is sent before */
	int told; /* refusals in a row that said when to come back */
	int64_t told_ns; /* of the first of them */
	int64_t good_ns; /* when the latest request was sent that was answered */
	int rc;
	struct remem_err err;
};

static void stop(struct run *run, int rc, const struct remem_err *why)
{
	if (run->rc)
		return;
	run->rc = rc;
	run->err = *why;
}

static bool cancelled(const struct run *run)
{
	return run->sink->cancel && run->sink->cancel(run->sink->ctx);
}

static int most_in_flight(const struct embedder *e)
{
	int n = e->c.concurrency > 0 ? e->c.concurrency : CONCURRENCY;

	return n < FLIGHT_MAX ? n : FLIGHT_MAX;
}

/* ---- refused texts ---------------------------------------------------- */

/* Whether the provider answers at all; if not, the run ends with why. */
static bool is_alive(struct run *run)
{
	struct remem_err err = { 0 };
	int rc = embed_alive(run->e, run->sink->cancel, run->sink->ctx, &err);

	if (!rc)
		return true;
	stop(run, rc, &err);
	return false;
}

static void set_aside(struct run *run, struct job *j, const struct outcome *o)
{
	/* A later request that was answered says that it is the text. */
	if (run->good_ns <= j->failed_ns && !j->probed && !is_alive(run))
		return;
	/* The text was the cause, and not the size of the request. */
	if (j->refused)
		limits_restore(&run->e->limits, &j->before);
	log_msg(LOG_INFO, "embed", "a text is set aside: %s",
		j->reason ? j->reason : o->err.message);
	if (run->sink->refused)
		run->sink->refused(run->sink->ctx, j->items[0],
				   j->reason ? j->reason : o->err.message);
}

/* ---- good answers ----------------------------------------------------- */

static int give(struct run *run, struct job *j, struct outcome *o,
		int64_t sent_ns)
{
	size_t dims = (size_t)o->reply.dims, kept = 0;
	float *vecs = o->reply.vecs;
	const struct embed_item **items = ARENA_ARRAY(
		&run->a, const struct embed_item *, j->n);

	if (!items)
		return fail_nomem(&run->err);
	for (size_t i = 0; i < j->n; i++) {
		const char *wrong = check_vector(vecs + i * dims, (int)dims);

		if (wrong && j->n == 1 && j->alone) {
			fail(&o->err, REMEM_EREMOTE, "%s", wrong);
			j->reason = NULL;
			set_aside(run, j, o);
			return run->rc;
		}
		if (wrong) {
			j->failed_ns = sent_ns - 1;
			job_alone(&run->jobs, j, i);
			continue;
		}
		memmove(vecs + kept * dims, vecs + i * dims,
			dims * sizeof(float));
		items[kept++] = j->items[i];
	}
	if (kept && run->good_ns < sent_ns)
		run->good_ns = sent_ns;
	if (kept && run->sink->done(run->sink->ctx, items, vecs, kept,
				    (int)dims))
		return fail(&run->err, REMEM_ECANCELLED, "stopped");
	return 0;
}

/* The shortest but the first, which is right where others are not. */
static size_t pick(const struct job *j)
{
	size_t best = 1;

	for (size_t i = 2; i < j->n; i++)
		if (j->items[i]->len < j->items[best]->len)
			best = i;
	return best;
}

/* Some servers mix up the texts of a batch. False: this one does. */
static bool agrees(struct run *run, const struct job *j,
		   const struct embed_reply *reply)
{
	struct embedder *e = run->e;
	size_t i = pick(j);
	const float *batch = reply->vecs + i * (size_t)reply->dims;
	struct ask ask = { .kind = EMBED_DOCUMENT, .text = j->items[i]->text,
			   .len = job_cut(e, j->items[i]),
			   .timeout_ms = BATCH_TIMEOUT_MS,
			   .tries = RETRY_TRIES, .whole = true,
			   .patient = true,
			   .cancel = run->sink->cancel, .ctx = run->sink->ctx };
	struct remem_err err = { 0 };
	float *alone;
	double cosine;
	int dims, rc;

	/* Without two vectors nothing is known; the next batch will tell. */
	if (check_cosine(batch, batch, reply->dims) < ALIKE)
		return true;
	if ((rc = embed_ask(e, &ask, &alone, &dims, &err))) {
		stop(run, rc, &err); /* the batch was paid for, and is kept */
		return true;
	}
	e->self_checked = true;
	cosine = check_cosine(alone, batch, dims);
	mem_free(alone);
	if (cosine > ALIKE)
		return true;
	log_msg(LOG_WARN, "embed", "the provider gives a text another vector "
		"in a batch than alone (cosine %.4f): texts are sent one by "
		"one", cosine);
	return false;
}

static void speed_up(struct run *run)
{
	if (++run->good < RAMP || run->at_most >= most_in_flight(run->e))
		return;
	run->at_most++;
	run->good = 0;
}

/* Tokens of the longest text, as it was sent. */
static size_t longest(const struct embedder *e, const struct job *j)
{
	size_t most = 0;

	for (size_t i = 0; i < j->n; i++) {
		size_t len = j->cut ? j->cut : job_cut(e, j->items[i]);
		size_t t = token_estimate(j->items[i]->text, len);

		if (t > most)
			most = t;
	}
	return most;
}

/* The text was too long; the request that it came in was not too large. */
static void learn_input(struct embedder *e, const struct job *j)
{
	const struct embed_item *item = j->items[0];
	size_t was = 2 * j->cut < item->len ? 2 * j->cut : item->len;

	limits_restore(&e->limits, &j->before);
	limits_input_refused(&e->limits, token_estimate(item->text, was));
}

static void on_good(struct run *run, struct job *j, struct outcome *o,
		    int64_t sent_ns)
{
	struct embedder *e = run->e;
	int rc;

	if (j->n > 1 && !e->self_checked && !run->rc &&
	    !agrees(run, j, &o->reply)) {
		limits_init(&e->limits, 1, e->limits.tokens.max,
			    e->limits.input.max);
		job_split(&run->jobs, j, 1);
		return;
	}
	if (j->cut)
		learn_input(e, j);
	limits_taken(&e->limits, j->n, (size_t)j->tokens, longest(e, j));
	run->told = 0;
	speed_up(run);
	rc = give(run, j, o, sent_ns);
	if (rc && !run->rc)
		run->rc = rc;
}

/* ---- all others ------------------------------------------------------- */

static void remember(struct run *run, struct job *j, const struct outcome *o)
{
	if (!j->refused) {
		j->refused = true;
		j->before = run->e->limits;
		j->failed_ns = clock_mono_ns();
	}
	if (!j->reason)
		j->reason = arena_strdup(&run->a, o->err.message);
}

static void in_two(struct run *run, struct job *j, const struct outcome *o)
{
	struct limits *l = &run->e->limits;
	size_t size = (j->n + 1) / 2;

	remember(run, j, o);
	limits_refused(l, j->n, (size_t)j->tokens, o->hint);
	if (limits_items(l, false) < size)
		size = limits_items(l, false);
	log_msg(LOG_INFO, "embed", "a request of %zu texts is split: %s", j->n,
		o->err.message);
	job_split(&run->jobs, j, size);
}

static void shorten(struct run *run, struct job *j, const struct outcome *o)
{
	const struct embed_item *item = j->items[0];
	/* Not what may be sent by what others have taught since. */
	size_t len = j->sent;

	remember(run, j, o);
	/* It is not the name of a picture that is too long. */
	if (item->media || len / 2 < FLOOR_BYTES) {
		set_aside(run, j, o);
		return;
	}
	j->cut = utf8_cut(item->text, item->len, len / 2);
	job_again(&run->jobs, j, 0);
}

static void on_refused(struct run *run, struct job *j, const struct outcome *o)
{
	/* Before the first answer it may be the model's name, the key, or a
	 * field that the server does not know: a tiny request tells. */
	int simpler = run->e->simplified;

	if (!run->e->answered && !is_alive(run))
		return;
	if (run->e->simplified != simpler)
		job_again(&run->jobs, j, 0);
	else if (j->n > 1)
		in_two(run, j, o);
	else
		shorten(run, j, o);
}

/* No retry is left. One of its texts, or the provider itself? */
static void on_spent(struct run *run, struct job *j, const struct outcome *o)
{
	if (!j->probed && !is_alive(run))
		return;
	j->probed = true;
	if (j->n > 1)
		in_two(run, j, o);
	else
		set_aside(run, j, o);
}

static void on_again(struct run *run, struct job *j, const struct outcome *o)
{
	struct embedder *e = run->e;
	/* A piece of what failed that often is not worth the same patience. */
	int tries = j->probed ? 2 : RETRY_TRIES, wait;

	/* Two time-outs are enough: that was minutes. */
	j->again += o->timed_out ? 2 : 1;
	wait = trouble_wait_ms(j->again - 1, o->retry_after_ms,
			       embed_wait_scale(&e->c, o->retry_after_ms),
			       &e->random);
	if (j->again >= tries || wait < 0)
		on_spent(run, j, o);
	else
		job_again(&run->jobs, j, clock_mono_ns() + wait * MS);
}

/* Whether it is of use to wait once more. */
static bool may_wait(struct run *run, struct job *j, const struct outcome *o)
{
	int64_t now = clock_mono_ns();

	if (o->retry_after_ms < 0)
		return ++j->rate < RETRY_RATE_TRIES;
	if (!run->told++)
		run->told_ns = now;
	return run->told < RETRY_TOLD_TRIES &&
	       now - run->told_ns < RETRY_TOLD_MS * MS;
}

/* All wait, and fewer are in flight from then on. */
static void on_rate(struct run *run, struct job *j, const struct outcome *o,
		    int64_t sent_ns)
{
	struct embedder *e = run->e;
	int wait = trouble_wait_ms(j->rate, o->retry_after_ms,
				   embed_wait_scale(&e->c, o->retry_after_ms),
				   &e->random);
	int64_t now = clock_mono_ns();

	if (!may_wait(run, j, o) || wait < 0) {
		stop(run, o->err.code, &o->err);
		return;
	}
	/* Those that were sent together are one sign, not several. */
	if (sent_ns >= run->cool_ns && run->at_most > 1)
		run->at_most = (run->at_most + 1) / 2;
	run->good = 0;
	if (run->cool_ns < now + wait * MS)
		run->cool_ns = now + wait * MS;
	job_again(&run->jobs, j, 0);
}

static void on_faulty(struct run *run, struct job *j, const struct outcome *o)
{
	if (j->faulty++ || j->probed)
		on_spent(run, j, o);
	else
		job_again(&run->jobs, j, 0);
}

static void decide(struct run *run, struct job *j, struct outcome *o,
		   int64_t sent_ns)
{
	if (o->verdict == VERDICT_GOOD)
		on_good(run, j, o, sent_ns);
	else if (run->rc)
		return; /* the run ends; what is good is still kept */
	else if (o->verdict == VERDICT_REFUSED)
		on_refused(run, j, o);
	else if (o->verdict == VERDICT_AGAIN)
		on_again(run, j, o);
	else if (o->verdict == VERDICT_RATE)
		on_rate(run, j, o, sent_ns);
	else if (o->verdict == VERDICT_FAULTY)
		on_faulty(run, j, o);
	else
		stop(run, o->err.code, &o->err);
}

/* ---- sending ---------------------------------------------------------- */

static int fill(struct run *run, struct flight_slot *s, struct job *j)
{
	struct embedder *e = run->e;
	const char **texts;
	size_t *lens;

	arena_reset(&s->a);
	buf_reset(&s->body);
	memset(&s->req, 0, sizeof(s->req));
	texts = ARENA_ARRAY(&s->a, const char *, j->n);
	lens = ARENA_ARRAY(&s->a, size_t, j->n);
	for (size_t i = 0; i < j->n && !s->a.failed; i++) {
		size_t cut = j->cut ? j->cut : job_cut(e, j->items[i]);

		j->sent = cut;
		embed_join(&s->a, e, EMBED_DOCUMENT, j->items[i]->text,
			   cut < j->items[i]->len ? cut : j->items[i]->len, 0,
			   &texts[i], &lens[i]);
	}
	if (s->a.failed)
		return fail_nomem(&run->err);
	s->r = (struct embed_request){ EMBED_DOCUMENT, texts, lens, j->n,
				       j->n == 1 ? j->items[0]->media :
						   NULL };
	s->req.timeout_ms = s->spend.timeout_ms;
	return e->p->build(e->self, &s->r, &s->req, &s->body, &run->err);
}

/* Nothing to embed, which many providers answer with a refusal of all. */
static bool is_blank(const struct embedder *e, const struct job *j)
{
	return j->n == 1 && !j->items[0]->len && !e->info.document_prefix[0];
}

static void send_job(struct run *run, struct flight_slot *s, struct job *j)
{
	const struct embedder *e = run->e;

	run->rc = embed_hold(run->e, &s->spend, j->n, j->tokens,
			     e->c.batch_timeout_ms > 0 ? e->c.batch_timeout_ms :
							 BATCH_TIMEOUT_MS,
			     &run->err);
	if (!run->rc)
		run->rc = fill(run, s, j);
	if (run->rc) {
		embed_drop(run->e, &s->spend);
		return;
	}
	s->tag = j;
	run->in_flight++;
	j->tries = limits_tries(&run->e->limits, j->n);
	run->jobs.trying += j->tries;
	flight_send(run->f, s);
}

/* How many may be in flight. */
static int allowed(const struct run *run)
{
	bool checked = run->e->self_checked ||
		       limits_items(&run->e->limits, false) == 1;

	return run->rc ? 0 : checked ? run->at_most : 1;
}

static void send_all(struct run *run)
{
	int64_t now = clock_mono_ns();

	while (run->in_flight < allowed(run) && now >= run->cool_ns) {
		struct flight_slot *s = flight_slot(run->f);
		struct job *j = s ? job_next(&run->jobs, now) : NULL;

		if (run->a.failed)
			run->rc = fail_nomem(&run->err);
		if (!j || run->rc)
			return;
		if (!is_blank(run->e, j))
			send_job(run, s, j);
		else if (run->sink->refused)
			run->sink->refused(run->sink->ctx, j->items[0],
					   "the text is empty");
	}
}

/* How long nothing can happen but a reply. */
static int64_t pause_ns(const struct run *run)
{
	int64_t now = clock_mono_ns(), until = now + TICK_NS;
	int64_t due = job_due(&run->jobs);

	if (due < run->cool_ns)
		due = run->cool_ns;
	if (run->in_flight < allowed(run) && due < until)
		until = due;
	return until > now ? until - now : 0;
}

static void take(struct run *run, struct flight_slot *s)
{
	struct job *j = s->tag;
	struct outcome o;

	run->in_flight--;
	run->jobs.trying -= j->tries;
	if (s->rc) {
		embed_drop(run->e, &s->spend);
		stop(run, s->rc, &s->err);
		return;
	}
	outcome_of(&o, run->e, &s->r, &s->reply);
	http_reply_release(&s->reply);
	embed_settle(run->e, &s->spend, &o, (s->back_ns - s->sent_ns) / MS);
	decide(run, j, &o, s->sent_ns);
	mem_free(o.reply.vecs);
	if (run->a.failed && !run->rc)
		run->rc = fail_nomem(&run->err);
}

static void loop(struct run *run)
{
	bool asked = false;

	while (run->in_flight || (!run->rc && job_any(&run->jobs))) {
		struct flight_slot *s;

		if (!asked && cancelled(run)) {
			asked = true;
			flight_cancel(run->f);
			if (!run->rc)
				run->rc = fail(&run->err, REMEM_ECANCELLED,
					       "stopped");
		}
		send_all(run);
		s = flight_wait(run->f, pause_ns(run));
		if (s)
			take(run, s);
	}
}

int embed_run(struct embedder *e, const struct embed_item *items, size_t n,
	      const struct embed_sink *sink, struct remem_err *err)
{
	struct run run = { .e = e, .sink = sink, .a = ARENA_INIT,
			   .jobs = { .e = e, .items = items, .n = n },
			   .at_most = most_in_flight(e) };
	int rc;

	run.jobs.a = &run.a;
	if ((rc = flight_new(&run.f, e, most_in_flight(e), err)))
		return rc;
	loop(&run);
	if (limits_learned(&e->limits))
		e->info.learned_items = (int)limits_learned(&e->limits);
	flight_free(run.f);
	arena_release(&run.a);
	if (run.rc && err)
		*err = run.err;
	return run.rc;
}
