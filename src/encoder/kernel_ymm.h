/*
 * The kernel for 256-bit registers, in two forms that differ in how bytes are
 * multiplied: AVX2 has vpmaddubsw, which adds two products in 16 bits, AVX-VNNI
 * the better vpdpbusd. Included once by kernel_avx2.c and kernel_avxvnni.c,
 * which define YMM (the functions' target) and YMM_VNNI (0 or 1).
 *
 * In 16 bits a block cannot overflow: a lane adds 16 products of a nibble and
 * a byte of at most 127, that is 30,480.
 */
#include "encoder/kernel.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

#define INLINE __attribute__((always_inline)) inline
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

#define TOKENS 4
#define HALF 8 /* rows in a register, half a tile */
#define QUERIES 4
#define KEYS 16 /* scored at once */

YMM static INLINE __m256i broadcast(const void *p)
{
	int32_t v;

	memcpy(&v, p, sizeof(v));
	return _mm256_set1_epi32(v);
}

#if YMM_VNNI
#define START(init) _mm256_set1_epi32(init)
#define ADD(sum, w, a) _mm256_dpbusd_avx_epi32(sum, w, a)
#define END(sum, init) (sum)
#else
#define START(init) _mm256_setzero_si256()
#define ADD(sum, w, a) _mm256_add_epi16(sum, _mm256_maddubs_epi16(w, a))
#define END(sum, init)                                                     \
	_mm256_add_epi32(_mm256_madd_epi16(sum, _mm256_set1_epi16(1)),     \
			 _mm256_set1_epi32(init))
#endif

YMM static INLINE void add_products(__m256i *sum, __m256i w, const int8_t *q,
				    int tokens)
{
	UNROLL for (int t = 0; t < tokens; t++)
		sum[t] = ADD(sum[t], w, broadcast(q + t * KERNEL_PITCH));
}

/* Half a tile for `tokens` tokens, a constant at each place of use. */
YMM static INLINE void half_tile(float *out, size_t stride,
				 const struct matrix *m, const struct acts *a,
				 size_t index, size_t first, int tokens)
{
	const size_t blocks = (size_t)m->inputs / KERNEL_BLOCK;
	const uint8_t *nibbles = m->nibbles + index % 2 * HALF * 4 +
		index / 2 * blocks * KERNEL_TILE_BYTES;
	const uint16_t *scales = m->scales + index % 2 * HALF +
		index / 2 * blocks * KERNEL_ROWS;
	const int8_t *q = a->q + first * KERNEL_PITCH;
	const int32_t *init = a->init + first * KERNEL_BLOCK_PITCH;
	const float *scale = a->scale + first * KERNEL_BLOCK_PITCH;
	const __m256i low = _mm256_set1_epi8(15);
	__m256 total[TOKENS], bias;
	__m256i sum[TOKENS];

	UNROLL for (int t = 0; t < tokens; t++)
		total[t] = _mm256_setzero_ps();
	for (size_t b = 0; b < blocks; b++) {
		__m256 by;

		UNROLL for (int t = 0; t < tokens; t++)
			sum[t] = START(init[t * KERNEL_BLOCK_PITCH]);
		UNROLL for (int g = 0; g < 4; g++) {
			__m256i w = _mm256_loadu_si256(
				(const __m256i *)(nibbles + g * 64));

			add_products(sum, _mm256_and_si256(w, low), q + g * 4,
				     tokens);
			w = _mm256_and_si256(_mm256_srli_epi16(w, 4), low);
			add_products(sum, w, q + 16 + g * 4, tokens);
		}
		by = _mm256_cvtph_ps(_mm_loadu_si128(
			(const __m128i *)scales));
		UNROLL for (int t = 0; t < tokens; t++)
			total[t] = _mm256_fmadd_ps(
				_mm256_cvtepi32_ps(
					END(sum[t],
					    init[t * KERNEL_BLOCK_PITCH])),
				_mm256_mul_ps(by, _mm256_set1_ps(
					scale[t * KERNEL_BLOCK_PITCH])),
				total[t]);
		nibbles += KERNEL_TILE_BYTES;
		scales += KERNEL_ROWS;
		q += KERNEL_BLOCK;
		init++;
		scale++;
	}
	bias = _mm256_loadu_ps(m->bias + index * HALF);
	out += first * stride + index * HALF;
	UNROLL for (int t = 0; t < tokens; t++)
		_mm256_storeu_ps(out + (size_t)t * stride,
				 _mm256_add_ps(total[t], bias));
}

