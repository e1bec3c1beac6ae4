/* The kernel for AVX-VNNI (Alder Lake and newer); see kernel_ymm.h. */
#if defined(__x86_64__)

#define YMM __attribute__((target("avx2,fma,f16c,avxvnni")))
#define YMM_VNNI 1
#include "encoder/kernel_ymm.h"

const struct kernel kernel_avxvnni = {
	.level = CPU_AVXVNNI,
	.quantize = quantize,
	.gelu_quantize = gelu_quantize,
	.multiply = multiply,
	.add_norm = add_norm,
	.attend = attend,
	.unpack = unpack,
};

#else
typedef int kernel_avxvnni_is_for_x86; /* an empty file is no C */
#endif
