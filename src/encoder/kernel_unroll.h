/* Hints that the vector kernels need: no loop may keep vectors in memory. */
#ifndef ENCODER_KERNEL_UNROLL_H
#define ENCODER_KERNEL_UNROLL_H

#define INLINE __attribute__((always_inline)) inline
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* Keeps gcc from making all products first and adding them up later, which
 * takes more registers than there are. */
#define HERE(v) __asm__("" : "+x"(v))

#endif
