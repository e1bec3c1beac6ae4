/* The kernel for any 64-bit ARM; see kernel_neon.h. */
#if defined(__aarch64__)

#define VEC
#define LEVEL CPU_NEON
#define KERNEL kernel_neon
#define NEON_DOT 0
#include "encoder/kernel_neon.h"

#else
typedef int kernel_neon_is_for_arm; /* an empty file is no C */
#endif
