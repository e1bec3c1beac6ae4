/* The run: which legs there are, then the steps, then what is missing. */
#include "search/search.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "search/work.h"

static void degrade(struct search_answer *out, const char *reason,
		    const char *detail, const char *action)
{
	out->degraded_reason = reason;
	out->degraded_detail = detail;
	out->degraded_action = action;
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

/* The query's vector: given, or made by the embedder. Sets w->qvec or says
 * why there is none; only memory is an error. */
static int query_vector(struct work *w, struct remem_err *err)
{
	struct embedder *e = w->o->embedder;
	struct remem_err why = { 0 };
	float *vec = NULL, *own;
	int dims = 0, rc;

	if (w->o->query_vec) {
		w->qvec = w->o->query_vec;
		w->dims = embedder_info(e)->dims;
		return 0;
	}
	rc = embedder_query(e, w->q.text, w->q.len, left_ms(w->o), &vec, &dims,
			    &why);
	if (rc == REMEM_ENOMEM)
		return fail_nomem(err);
	if (rc) {
		degrade(w->out, rc == REMEM_ETIMEOUT ? "deadline" : "provider",
			arena_strdup(w->a, why.message),
			arena_strdup(w->a, why.action));
		return 0;
	}
	own = ARENA_ARRAY(w->a, float, (size_t)dims);
	if (own)
		memcpy(own, vec, (size_t)dims * sizeof(*own));
	mem_free(vec);
	if (!own)
		return fail_nomem(err);
	w->qvec = own;
	w->dims = dims;
	return 0;
}

static int open_vector_leg(struct work *w, struct remem_err *err)
{
	struct embedder *e = w->o->embedder;
	int dims, rc;

	if (w->o->mode == REMEM_MODE_TEXT)
		return 0;
	if (!e || embedder_off(e)) {
		degrade(w->out, "no_provider",
			e ? embedder_off(e) : "no embedding provider",
			"set memorySearch.provider: builtin");
		return 0;
	}
	w->out->provider = embedder_info(e)->provider;
	w->out->model = embedder_info(e)->model;
	if (late(w->o)) {
		degrade(w->out, "deadline", "no time was left for vectors",
			"give a longer --deadline");
		return 0;
	}
	if ((rc = query_vector(w, err)) || !w->qvec)
		return rc;
	rc = w->s->ops->fingerprint_find(w->s, embedder_info(e)->fingerprint,
					 &w->fp, &dims, err);
	if (rc)
		return rc;
	if (!w->fp || dims != w->dims) {
		w->fp = 0;
		degrade(w->out, "no_vectors",
			"no vectors of this model are in the index yet",
			"run: remem index");
		return 0;
	}
	return means_load(w, err);
}

/* Identifiers of the question that memory does not hold. */
static int find_missing(struct work *w, struct remem_err *err)
{
	const struct query *q = &w->q;
	const char **names;
	int i;

	names = ARENA_ARRAY(w->a, const char *, (size_t)q->phrase_count + 1);
	if (!names)
		return fail_nomem(err);
	for (i = 0; i < q->phrase_count; i++) {
		const struct query_phrase *p = &q->phrases[i];

		if (p->identifier && !w->terms[p->first].df)
			names[w->out->missing_count++] = p->text;
	}
	w->out->missing = names;
	return 0;
}

static void say(struct work *w)
{
	struct search_answer *out = w->out;

	if (!w->q.term_count)
		out->message = "the question is blank";
	else if (out->missing_count && !out->count)
		out->message = arena_printf(
			w->a, "memory does not hold '%s'", out->missing[0]);
	else if (!out->count && !w->info.chunks)
		out->message = "the index is empty";
	else if (!out->count && out->degraded_reason)
		out->message = arena_printf(
			w->a, "nothing found by keywords among %lld chunks; "
			"vectors were not used: %s",
			(long long)w->info.chunks, out->degraded_detail);
	else if (!out->count)
		out->message = arena_printf(
			w->a, "nothing relevant among %lld chunks of %lld "
			"files", (long long)w->info.chunks,
			(long long)w->info.indexed);
}

static int run(struct work *w, struct remem_err *err)
{
	int rc;

	if ((rc = w->s->ops->info(w->s, &w->info, err)))
		return rc;
	if (!w->q.term_count || !w->info.chunks)
		return 0;
	if ((rc = w->s->ops->filter(w->s, &w->o->filter, &w->set, err)) ||
	    (rc = pool_terms(w, err)) || (rc = open_vector_leg(w, err)) ||
	    (rc = pool_collect(w, err)) || (rc = coverage_from(w, 0, err)) ||
	    (rc = score_all(w, err)) || (rc = link_all(w, err)) ||
	    (rc = order_all(w, err)) || (rc = answer_all(w, err)))
		return rc;
	return find_missing(w, err);
}

int search_run(struct search_answer *out, struct arena *a, struct store *s,
	       const char *query, size_t len, const struct search_opts *o,
	       struct remem_err *err)
{
	struct work w = { .a = a, .s = s, .o = o, .out = out };
	int64_t started = clock_mono_ns();
	int rc;

	memset(out, 0, sizeof(*out));
	out->mode = o->mode;
	rc = query_parse(&w.q, a, query, len, o->today, err);
	if (rc)
		return rc;
	if ((rc = s->ops->read_begin(s, err)))
		return rc;
	rc = run(&w, err);
	s->ops->read_end(s);
	if (w.set)
		s->ops->filter_free(w.set);
	if (rc)
		return rc;
	out->text_ran = o->mode != REMEM_MODE_VECTOR;
	out->vector_ran = w.fp != 0;
	if (!w.fp)
		out->mode = REMEM_MODE_TEXT;
	say(&w);
	out->took_ns = clock_mono_ns() - started;
	return a->failed ? fail_nomem(err) : 0;
}
