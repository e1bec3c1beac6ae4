/* UTF-8: every kind of malformed sequence, cutting, counting. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

static const struct {
	const char *s;
	size_t good; /* bytes of the longest well-formed prefix */
} malformed[] = {
	{ "\x80", 0 }, { "ab\xbf", 2 }, { "\xc0\x80", 0 }, { "\xc1\xbf", 0 },
	{ "\xc2", 0 }, { "\xc2" "A", 0 }, { "\xe0\x9f\xbf", 0 },
	{ "\xe4\xb8", 0 }, { "中\xe6\x96", 3 }, { "\xed\xa0\x80", 0 },
	{ "\xed\xbf\xbf", 0 }, { "\xf0\x8f\xbf\xbf", 0 },
	{ "\xf0\x9f\x98", 0 }, { "\xf4\x90\x80\x80", 0 }, { "\xf5", 0 },
	{ "\xff", 0 }, { "\xfe", 0 }, { "\xe4\xb8" "AB", 0 },
	{ "12345678901234567890123456789012345\xff", 35 },
	{ "汉字汉字汉字汉字汉字汉\xe5", 33 },
};

static void test_utf8__malformed_sequences_are_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(malformed) / sizeof(*malformed); i++) {
		const char *s = malformed[i].s;

		assert_false(utf8_valid(s, strlen(s)));
		assert_int_equal(utf8_valid_prefix(s, strlen(s)),
				 malformed[i].good);
	}
}

