/*
 * The kernel for AVX-512 with VNNI (Ice Lake, Zen 4 and newer).
 *
 * vpdpbusd multiplies unsigned by signed bytes and adds four products to each
 * 32-bit lane: the nibbles of 16 rows are the unsigned side, four activations
 * of one token, broadcast, the signed one. Up to 12 tokens are in registers
 * beside a tile, so that a nibble is unpacked once for all of them.
 */
#if defined(__x86_64__)

#include "encoder/kernel.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

#define WIDE __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni,fma")))
#define INLINE __attribute__((always_inline)) inline
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

#define TOKENS 12 /* 12 + 12 accumulators and 8 registers for the rest */
#define QUERIES KERNEL_QUERIES

static INLINE int32_t load_i32(const void *p)
{
	int32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

WIDE static INLINE void add_nibbles(__m512i *sum, __m512i w, const int8_t *q,
				    size_t inputs, int tokens)
{
	UNROLL for (int t = 0; t < tokens; t++)
		sum[t] = _mm512_dpbusd_epi32(
			sum[t], w, _mm512_set1_epi32(
				load_i32(q + (size_t)t * inputs)));
}

/* One tile for `tokens` tokens, a constant at each place of use. */
WIDE static INLINE void tile(float *out, size_t stride,
			     const struct matrix *m, const struct acts *a,
			     size_t index, size_t first, int tokens)
{
	const size_t inputs = (size_t)m->inputs, blocks = inputs / KERNEL_BLOCK;
	const uint8_t *nibbles = m->nibbles +
		index * blocks * KERNEL_TILE_BYTES;
	const uint16_t *scales = m->scales + index * blocks * KERNEL_ROWS;
	const int8_t *q = a->q + first * inputs;
	const int32_t *init = a->init + first * blocks;
	const float *scale = a->scale + first * blocks;
	const __m512i low = _mm512_set1_epi8(15);
	__m512 total[TOKENS], bias;
	__m512i sum[TOKENS];

	UNROLL for (int t = 0; t < tokens; t++)
		total[t] = _mm512_setzero_ps();
	for (size_t b = 0; b < blocks; b++) {
		__m512 by = _mm512_cvtph_ps(_mm256_loadu_si256(
			(const __m256i *)(scales + b * KERNEL_ROWS)));

		UNROLL for (int t = 0; t < tokens; t++)
			sum[t] = _mm512_set1_epi32(init[(size_t)t * blocks + b]);
		UNROLL for (int g = 0; g < 4; g++) {
			__m512i w = _mm512_loadu_si512(nibbles + g * 64);

			add_nibbles(sum, _mm512_and_si512(w, low), q + g * 4,
				    inputs, tokens);
			w = _mm512_and_si512(_mm512_srli_epi16(w, 4), low);
			add_nibbles(sum, w, q + 16 + g * 4, inputs, tokens);
		}
		UNROLL for (int t = 0; t < tokens; t++)
			total[t] = _mm512_fmadd_ps(
				_mm512_cvtepi32_ps(sum[t]),
				_mm512_mul_ps(by, _mm512_set1_ps(
					scale[(size_t)t * blocks + b])),
				total[t]);
		nibbles += KERNEL_TILE_BYTES;
		q += KERNEL_BLOCK;
	}
	bias = _mm512_loadu_ps(m->bias + index * KERNEL_ROWS);
	out += first * stride + index * KERNEL_ROWS;
	UNROLL for (int t = 0; t < tokens; t++)
		_mm512_storeu_ps(out + (size_t)t * stride,
				 _mm512_add_ps(total[t], bias));
}

#define TILE(n)                                                            \
	WIDE static void tile_##n(float *out, size_t stride,               \
				  const struct matrix *m,                  \
				  const struct acts *a, size_t index,      \
				  size_t first)                            \
	{                                                                  \
		tile(out, stride, m, a, index, first, n);                  \
	}
TILE(1) TILE(2) TILE(3) TILE(4) TILE(5) TILE(6)
TILE(7) TILE(8) TILE(9) TILE(10) TILE(11) TILE(12)

typedef void tile_fn(float *, size_t, const struct matrix *,
		     const struct acts *, size_t, size_t);

