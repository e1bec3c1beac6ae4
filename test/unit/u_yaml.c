/* YAML: the tree, its bounds, messages with lines. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/yaml.h"

static struct yaml *read_ok(struct arena *a, const char *text)
{
	struct remem_err err = { 0 };
	struct yaml *y;

	if (yaml_read(&y, a, text, strlen(text), "x.yaml", &err))
		fail_msg("%s", err.message);
	return y;
}

static void expect_error(const char *text, const char *part)
{
	struct arena a = ARENA_INIT;
	struct remem_err err = { 0 };
	struct yaml *y;

	assert_int_equal(yaml_read(&y, &a, text, strlen(text), "设置.yaml",
				   &err), REMEM_EFORMAT);
	assert_null(y);
	if (!strstr(err.message, part) || !strstr(err.message, "设置.yaml"))
		fail_msg("'%s' has no '%s'", err.message, part);
	arena_release(&a);
}

static void test_yaml__maps_lists_and_scalars(void **state)
{
	struct arena a = ARENA_INIT;
	struct yaml *y = read_ok(&a,
				 "title: 项目记忆\n"
				 "tags: [甲, \"b\", 'c']\n"
				 "nested:\n"
				 "  on: off\n"
				 "  n: 30\n"
				 "text: |\n"
				 "  one\n"
				 "  two\n"
				 "empty:\n"
				 "list:\n"
				 "- x\n"
				 "- k: v\n");
	struct yaml *v;

	(void)state;
	assert_int_equal(y->kind, YAML_MAP);
	assert_null(y->key);
	assert_string_equal(yaml_get(y, "title")->str, "项目记忆");
	assert_int_equal(yaml_get(y, "title")->len, 12);
	v = yaml_get(y, "tags");
	assert_int_equal(v->kind, YAML_SEQ);
	assert_string_equal(v->child->str, "甲");
	assert_false(v->child->quoted);
	assert_true(v->child->next->quoted);
	assert_string_equal(v->child->next->next->str, "c");
	assert_null(v->child->next->next->next);
	v = yaml_get(y, "nested");
	assert_string_equal(yaml_get(v, "on")->str, "off");
	assert_int_equal(yaml_get(v, "n")->line, 5);
	assert_string_equal(yaml_get(y, "text")->str, "one\ntwo\n");
	assert_true(yaml_get(y, "text")->quoted);
	assert_string_equal(yaml_get(y, "empty")->str, "");
	v = yaml_get(y, "list")->child->next;
	assert_string_equal(yaml_get(v, "k")->str, "v");
	assert_int_equal(v->line, 12);
	assert_null(yaml_get(y, "none"));
	assert_null(yaml_get(v->child, "k"));
	assert_null(yaml_get(NULL, "k"));
	arena_release(&a);
}

static void test_yaml__empty_documents_are_null(void **state)
{
	static const char *const nothing[] = { "", "\n", "# 注释\n", "---\n",
					       "---\n...\n", "\xef\xbb\xbf" };
	struct arena a = ARENA_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(nothing) / sizeof(*nothing); i++)
		assert_null(read_ok(&a, nothing[i]));
	assert_non_null(read_ok(&a, "''"));
	arena_release(&a);
}

static void test_yaml__json_is_yaml(void **state)
{
	struct arena a = ARENA_INIT;
	struct yaml *y = read_ok(&a, "{\"a\": [1, {\"记\": \"忆\\n\"}]}\r\n");

	(void)state;
	y = yaml_get(y, "a")->child->next;
	assert_string_equal(yaml_get(y, "记")->str, "忆\n");
	arena_release(&a);
}

static void test_yaml__last_of_equal_keys_wins_in_first_place(void **state)
{
	struct arena a = ARENA_INIT;
	struct yaml *y = read_ok(&a, "a: &x 1\nb: 2\na: [3]\nc: *x\nb: 4\n");

	(void)state;
	assert_string_equal(y->child->key, "a");
	assert_int_equal(y->child->kind, YAML_SEQ);
	assert_int_equal(y->child->line, 3);
	assert_string_equal(y->child->child->str, "3");
	assert_string_equal(yaml_get(y, "b")->str, "4");
	assert_string_equal(yaml_get(y, "c")->str, "1");
	assert_string_equal(y->child->next->next->key, "c");
	assert_null(y->child->next->next->next);
	arena_release(&a);
}

static void test_yaml__aliases_are_followed(void **state)
{
	struct arena a = ARENA_INIT;
	struct yaml *y = read_ok(&a,
				 "base: &b {k: v, l: [1, 2]}\n"
				 "x: *b\n"
				 "&key name: 1\n"
				 "list: [*b, *b]\n"
				 "again: &b 5\n"
				 "y: *b\n"
				 "*key : 7\n");

	(void)state;
	assert_string_equal(yaml_get(yaml_get(y, "x"), "k")->str, "v");
	assert_int_equal(yaml_get(y, "x")->line, 2);
	assert_string_equal(yaml_get(y, "x")->key, "x");
	assert_string_equal(
		yaml_get(yaml_get(y, "list")->child->next, "k")->str, "v");
	assert_null(yaml_get(y, "list")->child->key);
	assert_string_equal(yaml_get(y, "y")->str, "5");
	assert_string_equal(yaml_get(y, "name")->str, "7");
	arena_release(&a);
}

static void test_yaml__errors_name_file_and_line(void **state)
{
	(void)state;
	expect_error("a: 1\nb: c: d\n", "line 2");
	expect_error("a: 1\n\n  \xff\n", "line 3");
	expect_error("a:\n\t- b\n", "line 2");
	expect_error("a: [1\n", "line");
	expect_error("a: 1\n---\nb: 2\n", "line 2: a second document");
	expect_error("? [a]\n: b\n", "line 1: a key");
	expect_error("\"a\\0b\": 1\n", "line 1: a key");
	expect_error("a: *no\n", "line 1: alias");
	expect_error("a: &a [*a]\n", "line 1: alias");
	expect_error("a: \"\\q\"\n", "line 1");
	expect_error("%YAML 7.0\n---\na: 1\n", "line 1");
	expect_error("a: \x01\n", "line 1");
}

static void test_yaml__depth_is_bounded(void **state)
{
	struct arena a = ARENA_INIT;
	char text[200000];

	(void)state;
	for (int depth = 64; depth <= 65; depth++) {
		memset(text, '[', (size_t)depth);
		memset(text + depth, ']', (size_t)depth);
		text[2 * depth] = '\0';
		if (depth == 64)
			assert_non_null(read_ok(&a, text));
		else
			expect_error(text, "nested too deep");
	}
	memset(text, '[', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	expect_error(text, "nested too deep");
	memset(text, '{', sizeof(text) - 1);
	expect_error(text, "nested too deep");
	arena_release(&a);
}

static void test_yaml__depth_counts_through_aliases(void **state)
{
	struct buf b = BUF_INIT(0);

	(void)state;
	buf_adds(&b, "a0: &a0 [[[[[[[[[[x]]]]]]]]]]\n");
	for (int i = 1; i < 8; i++)
		buf_addf(&b, "a%d: &a%d [[[[[[[[[*a%d]]]]]]]]]\n", i, i, i - 1);
	expect_error(buf_str(&b), "nested too deep");
	buf_release(&b);
}

static void test_yaml__aliases_cannot_explode(void **state)
{
	struct buf b = BUF_INIT(0);
	int64_t start = clock_mono_ns();

	(void)state;
	buf_adds(&b, "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
	for (int i = 1; i < 12; i++) {
		buf_addf(&b, "a%d: &a%d [", i, i);
		for (int k = 0; k < 10; k++)
			buf_addf(&b, "*a%d,", i - 1);
		buf_adds(&b, "]\n");
	}
	expect_error(buf_str(&b), "too many entries");
	assert_true(clock_mono_ns() - start < 2000000000);
	buf_release(&b);
}

static void test_yaml__many_keys_stay_fast(void **state)
{
	struct arena a = ARENA_INIT;
	struct buf b = BUF_INIT(0);
	int64_t start = clock_mono_ns();
	struct yaml *y;
	int n = 0;

	(void)state;
	for (int i = 0; i < 40000; i++)
		buf_addf(&b, "键%d: %d\n", i % 30000, i);
	for (y = read_ok(&a, buf_str(&b))->child; y; y = y->next) {
		assert_int_equal(y->line, n < 10000 ? n + 30001 : n + 1);
		n++;
	}
	assert_int_equal(n, 30000);
	assert_true(clock_mono_ns() - start < 4000000000);
	buf_adds(&b, "z: [");
	for (int i = 0; i < 30000; i++)
		buf_adds(&b, "1,");
	buf_adds(&b, "]");
	expect_error(buf_str(&b), "too many entries");
	buf_release(&b);
	arena_release(&a);
}

static void test_yaml__too_many_anchors_are_refused(void **state)
{
	struct buf b = BUF_INIT(0);

	(void)state;
	for (int i = 0; i < 1001; i++)
		buf_addf(&b, "- &a%d x\n", i);
	expect_error(buf_str(&b), "line 1001: too many anchors");
	buf_release(&b);
}

static void test_yaml__survives_failed_allocations(void **state)
{
	struct buf b = BUF_INIT(0);
	int rc = REMEM_ENOMEM;

	(void)state;
	for (int i = 0; i < 100; i++)
		buf_addf(&b, "k%d: &a%d [记, {x: y}]\n", i, i);
	buf_adds(&b, "z: *a5\n");
	for (long n = 1; rc; n++) {
		struct arena a = ARENA_INIT;
		struct yaml *y;

		alloc_fail_at(n);
		rc = yaml_read(&y, &a, b.ptr, b.len, "x", NULL);
		alloc_fail_at(0);
		assert_true(rc == 0 || rc == REMEM_ENOMEM);
		arena_release(&a);
		assert_true(n < 100);
	}
	buf_release(&b);
}
