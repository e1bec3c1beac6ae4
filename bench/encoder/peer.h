/* llama.cpp as the peer of the encoder's benchmark; one model at a time. */
#ifndef BENCH_ENCODER_PEER_H
#define BENCH_ENCODER_PEER_H

#include <stdbool.h>
#include <stdint.h>

/* Instruction sets: "haswell" is AVX2, NULL lets it choose. */
bool peer_start(const char *libs, const char *variant);
bool peer_open(const char *model);
/* Last layer's mean over n tokens (specials included), not normalised. */
const float *peer_embed(const int32_t *ids, int n);
void peer_close(void);

#endif
