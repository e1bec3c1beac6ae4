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
 * this many: reading them costs under a millisecond. Common ones are read only
 * if rarer ones have not given k chunks; they hardly change the order. */
#define COMMON_MIN 2000
#define COMMON_SHARE 8
/* Postings read for one question, whatever it holds: about 60 ms. */
#define POSTINGS_MAX 400000
#define MATCH_BYTES (2 * TERM_MAX_BYTES + 8)

struct span { /* of gather.ids */
	size_t first, count;
};

struct gather {
	struct sq *s;
	const struct store_term *terms;
	/* What stands for a prefix is merged by FTS5 at each asking, which
	 * costs more than reading: it is asked once, and kept. */
	struct span *kept; /* by term */
	int64_t *ids;
	size_t id_count, id_cap;
	const struct store_set *set;
	const struct map_entry *rows;
	size_t row_count;
	float *score, *best; /* in all; in the group at hand; by chunk id */
	uint32_t *group; /* that best is of, counted from 1 */
	uint32_t now; /* the group at hand */
	double mean_terms;
	int64_t candidates, budget;
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

static float weight_of(const struct gather *g, uint32_t terms, double tf)
{
	double ratio = g->mean_terms > 0 ? terms / g->mean_terms : 1;
	double w = 2.2 * tf / (tf + 1.2 * (0.25 + 0.75 * ratio));

	return w < 1 ? (float)w : 1.0f;
}

static void add(struct gather *g, size_t chunk, float v)
{
	if (g->group[chunk] != g->now) {
		if (g->score[chunk] == 0)
			g->candidates++;
		g->group[chunk] = g->now;
		g->best[chunk] = v;
		g->score[chunk] += v;
	} else if (v > g->best[chunk]) {
		g->score[chunk] += v - g->best[chunk];
		g->best[chunk] = v;
	}
}

static void add_id(struct gather *g, int64_t id, double tf, float idf)
{
	const struct map_entry *e;

	if (id <= 0 || (size_t)id >= g->row_count)
		return;
	e = &g->rows[id];
	if (!e->file || (g->set && !set_has_chunk(g->set, g->s, id)))
		return;
	add(g, (size_t)id, idf * weight_of(g, e->terms, tf));
}

static bool keep_id(struct gather *g, int64_t id)
{
	if (!mem_grow(&g->ids, &g->id_cap, g->id_count + 1, sizeof(*g->ids)))
		return false;
	g->ids[g->id_count++] = id;
	return true;
}

/* Reads one list; *count is how long it was. idf 0 only keeps it. */
static int read_list(struct gather *g, const char *match, double tf, float idf,
		     int64_t *count, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = sq_get(g->s, S_POST_MATCH, &st, err);

	*count = 0;
	if (rc)
		return rc;
	sq_bind_text(st, 1, match);
	while (*count <= g->budget && (rc = sq_step(g->s, st, err)) > 0) {
		int64_t id = sqlite3_column_int64(st, 0);

		++*count;
		if (idf > 0) {
			add_id(g, id, tf, idf);
		} else if (!keep_id(g, id)) {
			rc = fail_nomem(err);
			break;
		}
	}
	sqlite3_reset(st);
	return rc < 0 ? rc : 0;
}

static void read_kept(struct gather *g, const struct store_term *t)
{
	const struct span *k = &g->kept[t - g->terms];

	for (size_t i = 0; i < k->count; i++)
		add_id(g, g->ids[k->first + i], 1, t->idf * t->weight);
	g->budget -= t->df;
}

static int read_term(struct gather *g, const struct store_term *t,
		     struct remem_err *err)
{
	static const struct { char byte; double tf; } class[] = {
		{ '\0', 1 }, { '\002', 2 }, { '\004', 4 }
	};
	char match[MATCH_BYTES];
	int64_t count = t->df;
	int rc;

