/* The kernel for AVX2 (Haswell, Zen and newer); see kernel_ymm.h. */
#if defined(__x86_64__)

#define YMM __attribute__((target("avx2,fma,f16c")))
#define YMM_VNNI 0
#include "encoder/kernel_ymm.h"

const struct kernel kernel_avx2 = {
	.level = CPU_AVX2,
	.quantize = quantize,
	.gelu_quantize = gelu_quantize,
	.multiply = multiply,
	.add_norm = add_norm,
	.attend = attend,
	.unpack = unpack,
};

#else
typedef int kernel_avx2_is_for_x86; /* an empty file is no C */
#endif
