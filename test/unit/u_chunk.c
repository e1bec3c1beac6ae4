/* Chunks: bounds, overlap, where they begin. note_flaw() in cut_bytes() has
 * checked bounds and partition of every note here. */
#include "note_help.h"

static int parse_rc(int chunk, int overlap, int passage, struct remem_err *err)
{
	struct note_opts o = { chunk, overlap, passage, false };
	struct arena a = ARENA_INIT;
	struct note n;
	int rc = note_parse(&n, &a, "x\n", 2, &o, err);

	arena_release(&a);
	return rc;
}

static void test_chunk__options_that_make_no_sense_are_refused(void **state)
{
	struct remem_err err;

	(void)state;
	assert_int_equal(parse_rc(200, 200, 100, &err), REMEM_EINVAL);
	assert_non_null(strstr(err.message, "200"));
	assert_int_equal(parse_rc(200, 201, 100, NULL), REMEM_EINVAL);
	assert_int_equal(parse_rc(200, -1, 100, NULL), REMEM_EINVAL);
	assert_int_equal(parse_rc(8, 2, 4, NULL), REMEM_EINVAL);
	assert_int_equal(parse_rc(400, 80, 0, NULL), REMEM_EINVAL);
	assert_int_equal(parse_rc(200, 199, 100, NULL), 0);
}

/* Cuts with several bounds; cut_bytes() checks each. */
static void cut_all(const char *s, size_t len)
{
	static const struct note_opts opts[] = {
		{ 400, 80, 100, false }, { 400, 399, 400, false },
		{ 32, 31, 4, false },	 { 200, 0, 100, false },
		{ 64, 16, 1000, false }, { 400, 80, 100, true },
	};

	for (size_t i = 0; i < sizeof(opts) / sizeof(*opts); i++) {
		struct cut c;

		cut_bytes(&c, s, len, &opts[i]);
		cut_release(&c);
	}
}

static void cut_repeated(const char *s, size_t times)
{
	size_t len;
	char *p = repeat(s, times, &len);

	cut_all(p, len);
	free(p);
}

static void test_chunk__bounds_hold_for_hostile_text(void **state)
{
	(void)state;
	cut_repeated("x", 8000);
	cut_repeated("汉", 8000);
	cut_repeated("🌸", 5000);
	cut_repeated("：", 800);
	cut_repeated("─", 800);
	cut_repeated("\xf0\xa0\x80\x80", 3000); /* a rare Han character */
	cut_repeated("{\"key\":\"value\",\"n\":[1,2,3]},", 9000);
	cut_repeated("word ", 9000);
	cut_repeated(" ", 9000);
	cut_repeated("\n", 9000);
	cut_repeated("a\n\n", 9000);
	cut_repeated("　", 3000);
	cut_repeated("-\n", 5000);
	cut_repeated("- [ ]\n", 2000);
	cut_repeated("> ", 4000);
	cut_repeated(">\n", 4000);
	cut_repeated("|", 9000);
	cut_repeated("|-|-|\n", 1000);
	cut_repeated("# a\n", 9000);
	cut_repeated("# \n", 3000);
	cut_repeated("## 2026-03-01\n", 2000);
	cut_repeated("***\n", 2000);
	cut_repeated("<!-- a comment -->\n\n", 2000);
	cut_repeated("- a <!-- trigger: b, 触发 -->\n", 500);
	cut_repeated("```\n", 2001);
	cut_repeated("`", 9000);
	cut_repeated("\xcc\x81", 4000); /* marks without a letter */
	cut_repeated("🇨", 3000);
	cut_repeated("👨‍", 2000);
	cut_repeated("A: b\n", 3000);
	cut_repeated("\xff\xc3", 3000);
	cut_repeated(".", 9000);
	cut_repeated("。", 4000);
	cut_repeated("...\"", 3000);
	cut_repeated("）", 3000);
}

static void test_chunk__an_emoji_on_the_bound(void **state)
{
	char s[1800];
	struct cut c;

	(void)state;
	for (int at = 380; at < 420; at++) {
		memset(s, 'a', sizeof(s));
		memcpy(s + at, "🌸", 4);
		cut_bytes(&c, s, sizeof(s), NULL);
		cut_release(&c);
		memcpy(s + at, "\xf0\xa0\x80\x80", 4);
		cut_bytes(&c, s, sizeof(s), NULL);
		cut_release(&c);
	}
}

static void test_chunk__words_of_a_long_line_stay_together(void **state)
{
	struct cut c;
	size_t len;
	char *s = repeat("wombat kangaroo ", 400, &len);

	(void)state;
	/* No line feed is put in, and no word is cut in two. */
	cut_bytes(&c, s, len, NULL);
	for (int i = 0; i < c.n.passage_count; i++) {
		const char *w = words_of(&c, i);

		assert_true(!strncmp(w, "wombat", 6) ||
			    !strncmp(w, "kangaroo", 8));
		assert_null(strchr(w, '\n'));
	}
	cut_release(&c);
	free(s);
}

