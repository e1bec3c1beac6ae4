/* Every kernel of this machine against the portable one. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/kernel.h"

#define MOST 64 /* tokens */
#define WIDE 192

static const char *const levels[] = { "avx2", "avxvnni", "avx512vnni", "amx",
				      "neon", "neondot" };

static uint32_t seed;

static uint32_t any(void)
{
	seed = seed * 1664525u + 1013904223u;
	return seed >> 8;
}

static float between(float low, float high)
{
	return low + (high - low) * (float)(any() % 10001) / 10000;
}

struct work {
	_Alignas(64) int8_t q[MOST * KERNEL_PITCH];
	int32_t init[MOST * KERNEL_BLOCK_PITCH];
	float scale[MOST * KERNEL_BLOCK_PITCH];
	struct acts acts;
	_Alignas(64) uint8_t panel[KERNEL_PANEL_BYTES(WIDE)];
	float out[MOST * WIDE];
};

static void make(struct work *w, int inputs)
{
	memset(w, 0, sizeof(*w));
	w->acts.q = w->q;
	w->acts.init = w->init;
	w->acts.scale = w->scale;
	w->acts.panel = w->panel;
	w->acts.inputs = inputs;
}

enum kind { ORDINARY, ZERO, LARGE, TINY, MIXED, KINDS };

static void fill(float *x, size_t n, enum kind kind)
{
	static const float size[] = { 1, 0, 1e30f, 1e-38f, 1 };

	for (size_t i = 0; i < n; i++)
		x[i] = size[kind] * between(-3, 3);
	if (kind == MIXED) /* blocks of zeros and outliers */
		for (size_t i = 0; i < n; i++)
			x[i] *= i / 32 % 3 ? i % 50 ? 1 : 1000 : 0;
}

static bool is_near(float a, float b, float tolerance)
{
	return fabsf(a - b) <= tolerance * (1 + fabsf(a));
}

static void expect_near(const float *a, const float *b, size_t n,
			float tolerance)
{
	for (size_t i = 0; i < n; i++)
		if (!is_near(a[i], b[i], tolerance))
			fail_msg("at %zu: %g and %g", i, (double)a[i],
				 (double)b[i]);
}

static float from_bf16(const void *p)
{
	uint16_t half;
	uint32_t bits;
	float f;

	memcpy(&half, p, sizeof(half));
	bits = (uint32_t)half << 16;
	memcpy(&f, &bits, sizeof(f));
	return f;
}

/* Activations of token t as bf16: each is one step off at most. */
static void expect_wide(const struct acts *a, int t, const float *x)
{
	const int8_t *q = a->q + (size_t)t * KERNEL_WIDE_PITCH(a->inputs);

	for (int i = 0; i < a->inputs; i++)
		if (!(fabsf(from_bf16(q + 2 * i) - x[i]) <=
		      fabsf(x[i]) / 256 + 1.2e-38f))
			fail_msg("token %d, at %d: %g and %g", t, i,
				 (double)x[i], (double)from_bf16(q + 2 * i));
}

static void check_wide_quantize(const struct kernel *k)
{
	static struct work w;
	static float x[MOST * WIDE];

	for (int kind = 0; kind < KINDS; kind++) {
		make(&w, WIDE);
		fill(x, 7 * WIDE, (enum kind)kind);
		k->quantize(&w.acts, x, 7);
		for (int t = 0; t < 7; t++)
			expect_wide(&w.acts, t, x + t * WIDE);
	}
}

static void check_quantize(const struct kernel *k)
{
	static struct work a, b;
	static float x[MOST * WIDE];

	if (k->wide) {
		check_wide_quantize(k);
		return;
	}
	for (int kind = 0; kind < KINDS; kind++) {
		make(&a, WIDE);
		make(&b, WIDE);
		fill(x, 7 * WIDE, (enum kind)kind);
		kernel_portable.quantize(&a.acts, x, 7);
		k->quantize(&b.acts, x, 7);
		assert_memory_equal(a.q, b.q, sizeof(a.q));
		assert_memory_equal(a.init, b.init, sizeof(a.init));
		expect_near(a.scale, b.scale, 7 * KERNEL_BLOCK_PITCH, 1e-6f);
	}
}

