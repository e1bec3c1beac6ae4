/* The kernel for 64-bit ARM with sdot (Cortex-A76, Neoverse N1, Apple M1 and
 * newer); see kernel_neon.h. */
#include "base/cpu.h"

#if defined(CPU_ARM_DOT)

#define VEC __attribute__((target("arch=armv8.2-a+dotprod")))
#define LEVEL CPU_NEONDOT
#define KERNEL kernel_neondot
#define NEON_DOT 1
#include "encoder/kernel_neon.h"

#else
typedef int kernel_neondot_is_for_arm; /* an empty file is no C */
#endif
