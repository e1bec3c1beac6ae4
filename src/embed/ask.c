/*
 * One remote request at a time, in the caller's thread: a question, a probe.
 * Retries and waits stay within a deadline and end when they are cancelled.
 */
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/trouble.h"
#include "base/utf8.h"
#include "embed/check.h"
#include "embed/embedder.h"

#define MS INT64_C(1000000)
#define SLICE_MS 50 /* how often a wait looks whether it is cancelled */
#define FLOOR_BYTES 16 /* a text that is refused at this is not too long */
#define ALIVE_TIMEOUT_MS 20000

const char *embed_prefix(const struct embedder *e, enum embed_kind kind)
{
	return kind == EMBED_QUERY ? e->info.query_prefix :
				     e->info.document_prefix;
}

int embed_join(struct arena *a, const struct embedder *e, enum embed_kind kind,
	       const char *text, size_t len, size_t max_bytes,
	       const char **out, size_t *out_len)
{
	const char *prefix = embed_prefix(e, kind);
	size_t n = strlen(prefix);
	char *s;

	if (max_bytes && max_bytes < len)
		len = utf8_cut(text, len, max_bytes);
	s = arena_alloc(a, n + len + 1);
	if (!s)
		return REMEM_ENOMEM;
	memcpy(s, prefix, n);
	if (len)
		memcpy(s + n, text, len);
	*out = s;
	*out_len = n + len;
	return 0;
}

int embed_send(struct embedder *e, struct http **http,
	       const struct http_request *req, struct http_reply *reply,
	       bool (*cancel)(void *ctx), void *ctx, struct remem_err *err)
{
	int rc;

	memset(reply, 0, sizeof(*reply));
	reply->retry_after_ms = -1;
	if (e->c.transport) {
		e->c.transport(e->c.transport_ctx, req, reply);
		return 0;
	}
	if (!*http && ((rc = http_new(http, err)) ||
		       (rc = http_set_ca(*http, e->c.ca_file, err))))
		return rc;
	return http_perform(*http, req, reply, 1, cancel, ctx, err);
}

int embed_hold(struct embedder *e, struct spend *s, size_t items,
	       int64_t tokens, int timeout_ms, struct remem_err *err)
{
	*s = (struct spend){ .provider = e->info.provider,
			     .model = e->info.model,
			     .items = (int)items,
			     .tokens = tokens,
			     .timeout_ms = timeout_ms };
	return e->c.spend.hold ? e->c.spend.hold(e->c.spend.ctx, s, err) : 0;
}

void embed_settle(struct embedder *e, struct spend *s, const struct outcome *o,
		  int64_t took_ms)
{
	s->tokens = spend_paid(o->status, o->timed_out, o->reply.tokens,
			       s->tokens);
	s->status = o->status;
	s->took_ms = took_ms;
	if (e->c.spend.settle)
		e->c.spend.settle(e->c.spend.ctx, s);
	s->held = 0;
}

void embed_drop(struct embedder *e, struct spend *s)
{
	if (s->held && e->c.spend.drop)
		e->c.spend.drop(e->c.spend.ctx, s);
	s->held = 0;
}

/* ---- waiting ---------------------------------------------------------- */

struct waiter {
	const struct ask *ask;
	int64_t end_ns; /* 0: none */
};

static bool is_over(void *ctx)
{
	const struct waiter *w = ctx;

	return (w->ask->cancel && w->ask->cancel(w->ask->ctx)) ||
	       (w->end_ns && clock_mono_ns() >= w->end_ns);
}

/* False when there is no time for it, or it was cancelled. */
static bool wait_ms(struct waiter *w, int ms)
{
	int64_t end = clock_mono_ns() + ms * MS, left;

	if (w->end_ns && end >= w->end_ns)
		return false;
	while ((left = end - clock_mono_ns()) > 0) {
		struct timespec t = { 0, (long)(left < SLICE_MS * MS ?
						left : SLICE_MS * MS) };

		if (is_over(w))
			return false;
		nanosleep(&t, NULL);
	}
	return true;
}

/* ---- one request ------------------------------------------------------ */

struct try {
	struct embedder *e;
	const struct ask *ask;
	struct waiter w;
	size_t cut; /* bytes of the text, 0: all */
	int again, rate, faulty;
	int64_t told_ns; /* first refusal that said when to come back */
};

static int request_timeout(const struct try *t)
{
	int64_t left = t->w.end_ns ? (t->w.end_ns - clock_mono_ns()) / MS :
				     t->ask->timeout_ms;

	if (left > t->ask->timeout_ms)
		left = t->ask->timeout_ms;
	return left > 1 ? (int)left : 1;
}

