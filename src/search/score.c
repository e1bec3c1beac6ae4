/*
 * From the two legs to one score (spec 4.3 to 4.6): fusion, what neighbours
 * lend, the threshold on relevance, then age, importance and project.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/mark.h"
#include "search/work.h"

#define CHUNK_SHARE 0.4f /* .6 of its own, .4 of its chunk's */
/* In a talk the words of the answer stand in the turns around it: .008 more
 * of R@6 and of R@2000ch on long talks than with .4. */
#define TALK_CHUNK_SHARE 0.6f
/* Coverage to this power: one shared common word must not beat a right answer
 * in the other language (ranking: .864 to .884 of xquad en2zh). */
#define COVER_POWER 1.5f
/* What a message or sentence gets of each neighbour; list items nothing. */
#define NEIGHBOUR_SHARE 0.15f
/* A file whose name is the question's words. */
#define NAME_SHARE 0.15f
/* A question that is addressed to the file by name. */
#define ADDRESSED_SHARE 0.5f
/* What a passage gets of the relevance of the one that points to it, and how
 * near it may come to it. */
#define LINK_SHARE 0.25f
#define LINK_CAP 0.95f
#define EXACT_SHARE 0.8f
/* A line written a moment ago has no vector yet: its words must do. */
#define NO_VECTOR_SHARE 0.7f
#define TEXT_ALONE 0.9f /* spec 4.5 */
/* The day or span that the question names. */
#define IN_SPAN 1.15f
#define OUT_OF_SPAN 0.9f

static float power(float x)
{
	return x <= 0 ? 0 : powf(x, COVER_POWER);
}

/*
 * An identifier that stands there exactly is no matter of degree: the more of
 * the question it makes up, the nearer to 1. Vectors cannot tell DW-E213 from
 * DW-E230.
 */
static float identified(const struct cand *c, float x)
{
	x += (1 - x) * EXACT_SHARE * c->exact_share;
	return c->name >= NAME_ADDRESSED ? x + (1 - x) * ADDRESSED_SHARE : x;
}

static void own_score(const struct work *w, struct cand *c)
{
	const struct search_opts *o = w->o;
	double calibration = 0.5, vw = o->vector_weight, tw = o->text_weight;
	float share = c->p->kind == PASSAGE_MESSAGE ? TALK_CHUNK_SHARE :
						      CHUNK_SHARE;

	if (w->e && embedder_info(w->e)->calibration > 0)
		calibration = embedder_info(w->e)->calibration;
	c->text_score = (1 - share) * power(c->cover_passage) +
			share * power(c->cover_chunk) + c->bonus +
			NAME_SHARE * (c->name > 1 ? 1 : c->name);
	if (c->text_score > 1)
		c->text_score = 1;
	if (!w->fp) {
		c->base = identified(c, c->text_score);
		return;
	}
	c->vector = isnan(c->cosine) ? 0 : c->cosine / (float)calibration;
	if (c->vector < 0)
		c->vector = 0;
	if (isnan(c->cosine) && o->mode == REMEM_MODE_HYBRID)
		c->base = NO_VECTOR_SHARE * c->text_score;
	else if (o->mode == REMEM_MODE_VECTOR)
		c->base = c->vector;
	else
		c->base = (float)((vw * c->vector + tw * c->text_score) /
				  (vw + tw));
	if (o->mode != REMEM_MODE_VECTOR)
		c->base = identified(c, c->base);
}

static bool lends(const struct cand *c)
{
	return c->p->kind == PASSAGE_MESSAGE ||
	       c->p->kind == PASSAGE_PARAGRAPH;
}

/* What x lends to its neighbour c of the same section. */
static void borrow(struct cand *c, const struct cand *x)
{
	if (x->c != c->c || !lends(x) || !lends(c) ||
	    !same_heading(c->p, x->p))
		return;
	c->relevance += NEIGHBOUR_SHARE * x->base;
	c->touched |= x->cover_passage > 0;
}

