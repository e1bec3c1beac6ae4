/* Kernels for 64-bit ARM. */
#include "store/scan.h"

#if defined(__aarch64__)

#include <arm_neon.h>

static void dots(int32_t *out, const int8_t *rows, size_t n, size_t padded,
		 const int8_t *q)
{
	for (size_t i = 0; i < n; i++, rows += padded) {
		int32x4_t a = vdupq_n_s32(0), b = a;

		for (size_t k = 0; k < padded; k += 16) {
			int8x16_t r = vld1q_s8(rows + k);
			int8x16_t w = vld1q_s8(q + k);

			a = vpadalq_s16(a, vmull_s8(vget_low_s8(r),
						    vget_low_s8(w)));
			b = vpadalq_s16(b, vmull_high_s8(r, w));
		}
		out[i] = vaddvq_s32(vaddq_s32(a, b));
	}
}

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

#else

const struct scan_kernel *const scan_neon = 0;

#endif
