/* Windows around passages, and citations. */
#include "note_help.h"

#include "text/window.h"

static void check_window(const char *text, const char *passage, size_t low,
			 size_t high, size_t max, const char *want, int first,
			 int last)
{
	struct window w;
	size_t start = (size_t)(strstr(text, passage) - text), len;
	char got[2048];

	window_around(&w, text, strlen(text), 10, start,
		      start + strlen(passage), low, high, max);
	len = w.end - w.start;
	assert_true(len < sizeof(got));
	memcpy(got, text + w.start, len);
	got[len] = '\0';
	assert_string_equal(got, want);
	assert_true(utf8_count(got, len) <= max);
	assert_int_equal(w.line_first, first);
	assert_int_equal(w.line_last, last);
}

static void test_window__grows_evenly_by_whole_lines(void **state)
{
	(void)state;
	check_window("一\n二\n三\n四\n五\n", "三", 0, 99, 5, "二\n三\n四", 11,
		     13);
	check_window("一\n二\n三\n四\n五\n", "三", 0, 99, 100,
		     "一\n二\n三\n四\n五", 10, 14);
	check_window("- a\n- bb\n- a very long line\n- c\n", "bb", 0, 99, 12,
		     "- a\n- bb", 10, 11);
}

static void test_window__stays_within_its_section(void **state)
{
	const char *text = "## A\nalpha\n\n## 乙\n\nbeta\n\n## C\ngamma\n";
	size_t low = (size_t)(strstr(text, "## 乙") - text);
	size_t high = (size_t)(strstr(text, "## C") - text);

	(void)state;
	check_window(text, "beta", low, high, 700, "## 乙\n\nbeta", 13, 15);
	check_window(text, "beta", low, high, 5, "beta", 15, 15);
	/* Blank lines at the ends are left out. */
	check_window(text, "beta", low + 7, high, 700, "beta", 15, 15);
}

static void test_window__a_long_passage_is_cut_between_characters(void **state)
{
	(void)state;
	check_window("x\n仓库的扫描枪又坏了\ny\n", "仓库的扫描枪又坏了", 0, 99,
		     5, "仓库的扫描", 11, 11);
	check_window("one two three four\n", "one two three four", 0, 99, 10,
		     "one two", 10, 10);
	check_window("🌸🌸🌸\n", "🌸🌸🌸", 0, 99, 2, "🌸🌸", 10, 10);
}

static void test_window__a_passage_of_a_long_line_gets_its_neighbours(
	void **state)
{
	struct window w;
	size_t len;
	char *s = repeat("第一句话在这里。", 1000, &len);
	const char *text = "aaa bbb ccc MATCH ddd eee fff\n";

	(void)state;
	window_around(&w, s, len, 1, 24 * 500, 24 * 501, 0, len, 20);
	assert_true(w.start <= 24 * 500 && w.end >= 24 * 501);
	assert_true(utf8_count(s + w.start, w.end - w.start) <= 20);
	assert_true(utf8_count(s + w.start, w.end - w.start) >= 18);
	assert_true(utf8_valid(s + w.start, w.end - w.start));
	assert_int_equal(w.line_first, 1);
	assert_int_equal(w.line_last, 1);
	free(s);
	check_window(text, "MATCH", 0, 99, 14, "ccc MATCH ddd", 10, 10);
}

static void test_window__bounds_hold_for_any_place(void **state)
{
	const char *text =
		"# 标题\r\n\n- 甲 one\n- 乙 two 🌸 three\n\n```\ncode\n```\n"
		"a much longer line with 中文 in it, again\n\n\n末尾";
	size_t len = strlen(text);
	struct window w;

	(void)state;
	for (size_t s = 0; s <= len; s++) {
		if ((text[s] & '\xc0') == '\x80')
			continue;
		for (size_t e = s; e <= len; e++) {
			if ((text[e] & '\xc0') == '\x80')
				continue;
			for (size_t max = 0; max < 40; max += 3) {
				window_around(&w, text, len, 1, s, e, 0, len,
					      max);
				assert_true(w.start <= w.end && w.end <= len);
				assert_true(utf8_valid(text + w.start,
						       w.end - w.start));
				assert_true(utf8_count(text + w.start,
						       w.end - w.start) <= max);
				assert_true(w.line_first <= w.line_last);
			}
		}
	}
}

static void test_window__the_hit_is_shown(void **state)
{
	/* The answer stands on line 50 of a long section. */
	char text[4096] = "";
	struct window w;
	size_t at;

	(void)state;
	for (int i = 1; i < 50; i++)
		strcat(text, "- 无关的一行 filler\n");
	at = strlen(text);
	strcat(text, "- Dog: Bella\n- after\n");
	window_around(&w, text, strlen(text), 1, at + 2, at + 12, 0,
		      strlen(text), 100);
	assert_true(w.start <= at && w.end >= at + 12);
	assert_true(w.line_first <= 50 && w.line_last >= 50);
	assert_memory_equal(text + at, "- Dog: Bella", 12);
}

static void test_citation__is_formatted(void **state)
{
	struct arena a = ARENA_INIT;

	(void)state;
	assert_string_equal(citation_format(&a, "memory/笔记.md", 15, 15),
			    "memory/笔记.md#L15");
	assert_string_equal(citation_format(&a, "a.md", 15, 30),
			    "a.md#L15-L30");
	assert_string_equal(citation_format(&a, "a.md", 0, 0), "a.md");
	arena_release(&a);
}

static void check_address(const char *address, const char *path, int first,
			  int last)
{
	struct arena a = ARENA_INIT;
	const char *p;
	int f, l;

	citation_parse(&a, address, &p, &f, &l);
	assert_string_equal(p, path);
	assert_int_equal(f, first);
	assert_int_equal(l, last);
	arena_release(&a);
}

static void test_citation__is_understood(void **state)
{
	(void)state;
	check_address("memory/笔记.md", "memory/笔记.md", 0, 0);
	check_address("a.md:12", "a.md", 12, 0);
	check_address("a.md:12:5", "a.md", 12, 16);
	check_address("笔记.md#L15", "笔记.md", 15, 0);
	check_address("a.md#L15-L30", "a.md", 15, 30);
	check_address("a.md#L15-30", "a.md", 15, 30);
	check_address("a.md#L30-L15", "a.md", 15, 30);
	check_address("C:\\notes.md:3", "C:\\notes.md", 3, 0);
	check_address("a:b.md", "a:b.md", 0, 0);
	check_address("a.md:0", "a.md:0", 0, 0);
	check_address("a.md#section", "a.md#section", 0, 0);
	check_address("a.md#L", "a.md#L", 0, 0);
	check_address("a.md:99999999999", "a.md:99999999999", 0, 0);
	check_address("a.md:2147483:999999999", "a.md", 2147483, 1002147481);
	check_address(":3", ":3", 0, 0);
	check_address("3", "3", 0, 0);
	check_address("", "", 0, 0);
}
