/*
 * The pool of chunks by text: terms in the order of their rarity, postings
 * read into an accumulator by chunk id.
 *
 *   idf(t)  = ln(1 + (N - df + .5) / (df + .5))
 *   w(t, d) = min(1, 2.2 tf / (tf + 1.2 (.25 + .75 |d| / L)))
 *   score   = sum over groups of the strongest idf * weight * w
 *
 * Postings know of tf only its class (1, 2, 4 and more), which is enough: w
 * reaches 1 with tf 1 for all chunks of mean length or less.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "store/sqlite_store.h"
#include "store/topk.h"
#include "text/term.h"

/* A term is common when it stands in an eighth of the chunks, and in at least
 * this many. Common ones are read only if rarer ones have not given k chunks;
 * they hardly change the order. */
#define COMMON_MIN 2000
#define COMMON_SHARE 8
/* Postings added up for one question, whatever it holds: the rarest
 * come first. Chosen without a sweep; two judged sets answer the same. */
#define POSTINGS_MAX 200000
/* Lists kept from counting to adding: those of this many rows, this many rows
 * in all. Longer ones are read again. */
#define KEPT_ROWS 4096
#define KEPT_ALL 262144

struct span { /* of gather.kept */
	uint32_t first, count;
	bool kept, classes;
};

/* What is gathered for one chunk. */
struct sum {
	uint32_t call; /* the fields below are of that pool */
	uint32_t group; /* that best is of */
	float score, best; /* in all; in the group at hand */
};

struct gathered { /* stays with the handle: making it costs a millisecond */
	struct sum *sums; /* by chunk id */
	size_t cap;
	uint32_t call;
	struct id_list held; /* chunks met in this call */
};

struct gather {
	struct sq *s;
	struct store_term *terms;
	struct span *spans; /* by term */
	struct id_list kept, list;
	struct gathered *at;
	const struct store_set *set;
	const struct map_entry *rows;
	size_t row_count;
	uint32_t group; /* the one at hand */
	float k0, k1; /* of the length part: k0 + k1 * terms */
	int64_t budget;
};

void sq_match_text(char *out, size_t cap, const char *term, bool prefix,
		   char tf)
{
	size_t n = 0;

	out[n++] = '"';
	for (const char *p = term; *p && n + 6 < cap; p++) {
		if (*p == '"')
			out[n++] = '"';
		out[n++] = *p;
	}
	if (tf)
		out[n++] = tf;
	out[n++] = '"';
	if (prefix)
		out[n++] = '*';
	out[n] = '\0';
}

bool sq_text_held(struct store *store, int64_t chunk)
{
	const struct gathered *g = sq_of(store)->gathered;

	return g && chunk > 0 && (size_t)chunk < g->cap &&
	       g->sums[chunk].call == g->call;
}

void sq_gathered_free(struct sq *s)
{
	if (!s->gathered)
		return;
	mem_free(s->gathered->sums);
	mem_free(s->gathered->held.ids);
	mem_free(s->gathered);
	s->gathered = NULL;
}

/* ---- adding ---- */

static bool add(struct gather *g, uint32_t chunk, float tf, float idf)
{
	const struct map_entry *e = &g->rows[chunk];
	struct sum *x = &g->at->sums[chunk];
	float w = 2.2f * tf / (tf + g->k0 + g->k1 * (float)e->terms);
	float v = idf * (w < 1 ? w : 1);

	if (!e->file || (g->set && !set_has_chunk(g->set, g->s, chunk)))
		return true;
	if (x->call != g->at->call) {
		struct id_list *held = &g->at->held;

		if (!mem_grow(&held->ids, &held->cap, held->count + 1,
			      sizeof(*held->ids)))
			return false;
		held->ids[held->count++] = chunk;
		x->call = g->at->call;
		x->group = g->group;
		x->score = x->best = v;
	} else if (x->group != g->group) {
		x->group = g->group;
		x->best = v;
		x->score += v;
	} else if (v > x->best) {
		x->score += v - x->best;
		x->best = v;
	}
	return true;
}

