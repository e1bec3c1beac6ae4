/*
 * The kernel in plain C: runs everywhere, and says what the others must give.
 */
#include "encoder/kernel.h"

#include <math.h>
#include <string.h>

/*
 * To the nearest integer, to even between two, as the vector instructions do:
 * behind 1.5 * 2^23 a float has no room for a fraction. For |x| < 2^22.
 */
static int32_t nearest(float x)
{
	uint32_t bits;

	x += 12582912.0f;
	memcpy(&bits, &x, sizeof(bits));
	return (int32_t)(bits - 0x4b400000u);
}

static float larger(float a, float b)
{
	return a > b ? a : b;
}

static void quantize_block(const float *x, int8_t *q, float *scale,
			   int32_t *init)
{
	float most = 0, by;
	int32_t sum = 0;

	for (int i = 0; i < KERNEL_BLOCK; i++)
		most = larger(fabsf(x[i]), most);
	*scale = most / 127;
	by = most > KERNEL_TINY ? 127 / most : 0;
	for (int i = 0; i < KERNEL_BLOCK; i++) {
		int32_t v = nearest(x[i] * by);

		q[i] = (int8_t)v;
		sum += q[i];
	}
	*init = -8 * sum;
}

static void quantize(struct acts *a, const float *x, int n)
{
	int blocks = a->inputs / KERNEL_BLOCK;

	for (int t = 0; t < n; t++)
		for (int b = 0; b < blocks; b++, x += KERNEL_BLOCK) {
			int at = t * KERNEL_BLOCK_PITCH + b;

			quantize_block(x, a->q + t * KERNEL_PITCH +
				       b * KERNEL_BLOCK, a->scale + at,
				       a->init + at);
		}
}

/* See KERNEL_GELU_END: beyond it, the bounds at the end make 0 or x. */
static float gelu(float x)
{
	const float end = KERNEL_GELU_END * KERNEL_GELU_END;
	float u = x * x < end ? x * x : end;
	float p = kernel_gelu_poly[KERNEL_GELU_TERMS - 1];

	for (int i = KERNEL_GELU_TERMS - 2; i >= 0; i--)
		p = p * u + kernel_gelu_poly[i];
	p *= x;
	p = p < 0.5f ? p : 0.5f;
	p = p > -0.5f ? p : -0.5f;
	return x * (p + 0.5f);
}

static void gelu_quantize(struct acts *a, float *x, int n)
{
	for (size_t i = 0; i < (size_t)n * (size_t)a->inputs; i++)
		x[i] = gelu(x[i]);
	quantize(a, x, n);
}

/* A row of a tile as 16-bit weights, a form that compilers vectorise. */
static void unpack_row(int16_t *w, const struct matrix *m, int row)
{
	size_t blocks = (size_t)m->inputs / KERNEL_BLOCK;
	const uint8_t *p = m->nibbles + (size_t)(row / KERNEL_ROWS) * blocks *
		KERNEL_TILE_BYTES + row % KERNEL_ROWS * 4;

	for (size_t b = 0; b < blocks; b++, p += KERNEL_TILE_BYTES) {
		for (int i = 0; i < 16; i++) {
			uint8_t byte = p[i / 4 * 64 + i % 4];

			*w = (int16_t)((byte & 15) - 8);
			w[16] = (int16_t)((byte >> 4) - 8);
			w++;
		}
		w += 16;
	}
}

static int32_t dot(const int16_t *w, const int8_t *q)
{
	int32_t sum = 0;

	for (int i = 0; i < KERNEL_BLOCK; i++)
		sum += w[i] * q[i];
	return sum;
}

static void multiply_row(float *out, size_t stride, const struct matrix *m,
			 int row, const struct acts *a, int n)
{
	int blocks = m->inputs / KERNEL_BLOCK, tile = row / KERNEL_ROWS;
	const uint16_t *half = m->scales +
		(size_t)(tile * blocks) * KERNEL_ROWS + row % KERNEL_ROWS;
	int16_t w[KERNEL_MAX_INPUTS];
	float scale[KERNEL_MAX_INPUTS / KERNEL_BLOCK];

	unpack_row(w, m, row);
	for (int b = 0; b < blocks; b++)
		scale[b] = kernel_half(half[b * KERNEL_ROWS]);
	for (int t = 0; t < n; t++) {
		const int8_t *q = a->q + t * KERNEL_PITCH;
		float sum = 0;

		for (int b = 0; b < blocks; b++)
			sum += scale[b] * a->scale[t * KERNEL_BLOCK_PITCH + b] *
				(float)dot(w + b * KERNEL_BLOCK,
					   q + b * KERNEL_BLOCK);
		out[(size_t)t * stride + (size_t)row] = sum + m->bias[row];
	}
}

static void multiply(float *out, size_t stride, const struct matrix *m,
		     const struct acts *a, int n)
{
	for (int row = 0; row < m->rows; row++)
		multiply_row(out, stride, m, row, a, n);
}

static void add_norm(float *x, const float *y, const float *weight,
		     const float *bias, int n, int width, float eps)
{
	for (int t = 0; t < n; t++) {
		float *row = x + (size_t)t * (size_t)width;
		float mean = 0, var = 0, by;

		for (int i = 0; i < width; i++) {
			if (y)
				row[i] += y[(size_t)t * (size_t)width +
					    (size_t)i];
			mean += row[i];
		}
		mean /= (float)width;
		for (int i = 0; i < width; i++)
			var += (row[i] - mean) * (row[i] - mean);
		by = 1 / sqrtf(var / (float)width + eps);
		for (int i = 0; i < width; i++)
			row[i] = (row[i] - mean) * by * weight[i] + bias[i];
	}
}

/* Scores of one query row, softmaxed; returns one over their sum. */
static float score(float *p, const float *q, const float *k, size_t stride,
		   int len)
{
	float most = -INFINITY, sum = 0;

	for (int s = 0; s < len; s++) {
		const float *key = k + (size_t)s * stride;

		p[s] = 0;
		for (int i = 0; i < KERNEL_HEAD; i++)
			p[s] += q[i] * key[i];
		p[s] *= 0.17677669f; /* 1 / sqrt(32) */
		most = larger(p[s], most);
	}
	for (int s = 0; s < len; s++) {
		p[s] = expf(p[s] - most);
		sum += p[s];
	}
	return 1 / sum;
}

static void attend(float *out, const float *q, const float *k, const float *v,
		   size_t stride, int len, struct attend_scratch *scratch)
{
	float *p = scratch->scores;

	for (int t = 0; t < len; t++) {
		float *o = out + (size_t)t * stride;
		float by = score(p, q + (size_t)t * stride, k, stride, len);
		float sum[KERNEL_HEAD] = { 0 };

		for (int s = 0; s < len; s++)
			for (int i = 0; i < KERNEL_HEAD; i++)
				sum[i] += p[s] * v[(size_t)s * stride +
						   (size_t)i];
		for (int i = 0; i < KERNEL_HEAD; i++)
			o[i] = sum[i] * by;
	}
}

const struct kernel kernel_portable = {
	.level = CPU_PORTABLE,
	.stripe = KERNEL_STRIPE,
	.quantize = quantize,
	.gelu_quantize = gelu_quantize,
	.multiply = multiply,
	.add_norm = add_norm,
	.attend = attend,
};