	if (t->prefix) {
		read_kept(g, t);
		return 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(class) && count > 0; i++) {
		sq_match_text(match, sizeof(match), t->text, false,
			      class[i].byte);
		if ((rc = read_list(g, match, class[i].tf, t->idf * t->weight,
				    &count, err)))
			return rc;
		g->budget -= count;
	}
	return 0;
}

/* ---- document frequencies ---- */

static int vocabulary(struct sq *s, struct remem_err *err)
{
	int rc;

	if (s->has_terms)
		return 0;
	rc = sq_exec(s, "CREATE VIRTUAL TABLE IF NOT EXISTS temp.terms "
		     "USING fts5vocab(main, postings, row);"
		     "CREATE VIRTUAL TABLE IF NOT EXISTS temp.places "
		     "USING fts5vocab(main, postings, instance)", err);
	s->has_terms = !rc;
	return rc;
}

static int df_exact(struct sq *s, struct store_term *t, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = sq_get(s, S_VOCAB_DF, &st, err);

	if (rc)
		return rc;
	sq_bind_text(st, 1, t->text);
	if ((rc = sq_step(s, st, err)) > 0) {
		t->df = sqlite3_column_int64(st, 0);
		sqlite3_reset(st);
		rc = 0;
	}
	return rc;
}

int sq_text_df(struct store *store, struct store_term *terms, int n,
	       int64_t most, struct remem_err *err)
{
	struct sq *s = sq_of(store);
	sqlite3_stmt *st;
	int rc = sq_op_begin(s, err);

	if (rc)
		return rc;
	if (!(rc = vocabulary(s, err)))
		rc = sq_get(s, S_VOCAB_MOST, &st, err);
	for (int i = 0; rc >= 0 && i < n; i++) {
		terms[i].df = 0;
		sq_bind_text(st, 1, terms[i].text);
		sqlite3_bind_int64(st, 2, most + 1);
		if ((rc = sq_step(s, st, err)) > 0) {
			terms[i].df = sqlite3_column_int64(st, 0);
			sqlite3_reset(st);
		}
	}
	sq_op_end(s);
	return rc < 0 ? rc : 0;
}

static int df_of(struct gather *g, struct store_term *t, struct remem_err *err)
{
	struct span *k = &g->kept[t - g->terms];
	char match[MATCH_BYTES];
	int rc;

	t->df = 0;
	if (!t->text[0])
		return 0;
	if (!t->prefix)
		return df_exact(g->s, t, err);
	sq_match_text(match, sizeof(match), t->text, true, '\0');
	k->first = g->id_count;
	rc = read_list(g, match, 1, 0, &t->df, err);
	k->count = g->id_count - k->first;
	return rc;
}

static int fill_idf(struct gather *g, struct store_term *terms, int n,
		    int64_t chunks, struct remem_err *err)
{
	int rc = vocabulary(g->s, err);

	for (int i = 0; !rc && i < n; i++) {
		struct store_term *t = &terms[i];
		double df;

		if ((rc = df_of(g, t, err)))
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
			g->now++;
		if (t->df == 0 || t->weight <= 0 ||
		    (t->df > common && g->candidates >= k))
			continue;
		rc = read_term(g, t, err);
	}
	return rc;
}

static int take_best(const struct gather *g, struct store_scored *out, int k,
		     int *count)
{
	struct topk top;

	topk_init(&top, out, k);
	for (size_t i = 1; i < g->row_count; i++)
		if (g->score[i] > 0)
			topk_push(&top, (int64_t)i, g->score[i]);
	topk_finish(&top);
	*count = top.count;
	return 0;
}

static int gather_init(struct gather *g, struct sq *s,
		       const struct store_term *terms, int n,
		       const struct store_set *set, struct remem_err *err)
{
	int rc;

	if ((rc = map_load(s, err)) || (rc = sq_counts_load(s, err)))
		return rc;
	g->s = s;
	g->terms = terms;
	g->kept = mem_zarray((size_t)n + 1, sizeof(*g->kept));
	g->set = set;
	g->rows = s->map.rows;
	g->row_count = s->map.top;
	g->budget = POSTINGS_MAX;
	g->mean_terms = s->counts[C_CHUNKS] ?
			(double)s->counts[C_CHUNK_TERMS] /
			(double)s->counts[C_CHUNKS] : 0;
	g->score = mem_zarray(g->row_count + 1, sizeof(*g->score));
	g->best = mem_zarray(g->row_count + 1, sizeof(*g->best));
	g->group = mem_zarray(g->row_count + 1, sizeof(*g->group));
	return g->kept && g->score && g->best && g->group ? 0 : fail_nomem(err);
}

static void gather_release(struct gather *g)
{
	mem_free(g->kept);
	mem_free(g->ids);
	mem_free(g->score);
	mem_free(g->best);
	mem_free(g->group);
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
	if ((rc = fill_idf(&g, terms, n, chunks, err)))
		goto out;
	if (!(order = order_terms(terms, n))) {
		rc = fail_nomem(err);
		goto out;
	}
	if (!(rc = read_all(&g, order, n, k, chunks, err)))
		rc = take_best(&g, out, k, count);
out:
	sq_op_end(s);
	mem_free(order);
	gather_release(&g);
	return rc;
}
