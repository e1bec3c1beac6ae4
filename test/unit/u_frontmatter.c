/* Front matter: metadata if it is a map, else text. */
#include "note_help.h"

#include "base/clock.h"

static void test_frontmatter__gives_metadata(void **state)
{
	struct cut c;

	(void)state;
	cut_text(&c, "---\ntitle: 会议 纪要\ntags: [工作, \"#ops\", 工作]\n"
		     "Date: 2026-03-01T09:00:00Z\naliases: 周会, weekly\n"
		     "type: null\n---\n正文\n");
	assert_string_equal(c.n.title, "会议 纪要");
	assert_int_equal(c.n.tag_count, 2);
	assert_string_equal(c.n.tags[0], "工作");
	assert_string_equal(c.n.tags[1], "ops");
	assert_int_equal(c.n.alias_count, 2);
	assert_string_equal(c.n.aliases[1], "weekly");
	assert_int_equal(c.n.date, date_from_ymd(2026, 3, 1));
	assert_int_equal(c.n.passage_count, 1);
	assert_string_equal(words_of(&c, 0), "正文");
	assert_int_equal(c.n.passages[0].line_first, 8);
	assert_int_equal(c.n.passages[0].span_start, 0);
	assert_int_equal(c.n.warnings, 0);
	cut_release(&c);
}

static void check_tags(const char *yaml, int count, const char *first)
{
	struct cut c;
	char text[256];

	snprintf(text, sizeof(text), "---\n%s\n---\nx\n", yaml);
	cut_text(&c, text);
	assert_int_equal(c.n.tag_count, count);
	if (count)
		assert_string_equal(c.n.tags[0], first);
	cut_release(&c);
}

static void test_frontmatter__tags_in_all_forms(void **state)
{
	(void)state;
	check_tags("tags: a, machine learning", 2, "a");
	check_tags("tags: '#a #b'", 2, "a");
	check_tags("tags: 工作，生活、其他", 3, "工作");
	check_tags("tags:\n  - one two\n  - three", 2, "one two");
	check_tags("tag: solo", 1, "solo");
	check_tags("tags:", 0, NULL);
	check_tags("tags: null", 0, NULL);
	check_tags("tags: {a: b}", 0, NULL);
}

static void check_date(const char *yaml, int32_t want)
{
	struct cut c;
	char text[256];

	snprintf(text, sizeof(text), "---\n%s\n---\nx\n", yaml);
	cut_text(&c, text);
	assert_int_equal(c.n.date, want);
	cut_release(&c);
}

static void test_frontmatter__dates_in_all_forms(void **state)
{
	int32_t day = date_from_ymd(2026, 3, 1);

	(void)state;
	check_date("date: 2026-03-01", day);
	check_date("date: '2026/3/1 10:00'", day);
	check_date("created: 2026年3月1日", day);
	check_date("date: 2026-03-01\ncreated: 2020-01-01", day);
	check_date("created: 2020-01-01\ndate: 2026-03-01", day);
	check_date("created: 2026-03-01\ndate: soon", day);
	check_date("date: 2026-02-30", DATE_NONE);
	check_date("date: 2026-03-011", DATE_NONE);
}

/* Text is kept, with or without a warning, and nothing is lost. */
static void check_text(const char *text, const char *word, unsigned warning)
{
	struct cut c;
	bool found = false;

	cut_text(&c, text);
	assert_int_equal(c.n.body, 0);
	assert_int_equal(c.n.warnings & NOTE_BAD_FRONT_MATTER, warning);
	for (int i = 0; i < c.n.passage_count; i++)
		found |= strstr(words_of(&c, i), word) != NULL;
	assert_true(found);
	cut_release(&c);
}

static void test_frontmatter__what_does_not_parse_is_text(void **state)
{
	(void)state;
	check_text("---\npath: `C:\\x`\n---\nbody\n", "C:\\x",
		   NOTE_BAD_FRONT_MATTER);
	check_text("---\ntitle: *Star*\n---\nbody\n", "*Star*",
		   NOTE_BAD_FRONT_MATTER);
	check_text("---\ntags:\n- [[甲]]乙\n---\nbody\n", "[[甲]]乙",
		   NOTE_BAD_FRONT_MATTER);
	check_text("---\ndescription: \"abc \"def\" ghi\"\n---\nbody\n", "abc",
		   NOTE_BAD_FRONT_MATTER);
	check_text("---\n- a block\n- 列表\n---\nbody\n", "列表",
		   NOTE_BAD_FRONT_MATTER);
	/* Rules and prose. */
	check_text("---\n只是正文\n---\nbody\n", "只是正文", 0);
	check_text("---\n\nA rule, then prose: and a colon.\n", "prose", 0);
	check_text(" ---\na: b\n---\n", "a: b", 0);
}

static void test_frontmatter__a_bad_one_makes_no_heading(void **state)
{
	struct cut c;

	(void)state;
	cut_text(&c, "---\ntitle: *Star*\n---\n\n真标题\n---\nbody\n");
	assert_int_equal(c.n.heading_count, 1);
	assert_int_equal(c.n.headings[0].line, 5);
	cut_release(&c);
}

static void test_frontmatter__is_not_counted_in_the_first_chunk(void **state)
{
	struct cut c;
	size_t len;
	char *list = repeat("  - 很长的标签名称\n", 400, &len);
	char *text = malloc(len + 64);

	(void)state;
	snprintf(text, len + 64, "---\ntags:\n%s...\n# 标题\n\nbody\n", list);
	cut_text(&c, text);
	assert_int_equal(c.n.chunk_count, 1);
	assert_int_equal(c.n.chunks[0].start, 0);
	assert_true(c.n.body > len);
	assert_int_equal(c.n.tag_count, 1);
	cut_release(&c);
	free(list);
	free(text);
}
