/*
 * The leg of vectors: who makes the question's vector. Stored vectors answer
 * that have one fingerprint, and only a question embedded by the same model
 * may be compared with them. So of the first embedder and those behind it each
 * in turn is asked whose fingerprint that is; what kept the others from it is
 * told.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "search/work.h"
#include "source/secret.h"

static void degrade(struct search_answer *out, const char *reason,
		    const char *detail, const char *action)
{
	out->degraded_reason = reason;
	out->degraded_detail = detail;
	out->degraded_action = action;
}

void leg_no_vectors(struct search_answer *out)
{
	if (!out->degraded_reason)
		degrade(out, "no_vectors",
			"no vectors of this model are in the index yet",
			"run: remem index");
}

static int left_ms(const struct search_opts *o)
{
	int64_t left;

	if (!o->deadline_ns)
		return 0;
	left = (o->deadline_ns - clock_mono_ns()) / 1000000;
	return left < 1 ? 1 : left > INT32_MAX ? INT32_MAX : (int)left;
}

static bool late(const struct search_opts *o)
{
	return o->deadline_ns && clock_mono_ns() >= o->deadline_ns;
}

/* ---- one embedder ----------------------------------------------------- */

/* A question goes to a remote provider without keys and tokens. */
static int ask_embedder(struct work *w, float **vec, int *dims,
			struct remem_err *err)
{
	struct buf b = BUF_INIT(0);
	const char *text = w->q.text;
	size_t len = w->q.len;
	int rc;

	if (embedder_info(w->e)->remote && secret_mask(&b, text, len, 0)) {
		text = buf_str(&b);
		len = b.len;
	}
	rc = buf_check(&b, err);
	if (!rc)
		rc = embedder_query(w->e, text, len, left_ms(w->o), vec, dims,
				    err);
	buf_release(&b);
	return rc;
}

static int ask_checked(struct work *w, float **vec, int *dims,
		       struct remem_err *err)
{
	int rc = w->fp ? embedder_expect(w->e, w->dims, err) : 0;

	*vec = NULL;
	if (!rc)
		rc = ask_embedder(w, vec, dims, err);
	if (rc || !w->fp || *dims == w->dims)
		return rc;
	mem_free(*vec);
	*vec = NULL;
	return fail(err, REMEM_EREMOTE, "the provider answered a vector of %d "
		    "dimensions, not %d", *dims, w->dims);
}

/* Sets w->qvec, of w->dims where there are vectors. */
static int query_vector(struct work *w, struct remem_err *err)
{
	float *vec, *own;
	int dims = 0, rc = ask_checked(w, &vec, &dims, err);

	if (rc)
		return rc;
	own = ARENA_ARRAY(w->a, float, (size_t)dims);
	if (own)
		memcpy(own, vec, (size_t)dims * sizeof(*own));
	mem_free(vec);
	if (!own)
		return fail_nomem(err);
	w->qvec = own;
	return 0;
}

/* ---- one after the other ---------------------------------------------- */

struct chain {
	struct work *w;
	const char *fingerprint; /* of what answers; NULL: nothing does */
	int at; /* which embedder, 0: the first */
	bool late;
	bool asked; /* one of them */
	const char *action; /* of the first that failed */
};

static void step(struct chain *c, const char *name, const char *reason)
{
	struct search_answer *out = c->w->out;
	struct search_step *s;

	if (out->step_count == SEARCH_STEPS)
		return;
	s = &out->steps[out->step_count++];
	s->provider = name;
	s->model = c->w->e ? embedder_info(c->w->e)->model : NULL;
	s->reason = reason;
}

static bool is_other(const struct chain *c, struct embedder *e)
{
	return c->fingerprint &&
	       strcmp(embedder_info(e)->fingerprint, c->fingerprint) != 0;
}

/* A model of this machine that fails sends no question to a service that has
 * nothing to compare it with. */
static bool is_for_nothing(const struct chain *c, struct embedder *e)
{
	struct embedder *first = c->w->o->embedder;

	return !c->fingerprint && e != first && embedder_info(e)->remote &&
	       (!first || !embedder_info(first)->remote);
}

/* One whose vectors do not answer is not asked, but may be known to be down. */
static const char *why_not(struct chain *c, struct embedder *e)
{
	struct embed_health h;

	if (embedder_off(e))
		return embedder_off(e);
	if (is_for_nothing(c, e))
		return "it has no vectors yet";
	if (!is_other(c, e))
		return NULL;
	return embedder_cooling(e, &h) ? arena_strdup(c->w->a, h.message) :
					 "its vectors are not all there yet";
}

static int ask(struct chain *c, const char *name, struct remem_err *err)
{
	struct work *w = c->w;
	struct remem_err why = { 0 };
	int rc = query_vector(w, &why);

	c->asked = true;
	/* A model that found no memory: the words may well do without. */
	if (rc == REMEM_ENOMEM)
		fail_nomem(&why);
	if (rc == REMEM_ECANCELLED)
		return fail(err, rc, "cancelled");
	step(c, name, rc ? arena_strdup(w->a, why.message) : NULL);
	if (rc && !c->action)
		c->action = arena_strdup(w->a, why.action);
	c->late = rc == REMEM_ETIMEOUT;
	return 0;
}