static int once(struct try *t, struct outcome *o, struct remem_err *err)
{
	struct embedder *e = t->e;
	const struct ask *ask = t->ask;
	struct arena a = ARENA_INIT;
	struct buf body = BUF_INIT(0);
	struct http_request http = { .timeout_ms = request_timeout(t) };
	struct http_reply reply = { .retry_after_ms = -1 };
	struct embed_request r = { .kind = ask->kind, .n = 1 };
	const char *text;
	size_t len;
	struct spend spend = { 0 };
	int64_t start = clock_mono_ns();
	int rc;

	memset(o, 0, sizeof(*o));
	if ((rc = embed_join(&a, e, ask->kind, ask->text, ask->len, t->cut,
			     &text, &len))) {
		rc = fail_nomem(err);
		goto out;
	}
	r.texts = &text;
	r.lens = &len;
	if ((rc = embed_hold(e, &spend, 1, embedder_tokens(e, text, len),
			     http.timeout_ms, err)) ||
	    (rc = e->p->build(e->self, &r, &http, &body, err)) ||
	    (rc = embed_send(e, &e->http, &http, &reply, is_over, &t->w, err)))
		goto out;
	outcome_of(o, e, &r, &reply);
	embed_settle(e, &spend, o, (clock_mono_ns() - start) / MS);
out:
	embed_drop(e, &spend);
	http_reply_release(&reply);
	buf_release(&body);
	arena_release(&a);
	return rc;
}

/* Whether there is a next try, after its wait. */
static bool wait_again(struct try *t, struct outcome *o)
{
	bool rate = o->verdict == VERDICT_RATE;
	int *count = rate ? &t->rate : &t->again;
	int tries = rate && t->ask->tries > 1 ? RETRY_RATE_TRIES :
						t->ask->tries;
	int ms;

	if (rate && t->ask->patient && o->retry_after_ms >= 0) {
		if (!t->told_ns)
			t->told_ns = clock_mono_ns();
		if (clock_mono_ns() - t->told_ns < RETRY_TOLD_MS * MS)
			tries = RETRY_TOLD_TRIES;
	}
	/* Somebody waits for this one, and nobody listens there. */
	if (t->ask->kind == EMBED_QUERY && !o->status && !o->timed_out)
		tries = 2;
	if (++*count >= tries)
		return false;
	ms = trouble_wait_ms(*count - 1, o->retry_after_ms,
			     embed_wait_scale(&t->e->c, o->retry_after_ms),
			     &t->e->random);
	return ms >= 0 && wait_ms(&t->w, ms);
}

/* Shorter, or in simpler words; false when neither is possible. */
static bool make_smaller(struct try *t)
{
	struct embedder *e = t->e;
	size_t len = t->cut ? t->cut : t->ask->len;

	if (!e->answered && e->p->simplify && e->p->simplify(e->self)) {
		e->simplified++;
		return true;
	}
	if (t->ask->whole || len / 2 < FLOOR_BYTES)
		return false;
	t->cut = utf8_cut(t->ask->text, t->ask->len, len / 2);
	return true;
}

static bool try_again(struct try *t, struct outcome *o)
{
	switch (o->verdict) {
	case VERDICT_AGAIN:
	case VERDICT_RATE:
		return wait_again(t, o);
	case VERDICT_FAULTY:
		return t->ask->tries > 1 && !t->faulty++;
	case VERDICT_REFUSED:
		return make_smaller(t);
	default:
		return false;
	}
}

/* The reason why there was none, in the words of the deadline if it was that. */
static int say_why(struct try *t, const struct outcome *o,
		   struct remem_err *err)
{
	bool late = t->w.end_ns && clock_mono_ns() >= t->w.end_ns;

	if (t->ask->cancel && t->ask->cancel(t->ask->ctx))
		return fail(err, REMEM_ECANCELLED, "stopped");
	if (o->err.code == REMEM_ECANCELLED || (late && o->timed_out))
		return fail(err, REMEM_ETIMEOUT, "the provider did not answer "
			    "in the time that was left");
	if (err)
		*err = o->err;
	return o->err.code;
}

static void judge_vector(struct outcome *o)
{
	const char *wrong;

	if (o->verdict != VERDICT_GOOD)
		return;
	wrong = check_vector(o->reply.vecs, o->reply.dims);
	if (!wrong)
		return;
	mem_free(o->reply.vecs);
	o->reply.vecs = NULL;
	o->verdict = VERDICT_FAULTY;
	fail(&o->err, REMEM_EREMOTE, "%s", wrong);
}

int embed_ask(struct embedder *e, const struct ask *ask, float **vec,
	      int *dims, struct remem_err *err)
{
	struct try t = { .e = e, .ask = ask,
			 .w = { ask, ask->deadline_ns } };
	struct outcome o;
	int rc;

	*vec = NULL;
	do {
		if ((rc = once(&t, &o, err)))
			return rc;
		judge_vector(&o);
	} while (try_again(&t, &o));
	if (o.verdict != VERDICT_GOOD)
		return say_why(&t, &o, err);
	*vec = o.reply.vecs;
	*dims = o.reply.dims;
	return 0;
}

int embed_alive(struct embedder *e, bool (*cancel)(void *ctx), void *ctx,
		struct remem_err *err)
{
	struct ask ask = { .kind = EMBED_DOCUMENT, .text = "probe", .len = 5,
			   .timeout_ms = ALIVE_TIMEOUT_MS, .tries = 2,
			   .patient = true, .whole = true, .cancel = cancel, .ctx = ctx };
	float *vec;
	int dims, rc = embed_ask(e, &ask, &vec, &dims, err);

	mem_free(vec);
	return rc;
}
