/*
 * The weights of one BERT encoder inside a GGUF that tools/make-model.py made:
 * pointers into the mapped file, all of them checked. Nothing is copied.
 */
#ifndef ENCODER_MODEL_H
#define ENCODER_MODEL_H

#include "encoder/gguf.h"
#include "encoder/kernel.h"
#include "encoder/unigram.h"

/* Bounds of what is accepted; they also bound the work buffers. */
#define MODEL_MAX_LAYERS 48
#define MODEL_MAX_WIDTH 1024
#define MODEL_MAX_INNER KERNEL_MAX_INPUTS
#define MODEL_FORMAT 1 /* of the remem.* keys */

struct layer {
	struct matrix query, key, value, output, up, down;
	const float *attn_norm, *attn_norm_bias;
	const float *out_norm, *out_norm_bias;
};

struct model {
	struct gguf file;
	struct unigram tokenizer;
	int width, inner, heads, n_layers, positions, vocabulary;
	float eps;
	int32_t first_token, last_token; /* <s>, </s> */
	const uint8_t *words; /* Q4_0 rows */
	const float *position, *kind; /* added to each word */
	const float *norm, *norm_bias;
	struct layer layers[MODEL_MAX_LAYERS];
	char name[128];
	char id[65];
};

/* Released with model_release(), also after a failure. */
int model_open(struct model *m, const char *path, struct remem_err *err);
void model_release(struct model *m);

#endif
