/*
 * Sentencepiece's unigram tokenizer over tables that lie ready in the model
 * file: the cut of the text into pieces with the highest sum of scores. Works
 * through any text in linear time and with the memory of struct unigram_run;
 * the tables are checked while they are walked.
 */
#ifndef ENCODER_UNIGRAM_H
#define ENCODER_UNIGRAM_H

#include "encoder/gguf.h"
#include "encoder/normalize.h"

/*
 * Bytes looked at at once. A word that is longer (text without blanks) is cut
 * where all best paths meet; only if they never meet within this window the
 * cut is where the best one happens to have a joint.
 */
#define UNIGRAM_WINDOW 2048
/* No piece is longer (the longest of XLM-R has 48 bytes). */
#define UNIGRAM_PIECE 64

struct unigram {
	const uint32_t *nodes; /* see tools/make-model.py */
	const uint32_t *ids;
	const uint32_t *ranks;
	const float *scores;
	size_t n_nodes, n_ids, n_ranks, n_scores;
	struct normalize_map map;
	int32_t unknown;
	float unknown_score;
	uint32_t root[256]; /* node of each first byte, 0: none */
};

/* Borrows from g. REMEM_EFORMAT when the tables are absent or inconsistent. */
int unigram_init(struct unigram *u, const struct gguf *g,
		 struct remem_err *err);

struct unigram_run { /* one text on its way */
	const struct unigram *u;
	struct normalize in;
	uint32_t held; /* first character of the next word, 0: none */
	bool gap, ended;
	bool after_unknown; /* the last token was the unknown one */
	size_t len; /* of window */
	unsigned char window[UNIGRAM_WINDOW + 8];
	float best[UNIGRAM_WINDOW + 9];
	int32_t id[UNIGRAM_WINDOW + 9]; /* of the piece that ends there */
	uint16_t from[UNIGRAM_WINDOW + 9]; /* where it begins */
	bool marked[UNIGRAM_WINDOW + 9];
	int32_t queue[UNIGRAM_WINDOW + 9]; /* tokens, last one first */
	size_t n_queue;
};

/* text must stay until the last token has been taken. */
void unigram_start(struct unigram_run *r, const struct unigram *u,
		   const char *text, size_t len);
/* Up to cap token ids; 0 at the end of the text. */
size_t unigram_next(struct unigram_run *r, int32_t *ids, size_t cap);

#endif
