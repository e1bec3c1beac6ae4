/* Errors: wording, codes, cutting between characters. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/utf8.h"

static void test_err__fail_words_and_returns_the_code(void **state)
{
	struct remem_err e;

	(void)state;
	memset(&e, 'x', sizeof(e));
	assert_int_equal(fail(&e, REMEM_EIO, "no '%s' in %d", "记忆", 7),
			 REMEM_EIO);
	assert_int_equal(e.code, REMEM_EIO);
	assert_string_equal(e.message, "no '记忆' in 7");
	assert_string_equal(e.action, "");
}

static void test_err__no_object_is_fine(void **state)
{
	(void)state;
	assert_int_equal(fail(NULL, REMEM_EINVAL, "x"), REMEM_EINVAL);
	assert_int_equal(fail_errno(NULL, REMEM_EIO, ENOENT, "x"), REMEM_EIO);
	assert_int_equal(fail_nomem(NULL), REMEM_ENOMEM);
	fail_action(NULL, "x");
	assert_true(fail_add(NULL, "x") < 0);
}

static void test_err__errno_is_appended_in_lower_case(void **state)
{
	struct remem_err e;

	(void)state;
	fail_errno(&e, REMEM_EIO, ENOENT, "cannot open '%s'", "a");
	assert_string_equal(e.message,
			    "cannot open 'a': no such file or directory");
}

static void test_err__context_goes_before(void **state)
{
	struct remem_err e;

	(void)state;
	fail(&e, REMEM_EFORMAT, "line %d", 3);
	fail_action(&e, "edit it");
	assert_int_equal(fail_add(&e, "file %s", "甲"), REMEM_EFORMAT);
	assert_string_equal(e.message, "file 甲: line 3");
	assert_string_equal(e.action, "edit it");
}

static void test_err__long_messages_are_cut_between_characters(void **state)
{
	char many[3 * 400 + 1];
	struct remem_err e;

	(void)state;
	many[0] = '\0';
	for (int i = 0; i < 400; i++)
		memcpy(many + 3 * i, "汉", 4);
	for (int shift = 0; shift < 3; shift++) {
		fail(&e, REMEM_EIO, "%.*s%s", shift, "abc", many);
		assert_true(utf8_valid(e.message, strlen(e.message)));
		assert_true(strlen(e.message) > sizeof(e.message) - 5);
		fail_add(&e, "%.*s", shift, "abc");
		assert_true(utf8_valid(e.message, strlen(e.message)));
		fail_errno(&e, REMEM_EIO, EIO, "%.*s%s", shift, "abc", many);
		assert_true(utf8_valid(e.message, strlen(e.message)));
		fail_action(&e, "%.*s%s", shift, "abc", many);
		assert_true(utf8_valid(e.action, strlen(e.action)));
	}
}

static void test_err__a_bad_byte_does_not_cost_the_rest(void **state)
{
	char many[600];
	struct remem_err e;

	(void)state;
	memset(many, 'x', sizeof(many));
	many[0] = '\xff';
	fail(&e, REMEM_EIO, "%.*s", (int)sizeof(many), many);
	assert_int_equal(strlen(e.message), sizeof(e.message) - 1);
}

static void test_err__every_code_has_a_name(void **state)
{
	(void)state;
	assert_string_equal(err_type(REMEM_OK), "ok");
	assert_string_equal(err_type(REMEM_EINVAL), "invalid");
	assert_string_equal(err_type(REMEM_ECORRUPT), "corrupt");
	assert_string_equal(err_type(REMEM_EBUG), "bug");
	assert_string_equal(err_type(REMEM_EBUG - 1), "unknown");
	assert_string_equal(err_type(1), "unknown");
	for (int c = REMEM_EBUG; c <= 0; c++)
		assert_string_not_equal(err_type(c), "unknown");
}
