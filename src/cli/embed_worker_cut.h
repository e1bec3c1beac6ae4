/*
 * Texts to tokens by the tables that make-model.py puts into a model's file,
 * for the embedding worker. llama.cpp builds a tree of maps from a unigram
 * vocabulary each time it loads one: of 250,000 pieces that is 110 MB and half
 * of its start. Where our tables are in the file, it is told that there is no
 * vocabulary, and gets the tokens from here; they are the same ones.
 */
#ifndef CLI_EMBED_WORKER_CUT_H
#define CLI_EMBED_WORKER_CUT_H

#include "embed/llama_abi.h"
#include "encoder/unigram.h"

#define CUT_OVERRIDES 3

struct cutter {
	struct gguf file;
	struct unigram tables;
	struct unigram_run *run;
	int32_t first, last; /* the tokens around every text */
	bool on;
	/* What llama.cpp is told instead of the vocabulary; the last is empty. */
	struct abi_override overrides[CUT_OVERRIDES];
};

/* on stays false for a file without such tables; nothing fails. */
void cutter_open(struct cutter *c, const char *path);
void cutter_release(struct cutter *c);
/* Tokens of the text, the two around it included; negative: more than max. */
int cutter_tokens(struct cutter *c, const char *text, size_t len, int32_t *out,
		  int max);

#endif
