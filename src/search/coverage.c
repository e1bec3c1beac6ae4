/*
 * How much of the question a text covers (spec 4.4): over the groups of the
 * question's terms, the sum of idf times a damped frequency, divided by the
 * sum of idf. Computed from the text of the candidates, with the very
 * function that cut it for the index. One pass over a chunk serves the chunk
 * and all its passages.
 */
#include <string.h>

#include "base/aside.h"
#include "search/work.h"
#include "text/term.h"

#define TABLE_SIZE 1024 /* slots for at most QUERY_MAX_TERMS terms */
#define K1 1.2f /* BM25's usual damping */
#define B 0.75f
/* A stem alone is a little less than the word itself. */
#define STEM_MATCH 0.95f
/* What the nearest heading says counts for each line below it, a little
 * less: the line itself does not say it. */
#define HEADING_MATCH 0.7f
/* All pairs of a CJK run in their order: as good as a quoted phrase. */
#define ADJACENT_BONUS 0.15f
#define IDENTIFIER_BONUS 0.3f
#define QUOTED_BONUS 0.3f
/* Thousands of one-word lines must not make every sentence a long one. */
#define MEAN_MIN 8.0
#define MAX_FOLDED 8192 /* passages are far shorter */
/* From this many passages on two threads cut them: half a millisecond. */
#define ASIDE_MIN 400

struct cover {
	struct work *w;
	int16_t table[TABLE_SIZE]; /* term index + 1 */
	int prefix_count;
	int prefixes[QUERY_MAX_TERMS];
	int terms;
	int pair_couples; /* of the question that could be adjacent */
	int from, to; /* candidates, of whole chunks */
	/* of the chunk at hand */
	struct cand *cands;
	int count;
	int at; /* passage that the text position is in or before */
	uint16_t *tf; /* [count + 1][terms], the chunk's own last */
	int *length; /* [count + 1] */
	int *adjacent; /* [count] */
	uint8_t *in_heading; /* [terms] of the heading at hand */
	size_t last_start, last_end;
	uint32_t last_run;
	float *best; /* [groups] scratch */
};

/* Nearly every term of a text is none of the question's and is to end at an
 * empty slot: what tells them apart at little cost is enough. */
static size_t slot_of(const char *s, size_t len)
{
	const unsigned char *p = (const unsigned char *)s;

	if (!len)
		return 0;
	return (p[0] * 31u + p[len / 2] * 97u + p[len - 1] * 389u +
		p[len > 2 ? 2 : 0] * 1543u + (unsigned)len * 7u) &
	       (TABLE_SIZE - 1);
}

static void build_table(struct cover *c)
{
	const struct query *q = &c->w->q;
	int i, pairs = 0;

	for (i = 0; i < q->term_count; i++) {
		const struct query_term *t = &q->terms[i];
		size_t k = slot_of(t->text, t->len);

		while (c->table[k])
			k = (k + 1) & (TABLE_SIZE - 1);
		c->table[k] = (int16_t)(i + 1);
		if (t->prefix)
			c->prefixes[c->prefix_count++] = i;
		if ((t->flags & TERM_PAIR) && !t->stop)
			pairs++;
	}
	c->pair_couples = pairs > 1 ? pairs - 1 : 0;
}

static int find_term(const struct cover *c, const struct term *t)
{
	const struct query *q = &c->w->q;
	size_t k = slot_of(t->text, t->len);
	int i;

	for (; c->table[k]; k = (k + 1) & (TABLE_SIZE - 1)) {
		const struct query_term *x = &q->terms[c->table[k] - 1];

		if (x->len == t->len && !memcmp(x->text, t->text, t->len))
			return c->table[k] - 1;
	}
	for (i = 0; i < c->prefix_count; i++) {
		const struct query_term *x = &q->terms[c->prefixes[i]];

		if (x->len <= t->len && !memcmp(x->text, t->text, x->len))
			return c->prefixes[i];
	}
	return -1;
}

static void count_up(uint16_t *n)
{
	if (*n < UINT16_MAX)
		++*n;
}

