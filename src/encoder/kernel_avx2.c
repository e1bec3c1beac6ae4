/* The kernel for AVX2 (Haswell, Zen and newer); see kernel_ymm.h. */
#if defined(__x86_64__)

#define VEC __attribute__((target("avx2,fma,f16c")))
#define LEVEL CPU_AVX2
#define KERNEL kernel_avx2
#define YMM_VNNI 0
#include "encoder/kernel_ymm.h"

#else
typedef int kernel_avx2_is_for_x86; /* an empty file is no C */
#endif
