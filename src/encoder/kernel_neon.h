/*
 * The kernel for 64-bit ARM, in two forms that differ in how bytes are
 * multiplied: sdot adds four products to each 32-bit lane, where it is missing
 * smlal adds one to each 16-bit lane. Included once by kernel_neon.c and
 * kernel_neondot.c, which define VEC, LEVEL, KERNEL and NEON_DOT (0 or 1); what
 * is computed stands in kernel_vector.h.
 *
 * In 16 bits a block cannot overflow: a lane adds 8 products of a nibble and a
 * byte of at most 127, that is 15,240.
 */
#include "encoder/kernel.h"
#include "encoder/kernel_unroll.h"

#include <arm_neon.h>
#include <string.h>

#define LANES 4
#define QUERIES 4
#define KEY_FLIP 0

typedef float32x4_t vf;
typedef int32x4_t vi;
typedef uint8x16_t wb;

#define vf_load(p) vld1q_f32(p)
#define vf_store(p, v) vst1q_f32(p, v)
#define vf_set1(x) vdupq_n_f32(x)
#define vf_add(a, b) vaddq_f32(a, b)
#define vf_sub(a, b) vsubq_f32(a, b)
#define vf_mul(a, b) vmulq_f32(a, b)
#define vf_div(a, b) vdivq_f32(a, b)
#define vf_max(a, b) vmaxq_f32(a, b)
#define vf_min(a, b) vminq_f32(a, b)
#define vf_abs(a) vabsq_f32(a)
#define vf_fma(a, b, c) vfmaq_f32(c, a, b)
#define vf_round(a) vrndnq_f32(a)
#define vf_sum(a) vaddvq_f32(a)
#define vf_largest(a) vmaxvq_f32(a)
#define vf_of(a) vcvtq_f32_s32(a)
#define vi_of(a) vcvtnq_s32_f32(a)
#define vi_add(a, b) vaddq_s32(a, b)
#define vi_sum(a) vaddvq_s32(a)
#define vi_set1(x) vdupq_n_s32(x)
#define vi_store(p, v) vst1q_s32(p, v)
#define vi_pair(a, b) vsliq_n_s32(a, b, 16)
#define wb_load(p) vld1q_u8(p)
#define wb_low(w) vandq_u8(w, vdupq_n_u8(15))
#define wb_high(w) vshrq_n_u8(w, 4)

VEC static INLINE int32_t load_i32(const void *p)
{
	int32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

VEC static INLINE int8x16_t broadcast(const void *p)
{
	return vreinterpretq_s8_s32(vdupq_n_s32(load_i32(p)));
}

/* vcvt of halves reads subnormal ones as they are, whatever the mode. */
VEC static INLINE vf vf_half(const uint16_t *p)
{
	return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)));
}

VEC static INLINE vf vf_scale2(vf a, vf n)
{
	return vreinterpretq_f32_s32(vaddq_s32(
		vreinterpretq_s32_f32(a),
		vshlq_n_s32(vcvtnq_s32_f32(n), 23)));
}

VEC static INLINE int32_t put_bytes(int8_t *q, const vi *i)
{
	int32_t sum = 0;

	UNROLL for (int n = 0; n < 8; n += 4) {
		int8x16_t v = vcombine_s8(
			vqmovn_s16(vcombine_s16(vqmovn_s32(i[n]),
						vqmovn_s32(i[n + 1]))),
			vqmovn_s16(vcombine_s16(vqmovn_s32(i[n + 2]),
						vqmovn_s32(i[n + 3]))));

		vst1q_s8(q + n * 4, v);
		sum += vaddlvq_s8(v);
	}
	return sum;
}

VEC static INLINE void put_weights(int16_t *out, vi p)
{
	vst1_s16(out, vqmovn_s32(p));
}

/* Sums of pairs in two vectors, each number to be added to its neighbour. */
typedef struct { int32x4_t low, high; } ps;

#define ps_end(sum) vpaddq_s32((sum).low, (sum).high)

VEC static INLINE ps ps_start(void)
{
	return (ps){ vdupq_n_s32(0), vdupq_n_s32(0) };
}

VEC static INLINE ps ps_add(ps sum, const int16_t *p, const int32_t *values)
{
	int16x8_t v = vreinterpretq_s16_s32(vld1q_s32(values));
	int16x8_t w = vreinterpretq_s16_s32(vdupq_n_s32(load_i32(p)));

	sum.low = vmlal_s16(sum.low, vget_low_s16(v), vget_low_s16(w));
	sum.high = vmlal_high_s16(sum.high, v, w);
	return sum;
}

#if NEON_DOT
#define TOKENS 8 /* 8 + 8 accumulators, 8 for their bytes, 8 for the rest */
typedef int32x4_t ws, ks;

#define ws_start(init) vdupq_n_s32(init)
#define ws_end(sum, init) (sum)
#define ks_start(init) ((void)(init), vdupq_n_s32(0))
#define ks_end(sum) (sum)

/* The 16 bytes behind q are loaded once for all groups: sdot takes one of four
 * words by its number, which must be a constant. */
VEC static INLINE ws ws_add(ws sum, wb w, const int8_t *q, int group)
{
	const int8x16_t a = vld1q_s8(q), b = vreinterpretq_s8_u8(w);

	switch (group) {
	case 0:
		return vdotq_laneq_s32(sum, b, a, 0);
	case 1:
		return vdotq_laneq_s32(sum, b, a, 1);
	case 2:
		return vdotq_laneq_s32(sum, b, a, 2);
	default:
		return vdotq_laneq_s32(sum, b, a, 3);
	}
}

VEC static INLINE ks ks_add(ks sum, const int32_t *keys, const int8_t *q)
{
	return vdotq_s32(sum, vreinterpretq_s8_s32(vld1q_s32(keys)),
			 broadcast(q));
}
#else
#define TOKENS 6 /* 12 + 6 accumulators */
typedef struct { int16x8_t low, high; } ws;
typedef ps ks;

#define ks_start(init) ((void)(init), ps_start())
#define ks_end(sum) ps_end(sum)

VEC static INLINE ws ws_start(int32_t init)
{
	(void)init;
	return (ws){ vdupq_n_s16(0), vdupq_n_s16(0) };
}

VEC static INLINE ws ws_add(ws sum, wb w, const int8_t *q, int group)
{
	const int8x16_t a = broadcast(q + group * 4);
	const int8x16_t b = vreinterpretq_s8_u8(w);

	sum.low = vmlal_s8(sum.low, vget_low_s8(b), vget_low_s8(a));
	sum.high = vmlal_high_s8(sum.high, b, a);
	return sum;
}

VEC static INLINE vi ws_end(ws sum, int32_t init)
{
	return vaddq_s32(vdupq_n_s32(init), vpaddq_s32(
		vpaddlq_s16(sum.low), vpaddlq_s16(sum.high)));
}

VEC static INLINE ks ks_add(ks sum, const int32_t *keys, const int8_t *q)
{
	const int8x16_t k = vreinterpretq_s8_s32(vld1q_s32(keys));
	const int8x16_t a = broadcast(q);

	sum.low = vpadalq_s16(sum.low, vmull_s8(vget_low_s8(k),
						vget_low_s8(a)));
	sum.high = vpadalq_s16(sum.high, vmull_high_s8(k, a));
	return sum;
}
#endif

#include "encoder/kernel_vector.h"