static int on_term(void *ctx, const struct term *t)
{
	struct cover *c = ctx;
	int i, here = -1;

	while (c->at < c->count &&
	       t->start >= (size_t)c->cands[c->at].p->start +
				   c->cands[c->at].p->len)
		c->at++;
	if (c->at < c->count && t->start >= c->cands[c->at].p->start)
		here = c->at;
	c->length[c->count]++;
	if (here >= 0)
		c->length[here]++;
	i = find_term(c, t);
	if (i < 0)
		return 0;
	count_up(&c->tf[c->count * c->terms + i]);
	if (here < 0)
		return 0;
	count_up(&c->tf[here * c->terms + i]);
	if ((t->flags & TERM_PAIR) && !c->w->q.terms[i].stop) {
		if (c->last_run == t->run && c->last_start < t->start &&
		    t->start < c->last_end)
			c->adjacent[here]++;
		c->last_start = t->start;
		c->last_end = t->end;
		c->last_run = t->run;
	}
	return 0;
}

static int on_heading(void *ctx, const struct term *t)
{
	struct cover *c = ctx;
	int i = find_term(c, t);

	if (i >= 0)
		c->in_heading[i] = 1;
	return 0;
}

/* Coverage of one text from its frequencies. heading: also what it says. */
static float cover(struct cover *c, const uint16_t *tf, int length, double mean,
		   const uint8_t *heading)
{
	const struct work *w = c->w;
	float norm = (float)(length / (mean < MEAN_MIN ? MEAN_MIN : mean));
	float sum = 0;
	int i;

	if (w->total_idf <= 0)
		return 0;
	memset(c->best, 0, (size_t)w->q.group_count * sizeof(*c->best));
	for (i = 0; i < c->terms; i++) {
		float n = tf[i], x = 0, *best = &c->best[w->terms[i].group];

		if (n > 0) {
			x = 2.2f * n / (n + K1 * (1 - B + B * norm));
			x = x > 1 ? 1 : x;
			if (w->q.terms[i].flags & TERM_STEM)
				x *= STEM_MATCH;
		}
		if (heading && heading[i] && x < HEADING_MATCH)
			x = HEADING_MATCH;
		if (x > *best)
			*best = x;
	}
	for (i = 0; i < w->q.group_count; i++)
		sum += w->group_idf[i] * c->best[i];
	return sum / w->total_idf;
}

static bool holds_folded(const char *text, size_t len, const char *what,
			 size_t what_len)
{
	char folded[MAX_FOLDED];
	size_t n = term_fold(folded, sizeof(folded), text, len), i;

	for (i = 0; what_len && i + what_len <= n; i++)
		if (folded[i] == what[0] &&
		    !memcmp(folded + i, what, what_len))
			return true;
	return false;
}

static void add_bonus(struct cover *c, int i)
{
	struct cand *k = &c->cands[i];
	const struct query *q = &c->w->q;
	int j;

	if (c->pair_couples && c->adjacent[i]) {
		float share = (float)c->adjacent[i] / (float)c->pair_couples;

		k->bonus += ADJACENT_BONUS * (share > 1 ? 1 : share);
	}
	if (k->exact)
		k->bonus += IDENTIFIER_BONUS;
	for (j = 0; j < q->phrase_count; j++) {
		const struct query_phrase *p = &q->phrases[j];

		if (!p->quoted || !holds_folded(k->text, k->p->len, p->folded,
						p->folded_len))
			continue;
		k->bonus += QUOTED_BONUS;
		k->exact = true;
	}
}

/* Identifiers of the question that stand in passage i, by their weight. */
static void find_exact(struct cover *c, int i)
{
	const struct work *w = c->w;
	const uint16_t *tf = c->tf + i * c->terms;
	struct cand *k = &c->cands[i];
	int j;

	for (j = 0; j < c->terms; j++) {
		if (!tf[j] || !(w->q.terms[j].flags & TERM_ID))
			continue;
		k->exact = true;
		if (w->total_idf > 0)
			k->exact_share += w->group_idf[w->terms[j].group] /
					  w->total_idf;
	}
	if (k->exact_share > 1)
		k->exact_share = 1;
}

