/*
 * The kernel for 256-bit registers, in two forms that differ in how bytes are
 * multiplied: AVX2 has vpmaddubsw, which adds two products in 16 bits, AVX-VNNI
 * the better vpdpbusd. Included once by kernel_avx2.c and kernel_avxvnni.c,
 * which define VEC, LEVEL, KERNEL and YMM_VNNI (0 or 1); what is computed
 * stands in kernel_vector.h.
 *
 * In 16 bits a block cannot overflow: a lane adds 16 products of a nibble and
 * a byte of at most 127, that is 30,480. Keys times queries are magnitudes
 * times signed bytes there: 32,258 at most.
 */
#include "encoder/kernel.h"
#include "encoder/kernel_unroll.h"

#include <immintrin.h>
#include <string.h>

#define LANES 8
#define TOKENS 6 /* 6 + 6 accumulators and 4 registers for the rest */
#define QUERIES 4

typedef __m256 vf;
typedef __m256i vi, wb, ws, ks, ps;

#define vf_load(p) _mm256_loadu_ps(p)
#define vf_store(p, v) _mm256_storeu_ps(p, v)
#define vf_set1(x) _mm256_set1_ps(x)
#define vf_add(a, b) _mm256_add_ps(a, b)
#define vf_sub(a, b) _mm256_sub_ps(a, b)
#define vf_mul(a, b) _mm256_mul_ps(a, b)
#define vf_div(a, b) _mm256_div_ps(a, b)
#define vf_max(a, b) _mm256_max_ps(a, b)
#define vf_min(a, b) _mm256_min_ps(a, b)
#define vf_abs(a) _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a)
#define vf_fma(a, b, c) _mm256_fmadd_ps(a, b, c)
#define vf_round(a) _mm256_round_ps(a, 8)
#define vf_of(a) _mm256_cvtepi32_ps(a)
#define vi_of(a) _mm256_cvtps_epi32(a)
#define vi_add(a, b) _mm256_add_epi32(a, b)
#define vi_set1(x) _mm256_set1_epi32(x)
#define vi_store(p, v) _mm256_storeu_si256((__m256i *)(p), v)
#define load_int(p) _mm256_loadu_si256((const __m256i *)(p))
#define wb_load(p) load_int(p)
#define ks_end(sum) (sum)
#define ps_start() _mm256_setzero_si256()
#define ps_end(sum) (sum)

VEC static INLINE __m256i broadcast(const void *p)
{
	int32_t v;

	memcpy(&v, p, sizeof(v));
	return _mm256_set1_epi32(v);
}

#if YMM_VNNI
#define KEY_FLIP (int32_t)0x80808080
#define ws_start(init) _mm256_set1_epi32(init)
#define ws_end(sum, init) (sum)
#define ks_start(init) _mm256_set1_epi32(init)

VEC static INLINE ws ws_add(ws sum, wb w, const int8_t *q, int group)
{
	return _mm256_dpbusd_avx_epi32(sum, w, broadcast(q + group * 4));
}

VEC static INLINE ks ks_add(ks sum, const int32_t *keys, const int8_t *q)
{
	return _mm256_dpbusd_avx_epi32(sum, load_int(keys), broadcast(q));
}

VEC static INLINE ps ps_add(ps sum, const int16_t *p, const int32_t *values)
{
	return _mm256_dpwssd_avx_epi32(sum, broadcast(p), load_int(values));
}
#else
#define KEY_FLIP 0
#define ws_start(init) _mm256_setzero_si256()
#define ks_start(init) ((void)(init), _mm256_setzero_si256())

VEC static INLINE ws ws_add(ws sum, wb w, const int8_t *q, int group)
{
	sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(
		w, broadcast(q + group * 4)));
	HERE(sum);
	return sum;
}

VEC static INLINE vi ws_end(ws sum, int32_t init)
{
	return _mm256_add_epi32(_mm256_madd_epi16(sum, _mm256_set1_epi16(1)),
				_mm256_set1_epi32(init));
}

VEC static INLINE ks ks_add(ks sum, const int32_t *keys, const int8_t *q)
{
	__m256i key = load_int(keys);
	__m256i v = _mm256_maddubs_epi16(_mm256_abs_epi8(key),
					 _mm256_sign_epi8(broadcast(q), key));

	return _mm256_add_epi32(sum, _mm256_madd_epi16(
		v, _mm256_set1_epi16(1)));
}

VEC static INLINE ps ps_add(ps sum, const int16_t *p, const int32_t *values)
{
	return _mm256_add_epi32(sum, _mm256_madd_epi16(broadcast(p),
						       load_int(values)));
}
#endif

VEC static INLINE vf vf_scale2(vf a, vf n)
{
	return _mm256_castsi256_ps(_mm256_add_epi32(
		_mm256_castps_si256(a),
		_mm256_slli_epi32(_mm256_cvtps_epi32(n), 23)));
}

VEC static INLINE float vf_largest(vf v)
{
	__m128 x = _mm_max_ps(_mm256_castps256_ps128(v),
			      _mm256_extractf128_ps(v, 1));

	x = _mm_max_ps(x, _mm_movehl_ps(x, x));
	return _mm_cvtss_f32(_mm_max_ss(x, _mm_movehdup_ps(x)));
}

VEC static INLINE float vf_sum(vf v)
{
	__m128 x = _mm_add_ps(_mm256_castps256_ps128(v),
			      _mm256_extractf128_ps(v, 1));

	x = _mm_add_ps(x, _mm_movehl_ps(x, x));
	return _mm_cvtss_f32(_mm_add_ss(x, _mm_movehdup_ps(x)));
}

VEC static INLINE int32_t vi_sum(vi v)
{
	__m128i x = _mm_add_epi32(_mm256_castsi256_si128(v),
				  _mm256_extracti128_si256(v, 1));

	x = _mm_add_epi32(x, _mm_shuffle_epi32(x, 0x4e));
	return _mm_cvtsi128_si32(_mm_add_epi32(x, _mm_shuffle_epi32(x, 0xb1)));
}

VEC static INLINE vf vf_half(const uint16_t *p)
{
	return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
}

VEC static INLINE int32_t put_bytes(int8_t *q, const vi *i)
{
	/* packing works within halves: the last step puts fours in order */
	__m256i v = _mm256_permutevar8x32_epi32(
		_mm256_packs_epi16(_mm256_packs_epi32(i[0], i[1]),
				   _mm256_packs_epi32(i[2], i[3])),
		_mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));

	_mm256_storeu_si256((__m256i *)q, v);
	return vi_sum(_mm256_madd_epi16(
		_mm256_maddubs_epi16(_mm256_set1_epi8(1), v),
		_mm256_set1_epi16(1)));
}

VEC static INLINE wb wb_low(wb w)
{
	return _mm256_and_si256(w, _mm256_set1_epi8(15));
}

VEC static INLINE wb wb_high(wb w)
{
	return wb_low(_mm256_srli_epi16(w, 4));
}

VEC static INLINE vi vi_pair(vi a, vi b)
{
	return _mm256_blend_epi16(_mm256_slli_epi32(b, 16), a, 0x55);
}

VEC static INLINE void put_weights(int16_t *out, vi p)
{
	_mm_storeu_si128((__m128i *)out, _mm_packs_epi32(
		_mm256_castsi256_si128(p), _mm256_extracti128_si256(p, 1)));
}

#include "encoder/kernel_vector.h"