/* Weights of any bytes; scales ordinary, zero and denormal, never infinite. */
static void make_matrix(struct matrix *m, int rows, int inputs)
{
	static uint8_t nibbles[WIDE * WIDE / 2];
	static uint16_t scales[WIDE * WIDE / 32];
	static float bias[WIDE];

	for (size_t i = 0; i < sizeof(nibbles); i++)
		nibbles[i] = (uint8_t)any();
	for (size_t i = 0; i < WIDE * WIDE / 32; i++)
		scales[i] = (uint16_t)(any() % 5 ? 0x2000 + any() % 4096 :
				       any() % 64);
	for (int i = 0; i < WIDE; i++)
		bias[i] = between(-1, 1);
	*m = (struct matrix){ nibbles, scales, bias, rows, inputs };
}

static void expect_gelu(const struct acts *a, int t, const float *want)
{
	const int8_t *q = a->q + (size_t)t * KERNEL_WIDE_PITCH(a->inputs);

	for (int i = 0; i < a->inputs; i++)
		if (!(fabsf(from_bf16(q + 2 * i) - want[i]) <=
		      fabsf(want[i]) / 256 + 1e-4f))
			fail_msg("token %d, at %d: %g and %g", t, i,
				 (double)want[i],
				 (double)from_bf16(q + 2 * i));
}

/* Against the kernel's own products, of which the tests below are. */
static void check_wide_gelu(const struct kernel *k)
{
	static struct work in, out;
	static float x[MOST * WIDE];
	struct matrix m;

	for (int n = 1; n <= 50; n++) {
		make(&in, WIDE);
		make(&out, WIDE);
		make_matrix(&m, WIDE, WIDE);
		fill(x, (size_t)(n * WIDE), n % 7 ? ORDINARY : MIXED);
		k->quantize(&in.acts, x, n);
		k->multiply(out.out, WIDE, &m, &in.acts, n);
		k->multiply_gelu(&out.acts, &m, &in.acts, n);
		for (int i = 0; i < n * WIDE; i++) {
			float v = out.out[i];

			out.out[i] = v * 0.5f * (1 + erff(v * 0.70710678f));
		}
		for (int t = 0; t < n; t++)
			expect_gelu(&out.acts, t, out.out + t * WIDE);
	}
}

static void check_gelu(const struct kernel *k)
{
	static struct work a, b;
	static float x[2][MOST * WIDE];

	if (k->wide) {
		check_wide_gelu(k);
		return;
	}
	make(&a, WIDE);
	make(&b, WIDE);
	for (int i = 0; i < 5 * WIDE; i++)
		x[0][i] = x[1][i] = between(-8, 8);
	kernel_portable.gelu_quantize(&a.acts, x[0], 5);
	k->gelu_quantize(&b.acts, x[1], 5);
	for (int i = 0; i < 5 * KERNEL_PITCH; i++)
		assert_true(abs(a.q[i] - b.q[i]) <= 1);
	expect_near(a.scale, b.scale, 5 * KERNEL_BLOCK_PITCH, 1e-5f);
}

/* Wide kernels round weights and activations otherwise: to 1/256 each, so that
 * the error of a sum is that of its largest products. */
static void expect_products(const struct kernel *k, const struct work *a,
			    const struct work *b, const struct matrix *m,
			    const float *x, int n)
{
	for (int t = 0; t < n; t++) {
		float largest = 0, tolerance = 2e-4f;

		for (int i = 0; i < m->inputs; i++)
			largest = fmaxf(largest, fabsf(x[t * m->inputs + i]));
		if (k->wide) /* weights are at most 8 * 2^-4 */
			tolerance = largest * 0.5f * 0.02f *
				sqrtf((float)m->inputs) + 1e-4f;
		for (int r = 0; r < m->rows; r++) {
			float want = a->out[t * WIDE + r];
			float got = b->out[t * WIDE + r];

			if (!(fabsf(want - got) <= tolerance *
			      (k->wide ? 1 : 1 + fabsf(want))))
				fail_msg("token %d of %d, row %d: %g and %g",
					 t, n, r, (double)want, (double)got);
		}
	}
}