/* The next embedder, NULL with *more false behind the last. */
static struct embedder *next(struct chain *c, const char **name,
			     const char **why, bool *more)
{
	const struct search_opts *o = c->w->o;
	struct embedder *e = c->at ? NULL : o->embedder;

	*name = e ? embedder_info(e)->provider : NULL;
	*why = NULL;
	if (o->chain)
		e = o->chain(o->chain_ctx, c->at, c->fingerprint, name, why);
	*more = e || *why;
	return e;
}

static int ask_all(struct chain *c, struct remem_err *err)
{
	const char *name, *why;
	bool more = true;
	int rc = 0;

	for (c->at = 0; !rc && !c->w->qvec && more && !late(c->w->o); c->at++) {
		c->w->e = next(c, &name, &why, &more);
		if (!more)
			break;
		if (c->w->e && !why)
			why = why_not(c, c->w->e);
		if (why)
			step(c, name, why);
		else
			rc = ask(c, name, err);
	}
	return rc;
}

/* "openai: REASON; ollama: REASON", or the one reason alone. */
static const char *reasons(struct chain *c)
{
	const struct search_answer *out = c->w->out;
	struct buf b = BUF_INIT(0);
	const char *all;
	int failed = 0;

	for (int i = 0; i < out->step_count; i++)
		failed += out->steps[i].reason != NULL;
	for (int i = 0; i < out->step_count; i++) {
		const struct search_step *s = &out->steps[i];

		if (!s->reason)
			buf_addf(&b, "%s%s answers", b.len ? "; " : "",
				 s->provider);
		else if (failed == 1 && out->step_count == 1)
			buf_adds(&b, s->reason);
		else
			buf_addf(&b, "%s%s: %s", b.len ? "; " : "",
				 s->provider, s->reason);
	}
	all = arena_strdup(c->w->a, b.failed ? "" : buf_str(&b));
	buf_release(&b);
	return all;
}

static void say(struct chain *c)
{
	struct work *w = c->w;
	struct search_answer *out = w->out;
	bool other = w->e && w->e != w->o->embedder;

	if (w->qvec && !other) {
		out->step_count = 0;
		if (!w->fp)
			leg_no_vectors(out);
		return;
	}
	if (w->qvec) {
		out->provider = embedder_info(w->e)->provider;
		out->model = embedder_info(w->e)->model;
		degrade(out, "fallback", reasons(c), c->action ? c->action :
			"run: remem index");
		return;
	}
	if (!out->step_count)
		degrade(out, "deadline", "no time was left for vectors",
			"give a longer --deadline");
	else if (!c->asked)
		degrade(out, "no_provider", reasons(c),
			"set memorySearch.provider: builtin");
	else
		degrade(out, c->late ? "deadline" : "provider", reasons(c),
			c->action ? c->action : "run: remem index");
}

/* Vectors of the caller's own are of the first one's model. */
static int given(struct work *w, struct remem_err *err)
{
	int rc = w->s->ops->fingerprint_find(
		w->s, embedder_info(w->e)->fingerprint, &w->fp, &w->dims, err);

	if (rc)
		return rc;
	w->qvec = w->o->query_vec;
	if (!w->fp)
		leg_no_vectors(w->out);
	return w->fp ? means_load(w, err) : 0;
}

static int find_answering(struct chain *c, struct remem_err *err)
{
	struct work *w = c->w;
	const char *text = NULL;
	int rc = w->s->ops->fingerprint_active(w->s, &w->fp, &w->dims, &text,
					       err);

	/* It is borrowed until the next call, and others are asked by it. */
	if (!rc && w->fp && !(c->fingerprint = arena_strdup(w->a, text)))
		rc = fail_nomem(err);
	return rc;
}

int leg_open(struct work *w, struct remem_err *err)
{
	struct chain c = { .w = w };
	int rc;

	if (w->o->mode == REMEM_MODE_TEXT)
		return 0;
	w->e = w->o->embedder;
	if (!w->e && !w->o->chain) {
		degrade(w->out, "no_provider", "no embedding provider",
			"set memorySearch.provider: builtin");
		return 0;
	}
	if (w->e) {
		w->out->provider = embedder_info(w->e)->provider;
		w->out->model = embedder_info(w->e)->model;
	}
	if (w->o->query_vec && w->e)
		return given(w, err);
	if ((rc = find_answering(&c, err)))
		return rc;
	/* A service is asked also when nothing is stored: that it is down is
	 * the reason that helps. A model of our own would work for nothing. */
	if (!w->fp && w->e && !embedder_info(w->e)->remote &&
	    !embedder_off(w->e)) {
		leg_no_vectors(w->out);
		w->e = NULL;
		return 0;
	}
	if ((rc = ask_all(&c, err)))
		return rc;
	say(&c);
	if (w->qvec && w->fp)
		return means_load(w, err);
	w->fp = 0;
	w->e = NULL;
	return 0;
}