static int add_all(struct gather *g, const uint32_t *ids, size_t n, float tf,
		   float idf, struct remem_err *err)
{
	for (size_t i = 0; i < n; i++)
		if (!add(g, ids[i], tf, idf))
			return fail_nomem(err);
	g->budget -= (int64_t)n;
	return 0;
}

static int ask(struct gather *g, const struct store_term *t, char tf,
	       int64_t most, struct id_list *out, bool *classes,
	       struct remem_err *err)
{
	struct list_ask q = { LIST_POSTINGS, t->text, tf, t->prefix,
			      (uint32_t)g->row_count,
			      most > 0 ? (size_t)most : 0, classes };

	return list_read(g->s, &q, out, err);
}

static int read_term(struct gather *g, const struct store_term *t,
		     struct remem_err *err)
{
	struct span *k = &g->spans[t - g->terms];
	float idf = t->idf * t->weight;
	bool more = k->classes;
	int rc;

	if (k->kept) {
		rc = add_all(g, g->kept.ids + k->first, k->count, 1, idf, err);
	} else {
		rc = ask(g, t, '\0', g->budget, &g->list, &more, err);
		if (!rc)
			rc = add_all(g, g->list.ids, g->list.count, 1, idf,
				     err);
	}
	for (char tf = 2; !rc && more && tf <= 4; tf += 2) {
		bool unused;

		rc = ask(g, t, tf, g->budget, &g->list, &unused, err);
		if (!rc)
			rc = add_all(g, g->list.ids, g->list.count, tf, idf,
				     err);
		more = g->list.count > 0;
	}
	return rc;
}

/* ---- document frequencies ---- */

static int keep(struct gather *g, struct span *k, struct remem_err *err)
{
	struct id_list *all = &g->kept;

	if (g->list.count > KEPT_ROWS || all->count + g->list.count > KEPT_ALL)
		return 0;
	if (!mem_grow(&all->ids, &all->cap, all->count + g->list.count,
		      sizeof(*all->ids)))
		return fail_nomem(err);
	k->kept = true;
	k->first = (uint32_t)all->count;
	k->count = (uint32_t)g->list.count;
	if (k->count)
		memcpy(all->ids + all->count, g->list.ids,
		       k->count * sizeof(*all->ids));
	all->count += k->count;
	return 0;
}

static int count_term(struct gather *g, struct store_term *t,
		      struct remem_err *err)
{
	struct span *k = &g->spans[t - g->terms];
	int64_t most = t->most ? t->most : t->prefix ? POSTINGS_MAX : INT64_MAX;
	int rc = ask(g, t, '\0', most, &g->list, &k->classes, err);

	if (rc)
		return rc;
	t->df = (int64_t)g->list.count;
	if (t->most && t->df > t->most)
		t->df = t->most + 1;
	return keep(g, k, err);
}

static int fill_idf(struct gather *g, int n, int64_t chunks,
		    struct remem_err *err)
{
	int rc = 0;

	for (int i = 0; !rc && i < n; i++) {
		struct store_term *t = &g->terms[i];
		double df;

		if ((rc = count_term(g, t, err)))
			break;
		df = t->df < chunks ? (double)t->df : (double)chunks;
		t->idf = (float)log(1 + ((double)chunks - df + 0.5) /
				    (df + 0.5));
	}
	return rc;
}

/* ---- order ---- */

struct ordered {
	const struct store_term *term;
	int64_t group_df; /* of the rarest of its group */
};

static int by_rarity(const void *a, const void *b)
{
	const struct ordered *x = a, *y = b;

	if (x->group_df != y->group_df)
		return x->group_df < y->group_df ? -1 : 1;
	if (x->term->group != y->term->group)
		return x->term->group < y->term->group ? -1 : 1;
	if (x->term->df != y->term->df)
		return x->term->df < y->term->df ? -1 : 1;
	return strcmp(x->term->text, y->term->text);
}

static struct ordered *order_terms(const struct store_term *terms, int n)
{
	struct ordered *o = mem_array((size_t)n + 1, sizeof(*o));

	for (int i = 0; o && i < n; i++) {
		o[i].term = &terms[i];
		o[i].group_df = terms[i].df;
		for (int k = 0; k < n; k++)
			if (terms[k].group == terms[i].group &&
			    terms[k].df < o[i].group_df)
				o[i].group_df = terms[k].df;
	}
	if (o)
		qsort(o, (size_t)n, sizeof(*o), by_rarity);
	return o;
}