static tile_fn *const tiles[TOKENS + 1] = {
	NULL, tile_1, tile_2, tile_3, tile_4, tile_5, tile_6, tile_7, tile_8,
	tile_9, tile_10, tile_11, tile_12
};

/* Tokens are dealt out evenly, 17 as 9 and 8: few in a group are wasteful. */
static void multiply(float *out, size_t stride, const struct matrix *m,
		     const struct acts *a, int n)
{
	int groups = (n + TOKENS - 1) / TOKENS;

	for (int r = 0; r < m->rows / KERNEL_ROWS; r++) {
		for (int g = 0, at = 0; g < groups; g++) {
			int end = n * (g + 1) / groups;

			tiles[end - at](out, stride, m, a, (size_t)r,
					(size_t)at);
			at = end;
		}
	}
}

WIDE static INLINE int32_t sum_of_bytes(__m256i q)
{
	__m256i v = _mm256_dpbusd_epi32(_mm256_setzero_si256(),
					_mm256_set1_epi8(1), q);
	__m128i x = _mm_add_epi32(_mm256_castsi256_si128(v),
				  _mm256_extracti128_si256(v, 1));

	x = _mm_add_epi32(x, _mm_shuffle_epi32(x, 0x4e));
	return _mm_cvtsi128_si32(_mm_add_epi32(x, _mm_shuffle_epi32(x, 0xb1)));
}

WIDE static INLINE float largest(__m512 v)
{
	__m256 y = _mm256_max_ps(_mm512_castps512_ps256(v),
				 _mm256_castpd_ps(_mm512_extractf64x4_pd(
					 _mm512_castps_pd(v), 1)));
	__m128 x = _mm_max_ps(_mm256_castps256_ps128(y),
			      _mm256_extractf128_ps(y, 1));

	x = _mm_max_ps(x, _mm_movehl_ps(x, x));
	return _mm_cvtss_f32(_mm_max_ss(x, _mm_movehdup_ps(x)));
}

WIDE static INLINE void quantize_block(__m512 x0, __m512 x1, int8_t *q,
				       float *scale, int32_t *init)
{
	float max = largest(_mm512_max_ps(_mm512_abs_ps(x0),
					  _mm512_abs_ps(x1)));
	__m512 by = _mm512_set1_ps(max > KERNEL_TINY ? 127 / max : 0);
	__m256i bytes = _mm256_inserti128_si256(
		_mm256_castsi128_si256(_mm512_cvtsepi32_epi8(
			_mm512_cvtps_epi32(_mm512_mul_ps(x0, by)))),
		_mm512_cvtsepi32_epi8(
			_mm512_cvtps_epi32(_mm512_mul_ps(x1, by))), 1);

	*scale = max / 127;
	/* from the bytes: what is no number became -128, and cannot overflow */
	*init = -8 * sum_of_bytes(bytes);
	_mm256_storeu_si256((__m256i *)q, bytes);
}

WIDE static void quantize(struct acts *a, const float *x, int n)
{
	size_t blocks = (size_t)n * (size_t)a->inputs / KERNEL_BLOCK;

	for (size_t b = 0; b < blocks; b++, x += KERNEL_BLOCK)
		quantize_block(_mm512_loadu_ps(x), _mm512_loadu_ps(x + 16),
			       a->q + b * KERNEL_BLOCK, a->scale + b,
			       a->init + b);
}

/* See KERNEL_GELU_END: beyond it, the bounds at the end make 0 or x. */
WIDE static INLINE __m512 gelu(__m512 x)
{
	const __m512 half = _mm512_set1_ps(0.5f);
	__m512 u = _mm512_min_ps(_mm512_mul_ps(x, x), _mm512_set1_ps(
		KERNEL_GELU_END * KERNEL_GELU_END));
	__m512 p = _mm512_set1_ps(kernel_gelu_poly[KERNEL_GELU_TERMS - 1]);

	UNROLL for (int i = KERNEL_GELU_TERMS - 2; i >= 0; i--)
		p = _mm512_fmadd_ps(p, u, _mm512_set1_ps(kernel_gelu_poly[i]));
	p = _mm512_mul_ps(p, x);
	p = _mm512_max_ps(_mm512_min_ps(p, half), _mm512_set1_ps(-0.5f));
	return _mm512_mul_ps(x, _mm512_add_ps(p, half));
}

