/* Variables by name. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/env.h"

static const char *const vars[] = { "HOMEPAGE=x", "HOME=/home/ann", "EMPTY=",
				    "REL=state", "A=b=c", "HOME=/other", "odd",
				    NULL };

static void test_env__the_first_of_the_name_counts(void **state)
{
	(void)state;
	assert_string_equal(env_find(vars, "HOME"), "/home/ann");
	assert_string_equal(env_find(vars, "A"), "b=c");
	assert_string_equal(env_findn(vars, "HOMEPAGE", 4), "/home/ann");
}

static void test_env__what_is_not_set_or_empty_is_none(void **state)
{
	(void)state;
	assert_null(env_find(vars, "EMPTY"));
	assert_null(env_find(vars, "HOM"));
	assert_null(env_find(vars, "odd"));
	assert_null(env_find(NULL, "HOME"));
}

static void test_env__a_folder_is_absolute(void **state)
{
	(void)state;
	assert_string_equal(env_folder(vars, "HOME"), "/home/ann");
	assert_null(env_folder(vars, "REL"));
	assert_null(env_folder(vars, "NONE"));
}