static bool counts(const struct store_term *t)
{
	return t->df > 0 && t->weight > 0 &&
	       (!t->most || (t->df > 1 && t->df <= t->most));
}

static int read_all(struct gather *g, const struct ordered *o, int n, int k,
		    int64_t chunks, struct remem_err *err)
{
	int64_t common = chunks / COMMON_SHARE;
	int rc = 0;

	if (common < COMMON_MIN)
		common = COMMON_MIN;
	for (int i = 0; !rc && i < n && g->budget > 0; i++) {
		const struct store_term *t = o[i].term;

		if (!i || t->group != o[i - 1].term->group)
			g->group++;
		if (!counts(t) ||
		    (t->df > common && g->at->held.count >= (size_t)k))
			continue;
		rc = read_term(g, t, err);
	}
	return rc;
}

static void take_best(const struct gather *g, struct store_scored *out, int k,
		      int *count)
{
	const struct id_list *held = &g->at->held;
	struct topk top;

	topk_init(&top, out, k);
	for (size_t i = 0; i < held->count; i++)
		topk_push(&top, held->ids[i],
			  g->at->sums[held->ids[i]].score);
	topk_finish(&top);
	*count = top.count;
}

static int gathered_begin(struct gathered **out, struct sq *s, size_t rows,
			  struct remem_err *err)
{
	struct gathered *g = s->gathered;

	if (!g && !(g = s->gathered = mem_zalloc(sizeof(*g))))
		return fail_nomem(err);
	if (rows > g->cap || g->call == UINT32_MAX) {
		mem_free(g->sums);
		g->cap = 0;
		if (!(g->sums = mem_zarray(rows + 1, sizeof(*g->sums))))
			return fail_nomem(err);
		g->cap = rows + 1;
		g->call = 0;
	}
	g->call++;
	g->held.count = 0;
	*out = g;
	return 0;
}

static int gather_init(struct gather *g, struct sq *s, struct store_term *terms,
		       int n, const struct store_set *set,
		       struct remem_err *err)
{
	double mean;
	int rc;

	if ((rc = map_load(s, err)) || (rc = sq_counts_load(s, err)) ||
	    (rc = gathered_begin(&g->at, s, s->map.top, err)))
		return rc;
	g->s = s;
	g->terms = terms;
	g->set = set;
	g->rows = s->map.rows;
	g->row_count = s->map.top;
	g->budget = POSTINGS_MAX;
	mean = s->counts[C_CHUNKS] ? (double)s->counts[C_CHUNK_TERMS] /
				     (double)s->counts[C_CHUNKS] : 0;
	g->k0 = mean > 0 ? 1.2f * 0.25f : 1.2f;
	g->k1 = mean > 0 ? (float)(1.2 * 0.75 / mean) : 0;
	g->spans = mem_zarray((size_t)n + 1, sizeof(*g->spans));
	return g->spans ? 0 : fail_nomem(err);
}

static void gather_release(struct gather *g)
{
	mem_free(g->spans);
	mem_free(g->kept.ids);
	mem_free(g->list.ids);
}

int sq_text_pool(struct store *store, struct store_term *terms, int n,
		 const struct store_set *set, int k, struct store_scored *out,
		 int *count, struct remem_err *err)
{
	struct sq *s = sq_of(store);
	struct gather g = { .s = s };
	struct ordered *order = NULL;
	int64_t chunks;
	int rc;

	*count = 0;
	if ((rc = sq_op_begin(s, err)))
		return rc;
	if ((rc = gather_init(&g, s, terms, n, set, err)))
		goto out;
	chunks = s->counts[C_CHUNKS];
	if ((rc = fill_idf(&g, n, chunks, err)))
		goto out;
	if (!(order = order_terms(terms, n))) {
		rc = fail_nomem(err);
		goto out;
	}
	if (!(rc = read_all(&g, order, n, k, chunks, err)))
		take_best(&g, out, k, count);
out:
	sq_op_end(s);
	mem_free(order);
	gather_release(&g);
	return rc;
}
