/* Kernels for any processor. Sums are kept in lanes so that a compiler may use
 * whatever vectors it has without changing the result. */
#include "store/scan.h"

/* GCC makes vectors of these loops only when asked for it. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#define LANES 16

static void dots(int32_t *out, const int8_t *rows, size_t n, size_t padded,
		 const int8_t *q)
{
	for (size_t i = 0; i < n; i++, rows += padded) {
		int32_t sum[LANES] = { 0 };

		for (size_t k = 0; k < padded; k += LANES)
			for (size_t j = 0; j < LANES; j++)
				sum[j] += (int32_t)rows[k + j] * q[k + j];
		out[i] = 0;
		for (size_t j = 0; j < LANES; j++)
			out[i] += sum[j];
	}
}

static void dots_float(float out[3], const int8_t *row, size_t padded,
		       const float *a, const float *b)
{
	float x[LANES] = { 0 }, y[LANES] = { 0 };
	int32_t z[LANES] = { 0 };

	for (size_t k = 0; k < padded; k += LANES) {
		for (size_t j = 0; j < LANES; j++) {
			x[j] += (float)row[k + j] * a[k + j];
			y[j] += (float)row[k + j] * b[k + j];
			z[j] += (int32_t)row[k + j] * row[k + j];
		}
	}
	out[0] = out[1] = out[2] = 0;
	for (size_t j = 0; j < LANES; j++) {
		out[0] += x[j];
		out[1] += y[j];
		out[2] += (float)z[j];
	}
}

const struct scan_kernel scan_portable = { "portable", dots, dots_float };
