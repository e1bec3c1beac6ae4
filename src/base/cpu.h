/* Which vector instructions kernels may use, decided once at run time. */
#ifndef BASE_CPU_H
#define BASE_CPU_H

enum cpu_level {
	CPU_PORTABLE, CPU_AVX2, CPU_AVXVNNI, CPU_AVX512VNNI, CPU_AMX,
	CPU_NEON, CPU_NEONDOT /* with the dot product of bytes */
};

/* Old compilers take the dot product only for a whole program. */
#if defined(__aarch64__) && (defined(__ARM_FEATURE_DOTPROD) || \
	!defined(__clang__) || __clang_major__ >= 16)
#define CPU_ARM_DOT 1
#endif

/* Old compilers do not know the tiles of AMX. Only Linux is asked for them. */
#if defined(__x86_64__) && defined(__linux__) && \
	(defined(__clang__) ? __clang_major__ >= 12 : __GNUC__ >= 11)
#define CPU_HAS_AMX 1
#endif

/* The best level of this machine, or the lower one set by cpu_limit(). */
enum cpu_level cpu_best(void);
/* "portable", "avx2", "avxvnni", "avx512vnni", "amx", "neon", "neondot" as REMEM_CPU;
 * NULL, "" and "auto" lift the limit. Returns 0, or -1 for an unknown or unsupported
 * name. Call before first use of a kernel. */
int cpu_limit(const char *name);
const char *cpu_name(enum cpu_level level);

#endif
