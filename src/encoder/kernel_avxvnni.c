/* The kernel for AVX-VNNI (Alder Lake and newer); see kernel_ymm.h. */
#if defined(__x86_64__)

#define VEC __attribute__((target("avx2,fma,f16c,avxvnni")))
#define LEVEL CPU_AVXVNNI
#define KERNEL kernel_avxvnni
#define YMM_VNNI 1
#include "encoder/kernel_ymm.h"

#else
typedef int kernel_avxvnni_is_for_x86; /* an empty file is no C */
#endif