static void check_multiply(const struct kernel *k)
{
	static struct work a, b;
	static float x[MOST * WIDE];
	struct matrix m;

	for (int n = 1; n <= 50; n++) {
		int inputs = n % 2 ? WIDE : 64;

		make(&a, inputs);
		make(&b, inputs);
		make_matrix(&m, n % 3 ? 64 : WIDE, inputs);
		fill(x, (size_t)(n * inputs), n % 7 ? ORDINARY :
		     n % 2 ? MIXED : ZERO);
		if (n == 5) /* the largest sums there are */
			for (int i = 0; i < n * inputs; i++)
				x[i] = i % 4 ? 127 : -127;
		kernel_portable.quantize(&a.acts, x, n);
		k->quantize(&b.acts, x, n);
		k->multiply(b.out, WIDE, &m, &b.acts, n);
		kernel_portable.multiply(a.out, WIDE, &m, &a.acts, n);
		expect_products(k, &a, &b, &m, x, n);
	}
}

static void check_norm(const struct kernel *k)
{
	static float x[2][MOST * WIDE], y[MOST * WIDE], w[WIDE], b[WIDE];

	fill(x[0], 9 * WIDE, MIXED);
	memcpy(x[1], x[0], sizeof(x[0]));
	fill(y, 9 * WIDE, ORDINARY);
	fill(w, WIDE, ORDINARY);
	fill(b, WIDE, ORDINARY);
	kernel_portable.add_norm(x[0], y, w, b, 9, WIDE, 1e-12f);
	k->add_norm(x[1], y, w, b, 9, WIDE, 1e-12f);
	expect_near(x[0], x[1], 9 * WIDE, 1e-4f);
	kernel_portable.add_norm(x[0], NULL, w, b, 9, WIDE, 1e-12f);
	k->add_norm(x[1], NULL, w, b, 9, WIDE, 1e-12f);
	expect_near(x[0], x[1], 9 * WIDE, 2e-4f);
}

static void check_attend_len(const struct kernel *k, int len, float spread)
{
	static float q[2][KERNEL_MAX_LEN * 64], key[KERNEL_MAX_LEN * 64];
	static float value[KERNEL_MAX_LEN * 64];
	static struct attend_scratch s;

	memset(&s, 0xff, sizeof(s)); /* NaN where nothing was written */
	for (int i = 0; i < len * 64; i++) {
		q[0][i] = q[1][i] = between(-spread, spread);
		key[i] = between(-spread, spread);
		value[i] = between(-1, 1);
	}
	kernel_portable.attend(q[0], q[0], key, value, 64, len, &s);
	memset(&s, 0xff, sizeof(s));
	k->attend(q[1], q[1], key, value, 64, len, &s);
	for (int t = 0; t < len; t++)
		expect_near(q[0] + t * 64, q[1] + t * 64, 64, 0.03f);
}

/* Zeros, the largest bytes, numbers near the smallest float. */
static void check_attend_extremes(const struct kernel *k)
{
	static const float size[] = { 0, 127, 1e-38f, 1e-44f, 1e18f };
	static float x[2][37 * 32], kv[2][37 * 32];
	static struct attend_scratch s;

	for (size_t i = 0; i < sizeof(size) / sizeof(*size); i++) {
		for (int n = 0; n < 37 * 32; n++) {
			x[0][n] = x[1][n] = n % 3 ? 1 : -1;
			kv[0][n] = n % 2 ? 1 : -1;
			kv[1][n] = n % 5 ? size[i] : -size[i];
		}
		kernel_portable.attend(x[0], x[0], kv[0], kv[1], 32, 37, &s);
		k->attend(x[1], x[1], kv[0], kv[1], 32, 37, &s);
		for (int n = 0; n < 37 * 32; n++)
			assert_true(fabsf(x[0][n] - x[1][n]) <=
				    0.01f * size[i] + 1e-30f);
	}
}

