/* JSON: what is read, what is refused, and that output is always valid. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/utf8.h"

/* ---- reading ---------------------------------------------------------- */

static yyjson_doc *read_ok(const char *text, bool relaxed)
{
	struct remem_err err = { 0 };
	yyjson_doc *doc;

	if (json_read(&doc, text, strlen(text), relaxed, "x.json", &err))
		fail_msg("%s: %s", text, err.message);
	return doc;
}

static void test_json__members_by_type_or_default(void **state)
{
	yyjson_doc *doc = read_ok("{\"s\":\"记忆\",\"i\":-5,\"u\":7,\"r\":2.5,"
				  "\"w\":3.0,\"big\":18446744073709551615,"
				  "\"huge\":1e300,\"t\":true,\"n\":null}",
				  false);
	yyjson_val *o = yyjson_doc_get_root(doc);

	(void)state;
	assert_string_equal(json_str(o, "s", "d"), "记忆");
	assert_string_equal(json_str(o, "i", "d"), "d");
	assert_string_equal(json_str(o, "none", "d"), "d");
	assert_null(json_str(NULL, "s", NULL));
	assert_int_equal(json_int(o, "i", 1), -5);
	assert_int_equal(json_int(o, "u", 1), 7);
	assert_int_equal(json_int(o, "w", 1), 3);
	assert_int_equal(json_int(o, "r", 1), 1);
	assert_int_equal(json_int(o, "big", 1), 1);
	assert_int_equal(json_int(o, "huge", 1), 1);
	assert_int_equal(json_int(o, "s", 1), 1);
	assert_true(json_num(o, "r", 0) == 2.5);
	assert_true(json_num(o, "i", 0) == -5);
	assert_true(json_num(o, "t", 9) == 9);
	assert_true(json_bool(o, "t", false));
	assert_true(json_bool(o, "n", true));
	assert_false(json_bool(o, "i", false));
	yyjson_doc_free(doc);
}

static void test_json__errors_have_line_and_column(void **state)
{
	static const char text[] = "{\n \"记忆\": ,\n}";
	struct remem_err err;
	yyjson_doc *doc;

	(void)state;
	assert_int_equal(json_read(&doc, text, sizeof(text) - 1, false,
				   "甲.json", &err), REMEM_EFORMAT);
	assert_null(doc);
	assert_non_null(strstr(err.message, "'甲.json' line 2, column 8: "));
}

static void test_json__bad_text_is_refused(void **state)
{
	static const char *const bad[] = {
		"", " ", "{", "[1,]", "{\"a\":1,}", "[01]", "[1] x", "nul",
		"\"\xff\"", "\"\\ud800\"", "\"\\udc00\"", "\"\xed\xa0\x80\"",
		"[NaN]", "[Infinity]", "\"a\nb\"", "// c\n1", "[1e999]",
		"{'a':1}", "\"\x01\"",
	};
	struct remem_err err;
	yyjson_doc *doc;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		if (json_read(&doc, bad[i], strlen(bad[i]), false, "b",
			      &err) != REMEM_EFORMAT)
			fail_msg("accepted: %s", bad[i]);
	}
}

static void test_json__relaxed_allows_comments_and_commas(void **state)
{
	yyjson_doc *doc = read_ok("\xef\xbb\xbf// 注释\n{\"a\": [1, 2,], /* x */}",
				  true);

	(void)state;
	assert_int_equal(yyjson_arr_size(yyjson_obj_get(
				 yyjson_doc_get_root(doc), "a")), 2);
	yyjson_doc_free(doc);
}

static void test_json__depth_is_bounded(void **state)
{
	struct buf b = BUF_INIT(0);
	struct remem_err err;
	yyjson_doc *doc;

	(void)state;
	for (int depth = 256; depth <= 257; depth++) {
		buf_reset(&b);
		buf_adds(&b, "[[],{},[1],");
		for (int i = 1; i < depth; i++)
			buf_adds(&b, i % 2 ? "{\"a\":" : "[");
		buf_adds(&b, "1");
		for (int i = depth - 1; i > 0; i--)
			buf_adds(&b, i % 2 ? "}" : "]");
		buf_adds(&b, ",[[]]]");
		assert_int_equal(json_read(&doc, b.ptr, b.len, false, "d",
					   &err),
				 depth == 256 ? 0 : REMEM_EFORMAT);
		yyjson_doc_free(doc);
	}
	buf_reset(&b);
	for (int i = 0; i < 1000000; i++)
		buf_addc(&b, '[');
	assert_int_equal(json_read(&doc, b.ptr, b.len, false, "d", &err),
			 REMEM_EFORMAT);
	buf_release(&b);
}

