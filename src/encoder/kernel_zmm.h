/*
 * The names that kernel_vector.h asks for, for registers of 512 bits. A file
 * that includes this has defined VEC.
 */
#include <immintrin.h>

#define LANES 16

typedef __m512 vf;
typedef __m512i vi;

#define vf_load(p) _mm512_loadu_ps(p)
#define vf_store(p, v) _mm512_storeu_ps(p, v)
#define vf_set1(x) _mm512_set1_ps(x)
#define vf_add(a, b) _mm512_add_ps(a, b)
#define vf_sub(a, b) _mm512_sub_ps(a, b)
#define vf_mul(a, b) _mm512_mul_ps(a, b)
#define vf_div(a, b) _mm512_div_ps(a, b)
#define vf_max(a, b) _mm512_max_ps(a, b)
#define vf_min(a, b) _mm512_min_ps(a, b)
#define vf_abs(a) _mm512_abs_ps(a)
#define vf_fma(a, b, c) _mm512_fmadd_ps(a, b, c)
#define vf_round(a) _mm512_roundscale_ps(a, 8)
#define vf_scale2(a, n) _mm512_scalef_ps(a, n)
#define vf_sum(a) _mm512_reduce_add_ps(a)
#define vf_of(a) _mm512_cvtepi32_ps(a)
#define vi_of(a) _mm512_cvtps_epi32(a)
#define vi_add(a, b) _mm512_add_epi32(a, b)
#define vi_sum(a) _mm512_reduce_add_epi32(a)
#define vi_set1(x) _mm512_set1_epi32(x)
#define vi_store(p, v) _mm512_storeu_si512(p, v)

VEC static INLINE vf vf_half(const uint16_t *p)
{
	return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
}

VEC static INLINE float vf_largest(vf v)
{
	__m256 y = _mm256_max_ps(_mm512_castps512_ps256(v),
				 _mm256_castpd_ps(_mm512_extractf64x4_pd(
					 _mm512_castps_pd(v), 1)));
	__m128 x = _mm_max_ps(_mm256_castps256_ps128(y),
			      _mm256_extractf128_ps(y, 1));

	x = _mm_max_ps(x, _mm_movehl_ps(x, x));
	return _mm_cvtss_f32(_mm_max_ss(x, _mm_movehdup_ps(x)));
}
