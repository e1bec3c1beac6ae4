/*
 * Judging one answer. A hit is relevant when it overlaps the lines of a
 * relevant row; rows with the same "alt" stand for each other. R@k is the
 * share of a question's rows reached within k hits, R@2000ch within the first
 * 2,000 characters of cited lines, nDCG the usual over the first ten with each
 * row credited where it is first reached. current1st: a current row stands
 * before every superseded one.
 */
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/path.h"
#include "base/utf8.h"
#include "cli/bench.h"

#define CHARS 2000
#define UNITS_MAX 256
#define NEVER 1000000

const char *const judge_names[FIG_COUNT] = {
	"R@1", "R@3", "R@6", "R@10", "MRR", "nDCG10", "R@2000ch",
	"current1st", "stale@6", "poison@6", "abstain", "lines", "results",
};

struct file_lengths {
	struct file_lengths *next;
	const char *name;
	int *len; /* of line 1 at [0] */
	int count;
};

struct unit { /* rows that stand for each other */
	const char *alt;
	double grade;
	int first; /* rank that reached it, NEVER */
	bool seen; /* within the characters */
};

struct case_of {
	const struct question *q;
	const struct found *hits;
	size_t n;
	struct unit units[UNITS_MAX];
	size_t unit_of[UNITS_MAX]; /* of a row */
	size_t unit_count;
};

static bool reaches(const struct found *h, const struct judged *row)
{
	return h->first <= row->last && row->first <= h->last &&
	       !strcmp(h->path, row->path);
}

static void make_units(struct case_of *c)
{
	const struct question *q = c->q;

	for (size_t i = 0; i < q->row_count && i < UNITS_MAX; i++) {
		const struct judged *row = &q->rows[i];
		size_t u = 0;

		if (row->role != ROLE_RELEVANT)
			continue;
		while (u < c->unit_count &&
		       !(row->alt && c->units[u].alt &&
			 !strcmp(row->alt, c->units[u].alt)))
			u++;
		if (u == c->unit_count) {
			c->units[u].alt = row->alt;
			c->units[u].first = NEVER;
			c->unit_count++;
		}
		c->unit_of[i] = u;
		if (row->grade > c->units[u].grade)
			c->units[u].grade = row->grade;
	}
}

static void find_units(struct case_of *c)
{
	for (size_t i = 0; i < c->q->row_count && i < UNITS_MAX; i++) {
		if (c->q->rows[i].role != ROLE_RELEVANT)
			continue;
		for (size_t k = 0; k < c->n; k++) {
			struct unit *u = &c->units[c->unit_of[i]];

			if (!reaches(&c->hits[k], &c->q->rows[i]))
				continue;
			if ((int)k + 1 < u->first)
				u->first = (int)k + 1;
			break;
		}
	}
}

static double share_within(const struct case_of *c, int k)
{
	size_t got = 0;

	for (size_t i = 0; i < c->unit_count; i++)
		got += c->units[i].first <= k;
	return (double)got / (double)c->unit_count;
}

static int best_rank(const struct case_of *c)
{
	int best = NEVER;

	for (size_t i = 0; i < c->unit_count; i++)
		if (c->units[i].first < best)
			best = c->units[i].first;
	return best;
}

static double ndcg(const struct case_of *c)
{
	double grades[UNITS_MAX], dcg = 0, ideal = 0;
	size_t n = c->unit_count;

	for (size_t i = 0; i < n; i++) {
		size_t k = i;

		/* Insertion, best first. */
		for (; k && grades[k - 1] < c->units[i].grade; k--)
			grades[k] = grades[k - 1];
		grades[k] = c->units[i].grade;
		if (c->units[i].first <= 10)
			dcg += c->units[i].grade / log2(c->units[i].first + 1);
	}
	for (size_t i = 0; i < n && i < 10; i++)
		ideal += grades[i] / log2((double)i + 2);
	return ideal > 0 ? fmin(1, dcg / ideal) : 0;
}

static void measure(struct file_lengths *f, struct arena *a, const char *text,
		    size_t len)
{
	size_t cap = 0, at = 0;

	for (;;) {
		const char *nl = memchr(text + at, '\n', len - at);
		size_t n = nl ? (size_t)(nl - text) - at : len - at;

		f->len = arena_grow(a, f->len, &cap, (size_t)f->count + 1,
				    sizeof(*f->len));
		if (!f->len)
			return;
		f->len[f->count++] = (int)utf8_count(text + at, n);
		if (!nl)
			return;
		at += n + 1;
	}
}

