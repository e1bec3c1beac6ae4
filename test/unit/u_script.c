/* Script classes of characters and texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "text/script.h"

static enum script of(const char *s)
{
	return script_of_text(s, strlen(s));
}

static void test_script__of_characters(void **state)
{
	(void)state;
	assert_int_equal(script_of('a'), SCRIPT_LATIN);
	assert_int_equal(script_of(0xe9), SCRIPT_LATIN);
	assert_int_equal(script_of(0xff21), SCRIPT_LATIN); /* full width */
	assert_int_equal(script_of('7'), SCRIPT_NONE);
	assert_int_equal(script_of('.'), SCRIPT_NONE);
	assert_int_equal(script_of(0x6570), SCRIPT_HAN);
	assert_int_equal(script_of(0x20000), SCRIPT_HAN);
	assert_int_equal(script_of(0x3042), SCRIPT_KANA);
	assert_int_equal(script_of(0x30ab), SCRIPT_KANA);
	assert_int_equal(script_of(0xac00), SCRIPT_HANGUL);
	assert_int_equal(script_of(0x1100), SCRIPT_HANGUL);
	assert_int_equal(script_of(0x436), SCRIPT_CYRILLIC);
	assert_int_equal(script_of(0x3b1), SCRIPT_GREEK);
	assert_int_equal(script_of(0x627), SCRIPT_ARABIC);
	assert_int_equal(script_of(0x5d0), SCRIPT_HEBREW);
	assert_int_equal(script_of(0x915), SCRIPT_DEVANAGARI);
	assert_int_equal(script_of(0xe01), SCRIPT_THAI);
	assert_int_equal(script_of(0x1780), SCRIPT_OTHER); /* Khmer */
	assert_int_equal(script_of(0x1f600), SCRIPT_NONE);
	assert_int_equal(script_of(0x110000), SCRIPT_NONE);
	assert_int_equal(script_of(UINT32_MAX), SCRIPT_NONE);
}

static void test_script__of_text_is_the_larger_part(void **state)
{
	(void)state;
	assert_int_equal(of("The cache is warm."), SCRIPT_LATIN);
	assert_int_equal(of("缓存命中率"), SCRIPT_HAN);
	assert_int_equal(of("用 Redis 做缓存，命中率很高"), SCRIPT_HAN);
	assert_int_equal(of("the word 缓存 means cache"), SCRIPT_LATIN);
	/* two letters a character: eight letters are more than three */
	assert_int_equal(of("abcdefgh 数据库"), SCRIPT_LATIN);
	assert_int_equal(of("abcde 数据库"), SCRIPT_HAN);
	assert_int_equal(of("오늘 회의"), SCRIPT_HANGUL);
	assert_int_equal(of("привет мир"), SCRIPT_CYRILLIC);
}

static void test_script__japanese_by_its_kana(void **state)
{
	(void)state;
	assert_int_equal(of("会議の資料"), SCRIPT_KANA);
	assert_int_equal(of("今日はしりとりをした"), SCRIPT_KANA);
	/* one kana in eleven characters is a quotation */
	assert_int_equal(of("一二三四五六七八九十の一"), SCRIPT_HAN);
}

static void test_script__without_letters_is_latin(void **state)
{
	(void)state;
	assert_int_equal(of(""), SCRIPT_LATIN);
	assert_int_equal(of("2026-03-01 14:30"), SCRIPT_LATIN);
	assert_int_equal(of("\xff\xfe\x80"), SCRIPT_LATIN);
	assert_int_equal(script_of_text("\0\0", 2), SCRIPT_LATIN);
}

static void test_script__names(void **state)
{
	(void)state;
	assert_string_equal(script_name(SCRIPT_LATIN), "latin");
	assert_string_equal(script_name(SCRIPT_HAN), "han");
	assert_string_equal(script_name((enum script)99), "none");
}
