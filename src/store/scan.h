/*
 * Kernels that read vectors: int8 rows, padded to a multiple of 64, against a
 * query whose bytes are never -128. One set a kind of processor, chosen by
 * base/cpu. All give the same integers; sums of floats may differ in the last bits.
 */
#ifndef STORE_SCAN_H
#define STORE_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"

struct scan_kernel {
	const char *name;
	/* out[i] = row i . q for n rows that stand one behind the other */
	void (*dots)(int32_t *out, const int8_t *rows, size_t n, size_t padded,
		     const int8_t *q);
	/* out[0] = row . a, out[1] = row . b, out[2] = row . row; a and b
	 * are padded with zeros */
	void (*dots_float)(float out[3], const int8_t *row, size_t padded,
			   const float *a, const float *b);
};

extern const struct scan_kernel scan_portable;
/* NULL where the machine's family has none. */
extern const struct scan_kernel *const scan_avx2;
extern const struct scan_kernel *const scan_avx512;
extern const struct scan_kernel *const scan_neon;
extern const struct scan_kernel *const scan_neondot;

/* The best of the level or below it. */
const struct scan_kernel *scan_kernel_for(enum cpu_level level);
const struct scan_kernel *scan_kernel(void);

#endif
