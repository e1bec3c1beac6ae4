/*
 * Vector instructions of this machine, as far as the system saves their
 * registers: the compiler's own run-time checks look at both.
 */
#include "base/cpu.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/attr.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define CPU_X86 1
#include <cpuid.h>
#if defined(CPU_HAS_AMX)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#elif defined(CPU_ARM_DOT) && defined(__linux__)
#include <sys/auxv.h>
#define HWCAP_DOT (1ul << 20) /* HWCAP_ASIMDDP of the kernel's interface */
#endif

static const char *const names[] = {
	[CPU_PORTABLE] = "portable",
	[CPU_AVX2] = "avx2",
	[CPU_AVXVNNI] = "avxvnni",
	[CPU_AVX512VNNI] = "avx512vnni",
	[CPU_AMX] = "amx",
	[CPU_NEON] = "neon",
	[CPU_NEONDOT] = "neondot",
};

static atomic_int limit = -1; /* a level, or -1 */

#ifdef CPU_X86
/* Not every compiler knows this one by name: leaf 7.1, EAX bit 4. It uses
 * the registers of AVX, which has_avx2() has asked for. */
static bool has_avxvnni(void)
{
	unsigned a, b, c, d;

	return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 4 & 1);
}

static bool has_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static bool has_avx512vnni(void)
{
	return __builtin_cpu_supports("avx512f") &&
	       __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("avx512vnni");
}
#endif

#if defined(CPU_HAS_AMX)
#define REQUEST_PERMISSION 0x1023 /* ARCH_REQ_XCOMP_PERM, since Linux 5.16 */
#define TILE_DATA 18 /* XFEATURE_XTILEDATA */

/* Leaf 7 tells of tiles and bf16 products, XCR0 bits 17 and 18 that the system
 * saves them. Both must be there before the system is asked. */
static bool knows_amx(void)
{
	unsigned a, b, c, d;

	if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) ||
	    !(d >> 24 & 1) || !(d >> 22 & 1) ||
	    !__get_cpuid_count(7, 1, &a, &b, &c, &d) || !(a >> 5 & 1) ||
	    !__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1))
		return false;
	__asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
	return (a >> 17 & 3) == 3;
}

/*
 * The system lets a process use tiles when it asks for it, once for all of its
 * threads. It says no where a signal's stack is too small for them; emulators
 * and filters of system calls say no as well. The answer is kept.
 */
static bool has_amx(void)
{
	static atomic_int answer; /* 0, or 1: no, 2: yes */
	int known = atomic_load_explicit(&answer, memory_order_relaxed);

	if (!known) {
		known = knows_amx() && !syscall(SYS_arch_prctl,
						REQUEST_PERMISSION,
						TILE_DATA) ? 2 : 1;
		atomic_store_explicit(&answer, known, memory_order_relaxed);
	}
	return known == 2;
}
#endif

#if defined(__aarch64__)
static bool has_dot(void)
{
#if defined(__ARM_FEATURE_DOTPROD)
	return true;
#elif defined(HWCAP_DOT)
	return getauxval(AT_HWCAP) & HWCAP_DOT;
#else
	return false;
#endif
}
#endif

static bool is_supported(enum cpu_level level)
{
#ifdef CPU_X86
	__builtin_cpu_init();
	switch (level) {
	case CPU_AVX2:
		return has_avx2();
	case CPU_AVXVNNI:
		return has_avx2() && has_avxvnni();
	case CPU_AVX512VNNI:
		return has_avx2() && has_avx512vnni();
#if defined(CPU_HAS_AMX)
	case CPU_AMX:
		return has_avx2() && has_avx512vnni() && has_amx();
#endif
	default:
		break;
	}
#elif defined(__aarch64__)
	if (level == CPU_NEON)
		return true;
	if (level == CPU_NEONDOT)
		return has_dot();
#endif
	return level == CPU_PORTABLE;
}

enum cpu_level cpu_best(void)
{
	static const enum cpu_level order[] = { CPU_AMX, CPU_AVX512VNNI, CPU_AVXVNNI,
						CPU_AVX2, CPU_NEONDOT,
						CPU_NEON };
	int set = atomic_load_explicit(&limit, memory_order_relaxed);

	if (set >= 0)
		return (enum cpu_level)set;
	for (size_t i = 0; i < ARRAY_LEN(order); i++) {
		if (is_supported(order[i]))
			return order[i];
	}
	return CPU_PORTABLE;
}

int cpu_limit(const char *name)
{
	if (!name || !name[0] || !strcmp(name, "auto")) {
		atomic_store(&limit, -1);
		return 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (strcmp(name, names[i]))
			continue;
		if (!is_supported((enum cpu_level)i))
			return -1;
		atomic_store(&limit, (int)i);
		return 0;
	}
	return -1;
}

const char *cpu_name(enum cpu_level level)
{
	size_t i = (size_t)level;

	return i < ARRAY_LEN(names) ? names[i] : "unknown";
}