#define TILE(n)                                                            \
	YMM static void tile_##n(float *out, size_t stride,                \
				 const struct matrix *m,                   \
				 const struct acts *a, size_t index,       \
				 size_t first)                             \
	{                                                                  \
		half_tile(out, stride, m, a, index, first, n);             \
	}
TILE(1) TILE(2) TILE(3) TILE(4)

typedef void tile_fn(float *, size_t, const struct matrix *,
		     const struct acts *, size_t, size_t);

static tile_fn *const tiles[TOKENS + 1] = {
	NULL, tile_1, tile_2, tile_3, tile_4
};

/* Tokens are dealt out evenly: few in a group are wasteful. */
static void multiply(float *out, size_t stride, const struct matrix *m,
		     const struct acts *a, int n)
{
	int groups = (n + TOKENS - 1) / TOKENS;

	for (int r = 0; r < m->rows / HALF; r++) {
		for (int g = 0, at = 0; g < groups; g++) {
			int end = n * (g + 1) / groups;

			tiles[end - at](out, stride, m, a, (size_t)r,
					(size_t)at);
			at = end;
		}
	}
}

YMM static INLINE float largest(__m256 v)
{
	__m128 x = _mm_max_ps(_mm256_castps256_ps128(v),
			      _mm256_extractf128_ps(v, 1));

	x = _mm_max_ps(x, _mm_movehl_ps(x, x));
	return _mm_cvtss_f32(_mm_max_ss(x, _mm_movehdup_ps(x)));
}

YMM static INLINE float sum_of(__m256 v)
{
	__m128 x = _mm_add_ps(_mm256_castps256_ps128(v),
			      _mm256_extractf128_ps(v, 1));

	x = _mm_add_ps(x, _mm_movehl_ps(x, x));
	return _mm_cvtss_f32(_mm_add_ss(x, _mm_movehdup_ps(x)));
}

YMM static INLINE int32_t sum_of_bytes(__m256i q)
{
	__m256i v = _mm256_madd_epi16(
		_mm256_maddubs_epi16(_mm256_set1_epi8(1), q),
		_mm256_set1_epi16(1));
	__m128i x = _mm_add_epi32(_mm256_castsi256_si128(v),
				  _mm256_extracti128_si256(v, 1));

	x = _mm_add_epi32(x, _mm_shuffle_epi32(x, 0x4e));
	return _mm_cvtsi128_si32(_mm_add_epi32(x, _mm_shuffle_epi32(x, 0xb1)));
}

YMM static INLINE __m256 magnitude(__m256 v)
{
	return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), v);
}

YMM static INLINE void quantize_block(const __m256 *x, int8_t *q, float *scale,
				      int32_t *init)
{
	float max = largest(_mm256_max_ps(
		_mm256_max_ps(magnitude(x[0]), magnitude(x[1])),
		_mm256_max_ps(magnitude(x[2]), magnitude(x[3]))));
	__m256 by = _mm256_set1_ps(max > KERNEL_TINY ? 127 / max : 0);
	__m256i i[4], v;

	UNROLL for (int n = 0; n < 4; n++)
		i[n] = _mm256_cvtps_epi32(_mm256_mul_ps(x[n], by));
	/* packing works within halves: the last step puts fours in order */
	v = _mm256_packs_epi16(_mm256_packs_epi32(i[0], i[1]),
			       _mm256_packs_epi32(i[2], i[3]));
	v = _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(0, 4, 1, 5, 2, 6,
							     3, 7));
	_mm256_storeu_si256((__m256i *)q, v);
	*scale = max / 127;
	*init = -8 * sum_of_bytes(v);
}