static void test_json__reading_survives_failed_allocations(void **state)
{
	static const char text[] = "{\"a\":[1,2,3],\"b\":\"记忆\"}";
	int rc = REMEM_ENOMEM;

	(void)state;
	for (long n = 1; rc; n++) {
		yyjson_doc *doc;

		alloc_fail_at(n);
		rc = json_read(&doc, text, sizeof(text) - 1, false, "x", NULL);
		alloc_fail_at(0);
		assert_true(rc == 0 || rc == REMEM_ENOMEM);
		yyjson_doc_free(doc);
		assert_true(n < 20);
	}
}

/* ---- writing ---------------------------------------------------------- */

static void put_all(struct json *j)
{
	json_obj(j);
	json_kstr(j, "s", "记\"忆\\\n");
	json_kstr(j, "null", NULL);
	json_kint(j, "i", INT64_MIN);
	json_knum(j, "d", 0.1);
	json_kfixed(j, "f", 2.0 / 3, 3);
	json_kbool(j, "t", true);
	json_knull(j, "n");
	json_key(j, "raw");
	json_put_raw(j, "[1]", 3);
	json_key(j, "a");
	json_arr(j);
	json_put_str(j, "x");
	json_put_bool(j, false);
	json_put_null(j);
	json_arr(j);
	json_arr_end(j);
	json_obj(j);
	json_end(j);
	json_arr_end(j);
	json_end(j);
}

static void test_json__writes_compactly(void **state)
{
	struct buf b = BUF_INIT(0);
	struct json j;

	(void)state;
	json_begin(&j, &b);
	put_all(&j);
	assert_string_equal(
		buf_str(&b),
		"{\"s\":\"记\\\"忆\\\\\\n\",\"null\":null,"
		"\"i\":-9223372036854775808,\"d\":0.1,\"f\":0.667,\"t\":true,"
		"\"n\":null,\"raw\":[1],\"a\":[\"x\",false,null,[],{}]}");
	buf_release(&b);
}

static void test_json__pretty_is_indented(void **state)
{
	struct buf b = BUF_INIT(0);
	struct json j;

	(void)state;
	json_begin(&j, &b);
	j.pretty = true;
	json_obj(&j);
	json_kint(&j, "一", 1);
	json_key(&j, "a");
	json_arr(&j);
	json_put_int(&j, 1);
	json_put_int(&j, 2);
	json_arr_end(&j);
	json_key(&j, "e");
	json_obj(&j);
	json_end(&j);
	json_end(&j);
	assert_string_equal(buf_str(&b),
			    "{\n  \"一\": 1,\n  \"a\": [\n    1,\n    2\n  ],\n"
			    "  \"e\": {}\n}");
	buf_release(&b);
}

static void test_json__several_documents_need_no_comma(void **state)
{
	struct buf b = BUF_INIT(0);
	struct json j;

	(void)state;
	json_begin(&j, &b);
	json_put_int(&j, 1);
	buf_addc(&b, '\n');
	json_arr(&j);
	json_arr_end(&j);
	buf_addc(&b, '\n');
	json_obj(&j);
	json_end(&j);
	assert_string_equal(buf_str(&b), "1\n[]\n{}");
	buf_release(&b);
}

static char *written(const char *s, size_t len)
{
	struct buf b = BUF_INIT(0);
	struct json j;

	json_begin(&j, &b);
	json_put_strn(&j, s, len);
	return buf_detach(&b);
}

static void expect_written(const char *s, size_t len, const char *want)
{
	char *got = written(s, len);

	assert_string_equal(got, want);
	mem_free(got);
}

