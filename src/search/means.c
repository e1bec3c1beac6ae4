/*
 * Vectors of a multilingual model cluster by language first: a Chinese
 * question is nearer to any Chinese line than to the English one with the
 * answer. The mean of its language is taken off every vector. What counts is
 * the offset between languages within this memory; small memories lean on the
 * model's default means (from parallel sentences):
 *
 *   base   = what all languages share: the memory's mean, less the default
 *            offsets in the proportion of its languages; drawn to the default
 *            base while there are few passages
 *   mean_s = own mean of script s, drawn to base + default offset of s while
 *            there are few passages in s
 *
 * doc/internals/ranking.md has what was measured.
 */
#include <string.h>

#include "search/work.h"

/* Passages at which a language's own mean counts as much as the default
 * (ranking: 30 passages .943, 100 .958, 300 .964 of .967). */
#define HALF_LANGUAGE 50.0f
/* Passages at which the memory's overall mean counts as much as the
 * model's: a mean of fewer takes away what tells them apart. */
#define HALF_BASE 20.0f

struct blend {
	const float *own[SCRIPT_COUNT];
	int64_t count[SCRIPT_COUNT];
	int64_t total;
	const float *const *def; /* default means per script, or NULL */
	float *def_base; /* mean of the defaults */
};

static void add_scaled(float *to, const float *v, float k, int n)
{
	int i;

	for (i = 0; i < n; i++)
		to[i] += k * v[i];
}

static void default_base(struct blend *b, int dims)
{
	int s, n = 0;

	for (s = 0; b->def && s < SCRIPT_COUNT; s++) {
		if (!b->def[s])
			continue;
		add_scaled(b->def_base, b->def[s], 1, dims);
		n++;
	}
	for (s = 0; n && s < dims; s++)
		b->def_base[s] /= (float)n;
}

/* Adds k times the default offset of script s. */
static void add_offset(float *to, const struct blend *b, int s, float k,
		       int dims)
{
	if (!b->def || !b->def[s])
		return;
	add_scaled(to, b->def[s], k, dims);
	add_scaled(to, b->def_base, -k, dims);
}

static void shared_base(float *base, const struct blend *b, int dims)
{
	float part = (float)b->total / ((float)b->total + HALF_BASE);
	int s;

	for (s = 0; s < SCRIPT_COUNT; s++) {
		float share;

		if (!b->count[s])
			continue;
		share = (float)b->count[s] / (float)b->total;
		add_scaled(base, b->own[s], part * share, dims);
		add_offset(base, b, s, -part * share, dims);
	}
	add_scaled(base, b->def_base, 1 - part, dims);
}

int means_load(struct work *w, struct remem_err *err)
{
	struct blend b = { .total = 0 };
	struct store_mean *m;
	float *base;
	int i, s, n, rc;

	if (w->e)
		b.def = embedder_info(w->e)->means;
	rc = w->s->ops->means(w->s, w->a, w->fp, &m, &n, err);
	if (rc)
		return rc;
	b.def_base = ARENA_ARRAY(w->a, float, (size_t)w->dims);
	base = ARENA_ARRAY(w->a, float, (size_t)w->dims);
	if (w->a->failed)
		return fail_nomem(err);
	for (i = 0; i < n; i++) {
		if (m[i].count <= 0 || m[i].script >= SCRIPT_COUNT)
			continue;
		b.own[m[i].script] = m[i].mean;
		b.count[m[i].script] = m[i].count;
		b.total += m[i].count;
	}
	default_base(&b, w->dims);
	shared_base(base, &b, w->dims);
	for (s = 0; s < SCRIPT_COUNT; s++) {
		float own = (float)b.count[s] /
			    ((float)b.count[s] + HALF_LANGUAGE);
		float *to = ARENA_ARRAY(w->a, float, (size_t)w->dims);

		if (!to)
			return fail_nomem(err);
		if (b.count[s])
			add_scaled(to, b.own[s], own, w->dims);
		add_scaled(to, base, 1 - own, w->dims);
		add_offset(to, &b, s, 1 - own, w->dims);
		w->means[s] = to;
	}
	w->mean_q = w->means[w->q.script];
	return 0;
}