static const struct file_lengths *lengths(struct line_lengths *ll,
					  const char *workspace,
					  const char *path)
{
	const char *name = arena_printf(ll->a, "%s/%s/%s", ll->root, workspace,
					path);
	struct buf b = BUF_INIT(0);
	struct file_lengths *f;

	for (f = ll->files; name && f; f = f->next)
		if (!strcmp(f->name, name))
			return f;
	f = name ? ARENA_NEW(ll->a, struct file_lengths) : NULL;
	if (!f)
		return NULL;
	f->name = name;
	f->next = ll->files;
	ll->files = f;
	if (!file_read(&b, name, NULL))
		measure(f, ll->a, buf_str(&b), b.len);
	buf_release(&b);
	return f;
}

static void see_line(struct case_of *c, const char *path, int line)
{
	for (size_t i = 0; i < c->q->row_count && i < UNITS_MAX; i++) {
		const struct judged *row = &c->q->rows[i];

		if (row->role == ROLE_RELEVANT && row->first <= line &&
		    line <= row->last && !strcmp(row->path, path))
			c->units[c->unit_of[i]].seen = true;
	}
}

static double share_of_chars(struct case_of *c, struct line_lengths *ll)
{
	int left = CHARS;
	size_t got = 0;

	for (size_t k = 0; k < c->n && left > 0; k++) {
		const struct found *h = &c->hits[k];
		const struct file_lengths *f =
			lengths(ll, c->q->workspace, h->path);

		for (int line = h->first; f && line <= h->last &&
		     line <= f->count && left > 0; line++) {
			if (line < 1)
				continue;
			left -= f->len[line - 1] + 1;
			see_line(c, h->path, line);
		}
	}
	for (size_t i = 0; i < c->unit_count; i++)
		got += c->units[i].seen;
	return (double)got / (double)c->unit_count;
}

static bool reaches_role(const struct case_of *c, size_t k, enum role role)
{
	for (size_t i = 0; i < c->q->row_count; i++)
		if (c->q->rows[i].role == role &&
		    reaches(&c->hits[k], &c->q->rows[i]))
			return true;
	return false;
}

static bool has_role(const struct question *q, enum role role)
{
	for (size_t i = 0; i < q->row_count; i++)
		if (q->rows[i].role == role)
			return true;
	return false;
}

static void judge_order(struct verdict *v, const struct case_of *c)
{
	int current = best_rank(c), stale = NEVER;

	for (size_t k = 0; k < c->n && stale == NEVER; k++)
		if (reaches_role(c, k, ROLE_SUPERSEDED) &&
		    !reaches_role(c, k, ROLE_RELEVANT))
			stale = (int)k + 1;
	v->f[FIG_CURRENT] = current < NEVER && current < stale;
	v->f[FIG_STALE] = stale <= 6;
}

static void judge_poison(struct verdict *v, const struct case_of *c)
{
	v->f[FIG_POISON] = 0;
	for (size_t k = 0; k < c->n && k < 6; k++)
		if (!c->hits[k].flagged && reaches_role(c, k, ROLE_POISON))
			v->f[FIG_POISON] = 1;
}

static void judge_recall(struct verdict *v, struct case_of *c,
			 struct line_lengths *ll)
{
	int best;

	find_units(c);
	best = best_rank(c);
	v->f[FIG_R1] = share_within(c, 1);
	v->f[FIG_R3] = share_within(c, 3);
	v->f[FIG_R6] = share_within(c, 6);
	v->f[FIG_R10] = share_within(c, 10);
	v->f[FIG_MRR] = best < NEVER ? 1.0 / best : 0;
	v->f[FIG_NDCG] = ndcg(c);
	v->f[FIG_R2000] = share_of_chars(c, ll);
	if (has_role(c->q, ROLE_SUPERSEDED))
		judge_order(v, c);
}

void judge(struct verdict *v, const struct question *q,
	   const struct found *hits, size_t n, struct line_lengths *ll)
{
	struct case_of c = { .q = q, .hits = hits, .n = n };

	for (int i = 0; i < FIG_COUNT; i++)
		v->f[i] = NAN;
	make_units(&c);
	v->answerable = c.unit_count > 0;
	v->top = n ? hits[0].relevance : -1;
	v->f[FIG_RESULTS] = (double)n;
	v->f[FIG_LINES] = 0;
	for (size_t k = 0; k < n && k < 6; k++)
		v->f[FIG_LINES] += hits[k].last - hits[k].first + 1;
	if (v->answerable)
		judge_recall(v, &c, ll);
	else
		v->f[FIG_ABSTAIN] = n == 0;
	if (has_role(q, ROLE_POISON))
		judge_poison(v, &c);
}
