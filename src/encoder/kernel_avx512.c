/*
 * The kernel for AVX-512 with VNNI (Ice Lake, Zen 4 and newer); what it
 * computes stands in kernel_vector.h.
 *
 * vpdpbusd multiplies unsigned by signed bytes and adds four products to each
 * 32-bit lane: the nibbles of 16 rows are the unsigned side, four activations
 * of one token, broadcast, the signed one. Up to 12 tokens are in registers
 * beside a tile, so that a nibble is unpacked once for all of them.
 */
#if defined(__x86_64__)

#include "base/attr.h"
#include "encoder/kernel.h"

#include <string.h>

#define VEC ATTR_PLAIN_STACK \
	__attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni,fma")))
#include "encoder/kernel_unroll.h"
#include "encoder/kernel_zmm.h"

#define LEVEL CPU_AVX512VNNI
#define KERNEL kernel_avx512
#define TOKENS 12 /* 12 + 12 accumulators and 8 registers for the rest */
#define QUERIES 8
#define KEY_FLIP (int32_t)0x80808080

typedef __m512i wb, ws, ks, ps;

#define wb_load(p) _mm512_loadu_si512(p)
#define ws_start(init) _mm512_set1_epi32(init)
#define ws_end(sum, init) (sum)
#define ks_start(init) _mm512_set1_epi32(init)
#define ks_end(sum) (sum)
#define ps_start() _mm512_setzero_si512()
#define ps_end(sum) (sum)

VEC static INLINE __m512i broadcast(const void *p)
{
	int32_t v;

	memcpy(&v, p, sizeof(v));
	return _mm512_set1_epi32(v);
}

VEC static INLINE int32_t put_bytes(int8_t *q, const vi *i)
{
	__m256i b = _mm256_inserti128_si256(
		_mm256_castsi128_si256(_mm512_cvtsepi32_epi8(i[0])),
		_mm512_cvtsepi32_epi8(i[1]), 1);
	__m256i v = _mm256_dpbusd_epi32(_mm256_setzero_si256(),
					_mm256_set1_epi8(1), b);
	__m128i x = _mm_add_epi32(_mm256_castsi256_si128(v),
				  _mm256_extracti128_si256(v, 1));

	_mm256_storeu_si256((__m256i *)q, b);
	x = _mm_add_epi32(x, _mm_shuffle_epi32(x, 0x4e));
	return _mm_cvtsi128_si32(_mm_add_epi32(x, _mm_shuffle_epi32(x, 0xb1)));
}

VEC static INLINE wb wb_low(wb w)
{
	return _mm512_and_si512(w, _mm512_set1_epi8(15));
}

VEC static INLINE wb wb_high(wb w)
{
	return wb_low(_mm512_srli_epi16(w, 4));
}

VEC static INLINE ws ws_add(ws sum, wb w, const int8_t *q, int group)
{
	return _mm512_dpbusd_epi32(sum, w, broadcast(q + group * 4));
}

VEC static INLINE ks ks_add(ks sum, const int32_t *keys, const int8_t *q)
{
	return _mm512_dpbusd_epi32(sum, _mm512_loadu_si512(keys),
				   broadcast(q));
}

VEC static INLINE ps ps_add(ps sum, const int16_t *p, const int32_t *values)
{
	return _mm512_dpwssd_epi32(sum, broadcast(p),
				   _mm512_loadu_si512(values));
}

VEC static INLINE vi vi_pair(vi a, vi b)
{
	return _mm512_mask_mov_epi16(_mm512_slli_epi32(b, 16), 0x55555555, a);
}

VEC static INLINE void put_weights(int16_t *out, vi p)
{
	_mm256_storeu_si256((__m256i *)out, _mm512_cvtepi32_epi16(p));
}

#include "encoder/kernel_vector.h"

#else
typedef int kernel_avx512_is_for_x86; /* an empty file is no C */
#endif
