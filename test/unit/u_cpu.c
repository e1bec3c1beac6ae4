/* Vector instructions: the choice and its limit. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/cpu.h"

static void test_cpu__names(void **state)
{
	(void)state;
	assert_string_equal(cpu_name(CPU_PORTABLE), "portable");
	assert_string_equal(cpu_name(CPU_AVX2), "avx2");
	assert_string_equal(cpu_name(CPU_AVXVNNI), "avxvnni");
	assert_string_equal(cpu_name(CPU_AVX512VNNI), "avx512vnni");
	assert_string_equal(cpu_name(CPU_AMX), "amx");
	assert_string_equal(cpu_name(CPU_NEON), "neon");
	assert_string_equal(cpu_name(CPU_NEONDOT), "neondot");
	assert_string_equal(cpu_name((enum cpu_level)99), "unknown");
}

static void test_cpu__limit_lowers_and_lifts(void **state)
{
	enum cpu_level best = cpu_best();

	(void)state;
	assert_int_equal(cpu_limit("portable"), 0);
	assert_int_equal(cpu_best(), CPU_PORTABLE);
	assert_int_equal(cpu_limit(cpu_name(best)), 0);
	assert_int_equal(cpu_best(), best);
	assert_int_equal(cpu_limit("portable"), 0);
	assert_int_equal(cpu_limit("auto"), 0);
	assert_int_equal(cpu_best(), best);
	assert_int_equal(cpu_limit("portable"), 0);
	assert_int_equal(cpu_limit(NULL), 0);
	assert_int_equal(cpu_best(), best);
}

static void test_cpu__unknown_and_foreign_names_are_refused(void **state)
{
	enum cpu_level best = cpu_best();

	(void)state;
	assert_int_equal(cpu_limit("sse9"), -1);
	assert_int_equal(cpu_limit("快"), -1);
#if defined(__x86_64__)
	assert_int_equal(cpu_limit("neon"), -1);
#else
	assert_int_equal(cpu_limit("avx2"), -1);
#endif
	assert_int_equal(cpu_best(), best);
}

/* The system may refuse tiles, and a refusal is silent. */
static void test_cpu__amx_needs_a_processor_that_has_it(void **state)
{
	(void)state;
	if (!cpu_limit("amx")) {
		assert_int_equal(cpu_best(), CPU_AMX);
		assert_int_equal(cpu_limit("avx512vnni"), 0);
	}
	cpu_limit(NULL);
}

/* What the system tells about the processor agrees, where it tells (under
 * emulation it tells of the machine below). */
static void test_cpu__agrees_with_the_system(void **state)
{
	static const char *const flag[] = { [CPU_AVX2] = " avx2",
					    [CPU_AVXVNNI] = " avx_vnni",
					    [CPU_AVX512VNNI] = " avx512_vnni" };
	char line[8192] = "";
	FILE *f = fopen("/proc/cpuinfo", "r");

	(void)state;
#if !defined(__x86_64__)
	if (f)
		fclose(f);
	f = NULL;
#endif
	if (!f)
		skip();
	while (fgets(line, sizeof(line), f) && strncmp(line, "flags", 5))
		;
	fclose(f);
	if (strncmp(line, "flags", 5) != 0)
		skip();
	for (int l = CPU_AVX2; l <= CPU_AVX512VNNI; l++) {
		int ok = cpu_limit(cpu_name((enum cpu_level)l)) == 0;

		assert_int_equal(ok, strstr(line, flag[l]) != NULL);
	}
	cpu_limit(NULL);
}
