/*
 * The kernel for AVX-512 with VNNI (Ice Lake, Zen 4 and newer).
 *
 * vpdpbusd multiplies unsigned by signed bytes and adds four products to each
 * 32-bit lane: the nibbles of 16 rows are the unsigned side, four activations
 * of one token, broadcast, the signed one. Up to 12 tokens are in registers
 * beside a tile, so that a nibble is unpacked once for all of them.
 */
#if defined(__x86_64__)

#include "base/attr.h"
#include "encoder/kernel.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

#define WIDE ATTR_PLAIN_STACK \
	__attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni,fma")))
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

WIDE static INLINE void add_products(__m512i *sum, __m512i w, const int8_t *q,
				     int pitch, int tokens)
{
	UNROLL for (int t = 0; t < tokens; t++)
		sum[t] = _mm512_dpbusd_epi32(
			sum[t], w, _mm512_set1_epi32(load_i32(q + t * pitch)));
}

/* One tile for `tokens` tokens, a constant at each place of use. */
WIDE static INLINE void tile(float *out, size_t stride,
			     const struct matrix *m, const struct acts *a,
			     size_t index, size_t first, int tokens)
{
	const size_t blocks = (size_t)m->inputs / KERNEL_BLOCK;
	const uint8_t *nibbles = m->nibbles +
		index * blocks * KERNEL_TILE_BYTES;
	const uint16_t *scales = m->scales + index * blocks * KERNEL_ROWS;
	const int8_t *q = a->q + first * KERNEL_PITCH;
	const int32_t *init = a->init + first * KERNEL_BLOCK_PITCH;
	const float *scale = a->scale + first * KERNEL_BLOCK_PITCH;
	const __m512i low = _mm512_set1_epi8(15);
	__m512 total[TOKENS], bias;
	__m512i sum[TOKENS];

	UNROLL for (int t = 0; t < tokens; t++)
		total[t] = _mm512_setzero_ps();
	for (size_t b = 0; b < blocks; b++) {
		__m512 by = _mm512_cvtph_ps(_mm256_loadu_si256(
			(const __m256i *)scales));

		UNROLL for (int t = 0; t < tokens; t++)
			sum[t] = _mm512_set1_epi32(
				init[t * KERNEL_BLOCK_PITCH]);
		UNROLL for (int g = 0; g < 4; g++) {
			__m512i w = _mm512_loadu_si512(nibbles + g * 64);

			add_products(sum, _mm512_and_si512(w, low), q + g * 4,
				     KERNEL_PITCH, tokens);
			w = _mm512_and_si512(_mm512_srli_epi16(w, 4), low);
			add_products(sum, w, q + 16 + g * 4, KERNEL_PITCH,
				     tokens);
		}
		UNROLL for (int t = 0; t < tokens; t++)
			total[t] = _mm512_fmadd_ps(
				_mm512_cvtepi32_ps(sum[t]),
				_mm512_mul_ps(by, _mm512_set1_ps(
					scale[t * KERNEL_BLOCK_PITCH])),
				total[t]);
		nibbles += KERNEL_TILE_BYTES;
		scales += KERNEL_ROWS;
		q += KERNEL_BLOCK;
		init++;
		scale++;
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
	int blocks = a->inputs / KERNEL_BLOCK;

	for (int t = 0; t < n; t++) {
		int8_t *q = a->q + t * KERNEL_PITCH;
		float *scale = a->scale + t * KERNEL_BLOCK_PITCH;
		int32_t *init = a->init + t * KERNEL_BLOCK_PITCH;

		for (int b = 0; b < blocks; b++, x += KERNEL_BLOCK)
			quantize_block(_mm512_loadu_ps(x),
				       _mm512_loadu_ps(x + 16),
				       q + b * KERNEL_BLOCK, scale + b,
				       init + b);
	}
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
	int blocks = a->inputs / KERNEL_BLOCK;

	for (int t = 0; t < n; t++) {
		int8_t *q = a->q + t * KERNEL_PITCH;
		float *scale = a->scale + t * KERNEL_BLOCK_PITCH;
		int32_t *init = a->init + t * KERNEL_BLOCK_PITCH;

		for (int b = 0; b < blocks; b++, x += KERNEL_BLOCK)
			quantize_block(gelu(_mm512_loadu_ps(x)),
				       gelu(_mm512_loadu_ps(x + 16)),
				       q + b * KERNEL_BLOCK, scale + b,
				       init + b);
	}
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
 *
 * Weights and values are 16-bit integers, two keys to a lane: a weight of 1 is
 * 4095, the largest value of a column 1000, so that 512 products fit 32 bits.
 * Eight bits would lose what many small weights add up to.
 */
#define HEAD_BYTES KERNEL_HEAD
#define KEY_TILE 16
#define WEIGHT_ONE 4095
#define VALUE_MOST 1000

_Static_assert((long long)WEIGHT_ONE * VALUE_MOST * KERNEL_MAX_LEN <= INT32_MAX,
	       "sums of attention fit");

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
	const int32_t *values; /* [len / 2][32], two keys in each */
	float value_scale[KERNEL_HEAD];
	float *scores; /* [QUERIES][KERNEL_MAX_LEN], later 16-bit weights */
	int len;
};

/* Largest magnitude of each column, 1 where a column is zero. */
WIDE static void largest_values(__m512 *most, const float *v, size_t stride,
				int len)
{
	for (int i = 0; i < 2; i++) {
		__m512 m = _mm512_setzero_ps();

		for (int t = 0; t < len; t++)
			m = _mm512_max_ps(m, _mm512_abs_ps(_mm512_loadu_ps(
				v + (size_t)t * stride + i * 16)));
		most[i] = _mm512_mask_mov_ps(_mm512_set1_ps(1),
			_mm512_cmp_ps_mask(m, _mm512_set1_ps(KERNEL_TINY),
					   _CMP_GT_OQ), m);
	}
}

WIDE static void pack_values(struct head *h, int32_t *out, const float *v,
			     size_t stride)
{
	const __m512 one = _mm512_set1_ps(VALUE_MOST);
	__m512 most[2];

	largest_values(most, v, stride, h->len);
	for (int i = 0; i < 2; i++) {
		__m512 by = _mm512_div_ps(one, most[i]);

		_mm512_storeu_ps(h->value_scale + i * 16,
				 _mm512_div_ps(most[i], one));
		for (int t = 0; t < h->len; t += 2) {
			const float *row = v + (size_t)t * stride + i * 16;
			__m512i a, b = _mm512_setzero_si512();

			a = _mm512_cvtps_epi32(_mm512_mul_ps(
				_mm512_loadu_ps(row), by));
			if (t + 1 < h->len)
				b = _mm512_cvtps_epi32(_mm512_mul_ps(
					_mm512_loadu_ps(row + stride), by));
			a = _mm512_mask_mov_epi16(_mm512_slli_epi32(b, 16),
						  0x55555555, a);
			_mm512_storeu_si512(out + t / 2 * KERNEL_HEAD + i * 16,
					    a);
		}
	}
}

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
			add_products(sum, _mm512_loadu_si512(keys), q + g * 4,
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

/* WEIGHT_ONE * 2^x for x <= 0; below 2^-100 it is that, no denormal. */
WIDE static INLINE __m512i weight(__m512 x)
{
	__m512 n, f, p;

	x = _mm512_max_ps(x, _mm512_set1_ps(-100));
	n = _mm512_roundscale_ps(x, 8);
	f = _mm512_sub_ps(x, n);
	p = _mm512_set1_ps(WEIGHT_ONE * 0.00967703f);
	p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(WEIGHT_ONE * 0.05550549f));
	p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(WEIGHT_ONE * 0.24022652f));
	p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(WEIGHT_ONE * 0.69314718f));
	p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(WEIGHT_ONE));
	return _mm512_cvtps_epi32(_mm512_scalef_ps(p, n));
}