YMM static void quantize(struct acts *a, const float *x, int n)
{
	int blocks = a->inputs / KERNEL_BLOCK;
	__m256 v[4];

	for (int t = 0; t < n; t++)
		for (int b = 0; b < blocks; b++, x += KERNEL_BLOCK) {
			int at = t * KERNEL_BLOCK_PITCH + b;

			UNROLL for (int i = 0; i < 4; i++)
				v[i] = _mm256_loadu_ps(x + i * 8);
			quantize_block(v, a->q + t * KERNEL_PITCH +
				       b * KERNEL_BLOCK, a->scale + at,
				       a->init + at);
		}
}

/* See KERNEL_GELU_END: beyond it, the bounds at the end make 0 or x. */
YMM static INLINE __m256 gelu(__m256 x)
{
	const __m256 half = _mm256_set1_ps(0.5f);
	__m256 u = _mm256_min_ps(_mm256_mul_ps(x, x), _mm256_set1_ps(
		KERNEL_GELU_END * KERNEL_GELU_END));
	__m256 p = _mm256_set1_ps(kernel_gelu_poly[KERNEL_GELU_TERMS - 1]);

	UNROLL for (int i = KERNEL_GELU_TERMS - 2; i >= 0; i--)
		p = _mm256_fmadd_ps(p, u, _mm256_set1_ps(kernel_gelu_poly[i]));
	p = _mm256_mul_ps(p, x);
	p = _mm256_max_ps(_mm256_min_ps(p, half), _mm256_set1_ps(-0.5f));
	return _mm256_mul_ps(x, _mm256_add_ps(p, half));
}

YMM static void gelu_quantize(struct acts *a, float *x, int n)
{
	int blocks = a->inputs / KERNEL_BLOCK;
	__m256 v[4];

	for (int t = 0; t < n; t++)
		for (int b = 0; b < blocks; b++, x += KERNEL_BLOCK) {
			int at = t * KERNEL_BLOCK_PITCH + b;

			UNROLL for (int i = 0; i < 4; i++)
				v[i] = gelu(_mm256_loadu_ps(x + i * 8));
			quantize_block(v, a->q + t * KERNEL_PITCH +
				       b * KERNEL_BLOCK, a->scale + at,
				       a->init + at);
		}
}

YMM static INLINE void norm_row(float *x, const float *y, const float *weight,
				const float *bias, int width, float eps)
{
	__m256 sum = _mm256_setzero_ps(), squares = sum, mean, by;

	for (int i = 0; i < width; i += 8) {
		__m256 v = _mm256_loadu_ps(x + i);

		if (y)
			v = _mm256_add_ps(v, _mm256_loadu_ps(y + i));
		_mm256_storeu_ps(x + i, v);
		sum = _mm256_add_ps(sum, v);
	}
	mean = _mm256_set1_ps(sum_of(sum) / (float)width);
	for (int i = 0; i < width; i += 8) {
		__m256 v = _mm256_sub_ps(_mm256_loadu_ps(x + i), mean);

		squares = _mm256_fmadd_ps(v, v, squares);
	}
	by = _mm256_set1_ps(1 / sqrtf(sum_of(squares) / (float)width + eps));
	for (int i = 0; i < width; i += 8) {
		__m256 v = _mm256_sub_ps(_mm256_loadu_ps(x + i), mean);

		v = _mm256_mul_ps(v, by);
		_mm256_storeu_ps(x + i, _mm256_fmadd_ps(
			v, _mm256_loadu_ps(weight + i),
			_mm256_loadu_ps(bias + i)));
	}
}

YMM static void add_norm(float *x, const float *y, const float *weight,
			 const float *bias, int n, int width, float eps)
{
	for (int t = 0; t < n; t++) {
		norm_row(x, y, weight, bias, width, eps);
		x += width;
		y = y ? y + width : NULL;
	}
}