static void test_chunk__overlap_is_whole_passages(void **state)
{
	struct cut c;
	size_t len;
	char *s = repeat("- 回归测试第一千六百七十五轮通过，耗时五十三分钟。\n",
			 60, &len);

	(void)state;
	cut_bytes(&c, s, len, NULL);
	assert_true(c.n.chunk_count > 3);
	for (int i = 1; i < c.n.chunk_count; i++) {
		const struct chunk *k = &c.n.chunks[i];
		const struct chunk *before = &c.n.chunks[i - 1];
		bool whole = false;

		assert_true(k->lead < k->start && k->lead > before->start);
		for (int j = 0; j < before->passage_count; j++)
			whole |= c.n.passages[before->passage_first + j]
					 .span_start == k->lead;
		assert_true(whole);
	}
	cut_release(&c);
	free(s);
}

/* Eight contacts of 200 characters: nobody's lines lead into another's
 * chunk, and each passage knows whose it is. */
static void test_chunk__sections_are_not_led_into_each_other(void **state)
{
	static const char *const names[] = { "Ann", "Bo",  "陈洁", "Dan",
					     "Eve", "Fay", "高远", "Hal" };
	char text[8192] = "# Contacts\n\n";
	struct cut c;

	(void)state;
	for (int i = 0; i < 8; i++) {
		sprintf(text + strlen(text), "## %s\n\n", names[i]);
		for (int k = 0; k < 4; k++)
			sprintf(text + strlen(text),
				"- fact %d about %s, with some more words\n", k,
				names[i]);
		strcat(text, "\n");
	}
	cut_text(&c, text);
	assert_true(c.n.chunk_count > 1);
	for (int i = 0; i < c.n.chunk_count; i++) {
		const struct chunk *k = &c.n.chunks[i];

		assert_int_equal(k->lead, k->start);
		assert_memory_equal(c.n.text + k->start +
					    (i ? 0 : strlen("# Contacts\n\n")),
				    "## ", 3);
	}
	for (int i = 0; i < c.n.passage_count; i++) {
		const struct heading *h =
			&c.n.headings[c.n.passages[i].heading];

		assert_non_null(strstr(words_of(&c, i),
				       arena_strndup(&c.a, h->text, h->len)));
	}
	cut_release(&c);
}

static void test_chunk__curated_entries_are_chunks(void **state)
{
	struct note_opts o = NOTE_OPTS_DEFAULT;
	struct cut c;
	const char *text =
		"# Memory\n\nA paragraph.\n\n- 回复林薇用中文\n"
		"  和英文\n  - nested <!-- importance: 9 -->\n\n"
		"- second\n\n## 其他\n\n- third\n\n```\na\n\nb\n```\n";

	(void)state;
	o.curated = true;
	cut_bytes(&c, text, strlen(text), &o);
	assert_int_equal(c.n.chunk_count, 5);
	assert_string_equal(chunk_text(&c, 0), "# Memory\n\nA paragraph.\n\n");
	assert_string_equal(chunk_text(&c, 1),
			    "- 回复林薇用中文\n  和英文\n  - nested"
			    " <!-- importance: 9 -->\n\n");
	assert_string_equal(chunk_text(&c, 2), "- second\n\n");
	assert_string_equal(chunk_text(&c, 3), "## 其他\n\n- third\n\n");
	assert_string_equal(chunk_text(&c, 4), "```\na\n\nb\n```\n");
	assert_int_equal(c.n.chunks[1].line_first, 5);
	assert_int_equal(c.n.chunks[1].line_last, 7);
	cut_release(&c);
}

static void test_chunk__a_line_on_top_changes_no_hash(void **state)
{
	struct cut a, b;
	size_t len;
	char *s = repeat("## 标题\n\n- one fact\n- 另一件事\n\n", 30, &len);
	char *t = malloc(len + 32);

	(void)state;
	snprintf(t, len + 32, "# new\n\nline on top\n\n%s", s);
	cut_text(&a, s);
	cut_text(&b, t);
	assert_int_equal(a.n.passage_count + 1, b.n.passage_count);
	for (int i = 0; i < a.n.passage_count; i++)
		assert_memory_equal(a.n.passages[i].hash,
				    b.n.passages[i + 1].hash, SHA256_BYTES);
	cut_release(&a);
	cut_release(&b);
	free(s);
	free(t);
}

static void test_chunk__every_passage_fits_a_small_provider(void **state)
{
	/* Full-width signs, box drawing and emoji against 512 tokens. */
	static const char *const signs[] = { "：", "─", "🌸" };
	struct cut c;

	(void)state;
	for (int k = 0; k < 3; k++) {
		size_t len;
		char *s = repeat(signs[k], 800, &len);

		cut_text(&c, s);
		for (int i = 0; i < c.n.passage_count; i++)
			assert_true(utf8_count(c.n.text + c.n.passages[i].start,
					       c.n.passages[i].end -
						       c.n.passages[i].start) <=
				    100);
		cut_release(&c);
		free(s);
	}
}