/* Scores to weights, in place; returns one over their sum. */
WIDE static INLINE float soften(float *s, int len, __m512 most)
{
	const __m512 top = _mm512_set1_ps(largest(most));
	__m512i sum = _mm512_setzero_si512();
	int16_t *out = (int16_t *)s; /* behind what is still to be read */

	for (int at = 0; at < len; at += 16) {
		__m512i p = weight(_mm512_sub_ps(_mm512_loadu_ps(s + at), top));

		sum = _mm512_add_epi32(sum, p);
		_mm256_storeu_si256((__m256i *)(out + at),
				    _mm512_cvtepi32_epi16(p));
	}
	return 1 / (float)_mm512_reduce_add_epi32(sum);
}

WIDE static INLINE void gather(const struct head *h, const float *by,
			       float *out, size_t stride, int queries)
{
	const __m512 scale[2] = { _mm512_loadu_ps(h->value_scale),
				  _mm512_loadu_ps(h->value_scale + 16) };
	const int32_t *values = h->values;
	__m512i sum[QUERIES][2];

	UNROLL for (int t = 0; t < queries; t++)
		sum[t][0] = sum[t][1] = _mm512_setzero_si512();
	for (int s = 0; s < h->len; s += 2, values += KERNEL_HEAD) {
		__m512i v0 = _mm512_loadu_si512(values);
		__m512i v1 = _mm512_loadu_si512(values + 16);

		UNROLL for (int t = 0; t < queries; t++) {
			__m512i p = _mm512_set1_epi32(load_i32(
				(const int16_t *)(h->scores +
						  t * KERNEL_MAX_LEN) + s));

			sum[t][0] = _mm512_dpwssd_epi32(sum[t][0], p, v0);
			sum[t][1] = _mm512_dpwssd_epi32(sum[t][1], p, v1);
		}
	}
	UNROLL for (int t = 0; t < queries; t++) {
		float *o = out + (size_t)t * stride;
		__m512 b = _mm512_set1_ps(by[t]);

		UNROLL for (int i = 0; i < 2; i++)
			_mm512_storeu_ps(o + i * 16, _mm512_mul_ps(
				_mm512_cvtepi32_ps(sum[t][i]),
				_mm512_mul_ps(b, scale[i])));
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
	struct head h = { .keys = (uint8_t *)s->keys, .key_scale = s->extra,
			  .values = (int32_t *)s->values, .scores = s->scores,
			  .len = len };
	int groups = (len + QUERIES - 1) / QUERIES;

	pack_keys((uint8_t *)s->keys, s->extra, k, stride, len);
	pack_values(&h, (int32_t *)s->values, v, stride);
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