/* ---- attention, in floats --------------------------------------------- */

struct head { /* one head of one sequence */
	const float *keys; /* [len / 16][32][16], padded with zeros */
	const float *values; /* [len][32] */
	float *scores; /* [QUERIES][KERNEL_MAX_LEN] */
	size_t stride; /* of queries and results */
	int len;
};

static void pack(struct attend_scratch *s, const float *k, const float *v,
		 size_t stride, int len)
{
	for (int at = 0; at < len; at += KEYS) {
		float *tile = s->keys + at * KERNEL_HEAD;

		for (int i = 0; i < KEYS; i++) {
			const float *row = k + (size_t)(at + i) * stride;

			for (int d = 0; d < KERNEL_HEAD; d++)
				tile[d * KEYS + i] = at + i < len ? row[d] : 0;
		}
	}
	for (int i = 0; i < len; i++)
		memcpy(s->values + i * KERNEL_HEAD, v + (size_t)i * stride,
		       KERNEL_HEAD * sizeof(*v));
}

/* Scores, in powers of two, of some queries and 16 keys. */
YMM static INLINE void score(const struct head *h, const float *q, int at,
			     int queries)
{
	const __m256 by = _mm256_set1_ps(0.25503487f); /* log2(e) / sqrt(32) */
	const float *tile = h->keys + at * KERNEL_HEAD;
	__m256 sum[QUERIES][2];

	UNROLL for (int t = 0; t < queries; t++)
		sum[t][0] = sum[t][1] = _mm256_setzero_ps();
	for (int d = 0; d < KERNEL_HEAD; d++) {
		__m256 k0 = _mm256_loadu_ps(tile + d * KEYS);
		__m256 k1 = _mm256_loadu_ps(tile + d * KEYS + 8);

		UNROLL for (int t = 0; t < queries; t++) {
			__m256 x = _mm256_set1_ps(
				q[(size_t)t * h->stride + (size_t)d]);

			sum[t][0] = _mm256_fmadd_ps(x, k0, sum[t][0]);
			sum[t][1] = _mm256_fmadd_ps(x, k1, sum[t][1]);
		}
	}
	UNROLL for (int t = 0; t < queries; t++) {
		float *s = h->scores + t * KERNEL_MAX_LEN + at;

		_mm256_storeu_ps(s, _mm256_mul_ps(sum[t][0], by));
		_mm256_storeu_ps(s + 8, _mm256_mul_ps(sum[t][1], by));
	}
}

/* 2^x for x <= 0; below 2^-100 it stays there, away from denormals. */
YMM static INLINE __m256 exp2_256(__m256 x)
{
	__m256 n, f, p;

	x = _mm256_max_ps(x, _mm256_set1_ps(-100));
	n = _mm256_round_ps(x, 8);
	f = _mm256_sub_ps(x, n);
	p = _mm256_set1_ps(0.00967703f);
	p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(0.05550549f));
	p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(0.24022652f));
	p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(0.69314718f));
	p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(1));
	return _mm256_castsi256_ps(_mm256_add_epi32(
		_mm256_castps_si256(p),
		_mm256_slli_epi32(_mm256_cvtps_epi32(n), 23)));
}

/* Scores to weights; returns one over their sum. The row is padded to 8. */
YMM static INLINE float soften(float *s, int len)
{
	__m256 most = _mm256_set1_ps(-INFINITY), sum = _mm256_setzero_ps();

	for (int i = len; i % 8; i++)
		s[i] = -INFINITY;
	for (int at = 0; at < len; at += 8)
		most = _mm256_max_ps(most, _mm256_loadu_ps(s + at));
	most = _mm256_set1_ps(largest(most));
	for (int at = 0; at < len; at += 8) {
		__m256 p = exp2_256(_mm256_sub_ps(_mm256_loadu_ps(s + at),
						  most));

		sum = _mm256_add_ps(sum, p);
		_mm256_storeu_ps(s + at, p);
	}
	return 1 / sum_of(sum);
}