WIDE static void gelu_quantize(struct acts *a, float *x, int n)
{
	size_t blocks = (size_t)n * (size_t)a->inputs / KERNEL_BLOCK;

	for (size_t b = 0; b < blocks; b++, x += KERNEL_BLOCK)
		quantize_block(gelu(_mm512_loadu_ps(x)),
			       gelu(_mm512_loadu_ps(x + 16)),
			       a->q + b * KERNEL_BLOCK, a->scale + b,
			       a->init + b);
}

WIDE static void norm_row(float *x, const float *y, const float *weight,
			  const float *bias, int width, float eps)
{
	__m512 sum = _mm512_setzero_ps(), squares = sum, mean, by;

	for (int i = 0; i < width; i += 16) {
		__m512 v = _mm512_loadu_ps(x + i);

		if (y)
			v = _mm512_add_ps(v, _mm512_loadu_ps(y + i));
		_mm512_storeu_ps(x + i, v);
		sum = _mm512_add_ps(sum, v);
	}
	mean = _mm512_set1_ps(_mm512_reduce_add_ps(sum) / (float)width);
	for (int i = 0; i < width; i += 16) {
		__m512 v = _mm512_sub_ps(_mm512_loadu_ps(x + i), mean);

		squares = _mm512_fmadd_ps(v, v, squares);
	}
	by = _mm512_set1_ps(1 / sqrtf(_mm512_reduce_add_ps(squares) /
				      (float)width + eps));
	for (int i = 0; i < width; i += 16) {
		__m512 v = _mm512_sub_ps(_mm512_loadu_ps(x + i), mean);

		v = _mm512_mul_ps(v, by);
		_mm512_storeu_ps(x + i, _mm512_fmadd_ps(
			v, _mm512_loadu_ps(weight + i),
			_mm512_loadu_ps(bias + i)));
	}
}

static void add_norm(float *x, const float *y, const float *weight,
		     const float *bias, int n, int width, float eps)
{
	for (int t = 0; t < n; t++) {
		norm_row(x, y, weight, bias, width, eps);
		x += width;
		y = y ? y + width : NULL;
	}
}

/* ---- attention -------------------------------------------------------- */

/*
 * Scores are bytes times bytes, too: a key is made unsigned by adding 128, and
 * a query's sum starts at -128 times its own sum. Keys lie in tiles of 16:
 * [tile][4 of the 32 dimensions][16 keys][4 bytes].
 */
#define HEAD_BYTES KERNEL_HEAD
#define KEY_TILE 16

WIDE static INLINE void quantize_head(const float *x, int8_t *q, float *scale,
				      int32_t *sum)
{
	quantize_block(_mm512_loadu_ps(x), _mm512_loadu_ps(x + 16), q, scale,
		       sum);
}

/* Keys to tiles; those beyond len are zero and masked later. */
WIDE static void pack_keys(uint8_t *tiles_out, float *scales, const float *k,
			   size_t stride, int len)
{
	const __m512i index = _mm512_mullo_epi32(
		_mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3,
				 2, 1, 0),
		_mm512_set1_epi32(HEAD_BYTES / 4));
	int8_t rows[KEY_TILE * HEAD_BYTES];
	int32_t sum;

	for (int at = 0; at < len; at += KEY_TILE) {
		for (int i = 0; i < KEY_TILE; i++) {
			int8_t *row = rows + i * HEAD_BYTES;

			if (at + i < len) {
				quantize_head(k + (size_t)(at + i) * stride,
					      row, scales + at + i, &sum);
			} else {
				memset(row, 0, HEAD_BYTES);
				scales[at + i] = 0;
			}
		}
		for (int g = 0; g < HEAD_BYTES / 4; g++) {
			__m512i v = _mm512_i32gather_epi32(index, rows + g * 4,
							   4);

			v = _mm512_xor_si512(v, _mm512_set1_epi8(-128));
			_mm512_storeu_si512(tiles_out, v);
			tiles_out += 64;
		}
	}
}

