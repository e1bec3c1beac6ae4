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
#elif defined(CPU_ARM_DOT) && defined(__linux__)
#include <sys/auxv.h>
#define HWCAP_DOT (1ul << 20) /* HWCAP_ASIMDDP of the kernel's interface */
#endif

static const char *const names[] = {
	[CPU_PORTABLE] = "portable",
	[CPU_AVX2] = "avx2",
	[CPU_AVXVNNI] = "avxvnni",
	[CPU_AVX512VNNI] = "avx512vnni",
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
	static const enum cpu_level order[] = { CPU_AVX512VNNI, CPU_AVXVNNI,
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
