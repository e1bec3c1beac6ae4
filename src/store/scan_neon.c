/* Kernels for 64-bit ARM, without and with sdot. Four rows at once share the
 * query's loads and keep enough of them in flight. */
#include "store/scan.h"

#if defined(__aarch64__)

#include <arm_neon.h>

#define DOT __attribute__((target("arch=armv8.2-a+dotprod")))
#define AHEAD 16 /* rows fetched before their turn */

static inline int32x4_t step(int32x4_t sum, int8x16_t r, int8x16_t w)
{
	sum = vpadalq_s16(sum, vmull_s8(vget_low_s8(r), vget_low_s8(w)));
	return vpadalq_s16(sum, vmull_high_s8(r, w));
}

static inline void fetch(const int8_t *r, size_t padded)
{
	for (size_t i = AHEAD; i < AHEAD + 4; i++)
		__builtin_prefetch(r + i * padded);
}

static inline void put_sums(int32_t *out, const int32x4_t *s)
{
	vst1q_s32(out, vpaddq_s32(vpaddq_s32(s[0], s[1]),
				  vpaddq_s32(s[2], s[3])));
}

#define DOTS dots
#define STEP step
#include "store/scan_neon_dots.h"

#if defined(CPU_ARM_DOT)
#define DOTS DOT dots_dot
#define STEP vdotq_s32
#include "store/scan_neon_dots.h"
#endif

static void dots_float(float out[3], const int8_t *row, size_t padded,
		       const float *a, const float *b)
{
	float32x4_t x = vdupq_n_f32(0), y = x;
	int32x4_t z = vdupq_n_s32(0);

	for (size_t k = 0; k < padded; k += 8) {
		int16x8_t h = vmovl_s8(vld1_s8(row + k));
		int32x4_t lo = vmovl_s16(vget_low_s16(h));
		int32x4_t hi = vmovl_high_s16(h);
		float32x4_t f = vcvtq_f32_s32(lo), g = vcvtq_f32_s32(hi);

		x = vfmaq_f32(x, f, vld1q_f32(a + k));
		x = vfmaq_f32(x, g, vld1q_f32(a + k + 4));
		y = vfmaq_f32(y, f, vld1q_f32(b + k));
		y = vfmaq_f32(y, g, vld1q_f32(b + k + 4));
		z = vmlaq_s32(z, lo, lo);
		z = vmlaq_s32(z, hi, hi);
	}
	out[0] = vaddvq_f32(x);
	out[1] = vaddvq_f32(y);
	out[2] = (float)vaddvq_s32(z);
}

static const struct scan_kernel kernel = { "neon", dots, dots_float };
const struct scan_kernel *const scan_neon = &kernel;
#if defined(CPU_ARM_DOT)
static const struct scan_kernel kernel_dot = { "neondot", dots_dot,
					       dots_float };
const struct scan_kernel *const scan_neondot = &kernel_dot;
#else
const struct scan_kernel *const scan_neondot = 0;
#endif

#else

const struct scan_kernel *const scan_neon = 0;
const struct scan_kernel *const scan_neondot = 0;

#endif