struct head { /* one head of one sequence */
	const uint8_t *keys;
	const float *key_scale;
	const float *values; /* [len][32] */
	float *scores; /* [QUERIES][KERNEL_MAX_LEN] */
	int len;
};

/* Scores, in powers of two, of some queries; returns the largest of each. */
WIDE static INLINE void score(const struct head *h, const int8_t *q,
			      const float *q_scale, const int32_t *q_init,
			      __m512 *most, int queries)
{
	const __m512 none = _mm512_set1_ps(-INFINITY);
	const uint8_t *keys = h->keys;
	__m512i sum[QUERIES];

	UNROLL for (int t = 0; t < queries; t++)
		most[t] = none;
	for (int at = 0; at < h->len; at += KEY_TILE) {
		__m512 by = _mm512_loadu_ps(h->key_scale + at);
		__mmask16 valid = h->len - at >= KEY_TILE ? 0xffff :
			(__mmask16)((1u << (h->len - at)) - 1);

		UNROLL for (int t = 0; t < queries; t++)
			sum[t] = _mm512_set1_epi32(q_init[t]);
		UNROLL for (int g = 0; g < HEAD_BYTES / 4; g++, keys += 64)
			add_nibbles(sum, _mm512_loadu_si512(keys), q + g * 4,
				    HEAD_BYTES, queries);
		UNROLL for (int t = 0; t < queries; t++) {
			__m512 s = _mm512_mul_ps(
				_mm512_cvtepi32_ps(sum[t]),
				_mm512_mul_ps(by, _mm512_set1_ps(q_scale[t])));

			s = _mm512_mask_mov_ps(none, valid, s);
			most[t] = _mm512_max_ps(most[t], s);
			_mm512_storeu_ps(h->scores + t * KERNEL_MAX_LEN + at, s);
		}
	}
}

/* 2^x for x <= 0; below 2^-100 it stays there, away from denormals. */
WIDE static INLINE __m512 exp2_512(__m512 x)
{
	__m512 n, f, p;

	x = _mm512_max_ps(x, _mm512_set1_ps(-100));
	n = _mm512_roundscale_ps(x, 8);
	f = _mm512_sub_ps(x, n);
	p = _mm512_set1_ps(0.00967703f);
	p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.05550549f));
	p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.24022652f));
	p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.69314718f));
	p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(1));
	return _mm512_scalef_ps(p, n);
}

/* Scores to weights; returns one over their sum. */
WIDE static INLINE float soften(float *s, int len, __m512 most)
{
	const __m512 top = _mm512_set1_ps(largest(most));
	__m512 sum = _mm512_setzero_ps();
	__mmask16 rest = (__mmask16)((1u << (len % 16)) - 1);
	int at;

	for (at = 0; at + 16 <= len; at += 16) {
		__m512 p = exp2_512(_mm512_sub_ps(_mm512_loadu_ps(s + at), top));

		sum = _mm512_add_ps(sum, p);
		_mm512_storeu_ps(s + at, p);
	}
	if (rest) {
		__m512 p = exp2_512(_mm512_sub_ps(_mm512_loadu_ps(s + at), top));

		p = _mm512_maskz_mov_ps(rest, p);
		sum = _mm512_add_ps(sum, p);
		_mm512_storeu_ps(s + at, p);
	}
	return 1 / _mm512_reduce_add_ps(sum);
}

WIDE static INLINE void gather(const struct head *h, const float *by,
			       float *out, size_t stride, int queries)
{
	__m512 sum[QUERIES][2];

	UNROLL for (int t = 0; t < queries; t++)
		sum[t][0] = sum[t][1] = _mm512_setzero_ps();
	for (int s = 0; s < h->len; s++) {
		__m512 v0 = _mm512_loadu_ps(h->values + s * KERNEL_HEAD);
		__m512 v1 = _mm512_loadu_ps(h->values + s * KERNEL_HEAD + 16);

		UNROLL for (int t = 0; t < queries; t++) {
			__m512 p = _mm512_set1_ps(
				h->scores[t * KERNEL_MAX_LEN + s]);

			sum[t][0] = _mm512_fmadd_ps(p, v0, sum[t][0]);
			sum[t][1] = _mm512_fmadd_ps(p, v1, sum[t][1]);
		}
	}
	UNROLL for (int t = 0; t < queries; t++) {
		float *o = out + (size_t)t * stride;
		__m512 b = _mm512_set1_ps(by[t]);

		_mm512_storeu_ps(o, _mm512_mul_ps(sum[t][0], b));
		_mm512_storeu_ps(o + 16, _mm512_mul_ps(sum[t][1], b));
	}
}