static void test_utf8__well_formed_text_is_valid(void **state)
{
	static const char *const good[] = {
		"", "a", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80",
		"\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf",
		"\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf",
		"昨天我们决定把网关的超时改成三十秒。",
		"The quick brown fox jumps over the lazy dog, twice over.",
		"mixed 混合 text 文本 😀 and more ASCII behind it, 32 bytes",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_true(utf8_valid(good[i], strlen(good[i])));
	assert_true(utf8_valid("a\0b", 3));
	assert_true(utf8_valid(NULL, 0));
}

/* A bad byte is found wherever it stands and nothing is read behind. */
static void test_utf8__bad_byte_at_every_position(void **state)
{
	(void)state;
	for (size_t len = 1; len < 80; len++) {
		char *s = malloc(len);

		assert_non_null(s);
		for (size_t at = 0; at < len; at++) {
			memset(s, 'a', len);
			s[at] = (char)0x80;
			assert_int_equal(utf8_valid_prefix(s, len), at);
		}
		memset(s, 'a', len);
		assert_true(utf8_valid(s, len));
		free(s);
	}
}

/* The same where characters are passed in pairs. */
static void test_utf8__bad_byte_at_every_position_in_chinese(void **state)
{
	enum { N = 60 };
	char s[N];

	(void)state;
	for (size_t at = 0; at < N; at++) {
		for (size_t i = 0; i < N; i += 3)
			memcpy(s + i, "字", 3);
		s[at] = at % 3 ? 'a' : (char)0xbf;
		assert_int_equal(utf8_valid_prefix(s, N), at - at % 3);
		if (at % 3)
			continue;
		memcpy(s + at, "\xed\xa0\x80", 3);
		assert_int_equal(utf8_valid_prefix(s, N), at);
		memcpy(s + at, "\xe0\x9f\xbf", 3);
		assert_int_equal(utf8_valid_prefix(s, N), at);
		memcpy(s + at, "\xed\x9f\xbf", 3);
		assert_true(utf8_valid(s, N));
		memcpy(s + at, "\xe0\xa0\x80", 3);
		assert_true(utf8_valid(s, N));
	}
}

static void test_utf8__long_texts_are_counted(void **state)
{
	enum { N = 30006 };
	char *s = malloc(N);

	(void)state;
	assert_non_null(s);
	for (size_t i = 0; i < N; i += 3)
		memcpy(s + i, i % 9 ? "字" : "abc", 3);
	assert_int_equal(utf8_count(s, N), N / 9 * 5);
	s[20000] = '\xff';
	assert_true(utf8_count(s, N) >= N / 9 * 5 - 1);
	memset(s, 'a', N);
	assert_int_equal(utf8_count(s, N), N);
	assert_int_equal(utf8_offset(s, N, 12345), 12345);
	free(s);
}

static void test_utf8__encode_and_decode_agree_on_all(void **state)
{
	char s[4];
	uint32_t back;

	(void)state;
	for (uint32_t cp = 0; cp <= 0x10ffff; cp++) {
		int n = utf8_encode(s, cp);

		assert_int_equal(utf8_decode(&back, s, (size_t)n), n);
		if (cp >= 0xd800 && cp <= 0xdfff)
			assert_int_equal(back, 0xfffd);
		else
			assert_int_equal(back, cp);
		assert_true(utf8_valid(s, (size_t)n));
	}
	assert_int_equal(utf8_encode(s, 0x110000), 3);
	assert_memory_equal(s, "\xef\xbf\xbd", 3);
}

static void test_utf8__decode_gives_replacement_for_one_byte(void **state)
{
	uint32_t cp;

	(void)state;
	assert_int_equal(utf8_decode(&cp, "\xe4\xb8", 2), 1);
	assert_int_equal(cp, 0xfffd);
	assert_int_equal(utf8_decode(&cp, "\xed\xa0\x80", 3), 1);
	assert_int_equal(cp, 0xfffd);
	assert_int_equal(utf8_decode(&cp, "中", 3), 3);
	assert_int_equal(cp, 0x4e2d);
}

static void test_utf8__cut_stays_between_characters(void **state)
{
	static const char s[] = "a中é😀b";
	static const size_t want[] = { 0, 1, 1, 1, 4, 4, 6, 6, 6, 6, 10, 11 };

	(void)state;
	for (size_t max = 0; max <= 11; max++)
		assert_int_equal(utf8_cut(s, 11, max), want[max]);
	assert_int_equal(utf8_cut(s, 11, 1000), 11);
	assert_int_equal(utf8_cut("", 0, 0), 0);
}

static void test_utf8__cut_of_malformed_text_ends_near(void **state)
{
	static const char s[] = "\x80\x80\x80\x80\x80\x80\x80";

	(void)state;
	assert_int_equal(utf8_cut(s, 7, 5), 5);
	assert_int_equal(utf8_cut("\xe4" "aaaa", 5, 1), 1);
	assert_int_equal(utf8_cut("\xf0\x80\x80\x80", 4, 2), 2);
}

static void test_utf8__trim_drops_a_begun_character(void **state)
{
	(void)state;
	assert_int_equal(utf8_trim("", 0), 0);
	assert_int_equal(utf8_trim("ab", 2), 2);
	assert_int_equal(utf8_trim("a中", 4), 4);
	assert_int_equal(utf8_trim("a中", 3), 1);
	assert_int_equal(utf8_trim("a中", 2), 1);
	assert_int_equal(utf8_trim("😀", 3), 0);
	assert_int_equal(utf8_trim("é", 1), 0);
	assert_int_equal(utf8_trim("a\xff", 2), 2);
	assert_int_equal(utf8_trim("a\x80", 2), 2);
}

static void test_utf8__count_and_offset_agree(void **state)
{
	static const char s[] = "昨天 0123456789 abcdefgh 😀é\xff\xe4 end";
	size_t len = sizeof(s) - 1, n = utf8_count(s, len);

	(void)state;
	assert_int_equal(n, 2 + 1 + 10 + 1 + 8 + 1 + 2 + 2 + 4);
	for (size_t i = 0; i <= n; i++)
		assert_int_equal(utf8_count(s, utf8_offset(s, len, i)), i);
	assert_int_equal(utf8_offset(s, len, 0), 0);
	assert_int_equal(utf8_offset(s, len, 1), 3);
	assert_int_equal(utf8_offset(s, len, n), len);
	assert_int_equal(utf8_offset(s, len, n + 5), len);
	assert_int_equal(utf8_count("", 0), 0);
}
