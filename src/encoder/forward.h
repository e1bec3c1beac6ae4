/*
 * The forward pass: a batch of token sequences to one mean vector each.
 * Sequences stand one behind the other, so nothing is computed on padding;
 * each attends to its own tokens.
 */
#ifndef ENCODER_FORWARD_H
#define ENCODER_FORWARD_H

#include <stdbool.h>

#include "encoder/model.h"

#define FORWARD_TOKENS KERNEL_MAX_LEN /* most of a batch */
/* A sequence has two tokens at least, <s> and </s>. */
#define FORWARD_SEQUENCES (FORWARD_TOKENS / 2)

struct forward { /* buffers of one thread, made once */
	void *memory;
	const struct kernel *kernel;
	int tokens; /* most that a batch may have */
	float *x; /* [tokens][width], the hidden state */
	float *query, *key, *value; /* alike; query takes the result, too */
	float *inner; /* [stripe of the kernel][inner] */
	struct acts acts, inner_acts; /* of one stripe */
	struct attend_scratch *scratch;
};

struct batch {
	int n_tokens, n_sequences;
	int32_t ids[FORWARD_TOKENS];
	int start[FORWARD_SEQUENCES + 1]; /* last one: n_tokens */
};

/*
 * For batches of up to so many tokens, at most FORWARD_TOKENS, by one
 * kernel. False when there is no memory. Released with forward_release().
 */
bool forward_init(struct forward *f, const struct model *m,
		  const struct kernel *k, int tokens);
void forward_release(struct forward *f);

/*
 * means[n_sequences][width]: the mean of the last layer over all tokens of
 * each sequence, not normalised. Ids must be below m->vocabulary. stop(ctx)
 * may be NULL; it is asked once a layer. Returns false when it said so.
 */
bool forward_run(struct forward *f, const struct model *m,
		 const struct batch *b, float *means,
		 bool (*stop)(void *ctx), void *ctx);

#endif
