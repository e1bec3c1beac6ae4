/*
 * Question to ranked, cited windows: pools from postings and vectors, both
 * legs in full for every candidate passage, fusion, threshold, age,
 * importance, supersession, diversity, windows. doc/internals/ranking.md.
 */
#ifndef SEARCH_SEARCH_H
#define SEARCH_SEARCH_H

#include "base/arena.h"
#include "embed/embed.h"
#include "store/store.h"
#include "text/query.h"

struct search_opts {
	enum remem_mode mode;
	int max_results; /* 6 */
	double min_score; /* 0.35; negative: no threshold */
	double vector_weight, text_weight; /* 0.7, 0.3 */
	int candidate_multiplier; /* 4; the pools hold at least 200 */
	bool decay;
	double half_life_days, decay_floor; /* 30, 0.85 */
	bool mmr;
	double mmr_lambda; /* 0.7 */
	int snippet_chars; /* 700 */
	const char *project; /* active project for 1.15 / 0.9, or NULL */
	int64_t deadline_ns; /* monotonic, 0: none */
	int32_t today;
	bool explain;
	struct store_filter filter;
	struct embedder *embedder; /* NULL: text only */
	/*
	 * Who may make the question's vector, in turn, i from 0 on; embedder is
	 * the first. Only vectors of this fingerprint answer, NULL: there are
	 * none. NULL with *why: this one cannot, the next one is asked for;
	 * without: there is no more. *name is set where there is one. NULL:
	 * embedder alone.
	 */
	struct embedder *(*chain)(void *ctx, int i, const char *fingerprint,
				  const char **name, const char **why);
	void *chain_ctx;
	const float *query_vec; /* given by the caller, or NULL */
};

struct search_hit {
	const char *path, *snippet, *source, *citation, *heading, *origin;
	int start_line, end_line;
	double score, relevance, vector, text; /* vector NAN: none */
	int32_t date;
	const char *flags; /* "superseded", …, comma-separated, "" */
	const char *superseded_by; /* citation or NULL */
	int64_t passage;
	/* explain */
	double coverage_passage, coverage_chunk, decay, importance, project,
		name, cosine;
};

struct search_step { /* an embedder that was to make the vector */
	const char *provider, *model;
	const char *reason; /* why it did not; NULL: it did */
};

#define SEARCH_STEPS 4

struct search_answer { /* in the arena */
	struct search_hit *hits;
	int count;
	enum remem_mode mode; /* as it was really answered */
	const char *provider, *model;
	const char *degraded_reason, *degraded_detail, *degraded_action;
	struct search_step steps[SEARCH_STEPS]; /* unless the first did */
	int step_count;
	const char *const *missing; /* identifiers memory does not hold */
	int missing_count;
	double unknown; /* share of the question that occurs nowhere, 0..1 */
	const char *message;
	bool text_ran, vector_ran;
	int64_t took_ns;
};

int search_run(struct search_answer *out, struct arena *a, struct store *s,
	       const char *query, size_t len, const struct search_opts *o,
	       struct remem_err *err);

#endif
