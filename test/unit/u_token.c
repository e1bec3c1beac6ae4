/* The token estimate and cutting by it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "text/token.h"

static size_t est(const char *s)
{
	return token_estimate(s, strlen(s));
}

static size_t prefix(const char *s, size_t max)
{
	return token_prefix(s, strlen(s), max);
}

static void test_token__estimate(void **state)
{
	(void)state;
	assert_int_equal(est(""), 0);
	assert_int_equal(est("a"), 1);
	assert_int_equal(est("abcd"), 1);
	assert_int_equal(est("abcde"), 2);
	assert_int_equal(est("数据库"), 3);
	assert_int_equal(est("数据库abcd"), 4);
	assert_int_equal(est("，。！"), 3); /* full-width signs */
	assert_int_equal(est("┌─┐"), 3);
	assert_int_equal(est("👍"), 2); /* outside the BMP */
	assert_int_equal(est("𠀀"), 2);
	assert_int_equal(est("오늘"), 2);
	assert_int_equal(est("привет"), 3); /* 12 bytes of an alphabet */
	assert_int_equal(est("ｶﾞ"), 2);
}

static void test_token__prefix_is_within_its_bound(void **state)
{
	static const char text[] =
		"alpha 数据库 beta，그리고 👍🏽 gamma é";

	(void)state;
	for (size_t max = 0; max < 40; max++) {
		size_t n = prefix(text, max);

		assert_true(n > 0);
		if (max >= 4) /* a cluster may be larger than small bounds */
			assert_true(token_estimate(text, n) <= max);
	}
	assert_int_equal(prefix(text, 100), sizeof(text) - 1);
	assert_int_equal(prefix("", 5), 0);
}

static void test_token__prefix_cuts_between_characters(void **state)
{
	(void)state;
	assert_int_equal(prefix("数据库", 2), 6);
	assert_int_equal(prefix("数据库", 0), 3); /* one at least */
	assert_int_equal(prefix("abcdefgh", 1), 4);
	assert_int_equal(prefix("a数据", 1), 1);
}

static void test_token__prefix_keeps_clusters(void **state)
{
	(void)state;
	/* 3 bytes and e + U+0301: the cut would be before the accent */
	assert_int_equal(prefix("abce\xcc\x81xyz", 1), 3);
	/* thumb with skin tone, family by joiners, a flag */
	assert_int_equal(prefix("ab👍🏽", 3), 2);
	assert_int_equal(prefix("👨‍👩‍👧x", 3), 7); /* no cut fits */
	assert_int_equal(prefix("x🇩🇪", 3), 1);
	assert_int_equal(prefix("🇩🇪🇫🇷", 6), 8);
	assert_int_equal(prefix("か\xe3\x82\x99き", 1), 3);
	assert_int_equal(prefix("abc\r\n", 1), 3);
}

static void test_token__any_bytes(void **state)
{
	char *s = malloc(100000);

	(void)state;
	assert_non_null(s);
	memset(s, 0x80, 100000);
	assert_true(token_estimate(s, 100000) >= 25000);
	assert_true(token_prefix(s, 100000, 10) >= 1);
	for (size_t i = 0; i < 50000; i++) /* nothing but combining marks */
		memcpy(s + 2 * i, "\xcc\x81", 2);
	assert_true(token_prefix(s, 100000, 10) >= 2);
	assert_int_equal(token_estimate("\0\0\0\0", 4), 1);
	free(s);
}