static void neighbours(struct work *w)
{
	int i;

	for (i = 0; i < w->cand_count; i++) {
		struct cand *c = &w->cands[i];

		c->relevance = c->base;
		c->touched = c->cover_passage > 0 || c->name > 0;
		if (i)
			borrow(c, &c[-1]);
		if (i + 1 < w->cand_count)
			borrow(c, &c[1]);
	}
}

/* Lifted by what points to it, but never above that. */
static void linked(struct work *w)
{
	int i;

	for (i = 0; i < w->cand_count; i++) {
		struct cand *c = &w->cands[i];
		float up = c->relevance + LINK_SHARE * c->link;
		float cap = LINK_CAP * c->link;

		if (up > cap)
			up = cap;
		if (up > c->relevance)
			c->relevance = up;
	}
}

static float decay_of(const struct work *w, const struct cand *c)
{
	const struct search_opts *o = w->o;
	double age;

	if (!o->decay || c->date == DATE_NONE)
		return 1;
	age = (double)w->o->today - c->date;
	if (age < 0)
		age = 0;
	return (float)(o->decay_floor +
		       (1 - o->decay_floor) * exp2(-age / o->half_life_days));
}

static float span_of(const struct work *w, const struct cand *c)
{
	if (w->q.date_from == DATE_NONE)
		return 1;
	if (c->date == DATE_NONE)
		return 1;
	return c->date >= w->q.date_from && c->date <= w->q.date_to ?
		       IN_SPAN : OUT_OF_SPAN;
}

static float project_of(const struct work *w, const struct cand *c)
{
	if (!w->o->project || !c->p->project)
		return 1;
	return !strcmp(w->o->project, c->p->project) ? 1.15f : 0.9f;
}

/*
 * The scale of what is shown and cut. Raw sums of right answers go down to
 * .25 (across languages, no word in common), those of keywords alone to .02:
 * the published cut of .35 stands where it costs at most a hundredth of the
 * right answers.
 */
float score_shown(const struct work *w, float x)
{
	if (x <= 0)
		return 0;
	x = powf(x, w->fp ? 0.75f : 0.25f);
	return x > 1 ? 1 : x;
}

static bool passes(const struct work *w, const struct cand *c)
{
	if (w->o->min_score < 0)
		return c->relevance > 0;
	if (!w->fp && !c->touched && c->link <= 0)
		return false; /* only its chunk holds a word of it */
	return score_shown(w, c->relevance) >= w->o->min_score ||
	       c->text_score >= TEXT_ALONE || c->exact;
}

static int cmp_cand(const void *x, const void *y)
{
	const struct cand *a = *(struct cand *const *)x;
	const struct cand *b = *(struct cand *const *)y;

	if (a->score != b->score)
		return a->score > b->score ? -1 : 1;
	return a->p->id < b->p->id ? -1 : a->p->id > b->p->id;
}

int score_all(struct work *w, struct remem_err *err)
{
	int i;

	w->best = ARENA_ARRAY(w->a, struct cand *, (size_t)w->cand_count + 1);
	if (!w->best)
		return fail_nomem(err);
	for (i = 0; i < w->cand_count; i++)
		own_score(w, &w->cands[i]);
	neighbours(w);
	linked(w);
	w->best_count = 0;
	for (i = 0; i < w->cand_count; i++) {
		struct cand *c = &w->cands[i];

		c->decay = decay_of(w, c);
		c->importance = c->p->importance > 0 ?
				0.75f + 0.05f * (float)c->p->importance : 1;
		c->project = project_of(w, c);
		c->score = c->relevance * c->decay * c->importance *
			   c->project * span_of(w, c);
		if (passes(w, c))
			w->best[w->best_count++] = c;
	}
	qsort(w->best, (size_t)w->best_count, sizeof(*w->best), cmp_cand);
	for (i = 0; i < w->best_count && i < CAND_ORDERED; i++)
		mark_text(w->best[i]);
	return 0;
}
