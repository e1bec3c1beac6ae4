/*
 * The arithmetic of the encoder, once for each kind of machine. Matrices are
 * 4-bit weights in tiles of 16 rows, activations are signed bytes with a scale
 * for each block, sums are 32-bit integers scaled once a block: all kernels
 * compute the same integers and differ in the rounding of floats alone.
 *
 * Weight w of row r and input i is scale * (nibble - 8). The dot product of a
 * block is taken over the bare nibbles; -8 times the sum of the activations,
 * kept in `init`, is where it starts.
 */
#ifndef ENCODER_KERNEL_H
#define ENCODER_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"

#define KERNEL_ROWS 16 /* of a tile */
#define KERNEL_BLOCK 32 /* inputs that share a scale */
#define KERNEL_TILE_BYTES 256 /* nibbles of a tile and a block */
#define KERNEL_HEAD 32 /* width of an attention head */
#define KERNEL_MAX_INPUTS 4096 /* of a matrix */
#define KERNEL_MAX_LEN 512 /* tokens of a sequence */
#define KERNEL_QUERIES 16 /* rows of attention worked on at once, at most */

/* A block of activations with no larger value is taken as zeros. */
#define KERNEL_TINY 1e-30f

struct matrix {
	const uint8_t *nibbles; /* [rows / 16][inputs / 32][256] */
	const uint16_t *scales; /* [rows / 16][inputs / 32][16], fp16 */
	const float *bias; /* [rows] */
	int rows, inputs;
};

/*
 * Activations lie this far apart from token to token, whatever their number:
 * a constant lets the compiler reach 12 tokens from one register. A line more
 * than a page, so that tokens do not compete for the same places of the cache.
 */
#define KERNEL_PITCH (KERNEL_MAX_INPUTS + 64)
#define KERNEL_BLOCK_PITCH (KERNEL_MAX_INPUTS / KERNEL_BLOCK + 16)

/* The same of wide kernels, in bytes, of two-byte floats. */
#define KERNEL_WIDE_PITCH(inputs) ((size_t)(inputs) * 2 + 64)
/* Two panels of 32 rows, and at least 8 blocks. */
#define KERNEL_PANEL_BYTES(inputs) ((size_t)(inputs) * 2 * 32 * 2 + 16384)

struct acts { /* quantised activations of n tokens */
	int8_t *q; /* [n][KERNEL_PITCH], or bf16 of n * KERNEL_WIDE_PITCH */
	int32_t *init; /* [n][KERNEL_BLOCK_PITCH]: -8 * sum of the block */
	float *scale; /* [n][KERNEL_BLOCK_PITCH] */
	int inputs;
	uint8_t *panel; /* of wide kernels: KERNEL_PANEL_BYTES(inputs) */
};

/* Room for one head of one sequence; each kernel has a layout of its own. */
struct attend_scratch {
	_Alignas(64) int32_t queries[KERNEL_HEAD * KERNEL_MAX_LEN / 2];
	_Alignas(64) int32_t keys[KERNEL_HEAD * KERNEL_MAX_LEN / 2];
	_Alignas(64) int32_t values[KERNEL_HEAD * KERNEL_MAX_LEN / 2];
	_Alignas(64) float scores[2 * KERNEL_QUERIES * (KERNEL_MAX_LEN + 16)];
	_Alignas(64) float key_scale[KERNEL_MAX_LEN];
};

struct kernel {
	enum cpu_level level;
	bool wide; /* activations are bf16; init and scale are not used */
	/* Tokens that go through a matrix together: few enough that their
	 * activations stay in the L2 cache. */
	int stripe;
	/* x[n][a->inputs] to bytes, or bf16. */
	void (*quantize)(struct acts *a, const float *x, int n);
	/* The same of gelu(x); x may be overwritten. NULL if wide. */
	void (*gelu_quantize)(struct acts *a, float *x, int n);
	/* If wide: out = gelu(matrix * activations + bias). Else NULL. */
	void (*multiply_gelu)(struct acts *out, const struct matrix *m,
			      const struct acts *a, int n);
	/* out[t * stride + row] = matrix * activations + bias. */
	void (*multiply)(float *out, size_t stride, const struct matrix *m,
			 const struct acts *a, int n);
	/* x = norm(x + y) * weight + bias, for n rows; y may be NULL. */
	void (*add_norm)(float *x, const float *y, const float *weight,
			 const float *bias, int n, int width, float eps);
	/*
	 * One head of one sequence of len tokens: out = softmax(q k' / sqrt
	 * of the head's width) v. Rows are `stride` floats apart.
	 */
	void (*attend)(float *out, const float *q, const float *k,
		       const float *v, size_t stride, int len,
		       struct attend_scratch *s);
};

/* The best one for cpu_best(), which cpu_limit() can lower. */
const struct kernel *kernel_best(void);

extern const struct kernel kernel_portable;
#if defined(__x86_64__)
extern const struct kernel kernel_avx2;
extern const struct kernel kernel_avxvnni;
extern const struct kernel kernel_avx512;
#if defined(CPU_HAS_AMX)
extern const struct kernel kernel_amx;
#endif
#elif defined(__aarch64__)
extern const struct kernel kernel_neon;
extern const struct kernel kernel_neondot;
#endif

/* Of what is not wide: a multiple of what kernels keep in registers. */
#define KERNEL_STRIPE 48

/* fp16 to float, exactly. */
float kernel_half(uint16_t h);
/* x[width] of a Q4_0 row of the embedding table; the same for all kernels. */
void kernel_unpack(float *x, const uint8_t *row, int width);

/*
 * gelu(x) = x * (1/2 + x * P(x^2)) for |x| < KERNEL_GELU_END, beyond it 0 or
 * x. P is fitted to (erf(x / sqrt 2) / 2) / x; see doc/internals/encoder.md.
 */
#define KERNEL_GELU_END 4.5f
#define KERNEL_GELU_TERMS 9
extern const float kernel_gelu_poly[KERNEL_GELU_TERMS];

#endif
