/* Editing one value in a person's YAML file. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "api/config_edit.h"
#include "base/alloc.h"

static const char *const paths[] = { "ms.query.max", "agents.d.ms.query.max",
				     NULL };

static int edit(struct buf *out, bool *changed, const char *text,
		const char *value)
{
	struct arena a = ARENA_INIT;
	struct remem_err err = { 0 };
	int rc = config_edit(out, changed, &a, text, strlen(text), paths, value,
			     &err);

	arena_release(&a);
	return rc;
}

static void check(const char *text, const char *value, const char *want)
{
	struct buf out = BUF_INIT(0);
	bool changed;

	assert_int_equal(edit(&out, &changed, text, value), 0);
	assert_true(changed);
	assert_string_equal(buf_str(&out), want);
	buf_release(&out);
}

static void test_config_edit__a_value_is_replaced_in_its_line(void **state)
{
	(void)state;
	check("# 我的设置\nms:\n  query:\n    max: 6   # 多少\n    min: 1\n", "9",
	      "# 我的设置\nms:\n  query:\n    max: 9   # 多少\n    min: 1\n");
	check("ms: {query: {max: 6, min: 1}}\n", "9",
	      "ms: {query: {max: 9, min: 1}}\n");
	check("ms: {query: {min: {max: 1}, max: 6}}", "9",
	      "ms: {query: {min: {max: 1}, max: 9}}");
	check("{\"ms\": {\"query\": {\"max\": 6}}}", "\"a b\"",
	      "{\"ms\": {\"query\": {\"max\": \"a b\"}}}");
	check("agents:\n  d:\n    ms:\n      query:\n        max: 'x # y'\n", "2",
	      "agents:\n  d:\n    ms:\n      query:\n        max: 2\n");
}

static void test_config_edit__a_value_of_many_lines_goes(void **state)
{
	(void)state;
	check("ms:\n  query:\n    max:\n      - a\n      - b\n    min: 1\n",
	      "[c]", "ms:\n  query:\n    max: [c]\n    min: 1\n");
	check("ms:\n  query:\n    max: |\n      long\n      text\n", "1",
	      "ms:\n  query:\n    max: 1\n");
}

static void test_config_edit__an_entry_is_added_where_it_belongs(void **state)
{
	(void)state;
	check("", "9", "ms:\n  query:\n    max: 9\n");
	check("a: 1", "9", "a: 1\nms:\n  query:\n    max: 9\n");
	check("ms:\n  query:\n    min: 1\nb: 2\n", "9",
	      "ms:\n  query:\n    min: 1\n    max: 9\nb: 2\n");
	check("agents:\n  d:\n    ms:\n      query:\n        min: 1\n", "9",
	      "agents:\n  d:\n    ms:\n      query:\n        min: 1\n"
	      "        max: 9\n");
	check("ms: {query: {min: 1}}\n", "9", "ms: {query: {max: 9, min: 1}}\n");
	check("ms: {}\n", "9", "ms: {query: {max: 9}}\n");
	check("ms:\nb: 1\n", "9", "ms:\n  query:\n    max: 9\nb: 1\n");
	check("{\"a\": 1}", "9", "{ms: {query: {max: 9}}, \"a\": 1}");
}

static void test_config_edit__an_entry_is_removed(void **state)
{
	struct buf out = BUF_INIT(0);
	bool changed = true;

	(void)state;
	check("ms:\n  query:\n    max: 6\n    min: 1\n", NULL,
	      "ms:\n  query:\n    min: 1\n");
	check("ms: {query: {max: 6, min: 1}}\n", NULL,
	      "ms: {query: {min: 1}}\n");
	check("ms: {query: {min: 1, max: 6}}\n", NULL,
	      "ms: {query: {min: 1}}\n");
	assert_int_equal(edit(&out, &changed, "a: 1\n", NULL), 0);
	assert_false(changed);
	buf_release(&out);
}

static void test_config_edit__a_broken_file_is_left_alone(void **state)
{
	struct buf out = BUF_INIT(0);
	bool changed;

	(void)state;
	assert_int_equal(edit(&out, &changed, "a: [", "1"), REMEM_EFORMAT);
	assert_int_equal(edit(&out, &changed, "- list\n", "1"), REMEM_ENOTSUP);
	assert_int_equal(edit(&out, &changed, "ms: text\n", "1"),
			 REMEM_ENOTSUP);
	buf_release(&out);
}