/* 16 of the 32 columns of some results. */
YMM static INLINE void gather(const struct head *h, const float *by,
			      float *out, int column, int queries)
{
	const float *values = h->values + column;
	__m256 sum[QUERIES][2];

	UNROLL for (int t = 0; t < queries; t++)
		sum[t][0] = sum[t][1] = _mm256_setzero_ps();
	for (int s = 0; s < h->len; s++) {
		__m256 v0 = _mm256_loadu_ps(values + s * KERNEL_HEAD);
		__m256 v1 = _mm256_loadu_ps(values + s * KERNEL_HEAD + 8);

		UNROLL for (int t = 0; t < queries; t++) {
			__m256 p = _mm256_set1_ps(
				h->scores[t * KERNEL_MAX_LEN + s]);

			sum[t][0] = _mm256_fmadd_ps(p, v0, sum[t][0]);
			sum[t][1] = _mm256_fmadd_ps(p, v1, sum[t][1]);
		}
	}
	UNROLL for (int t = 0; t < queries; t++) {
		float *o = out + (size_t)t * h->stride + column;
		__m256 b = _mm256_set1_ps(by[t]);

		_mm256_storeu_ps(o, _mm256_mul_ps(sum[t][0], b));
		_mm256_storeu_ps(o + 8, _mm256_mul_ps(sum[t][1], b));
	}
}

YMM static INLINE void some(const struct head *h, float *out, const float *q,
			    int queries)
{
	float by[QUERIES];

	for (int at = 0; at < h->len; at += KEYS)
		score(h, q, at, queries);
	for (int t = 0; t < queries; t++)
		by[t] = soften(h->scores + t * KERNEL_MAX_LEN, h->len);
	gather(h, by, out, 0, queries);
	gather(h, by, out, 16, queries);
}

#define SOME(n)                                                            \
	YMM static void some_##n(const struct head *h, float *out,         \
				 const float *q)                           \
	{                                                                  \
		some(h, out, q, n);                                        \
	}
SOME(1) SOME(2) SOME(3) SOME(4)

static void attend(float *out, const float *q, const float *k, const float *v,
		   size_t stride, int len, struct attend_scratch *s)
{
	static void (*const somes[QUERIES + 1])(const struct head *, float *,
						const float *) = {
		NULL, some_1, some_2, some_3, some_4
	};
	struct head h = { s->keys, s->values, s->scores, stride, len };
	int groups = (len + QUERIES - 1) / QUERIES;

	pack(s, k, v, stride, len);
	for (int g = 0, at = 0; g < groups; g++) {
		int end = len * (g + 1) / groups;

		somes[end - at](&h, out + (size_t)at * stride,
				q + (size_t)at * stride);
		at = end;
	}
}

YMM static void unpack(float *x, const uint8_t *row, int width)
{
	const __m128i low = _mm_set1_epi8(15), eight = _mm_set1_epi8(8);

	for (int b = 0; b < width / KERNEL_BLOCK; b++, row += 18) {
		__m128i w = _mm_loadu_si128((const __m128i *)(row + 2)), v[2];
		uint16_t half;
		__m256 by;

		memcpy(&half, row, sizeof(half));
		by = _mm256_set1_ps(kernel_half(half));
		v[0] = _mm_sub_epi8(_mm_and_si128(w, low), eight);
		v[1] = _mm_sub_epi8(_mm_and_si128(_mm_srli_epi16(w, 4), low),
				    eight);
		for (int i = 0; i < 2; i++, x += 16) {
			_mm256_storeu_ps(x, _mm256_mul_ps(
				by, _mm256_cvtepi32_ps(
					_mm256_cvtepi8_epi32(v[i]))));
			_mm256_storeu_ps(x + 8, _mm256_mul_ps(
				by, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(
					_mm_srli_si128(v[i], 8)))));
		}
	}
}