/* What is no number may come out as anything, but must not do harm. */
static void check_attend_nan(const struct kernel *k)
{
	static float x[33 * 32], kv[2][33 * 32];
	static struct attend_scratch s;

	for (int n = 0; n < 33 * 32; n++) {
		x[n] = n % 7 ? 1 : NAN;
		kv[0][n] = n % 11 ? 1 : INFINITY;
		kv[1][n] = n % 13 ? 1 : -INFINITY;
	}
	k->attend(x, x, kv[0], kv[1], 32, 33, &s);
}

static void check_attend(const struct kernel *k)
{
	check_attend_extremes(k);
	check_attend_nan(k);
	for (int len = 1; len <= 40; len++)
		check_attend_len(k, len, 1);
	check_attend_len(k, KERNEL_MAX_LEN, 1);
	check_attend_len(k, KERNEL_MAX_LEN - 3, 2);
	check_attend_len(k, 33, 0);
}

static void for_each_kernel(void (*check)(const struct kernel *k))
{
	for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++) {
		if (cpu_limit(levels[i]))
			continue;
		seed = 1;
		check(kernel_best());
	}
	cpu_limit(NULL);
}

static void test_kernel__bytes_are_the_same(void **state)
{
	(void)state;
	for_each_kernel(check_quantize);
}

static void test_kernel__gelu_is_the_same(void **state)
{
	(void)state;
	for_each_kernel(check_gelu);
}

static void test_kernel__products_are_the_same(void **state)
{
	(void)state;
	for_each_kernel(check_multiply);
}

static void test_kernel__norms_are_the_same(void **state)
{
	(void)state;
	for_each_kernel(check_norm);
}

static void test_kernel__attention_is_the_same(void **state)
{
	(void)state;
	for_each_kernel(check_attend);
}

static void test_kernel__embeddings_unpack(void **state)
{
	uint8_t row[2 * 18] = { 0 };
	float x[64];

	(void)state;
	row[0] = 0x00; /* scale 0.5, then -2 */
	row[1] = 0x38;
	row[19] = 0xc0;
	for (int i = 0; i < 16; i++)
		row[2 + i] = row[20 + i] = (uint8_t)(i | (15 - i) << 4);
	kernel_unpack(x, row, 64);
	for (int i = 0; i < 16; i++) {
		assert_true(x[i] == 0.5f * (float)(i - 8));
		assert_true(x[16 + i] == 0.5f * (float)(7 - i));
		assert_true(x[32 + i] == -2.0f * (float)(i - 8));
		assert_true(x[48 + i] == -2.0f * (float)(7 - i));
	}
}

static void test_kernel__gelu_is_that_of_erf(void **state)
{
	float x[64];
	static struct work w;

	(void)state;
	make(&w, 64);
	for (int i = -64; i < 64; i++) {
		float v = (float)i / 8;
		double want = 0.5 * (double)v *
			(1 + erf((double)v * 0.70710678118));

		for (int k = 0; k < 64; k++)
			x[k] = v;
		kernel_portable.gelu_quantize(&w.acts, x, 1);
		assert_true(fabs((double)w.scale[0] * w.q[0] - want) < 1e-4);
	}
}

static void test_kernel__halves_are_exact(void **state)
{
	(void)state;
	assert_true(kernel_half(0x3c00) == 1);
	assert_true(kernel_half(0xc000) == -2);
	assert_true(kernel_half(0x0001) == 0x1p-24f);
	assert_true(kernel_half(0x03ff) == 1023 * 0x1p-24f);
	assert_true(kernel_half(0x7bff) == 65504);
	assert_true(isinf(kernel_half(0x7c00)) && isnan(kernel_half(0x7e00)));
	assert_true(signbit(kernel_half(0x8000)));
}

static void test_kernel__the_limit_chooses(void **state)
{
	(void)state;
	assert_int_equal(cpu_limit("portable"), 0);
	assert_ptr_equal(kernel_best(), &kernel_portable);
	for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++)
		if (!cpu_limit(levels[i]))
			assert_int_equal(kernel_best()->level, cpu_best());
	cpu_limit(NULL);
}