static void test_json__malformed_bytes_are_replaced(void **state)
{
	(void)state;
	expect_written("a\xff" "b", 3, "\"a\xef\xbf\xbd" "b\"");
	expect_written("\xed\xa0\x80", 3,
		      "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
	expect_written("\xe4\xb8\"", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\\\"\"");
	expect_written("中\xe6\x96", 5, "\"中\xef\xbf\xbd\xef\xbf\xbd\"");
	expect_written("a\0b", 3, "\"a\\u0000b\"");
	expect_written("\b\t\n\v\f\r\x1f\x7f", 8,
		      "\"\\b\\t\\n\\u000b\\f\\r\\u001f\\u007f\"");
	expect_written("", 0, "\"\"");
	expect_written("😀/\xe2\x80\xa8", 8, "\"😀/\xe2\x80\xa8\"");
}

static void test_json__keys_are_escaped_too(void **state)
{
	struct buf b = BUF_INIT(0);
	struct json j;

	(void)state;
	json_begin(&j, &b);
	json_obj(&j);
	json_kint(&j, "a\"\xff", 1);
	json_end(&j);
	assert_string_equal(buf_str(&b), "{\"a\\\"\xef\xbf\xbd\":1}");
	buf_release(&b);
}

/* Random bytes come back as what they are, or as U+FFFD. */
static void test_json__whatever_goes_in_valid_json_comes_out(void **state)
{
	uint64_t x = 88172645463325252u;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char s[40], *got;
		size_t len = round % sizeof(s);
		yyjson_doc *doc;

		for (size_t i = 0; i < len; i++) {
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			s[i] = (char)(round % 3 ? x : x % 96 + 32);
		}
		got = written(s, len);
		doc = read_ok(got, false);
		if (utf8_valid(s, len)) {
			yyjson_val *v = yyjson_doc_get_root(doc);

			assert_int_equal(yyjson_get_len(v), len);
			assert_memory_equal(yyjson_get_str(v), s, len);
		}
		yyjson_doc_free(doc);
		mem_free(got);
	}
}

static void expect_num(double v, const char *want)
{
	struct buf b = BUF_INIT(0);
	struct json j;

	json_begin(&j, &b);
	json_put_num(&j, v);
	if (want)
		assert_string_equal(buf_str(&b), want);
	else
		assert_true(strtod(buf_str(&b), NULL) == v);
	buf_release(&b);
}

static void test_json__numbers_read_back_exactly(void **state)
{
	(void)state;
	expect_num(0, "0");
	expect_num(1, "1");
	expect_num(0.35, "0.35");
	expect_num(1e100, "1e100");
	expect_num(-5, "-5");
	expect_num(-0.0, "0");
	expect_num(1e15, "1000000000000000.0");
	expect_num(NAN, "null");
	expect_num(INFINITY, "null");
	expect_num(-INFINITY, "null");
	expect_num(DBL_MAX, NULL);
	expect_num(DBL_MIN, NULL);
	expect_num(1.0 / 3, NULL);
	expect_num(0.1 + 0.2, NULL);
	expect_num(123456789.123456789, NULL);
}

static void expect_fixed(double v, int decimals, const char *want)
{
	struct buf b = BUF_INIT(0);
	struct json j;

	json_begin(&j, &b);
	json_put_fixed(&j, v, decimals);
	assert_string_equal(buf_str(&b), want);
	buf_release(&b);
}

static void test_json__fixed_numbers(void **state)
{
	(void)state;
	expect_fixed(0.71, 2, "0.71");
	expect_fixed(2, 3, "2.000");
	expect_fixed(-0.005, 1, "-0.0");
	expect_fixed(1.5, -1, "2");
	expect_fixed(NAN, 2, "null");
	expect_fixed(1e300, 2, "1.0000000000000001e+300");
}

static void test_json__locale_does_not_change_numbers(void **state)
{
	(void)state;
	if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") &&
	    !setlocale(LC_NUMERIC, "fr_FR.UTF-8"))
		skip();
	expect_num(0.5, "0.5");
	expect_fixed(0.5, 2, "0.50");
	setlocale(LC_NUMERIC, "C");
}

static void test_json__too_deep_output_is_a_failure(void **state)
{
	struct buf b = BUF_INIT(0);
	struct json j;

	(void)state;
	json_begin(&j, &b);
	for (int i = 0; i < 100; i++)
		json_arr(&j);
	assert_int_equal(buf_check(&b, NULL), REMEM_ELIMIT);
	for (int i = 0; i < 100; i++)
		json_arr_end(&j);
	json_end(&j);
	assert_int_equal(j.depth, 0);
	buf_release(&b);
}

static void test_json__writing_survives_failed_allocations(void **state)
{
	bool done = false;

	(void)state;
	for (long n = 1; !done; n++) {
		struct buf b = BUF_INIT(0);
		struct json j;

		alloc_fail_at(n);
		json_begin(&j, &b);
		put_all(&j);
		alloc_fail_at(0);
		done = !b.failed;
		buf_release(&b);
		assert_true(n < 20);
	}
}
