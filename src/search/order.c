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
/* A lasting rule and its exception share less of their wording. */
#define RULE_COSINE 0.35f
#define SUPERSEDE_AMONG 20
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

/* Does b, further down, take a's place? */
static bool goes_before(const struct work *w, const struct cand *a,
			const struct cand *b)
{
	float alike;

	if (a->suspect || b->suspect)
		return false;
	alike = order_alike(w, a, b);
	if (b->date == DATE_NONE && a->date != DATE_NONE)
		return a->one_off && alike >= RULE_COSINE;
	if (a->date == DATE_NONE || b->date == DATE_NONE)
		return false;
	return b->date > a->date && alike >= SAME_COSINE && !b->one_off;
}

static void supersede(struct work *w, int n)
{
	int i, j;

	if (w->q.date_from != DATE_NONE)
		return; /* asked for what was then */
	for (i = 0; i < n; i++) {
		struct cand *a = w->best[i];

		for (j = i + 1; j < n; j++) {
			struct cand *b = w->best[j];

			if (!goes_before(w, a, b))
				continue;
			if (!a->superseded_by ||
			    a->superseded_by->date < b->date)
				a->superseded_by = b;
			if (b->score <= a->score)
				b->score = a->score * STEP;
		}
	}
	sort_best(w, n);
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
			float s = order_alike(w, c, w->best[j]);

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
