/*
 * Two-step questions: "who looks after the adapter that serves Baltic
 * Freight" is answered by a line that names only the adapter. The rare terms
 * of the best passages, names and identifiers above all, are looked up, and
 * the passages that hold them are lent a share of what pointed to them.
 */
#include <string.h>

#include "base/hash.h"
#include "search/work.h"
#include "text/term.h"

#define PARENTS 3
#define MAX_LINKS 96 /* terms looked up */
#define LINK_CHUNKS 40
/* A term in more chunks than that connects nothing. */
#define RARE_MIN 4
#define RARE_SHARE 60 /* one chunk in so many */

struct links {
	struct work *w;
	struct store_term terms[MAX_LINKS];
	uint32_t lens[MAX_LINKS];
	float parent[MAX_LINKS]; /* relevance of the best that holds it */
	bool identifier[MAX_LINKS];
	int64_t from[MAX_LINKS]; /* passage that it came from */
	uint64_t marks[4]; /* bits of the terms: most others end there */
	int count;
	int64_t most; /* chunks that a linking term may stand in */
	const struct cand *at; /* parent being cut, or candidate looked at */
	float found, strength;
};

static bool in_query(const struct work *w, const struct term *t)
{
	int i;

	for (i = 0; i < w->q.term_count; i++)
		if (w->q.terms[i].len == t->len &&
		    !memcmp(w->q.terms[i].text, t->text, t->len))
			return true;
	return false;
}

static unsigned mark_of(const char *text, uint32_t len)
{
	const unsigned char *s = (const unsigned char *)text;

	return (s[0] * 5u + s[len / 2] * 17u + s[len - 1] * 3u + len) & 255;
}

static void mark_links(struct links *l)
{
	int i;

	memset(l->marks, 0, sizeof(l->marks));
	for (i = 0; i < l->count; i++) {
		unsigned m = mark_of(l->terms[i].text, l->lens[i]);

		l->marks[m / 64] |= (uint64_t)1 << (m % 64);
	}
}

static bool may_link(const struct links *l, const struct term *t)
{
	unsigned m = t->len ? mark_of(t->text, t->len) : 0;

	return l->marks[m / 64] >> (m % 64) & 1;
}

static int find_link(const struct links *l, const struct term *t)
{
	int i;

	for (i = 0; i < l->count; i++)
		if (l->lens[i] == t->len &&
		    !memcmp(l->terms[i].text, t->text, t->len))
			return i;
	return -1;
}

static int collect(void *ctx, const struct term *t)
{
	struct links *l = ctx;
	int i;

	if (t->flags & (TERM_STEM | TERM_PART | TERM_SINGLE))
		return 0;
	if (t->len < 3 || in_query(l->w, t) || find_link(l, t) >= 0)
		return 0;
	if (l->count == MAX_LINKS)
		return 1;
	i = l->count++;
	l->terms[i].text = arena_strndup(l->w->a, t->text, t->len);
	l->terms[i].group = i;
	l->terms[i].weight = 1;
	l->terms[i].most = l->most;
	l->lens[i] = t->len;
	l->parent[i] = l->at->relevance;
	l->identifier[i] = (t->flags & TERM_ID) != 0;
	l->from[i] = l->at->p->id;
	return 0;
}

/* Forgets terms that are too common to connect, or stand only once. */
static void keep_rare(struct links *l)
{
	int i, n = 0;

	for (i = 0; i < l->count; i++) {
		if (l->terms[i].df < 2 || l->terms[i].df > l->most)
			continue;
		l->terms[n] = l->terms[i];
		l->terms[n].group = n;
		l->lens[n] = l->lens[i];
		l->parent[n] = l->parent[i];
		l->identifier[n] = l->identifier[i];
		l->from[n] = l->from[i];
		n++;
	}
	l->count = n;
}

static bool loaded(const struct work *w, int64_t chunk)
{
	int i;

	for (i = 0; i < w->cand_count; i++)
		if (w->cands[i].c->id == chunk)
			return true;
	return false;
}

static int add_linked(struct work *w, struct links *l, struct remem_err *err)
{
	struct store_scored hits[LINK_CHUNKS];
	int64_t ids[LINK_CHUNKS];
	int i, n = 0, count = 0, first = w->cand_count, rc;

	rc = w->s->ops->text_pool(w->s, l->terms, l->count, w->set,
				  LINK_CHUNKS, hits, &count, err);
	if (rc)
		return rc;
	keep_rare(l);
	for (i = 0; i < count; i++)
		if (!loaded(w, hits[i].id))
			ids[n++] = hits[i].id;
	if (!n)
		return 0;
	if ((rc = pool_add_chunks(w, ids, n, err)))
		return rc;
	return coverage_from(w, first, err);
}

static int look(void *ctx, const struct term *t)
{
	struct links *l = ctx;
	int i = may_link(l, t) ? find_link(l, t) : -1;
	float x;

	if (i < 0 || l->from[i] == l->at->p->id)
		return 0;
	/* Two rare words, or one identifier, make a whole link. */
	x = l->identifier[i] ? 1 : 0.5f;
	l->strength += x;
	if (l->parent[i] > l->found)
		l->found = l->parent[i];
	return 0;
}

static void lend(struct links *l)
{
	struct work *w = l->w;
	int i;

	mark_links(l);
	for (i = 0; i < w->cand_count; i++) {
		struct cand *c = &w->cands[i];

		l->at = c;
		l->found = l->strength = 0;
		if (!w->s->ops->text_held(w->s, c->c->id))
			continue; /* not one of the terms */
		term_cut(c->text, c->p->len, look, l);
		c->link = l->found * (l->strength > 1 ? 1 : l->strength);
	}
}

int link_all(struct work *w, struct remem_err *err)
{
	struct links *l = ARENA_NEW(w->a, struct links);
	int i, rc;

	if (!l)
		return fail_nomem(err);
	l->w = w;
	l->most = w->info.chunks / RARE_SHARE;
	if (l->most < RARE_MIN)
		l->most = RARE_MIN;
	for (i = 0; i < w->best_count && i < PARENTS; i++) {
		l->at = w->best[i];
		if (l->at->suspect)
			continue;
		term_cut(l->at->text, l->at->p->len, collect, l);
	}
	if (w->a->failed)
		return fail_nomem(err);
	if (!l->count || w->o->mode == REMEM_MODE_VECTOR)
		return 0;
	if ((rc = add_linked(w, l, err)))
		return rc;
	if (!l->count)
		return 0;
	lend(l);
	return score_all(w, err);
}
