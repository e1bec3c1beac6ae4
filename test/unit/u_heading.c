/* Headings: found, cleaned, nested; which of them say nothing. */
#include "note_help.h"

static void test_heading__nothing_is_said_by_dates_and_times(void **state)
{
	static const char *const empty[] = {
		"",
		"2026-03-01",
		"2026-03-01 周一",
		"2026/3/1",
		"2026.03.01",
		"March 1, 2026",
		"1st of March 2026",
		"Mon, 2 Mar",
		"Monday",
		"2026年3月1日",
		"3月1日 星期日",
		"二〇二六年三月一日",
		"周五",
		"礼拜天",
		"週三",
		"2026年3月1日（日）",
		"月曜日",
		"上午",
		"下午",
		"早上",
		"晚上",
		"午後",
		"Morning",
		"AFTERNOON",
		"Evening",
		"14:30",
		"14:30 - 15:10",
		"9am",
		"9 a.m.",
		"下午3点半",
		"2026-03-01T10:00Z",
		"12",
		"3.",
		"#",
		"———",
		"🌅 Morning",
		"오전",
		"월요일",
		"2026-W10",
		"Today",
		"今天",
		"１２：３０",
	};
	static const char *const telling[] = {
		"Notes",
		"Day 3",
		"14:52 - Tim and John",
		"2023-05-02 王峰",
		"Standup Monday",
		"周航",
		"v1.2",
		"一月评审会",
		"Part 1",
		"1. Setup",
		"上海",
		"Marching",
		"会议",
		"Morning run",
		"夜班",
		"ERR 404 x",
		"Ось",
		"第三章",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(empty) / sizeof(*empty); i++) {
		if (!heading_says_nothing(empty[i], strlen(empty[i])))
			fail_msg("says something: %s", empty[i]);
	}
	for (size_t i = 0; i < sizeof(telling) / sizeof(*telling); i++) {
		if (heading_says_nothing(telling[i], strlen(telling[i])))
			fail_msg("says nothing: %s", telling[i]);
	}
}

static void check_heading(const char *line, int level, const char *text)
{
	struct cut c;

	cut_text(&c, line);
	if (!text) {
		assert_int_equal(c.n.heading_count, 0);
	} else {
		assert_int_equal(c.n.heading_count, 1);
		assert_int_equal(c.n.headings[0].level, level);
		assert_string_equal(arena_strndup(&c.a, c.n.headings[0].text,
						  c.n.headings[0].len),
				    text);
	}
	cut_release(&c);
}

static void test_heading__atx(void **state)
{
	(void)state;
	check_heading("# One\n", 1, "One");
	check_heading("   ###### 六级 ######  \n", 6, "六级");
	check_heading("####### seven\n", 0, NULL);
	check_heading("#tag\n", 0, NULL);
	check_heading("## C#\n", 2, "C#");
	check_heading("#\n", 1, "");
	check_heading("    # code\n", 0, NULL);
	check_heading("> # quoted\n", 0, NULL);
	check_heading("## **粗体** and `code` [链接](http://x) [[页|别名]]"
		      " <!-- hidden -->\n",
		      2, "粗体 and code 链接 别名");
	check_heading("# [half](\n", 1, "[half](");
}

static void test_heading__setext(void **state)
{
	(void)state;
	check_heading("标题\n====\n\ntext\n", 1, "标题");
	check_heading("Title\n---\n", 2, "Title");
	check_heading("two\nlines\n---\n", 0, NULL);
	check_heading("- item\n---\n", 0, NULL);
	check_heading("text\n\n---\n", 0, NULL);
}

static void test_heading__parents_and_paths(void **state)
{
	struct cut c;

	(void)state;
	cut_text(&c, "# A\n\n### 丙\n\nx\n\n## B\n\ny\n\n# D\n\nz\n");
	assert_int_equal(c.n.headings[1].parent, 0);
	assert_int_equal(c.n.headings[2].parent, 0);
	assert_int_equal(c.n.headings[3].parent, -1);
	assert_string_equal(note_heading_path(&c.a, &c.n, 1), "A > 丙");
	assert_string_equal(note_heading_path(&c.a, &c.n, 2), "A > B");
	assert_string_equal(note_heading_path(&c.a, &c.n, -1), "");
	assert_int_equal(c.n.passages[0].heading, 1);
	assert_int_equal(c.n.headings[2].line, 7);
	assert_string_equal(c.n.title, "A");
	cut_release(&c);
}

static void test_heading__a_long_one_is_text_as_well(void **state)
{
	struct cut c;
	size_t len;
	char *s = repeat("很长的标题", 200, &len);
	char *line = malloc(len + 16);

	(void)state;
	snprintf(line, len + 16, "# %s\n\nx\n", s);
	cut_text(&c, line);
	assert_int_equal(c.n.heading_count, 1);
	assert_true(c.n.headings[0].len <= 256);
	assert_true(c.n.passage_count > 10);
	assert_int_equal(c.n.passages[0].kind, PASSAGE_HEADING);
	cut_release(&c);
	free(line);
	free(s);
}