static void cover_chunk(struct cover *c)
{
	const struct store_chunk *k = c->cands[0].c;
	const struct store_info *info = &c->w->info;
	const uint16_t *own = c->tf + (size_t)c->count * (size_t)c->terms;
	float whole;
	int i;

	memset(c->tf, 0, (size_t)(c->count + 1) * (size_t)c->terms *
				 sizeof(*c->tf));
	memset(c->length, 0, (size_t)(c->count + 1) * sizeof(*c->length));
	memset(c->adjacent, 0, (size_t)c->count * sizeof(*c->adjacent));
	c->at = 0;
	c->last_run = UINT32_MAX;
	term_cut(k->text, k->len, on_term, c);
	memset(c->in_heading, 0, (size_t)c->terms);
	term_cut(k->heading_path, strlen(k->heading_path), on_heading, c);
	whole = cover(c, own, c->length[c->count], info->mean_chunk_terms,
		      c->in_heading);
	for (i = 0; i < c->count; i++) {
		struct cand *x = &c->cands[i];

		if (!i || !same_heading(x->p, c->cands[i - 1].p)) {
			memset(c->in_heading, 0, (size_t)c->terms);
			if (x->p->heading)
				term_cut(x->p->heading, strlen(x->p->heading),
					 on_heading, c);
		}
		x->cover_chunk = whole;
		x->cover_passage = cover(c, c->tf + i * c->terms, c->length[i],
					 info->mean_passage_terms,
					 c->in_heading);
		if (x->cover_chunk < x->cover_passage)
			x->cover_chunk = x->cover_passage;
		find_exact(c, i);
		add_bonus(c, i);
	}
}

static int longest_chunk(const struct work *w)
{
	int i, most = 0;

	for (i = 0; i < w->cand_count; i++)
		if (w->cands[i].c->passage_count > most)
			most = w->cands[i].c->passage_count;
	return most;
}

static int cover_new(struct cover **out, struct work *w, size_t most,
		     int from, int to, struct remem_err *err)
{
	struct cover *c = ARENA_NEW(w->a, struct cover);

	if (!c)
		return fail_nomem(err);
	c->w = w;
	c->from = from;
	c->to = to;
	c->terms = w->q.term_count;
	c->tf = arena_array(w->a, most * (size_t)(c->terms + 1),
			    sizeof(*c->tf));
	c->length = ARENA_ARRAY(w->a, int, most);
	c->adjacent = ARENA_ARRAY(w->a, int, most);
	c->in_heading = ARENA_ARRAY(w->a, uint8_t, (size_t)c->terms + 1);
	c->best = ARENA_ARRAY(w->a, float, (size_t)w->q.group_count + 1);
	if (w->a->failed)
		return fail_nomem(err);
	build_table(c);
	*out = c;
	return 0;
}

static void cover_range(void *ctx)
{
	struct cover *c = ctx;
	struct cand *cands = c->w->cands;
	int i, j;

	for (i = c->from; i < c->to; i = j) {
		for (j = i + 1; j < c->to; j++)
			if (cands[j].c != cands[i].c)
				break;
		c->cands = &cands[i];
		c->count = j - i;
		cover_chunk(c);
	}
}

/* The first candidate of a chunk, half way. */
static int middle(const struct work *w, int first)
{
	int i = first + (w->cand_count - first) / 2;

	while (i > first && i < w->cand_count &&
	       w->cands[i].c == w->cands[i - 1].c)
		i++;
	return i;
}

int coverage_from(struct work *w, int first, struct remem_err *err)
{
	size_t most = (size_t)longest_chunk(w) + 1;
	bool both = w->cand_count - first >= ASIDE_MIN && !w->scanning;
	int cut = both ? middle(w, first) : w->cand_count, i, j, rc;
	struct aside beside = { .running = false };
	struct cover *a, *b = NULL;

	if ((rc = cover_new(&a, w, most, first, cut, err)) ||
	    (both && (rc = cover_new(&b, w, most, cut, w->cand_count, err))))
		return rc;
	if (b && !aside_start(&beside, cover_range, b))
		cover_range(b);
	cover_range(a);
	aside_join(&beside);
	for (i = 0; i < w->name_count; i++)
		for (j = 0; j < w->cand_count; j++)
			if (w->cands[j].f->id == w->names[i].id)
				w->cands[j].name = w->names[i].score;
	return 0;
}
