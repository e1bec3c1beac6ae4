/*
 * Kernels for AVX-512 with VNNI, whose product is of unsigned and signed bytes:
 * rows are shifted up by 128, and 128 times the query's sum taken off again.
 * Four rows at once keep enough loads in flight to use the memory's bandwidth.
 */
#include "store/scan.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#define AHEAD 16 /* rows fetched before their turn */

AVX512 static int32_t query_sum(const int8_t *q, size_t padded)
{
	int32_t sum = 0;

	for (size_t k = 0; k < padded; k++)
		sum += q[k];
	return sum;
}

AVX512 static inline __m512i load(const int8_t *p)
{
	return _mm512_xor_si512(_mm512_loadu_si512((const void *)p),
				_mm512_set1_epi8((char)-128));
}

AVX512 static inline __m256i fold(__m512i v)
{
	return _mm256_add_epi32(_mm512_castsi512_si256(v),
				_mm512_extracti64x4_epi64(v, 1));
}

/* The four sums of four accumulators. */
AVX512 static inline __m128i sums(__m512i a, __m512i b, __m512i c, __m512i d)
{
	__m256i x = _mm256_hadd_epi32(fold(a), fold(b));
	__m256i y = _mm256_hadd_epi32(fold(c), fold(d));
	__m256i z = _mm256_hadd_epi32(x, y);

	return _mm_add_epi32(_mm256_castsi256_si128(z),
			     _mm256_extracti128_si256(z, 1));
}

AVX512 static void four(int32_t *out, const int8_t *r, size_t padded,
			const int8_t *q, int32_t shift)
{
	__m512i a = _mm512_setzero_si512(), b = a, c = a, d = a;

	for (size_t k = 0; k < padded; k += 64, r += 64) {
		__m512i w = _mm512_loadu_si512((const void *)(q + k));
		const char *next = (const char *)(r + AHEAD * padded);

		_mm_prefetch(next, _MM_HINT_T0);
		_mm_prefetch(next + padded, _MM_HINT_T0);
		_mm_prefetch(next + 2 * padded, _MM_HINT_T0);
		_mm_prefetch(next + 3 * padded, _MM_HINT_T0);
		a = _mm512_dpbusd_epi32(a, load(r), w);
		b = _mm512_dpbusd_epi32(b, load(r + padded), w);
		c = _mm512_dpbusd_epi32(c, load(r + 2 * padded), w);
		d = _mm512_dpbusd_epi32(d, load(r + 3 * padded), w);
	}
	_mm_storeu_si128((__m128i *)(void *)out,
			 _mm_sub_epi32(sums(a, b, c, d),
				       _mm_set1_epi32(shift)));
}

AVX512 static void dots(int32_t *out, const int8_t *rows, size_t n,
			size_t padded, const int8_t *q)
{
	int32_t shift = 128 * query_sum(q, padded);
	size_t i = 0;

	for (; i + 4 <= n; i += 4)
		four(out + i, rows + i * padded, padded, q, shift);
	for (; i < n; i++) {
		__m512i a = _mm512_setzero_si512();

		for (size_t k = 0; k < padded; k += 64)
			a = _mm512_dpbusd_epi32(a, load(rows + i * padded + k),
				_mm512_loadu_si512((const void *)(q + k)));
		out[i] = _mm512_reduce_add_epi32(a) - shift;
	}
}

AVX512 static void dots_float(float out[3], const int8_t *row, size_t padded,
			      const float *a, const float *b)
{
	__m512 x = _mm512_setzero_ps(), y = x;
	__m512i z = _mm512_setzero_si512();

	for (size_t k = 0; k < padded; k += 16) {
		__m512i v = _mm512_cvtepi8_epi32(_mm_loadu_si128(
			(const __m128i *)(const void *)(row + k)));
		__m512 f = _mm512_cvtepi32_ps(v);

		x = _mm512_fmadd_ps(f, _mm512_loadu_ps(a + k), x);
		y = _mm512_fmadd_ps(f, _mm512_loadu_ps(b + k), y);
		z = _mm512_add_epi32(z, _mm512_mullo_epi32(v, v));
	}
	out[0] = _mm512_reduce_add_ps(x);
	out[1] = _mm512_reduce_add_ps(y);
	out[2] = (float)_mm512_reduce_add_epi32(z);
}

static const struct scan_kernel kernel = { "avx512vnni", dots, dots_float };
const struct scan_kernel *const scan_avx512 = &kernel;

#else

const struct scan_kernel *const scan_avx512 = 0;

#endif
