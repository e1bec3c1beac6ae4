/* Kernels for AVX2. Four rows at once share the query's loads. */
#include "store/scan.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,fma")))
#define AHEAD 16 /* rows fetched before their turn */

AVX2 static inline int32_t sum_of(__m256i v)
{
	__m128i s = _mm_add_epi32(_mm256_castsi256_si128(v),
				  _mm256_extracti128_si256(v, 1));

	s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e));
	s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0xb1));
	return _mm_cvtsi128_si32(s);
}

/* Adds row * q of 32 bytes to the sums: |row| as unsigned times q with row's
 * sign. Two products stay within 16 bits, as q never is -128. */
AVX2 static inline __m256i step(__m256i sum, const int8_t *p, __m256i w)
{
	__m256i r = _mm256_loadu_si256((const __m256i *)(const void *)p);
	__m256i two = _mm256_maddubs_epi16(_mm256_abs_epi8(r),
					   _mm256_sign_epi8(w, r));

	return _mm256_add_epi32(sum, _mm256_madd_epi16(two,
						       _mm256_set1_epi16(1)));
}

AVX2 static inline __m256i part(const int8_t *q)
{
	return _mm256_loadu_si256((const __m256i *)(const void *)q);
}

AVX2 static void four(int32_t *out, const int8_t *r, size_t padded,
		      const int8_t *q)
{
	__m256i a = _mm256_setzero_si256(), b = a, c = a, d = a;

	for (size_t k = 0; k < padded; k += 32, r += 32) {
		const char *next = (const char *)(r + AHEAD * padded);
		__m256i w = part(q + k);

		if (!(k & 63)) {
			_mm_prefetch(next, _MM_HINT_T0);
			_mm_prefetch(next + padded, _MM_HINT_T0);
			_mm_prefetch(next + 2 * padded, _MM_HINT_T0);
			_mm_prefetch(next + 3 * padded, _MM_HINT_T0);
		}
		a = step(a, r, w);
		b = step(b, r + padded, w);
		c = step(c, r + 2 * padded, w);
		d = step(d, r + 3 * padded, w);
	}
	a = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
	_mm_storeu_si128((__m128i *)(void *)out,
			 _mm_add_epi32(_mm256_castsi256_si128(a),
				       _mm256_extracti128_si256(a, 1)));
}

AVX2 static void dots(int32_t *out, const int8_t *rows, size_t n,
		      size_t padded, const int8_t *q)
{
	size_t i = 0;

	for (; i + 4 <= n; i += 4)
		four(out + i, rows + i * padded, padded, q);
	for (; i < n; i++) {
		__m256i a = _mm256_setzero_si256();

		for (size_t k = 0; k < padded; k += 32)
			a = step(a, rows + i * padded + k, part(q + k));
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
