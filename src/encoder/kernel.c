/* Which kernel runs, and what all of them share. */
#include "encoder/kernel.h"

#include <string.h>

const float kernel_gelu_poly[KERNEL_GELU_TERMS] = {
	0.39871946f, -0.0659935102f, 0.00958941411f, -0.00103859883f,
	8.15618696e-05f, -4.46271542e-06f, 1.59617727e-07f, -3.32790329e-09f,
	3.05058513e-11f
};

float kernel_half(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000) << 16, bits;
	uint32_t exponent = h >> 10 & 31, fraction = h & 1023;
	float f;

	if (exponent == 0) { /* zero, or a fraction of 2^-24 */
		f = (float)fraction * 0x1p-24f;
		return sign ? -f : f;
	}
	if (exponent == 31)
		bits = sign | 0x7f800000 | fraction << 13;
	else
		bits = sign | (exponent + 112) << 23 | fraction << 13;
	memcpy(&f, &bits, sizeof(f));
	return f;
}

void kernel_unpack(float *x, const uint8_t *row, int width)
{
	for (int b = 0; b < width / KERNEL_BLOCK; b++, row += 18) {
		uint16_t half;
		float scale;

		memcpy(&half, row, sizeof(half));
		scale = kernel_half(half);
		for (int i = 0; i < 16; i++) {
			x[b * 32 + i] = (float)((row[2 + i] & 15) - 8) * scale;
			x[b * 32 + 16 + i] =
				(float)((row[2 + i] >> 4) - 8) * scale;
		}
	}
}

const struct kernel *kernel_best(void)
{
	switch (cpu_best()) {
#if defined(__x86_64__)
#if defined(CPU_HAS_AMX)
	case CPU_AMX:
		return &kernel_amx;
#endif
	case CPU_AVX512VNNI:
		return &kernel_avx512;
	case CPU_AVXVNNI:
		return &kernel_avxvnni;
	case CPU_AVX2:
		return &kernel_avx2;
#elif defined(__aarch64__)
#if defined(CPU_ARM_DOT)
	case CPU_NEONDOT:
		return &kernel_neondot;
#endif
	case CPU_NEON:
		return &kernel_neon;
#endif
	default:
		return &kernel_portable;
	}
}
