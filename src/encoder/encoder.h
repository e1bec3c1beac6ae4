/*
 * The builtin model: text to a normalised vector, in the process, with no
 * network and no other program. The weights are one GGUF file (BERT encoder,
 * Q4_0 blocks, unigram tokenizer) that is mapped read-only and never trusted.
 *
 * Limits: of a text only the first ENCODER_TEXT_BYTES are looked at (cut
 * between characters); that bounds time and memory for any input. A text of
 * more tokens than the model takes is cut into windows whose vectors are
 * averaged, weighted by their tokens.
 */
#ifndef ENCODER_ENCODER_H
#define ENCODER_ENCODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define ENCODER_TEXT_BYTES ((size_t)1 << 20)

struct encoder; /* a mapped model; may be shared by threads */

/*
 * path: the GGUF. *out is freed with encoder_free(). REMEM_ENOTFOUND: no such
 * file; REMEM_EFORMAT: not a model this encoder can run, with the reason.
 */
int encoder_open(struct encoder **out, const char *path,
		 struct remem_err *err);
void encoder_free(struct encoder *e);

int encoder_dims(const struct encoder *e); /* 384 */
int encoder_max_tokens(const struct encoder *e); /* 510, without <s> </s> */
const char *encoder_model(const struct encoder *e); /* name from the file */
/*
 * Identity of weights and tokenizer, for fingerprints: 64 hexadecimal digits
 * from the file's own key and its size; costs nothing.
 */
const char *encoder_id(const struct encoder *e);

/*
 * Token ids of a text without <s> and </s>; at most cap of them are stored.
 * Returns how many there are (may be more than cap) or a negative code.
 */
long encoder_tokens(const struct encoder *e, const char *text, size_t len,
		    int32_t *ids, size_t cap, struct remem_err *err);

/*
 * Embeds n texts (prefixes already in them) into out[n * dims], each with
 * length 1. An empty text gives the vector of <s></s>. threads: how many at
 * most; 0 takes what base/fair.h says. cancel(ctx) is asked
 * between windows and by one thread at a time; it may be NULL. On an error
 * (REMEM_ENOMEM, ECANCELLED) the contents of out are undefined.
 */
int encoder_embed(struct encoder *e, const char *const *texts,
		  const size_t *lens, size_t n, float *out, int threads,
		  bool (*cancel)(void *ctx), void *ctx, struct remem_err *err);

#endif
