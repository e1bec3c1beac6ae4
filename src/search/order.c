/*
 * The order of the answers beyond single scores: a newer statement of the
 * same thing goes before the older one, a lasting rule before an exception,
 * text that gives orders to an assistant behind what tells facts; then
 * diversity.
 */
#include <math.h>
#include <string.h>

#include "search/work.h"

/* Passages as alike as that speak of the same thing (ranking 5). */
#define SAME_COSINE 0.45f
/* A lasting rule and its exception share less of their wording; both then
 * answer the question nearly as well. */
#define RULE_COSINE 0.15f
#define RULE_SHARE 0.6f
/* Less alike, but as good an answer as the older one. */
#define CLOSE_COSINE 0.4f
#define CLOSE_SHARE 0.9f
#define SUPERSEDE_AMONG 20
/* Only what could be the answer is worth replacing: this share of the best. */
#define SUPERSEDE_SHARE 0.75f
#define REPEAT_COSINE 0.85f
#define REPEAT_PENALTY 1.5f
#define PROSE_PENALTY 0.4f
/* Places that a marked text falls behind: its score times this. */
#define SUSPECT_FACTOR 0.5f
/* Just above the older one, so that nothing comes between. */
#define STEP 1.0005f

float order_alike(const struct work *w, const struct cand *x,
		  const struct cand *y)
{
	float sum = 0;
	int i;

	if (!x->vec || !y->vec)
		return 0;
	for (i = 0; i < w->dims; i++)
		sum += x->vec[i] * y->vec[i];
	return sum;
}

/* Centred, normalised vectors of the best candidates. */
static int load_best(struct work *w, int n, struct remem_err *err)
{
	int i, j, rc;

	for (i = 0; w->fp && i < n; i++) {
		struct cand *c = w->best[i];
		const float *mean = w->means[c->p->script];
		float *v, norm = 0;

		if (c->p->slot == STORE_NO_SLOT || c->vec)
			continue;
		v = ARENA_ARRAY(w->a, float, (size_t)w->dims);
		if (!v)
			return fail_nomem(err);
		rc = w->s->ops->vector_get(w->s, w->fp, c->p->slot, v, err);
		if (rc)
			return rc;
		for (j = 0; j < w->dims; j++) {
			v[j] -= mean ? mean[j] : 0;
			norm += v[j] * v[j];
		}
		if (norm <= 0)
			continue;
		norm = 1 / sqrtf(norm);
		for (j = 0; j < w->dims; j++)
			v[j] *= norm;
		c->vec = v;
	}
	return 0;
}

static void sort_best(struct work *w, int n)
{
	int i, j;

	for (i = 1; i < n; i++) { /* nearly sorted, and short */
		struct cand *c = w->best[i];

		for (j = i; j > 0 && w->best[j - 1]->score < c->score; j--)
			w->best[j] = w->best[j - 1];
		w->best[j] = c;
	}
}

static void demote_suspect(struct work *w, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (w->best[i]->suspect)
			w->best[i]->score *= SUSPECT_FACTOR;
	sort_best(w, n);
}

static bool in_span(const struct work *w, const struct cand *c)
{
	return c->date != DATE_NONE && w->q.date_from != DATE_NONE &&
	       c->date >= w->q.date_from && c->date <= w->q.date_to;
}

/* What was said in a talk is an event: a later one replaces nothing. */
static bool states(const struct cand *c)
{
	return c->p->kind != PASSAGE_MESSAGE &&
	       c->f->source != STORE_SESSIONS;
}

/* Does b take a's place? */
static bool goes_before(const struct work *w, const struct cand *a,
			const struct cand *b)
{
	float alike;

	if (a->suspect || b->suspect || !states(a) || !states(b))
		return false;
	if (in_span(w, a) && !in_span(w, b))
		return false; /* asked for what was then */
	if (a->exact && !b->exact)
		return false;
	if (a->date == DATE_NONE || (b->date == DATE_NONE && !a->one_off))
		return false;
	alike = order_alike(w, a, b);
	if (b->date == DATE_NONE)
		return alike >= RULE_COSINE &&
		       b->relevance >= RULE_SHARE * a->relevance;
	if (b->date <= a->date || b->one_off)
		return false;
	return alike >= SAME_COSINE ||
	       (alike >= CLOSE_COSINE &&
		b->relevance >= CLOSE_SHARE * a->relevance);
}

/* Lifts each newer statement above the older one it replaces; again while a
 * chain of them still moves. */
static void supersede(struct work *w, int n)
{
	float least = SUPERSEDE_SHARE * w->best[0]->relevance;
	bool moved = true;
	int i, j, round;

	for (round = 0; moved && round < n; round++) {
		moved = false;
		for (i = 0; i < n; i++) {
			if (w->best[i]->relevance < least)
				continue;
			for (j = 0; j < n; j++) {
				struct cand *a = w->best[i], *b = w->best[j];

				if (i == j || !goes_before(w, a, b))
					continue;
				if (!a->superseded_by ||
				    a->superseded_by->date < b->date)
					a->superseded_by = b;
				if (b->score > a->score)
					continue;
				b->score = a->score * STEP;
				moved = true;
			}
		}
	}
	sort_best(w, n);
}

static bool prose(const struct cand *c)
{
	return c->p->kind == PASSAGE_PARAGRAPH;
}

/*
 * What y adds less because x is shown. The same line once more ("battery of
 * scanner C changed") adds less than nothing: it takes a place. Paragraphs of
 * one subject are alike without being repetitions.
 */
static float penalty(const struct work *w, const struct cand *x,
		     const struct cand *y)
{
	float alike = order_alike(w, x, y);

	if (alike >= REPEAT_COSINE)
		return REPEAT_PENALTY;
	return alike * alike * (prose(x) && prose(y) ? PROSE_PENALTY : 1);
}

/* Maximal marginal relevance; the order is kept to the end. */
static int diversify(struct work *w, int n, struct remem_err *err)
{
	float lambda = (float)w->o->mmr_lambda;
	float *most = ARENA_ARRAY(w->a, float, (size_t)n);
	int i, j;

	if (!most)
		return fail_nomem(err);
	for (i = 0; i + 1 < n; i++) {
		int pick = i;
		float top = -1e30f;
		struct cand *c;

		for (j = i; j < n; j++) {
			float x = lambda * w->best[j]->score -
				  (1 - lambda) * most[j] * w->best[i]->score;

			if (x > top) {
				top = x;
				pick = j;
			}
		}
		c = w->best[pick];
		memmove(&w->best[i + 1], &w->best[i],
			(size_t)(pick - i) * sizeof(*w->best));
		memmove(&most[i + 1], &most[i],
			(size_t)(pick - i) * sizeof(*most));
		w->best[i] = c;
		for (j = i + 1; j < n; j++) {
			float s = penalty(w, c, w->best[j]);

			if (c->superseded_by == w->best[j] ||
			    w->best[j]->superseded_by == c)
				continue; /* shown together on purpose */
			if (s > most[j])
				most[j] = s;
		}
	}
	return 0;
}

int order_all(struct work *w, struct remem_err *err)
{
	int n = w->best_count < CAND_ORDERED ? w->best_count : CAND_ORDERED;
	int rc;

	if (n < 2)
		return 0;
	if ((rc = load_best(w, n, err)))
		return rc;
	demote_suspect(w, n);
	supersede(w, n < SUPERSEDE_AMONG ? n : SUPERSEDE_AMONG);
	return w->o->mmr ? diversify(w, n, err) : 0;
}
