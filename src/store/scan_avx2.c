/* Kernels for AVX2: bytes are widened to 16 bits and multiplied in pairs. Two
 * rows at once share the query's loads. */
#include "store/scan.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,fma")))
#define AHEAD 8 /* rows fetched before their turn */

AVX2 static inline int32_t sum_of(__m256i v)
{
	__m128i s = _mm_add_epi32(_mm256_castsi256_si128(v),
				  _mm256_extracti128_si256(v, 1));

	s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e));
	s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0xb1));
	return _mm_cvtsi128_si32(s);
}

AVX2 static inline __m256i wide(const int8_t *p)
{
	return _mm256_cvtepi8_epi16(
		_mm_loadu_si128((const __m128i *)(const void *)p));
}

AVX2 static void dots(int32_t *out, const int8_t *rows, size_t n,
		      size_t padded, const int8_t *q)
{
	size_t i = 0;

	for (; i + 2 <= n; i += 2, rows += 2 * padded) {
		__m256i a = _mm256_setzero_si256(), b = a;

		for (size_t k = 0; k < padded; k += 16) {
			__m256i w = wide(q + k);

			if (!(k & 63)) {
				const int8_t *p = rows + k + AHEAD * padded;

				_mm_prefetch((const char *)p, _MM_HINT_T0);
				_mm_prefetch((const char *)(p + padded),
					     _MM_HINT_T0);
			}
			a = _mm256_add_epi32(a, _mm256_madd_epi16(
				wide(rows + k), w));
			b = _mm256_add_epi32(b, _mm256_madd_epi16(
				wide(rows + padded + k), w));
		}
		out[i] = sum_of(a);
		out[i + 1] = sum_of(b);
	}
	for (; i < n; i++, rows += padded) {
		__m256i a = _mm256_setzero_si256();

		for (size_t k = 0; k < padded; k += 16)
			a = _mm256_add_epi32(a, _mm256_madd_epi16(
				wide(rows + k), wide(q + k)));
		out[i] = sum_of(a);
	}
}

AVX2 static inline float sum_float(__m256 v)
{
	__m128 s = _mm_add_ps(_mm256_castps256_ps128(v),
			      _mm256_extractf128_ps(v, 1));

	s = _mm_add_ps(s, _mm_movehl_ps(s, s));
	return _mm_cvtss_f32(_mm_add_ss(s, _mm_shuffle_ps(s, s, 1)));
}

AVX2 static void dots_float(float out[3], const int8_t *row, size_t padded,
			    const float *a, const float *b)
{
	__m256 x = _mm256_setzero_ps(), y = x;
	__m256i z = _mm256_setzero_si256();

	for (size_t k = 0; k < padded; k += 8) {
		__m128i bytes = _mm_loadl_epi64(
			(const __m128i *)(const void *)(row + k));
		__m256i v = _mm256_cvtepi8_epi32(bytes);
		__m256 f = _mm256_cvtepi32_ps(v);

		x = _mm256_fmadd_ps(f, _mm256_loadu_ps(a + k), x);
		y = _mm256_fmadd_ps(f, _mm256_loadu_ps(b + k), y);
		z = _mm256_add_epi32(z, _mm256_mullo_epi32(v, v));
	}
	out[0] = sum_float(x);
	out[1] = sum_float(y);
	out[2] = (float)sum_of(z);
}

static const struct scan_kernel kernel = { "avx2", dots, dots_float };
const struct scan_kernel *const scan_avx2 = &kernel;

#else

const struct scan_kernel *const scan_avx2 = 0;

#endif