WIDE static INLINE void some(const struct head *h, float *out, const float *q,
			     size_t stride, int queries)
{
	int8_t bytes[QUERIES * HEAD_BYTES];
	float scale[QUERIES], by[QUERIES];
	int32_t init[QUERIES];
	__m512 most[QUERIES];

	for (int t = 0; t < queries; t++) {
		quantize_head(q + (size_t)t * stride, bytes + t * HEAD_BYTES,
			      scale + t, init + t);
		init[t] *= 16; /* from -8 times the sum to -128 times */
		scale[t] *= 0.25503487f; /* log2(e) / sqrt(32) */
	}
	score(h, bytes, scale, init, most, queries);
	UNROLL for (int t = 0; t < queries; t++)
		by[t] = soften(h->scores + t * KERNEL_MAX_LEN, h->len, most[t]);
	gather(h, by, out, stride, queries);
}

#define SOME(n)                                                            \
	WIDE static void some_##n(const struct head *h, float *out,        \
				  const float *q, size_t stride)           \
	{                                                                  \
		some(h, out, q, stride, n);                                \
	}
SOME(1) SOME(2) SOME(3) SOME(4) SOME(5) SOME(6) SOME(7) SOME(8)

typedef void some_fn(const struct head *, float *, const float *, size_t);

static some_fn *const somes[QUERIES + 1] = {
	NULL, some_1, some_2, some_3, some_4, some_5, some_6, some_7, some_8
};

WIDE static void attend(float *out, const float *q, const float *k,
			const float *v, size_t stride, int len,
			struct attend_scratch *s)
{
	struct head h = { (uint8_t *)s->keys, s->extra, s->values, s->scores,
			  len };
	int groups = (len + QUERIES - 1) / QUERIES;

	pack_keys((uint8_t *)s->keys, s->extra, k, stride, len);
	for (int i = 0; i < len; i++)
		memcpy(s->values + i * KERNEL_HEAD, v + (size_t)i * stride,
		       KERNEL_HEAD * sizeof(*v));
	for (int g = 0, at = 0; g < groups; g++) {
		int end = len * (g + 1) / groups;

		somes[end - at](&h, out + (size_t)at * stride,
				q + (size_t)at * stride, stride);
		at = end;
	}
}

WIDE static void unpack(float *x, const uint8_t *row, int width)
{
	const __m128i low = _mm_set1_epi8(15), eight = _mm_set1_epi8(8);

	for (int b = 0; b < width / KERNEL_BLOCK; b++, row += 18) {
		__m128i w = _mm_loadu_si128((const __m128i *)(row + 2));
		uint16_t half;
		__m512 by;

		memcpy(&half, row, sizeof(half));
		by = _mm512_set1_ps(kernel_half(half));
		_mm512_storeu_ps(x + b * 32, _mm512_mul_ps(by,
			_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_sub_epi8(
				_mm_and_si128(w, low), eight)))));
		w = _mm_and_si128(_mm_srli_epi16(w, 4), low);
		_mm512_storeu_ps(x + b * 32 + 16, _mm512_mul_ps(by,
			_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(
				_mm_sub_epi8(w, eight)))));
	}
}

const struct kernel kernel_avx512 = {
	.level = CPU_AVX512VNNI,
	.quantize = quantize,
	.gelu_quantize = gelu_quantize,
	.multiply = multiply,
	.add_norm = add_norm,
	.attend = attend,
	.unpack = unpack,
};

#else
typedef int kernel_avx512_is_for_x86; /* an empty file is no C */
#endif
