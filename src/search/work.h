/*
 * What one search works on: shared by the steps of src/search, each a file:
 *
 *   pool.c      question to candidate passages, from postings and vectors
 *   means.c     what to take off the vectors of each language
 *   coverage.c  how much of the question each passage and chunk covers
 *   score.c     fusion, age, importance, threshold
 *   order.c     supersession, diversity
 *   answer.c    windows, citations, explanations
 *   search.c    the run
 */
#ifndef SEARCH_WORK_H
#define SEARCH_WORK_H

#include <string.h>

#include "base/clock.h"
#include "search/search.h"
#include "text/query.h"
#include "text/window.h"

#define POOL_MIN 200 /* candidates of each leg (spec 4.1) */
#define NAME_ADDRESSED 2.0f /* cand.name: "tar: how to unpack", tar.md */
#define CAND_ORDERED 60 /* best candidates that order.c looks at */

struct cand {
	const struct store_passage *p;
	const struct store_chunk *c;
	const struct store_file *f;
	const char *text; /* of the passage, borrowed from its chunk */
	float cosine; /* centred; NAN without a vector */
	float vector; /* cosine mapped to 0..1; 0 without one */
	float cover_passage, cover_chunk; /* shares of the question, 0..1 */
	float name; /* share that the file's name covers */
	float bonus; /* adjacency, exact identifiers */
	float exact_share; /* of the question: identifiers that stand there */
	float link; /* relevance of what points to it, times how surely */
	float text_score, base; /* base: both legs before neighbours lend */
	float relevance, score;
	float decay, importance, project;
	bool exact; /* an exact identifier or a quoted phrase stands in it */
	bool marked; /* its wording has been looked at */
	bool touched; /* it or a neighbour holds a word of the question */
	bool suspect; /* reads like an order to an assistant */
	bool one_off; /* "this once", "today only" */
	int32_t date; /* that counts for its age; DATE_NONE: evergreen */
	const struct cand *superseded_by;
	const float *vec; /* centred and normalised, of the ordered ones */
};

struct work {
	struct arena *a;
	struct store *s;
	const struct search_opts *o;
	struct search_answer *out;
	struct query q;
	struct store_term *terms; /* one a query term, same order */
	float *group_idf; /* per group, weighted; 0 where it does not count */
	float total_idf; /* sum of them */
	struct store_info info;
	struct store_set *set; /* compiled filter, NULL: all */
	/* vectors; fp 0 when the leg is off */
	int fp, dims;
	struct embedder *e; /* that makes the question's; NULL: none */
	const float *qvec; /* raw, normalised */
	const float *means[SCRIPT_COUNT]; /* after blending */
	const float *mean_q;
	bool scanning; /* the pool by vector is looked for meanwhile */
	/* candidates */
	struct store_chunk *chunks;
	int chunk_count;
	struct store_file *files;
	int file_count;
	struct store_scored *names;
	int name_count;
	struct cand *cands;
	int cand_count;
	struct cand **best; /* candidates that pass, best first */
	int best_count;
};

/* Do both stand under the same nearest heading, or none? */
static inline bool same_heading(const struct store_passage *x,
				const struct store_passage *y)
{
	return x->heading == y->heading ||
	       (x->heading && y->heading && !strcmp(x->heading, y->heading));
}

/* leg.c: the question's vector, or why there is none. */
int leg_open(struct work *w, struct remem_err *err);
/* Says that there are none, unless something else is said. */
void leg_no_vectors(struct search_answer *out);
int pool_terms(struct work *w, struct remem_err *err);
int pool_collect(struct work *w, struct remem_err *err);
int pool_add_chunks(struct work *w, const int64_t *ids, int n,
		    struct remem_err *err);
int means_load(struct work *w, struct remem_err *err);
/* Of the candidates from index `first` on. */
int coverage_from(struct work *w, int first, struct remem_err *err);
int score_all(struct work *w, struct remem_err *err);
/* Raw relevance or score on the scale of answers, 0..1. */
float score_shown(const struct work *w, float x);
int link_all(struct work *w, struct remem_err *err);
int order_all(struct work *w, struct remem_err *err);
int answer_all(struct work *w, struct remem_err *err);

/* Centred cosine of two ordered candidates, or their term overlap scaled to
 * compare; 0..1. */
float order_alike(const struct work *w, const struct cand *x,
		  const struct cand *y);

/* talk.c: a window of whole messages around a passage of a transcript. text
 * is that of the chunks near end to end, [start, end) the passage in it. False:
 * a better answer shows its line already. */
bool talk_window(struct window *out, const struct work *w, const struct cand *c,
		 const struct store_chunk near[3], const char *text,
		 size_t start, size_t end);
/* The path that is shown: of a transcript without its part. */
const char *talk_shown(struct arena *a, const struct store_file *f);

#endif
