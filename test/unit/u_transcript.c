/* Transcripts: every format by its fixture, and what happens to files. */
#include "base_tmp.h"

#include <fcntl.h>

#include "source/jsonl.h"
#include "source/transcript.h"

#define FIXTURES "test/fixtures/transcripts/"

static struct tmp tmp;

static struct transcript *open_with(const char *path,
				    const struct transcript_opts *o)
{
	struct remem_err err = { 0 };
	struct transcript *t;

	if (transcript_open(&t, path, o, &err))
		fail_msg("%s", err.message);
	return t;
}

/* "user:text|assistant:text" of what is left. */
static const char *rest(struct transcript *t)
{
	static struct buf b = BUF_INIT(0);
	const struct transcript_message *m;
	struct remem_err err = { 0 };

	buf_reset(&b);
	for (;;) {
		if (transcript_next(t, &m, &err))
			fail_msg("%s", err.message);
		if (!m)
			break;
		assert_int_equal(strlen(m->text), m->len);
		buf_addf(&b, "%s%s:%s", b.len ? "|" : "",
			 transcript_role_name(m->role), m->text);
	}
	return buf_str(&b);
}

static const char *all(const char *path, const struct transcript_opts *o)
{
	struct transcript *t = open_with(path, o);
	const char *s = rest(t);

	transcript_close(t);
	return s;
}

static const struct transcript_message *next(struct transcript *t)
{
	const struct transcript_message *m;
	struct remem_err err = { 0 };

	if (transcript_next(t, &m, &err))
		fail_msg("%s", err.message);
	assert_non_null(m);
	return m;
}

/* ---- the table -------------------------------------------------------- */

static void test_transcript__each_row_knows_its_own_fixture(void **state)
{
	int lines = 0;

	(void)state;
	for (int i = 0; transcript_format_at(i); i++) {
		const char *name = transcript_format_at(i);
		struct transcript *t;
		char path[256];

		snprintf(path, sizeof(path), FIXTURES "%s.jsonl", name);
		if (!file_exists(path))
			continue; /* stores have their own test */
		t = open_with(path, NULL);
		assert_string_equal(transcript_info(t)->format, name);
		assert_non_null(transcript_info(t)->session);
		assert_non_null(strstr(rest(t), "user:"));
		assert_int_equal(transcript_info(t)->bad_lines, 0);
		assert_true(transcript_info(t)->messages >= 2);
		transcript_close(t);
		lines++;
	}
	assert_true(lines >= 3);
}

static void test_transcript__each_row_survives_garbage(void **state)
{
	static const char garbage[] =
		"\n{\"type\":\n{\"type\":\"message\",\"message\":7}\n[1]\n"
		"{\"type\":\"user\",\"message\":{\"content\":[3,null,{}]}}\n"
		"{\"role\":\"user\",\"content\":[{\"type\":\"text\"}]}\n"
		"{\"type\":\"session\",\"id\":5}\nnull\n";

	(void)state;
	tmp_begin(&tmp);
	tmp_put(&tmp, "g.jsonl", garbage);
	for (int i = 0; transcript_format_at(i); i++) {
		struct transcript_opts o = {
			.format = transcript_format_at(i),
			.want = TRANSCRIPT_WANT_ALL,
		};
		struct remem_err err = { 0 };
		struct transcript *t;

		if (transcript_open(&t, tmp_path(&tmp, "g.jsonl"), &o, &err)) {
			assert_int_equal(err.code, REMEM_EFORMAT);
			continue; /* a store says that this is none */
		}
		assert_string_equal(rest(t), "");
		assert_int_equal(transcript_info(t)->bad_lines, 3);
		assert_int_equal(transcript_info(t)->bad_line, 2);
		transcript_close(t);
	}
	tmp_end(&tmp);
}

/* ---- formats ---------------------------------------------------------- */

static void test_transcript__claude_says_who_said_what(void **state)
{
	const char *path = FIXTURES "claude.jsonl";
	struct transcript_opts o = { .want = TRANSCRIPT_WANT_ALL };
	struct transcript *t = open_with(path, NULL);
	const struct transcript_message *m = next(t);

	(void)state;
	assert_string_equal(m->text, "Why does the tide table end in March?");
	assert_int_equal(m->line, 3);
	assert_int_equal(m->time_ms, 1795852809250);
	assert_string_equal(m->id, "u-2");
	assert_int_equal(m->origin, TRANSCRIPT_OWNER);
	m = next(t);
	assert_false(m->tainted);
	m = next(t);
	assert_int_equal(m->line, 8);
	assert_true(m->tainted); /* a file was read in this turn */
	assert_string_equal(rest(t), "user:把期限改到 2028 年底。|"
			    "assistant:好的,LAST 已改为 2028-12-31。");
	assert_string_equal(transcript_info(t)->cwd, "/home/ada/src/harbour");
	assert_string_equal(transcript_info(t)->title,
			    "Tide table ends in March");
	assert_int_equal(transcript_info(t)->compactions, 1);
	assert_int_equal(transcript_info(t)->context_tokens, 2125);
	transcript_close(t);
	t = open_with(path, &o);
	assert_non_null(strstr(rest(t), "tool:LAST = date(2027, 3, 31)"));
	transcript_close(t);
}

static void test_transcript__openclaw_follows_the_living_branch(void **state)
{
	struct transcript *t = open_with(FIXTURES "openclaw.jsonl", NULL);
	const struct transcript_message *m = next(t);

	(void)state;
	assert_string_equal(m->text, "The boiler man comes on Friday at nine.");
	assert_int_equal(next(t)->line, 4);
	assert_string_equal(next(t)->text, "锅炉师傅的电话是多少?");
	m = next(t);
	assert_true(m->recalled); /* memory had said so a moment before */
	assert_string_equal(rest(t), "");
	assert_int_equal(transcript_info(t)->compactions, 1);
	assert_int_equal(transcript_info(t)->started_ms, 1795165200000);
	transcript_close(t);
}

static void test_transcript__generic_takes_what_is_documented(void **state)
{
	struct transcript *t = open_with(FIXTURES "jsonl.jsonl", NULL);
	const struct transcript_message *m = next(t);

	(void)state;
	tmp_begin(&tmp);
	assert_int_equal(m->time_ms, 1772442000000);
	m = next(t);
	assert_int_equal(m->time_ms, 1772442002500);
	assert_true(m->tainted);
	assert_string_equal(transcript_info(t)->session, "talk-7");
	assert_string_equal(transcript_info(t)->agent, "helper");
	assert_string_equal(transcript_info(t)->title, "Seeds");
	transcript_close(t);
	tmp_end(&tmp);
}

static void test_transcript__codex_is_read_from_its_items(void **state)
{
	struct transcript *t = open_with(FIXTURES "codex.jsonl", NULL);
	const struct transcript_message *m = next(t);

	(void)state;
	assert_string_equal(m->text, "How many pear trees stand in row nine?");
	assert_int_equal(m->line, 5);
	m = next(t);
	assert_string_equal(m->text, "Fourteen pear trees stand in row nine.");
	assert_true(m->tainted);
	assert_string_equal(rest(t), "user:第十行呢?");
	assert_string_equal(transcript_info(t)->cwd, "/home/ada/src/orchard");
	assert_int_equal(transcript_info(t)->context_tokens, 5231);
	assert_int_equal(transcript_info(t)->compactions, 1);
	transcript_close(t);
}

static void test_transcript__gemini_is_read_as_it_ended(void **state)
{
	static const char old[] =
		"{\n \"sessionId\": \"s\", \"projectHash\": \"h\",\n"
		" \"messages\": [\n  {\"id\": \"1\", \"type\": \"user\","
		" \"content\": \"one\"},\n  {\"id\": \"2\", \"type\":"
		" \"gemini\", \"content\": \"two\"}\n ]\n}\n";
	struct transcript *t = open_with(FIXTURES "gemini.jsonl", NULL);
	const struct transcript_message *m;
	char line[200];
	int fd;

	(void)state;
	assert_int_equal(next(t)->line, 2);
	m = next(t);
	assert_int_equal(m->line, 4);
	assert_true(m->tainted);
	assert_string_equal(rest(t), "user:糖水的比例是多少?");
	assert_string_equal(transcript_info(t)->title, "Feeding bees");
	assert_int_equal(transcript_info(t)->context_tokens, 3152);
	transcript_close(t);
	tmp_begin(&tmp);
	tmp_put(&tmp, "old.json", old);
	t = open_with(tmp_path(&tmp, "old.json"), NULL);
	assert_string_equal(transcript_info(t)->session, "s");
	assert_string_equal(rest(t), "user:one|assistant:two");
	assert_int_equal(transcript_raw(&fd, t, NULL), 0);
	assert_true(read(fd, line, sizeof(line)) > 60);
	assert_memory_equal(line, "{\"id\":\"1\"", 9);
	close(fd);
	transcript_close(t);
	tmp_end(&tmp);
}

static void test_transcript__cursor_and_copilot(void **state)
{
	struct transcript *t = open_with(FIXTURES "cursor.jsonl", NULL);

	(void)state;
	assert_string_equal(rest(t),
			    "user:\nRename the harbour module to quay.\n|"
			    "assistant:I will rename it in all files.|"
			    "assistant:Renamed in 12 files.");
	transcript_close(t);
	t = open_with(FIXTURES "copilot.jsonl", NULL);
	assert_string_equal(rest(t), "user:When is the mill wheel greased?|"
			    "assistant:On the first Monday of each month.");
	assert_string_equal(transcript_info(t)->cwd, "/home/ada/src/mill");
	transcript_close(t);
}

/* ---- growing files ---------------------------------------------------- */

#define U(n) "{\"role\":\"user\",\"content\":\"" n "\",\"id\":\"" n "\"}\n"

static void take_mark(struct transcript_mark *m, const char *path)
{
	struct transcript *t = open_with(path, NULL);
	struct transcript_mark first;
	struct remem_err err = { 0 };
	struct buf b = BUF_INIT(0);

	rest(t);
	if (transcript_mark(t, &first, &err))
		fail_msg("%s", err.message);
	transcript_mark_write(&b, &first);
	assert_true(transcript_mark_read(m, buf_str(&b)));
	assert_memory_equal(m, &first, sizeof(first));
	buf_release(&b);
	transcript_close(t);
}

static void put(const char *text)
{
	tmp_put(&tmp, "s.jsonl", text);
}

static const char *since(const struct transcript_mark *m, bool *rewritten)
{
	struct transcript_opts o = { .from = m };
	struct transcript *t = open_with(tmp_path(&tmp, "s.jsonl"), &o);
	const char *s = rest(t);

	*rewritten = transcript_info(t)->rewritten;
	transcript_close(t);
	return s;
}

static void test_transcript__a_mark_reads_only_what_is_new(void **state)
{
	struct transcript_mark m;
	bool rewritten;

	(void)state;
	tmp_begin(&tmp);
	put(U("one") U("two"));
	take_mark(&m, tmp_path(&tmp, "s.jsonl"));
	assert_string_equal(since(&m, &rewritten), "");
	assert_false(rewritten);
	put(U("one") U("two") U("three") "{\"role\":\"user\",\"cont");
	assert_string_equal(since(&m, &rewritten), "user:three");
	assert_false(rewritten);
	take_mark(&m, tmp_path(&tmp, "s.jsonl"));
	assert_int_equal(m.line, 3);
	put(U("one") U("two") U("three") U("four"));
	assert_string_equal(since(&m, &rewritten), "user:four");
	tmp_end(&tmp);
}

static void test_transcript__another_file_is_read_from_the_start(void **state)
{
	struct transcript_mark m;
	bool rewritten;

	(void)state;
	tmp_begin(&tmp);
	put(U("one") U("two"));
	take_mark(&m, tmp_path(&tmp, "s.jsonl"));
	put(U("one"));
	assert_string_equal(since(&m, &rewritten), "user:one");
	assert_true(rewritten);
	put(U("one") U("TWO") U("six"));
	assert_string_equal(since(&m, &rewritten),
			    "user:one|user:TWO|user:six");
	assert_true(rewritten);
	tmp_end(&tmp);
}

#define E(id, parent) "{\"type\":\"message\",\"id\":\"" id "\",\"parentId\":\"" \
	parent "\",\"message\":{\"role\":\"user\",\"content\":\"" id "\"}}\n"

static void test_transcript__a_new_branch_reads_the_tree_again(void **state)
{
	struct transcript_mark m;
	bool rewritten;

	(void)state;
	tmp_begin(&tmp);
	put(E("a", "") E("b", "a") E("c", "b"));
	take_mark(&m, tmp_path(&tmp, "s.jsonl"));
	put(E("a", "") E("b", "a") E("c", "b") E("d", "c"));
	assert_string_equal(since(&m, &rewritten), "user:d");
	assert_false(rewritten);
	put(E("a", "") E("b", "a") E("c", "b") E("d", "a"));
	assert_string_equal(since(&m, &rewritten), "user:a|user:d");
	assert_true(rewritten);
	tmp_end(&tmp);
}

/* ---- bad input -------------------------------------------------------- */

static void test_transcript__bad_lines_are_counted_and_passed(void **state)
{
	struct transcript *t;
	FILE *f;

	(void)state;
	tmp_begin(&tmp);
	f = fopen(tmp_path(&tmp, "s.jsonl"), "w");
	assert_non_null(f);
	fputs(U("one"), f);
	fputs("{\"role\":\"user\",\"content\":\"a\\u0000b \xff\"}\r\n", f);
	fputs("{broken\n\n", f);
	fwrite("{\"a\0", 1, 4, f);
	fputs("\n" U("two") U("two"), f);
	assert_int_equal(fclose(f), 0);
	t = open_with(tmp_path(&tmp, "s.jsonl"), NULL);
	assert_string_equal(rest(t), "user:one|user:a\xef\xbf\xbd" "b "
			    "\xef\xbf\xbd|user:two|user:two");
	assert_int_equal(transcript_info(t)->bad_lines, 2);
	assert_int_equal(transcript_info(t)->bad_line, 3);
	assert_string_equal(transcript_info(t)->bad_reason, "it is no JSON");
	transcript_close(t);
	tmp_end(&tmp);
}

static void test_transcript__a_huge_line_costs_no_memory(void **state)
{
	struct transcript_opts o = { .max_line = 1 << 20 };
	struct transcript *t;
	FILE *f;

	(void)state;
	tmp_begin(&tmp);
	f = fopen(tmp_path(&tmp, "s.jsonl"), "w");
	assert_non_null(f);
	fputs(U("one") "{\"role\":\"user\",\"content\":\"", f);
	for (int i = 0; i < 100; i++) {
		static char piece[1 << 20];

		memset(piece, 'x', sizeof(piece));
		fwrite(piece, 1, sizeof(piece), f);
	}
	fputs("\"}\n" U("two"), f);
	assert_int_equal(fclose(f), 0);
	t = open_with(tmp_path(&tmp, "s.jsonl"), &o);
	assert_string_equal(rest(t), "user:one|user:two");
	assert_int_equal(transcript_info(t)->bad_lines, 1);
	assert_int_equal(transcript_info(t)->lines, 3);
	transcript_close(t);
	tmp_end(&tmp);
}

static void test_transcript__last_line_without_a_break_by_wish(void **state)
{
	struct transcript_opts o = { .last_line = true };

	(void)state;
	tmp_begin(&tmp);
	put(U("one") "{\"role\":\"user\",\"content\":\"two\"}");
	assert_string_equal(all(tmp_path(&tmp, "s.jsonl"), NULL), "user:one");
	assert_string_equal(all(tmp_path(&tmp, "s.jsonl"), &o),
			    "user:one|user:two");
	tmp_end(&tmp);
}

static void test_transcript__what_is_none_is_refused(void **state)
{
	struct remem_err err = { 0 };
	struct transcript_opts o = { .format = "nonsense" };
	struct transcript *t;

	(void)state;
	tmp_begin(&tmp);
	put("# A note\n\nNothing else.\n");
	assert_int_equal(transcript_open(&t, tmp_path(&tmp, "s.jsonl"), NULL,
					 &err), REMEM_EFORMAT);
	assert_int_equal(transcript_open(&t, tmp_path(&tmp, "s.jsonl"), &o,
					 &err), REMEM_EINVAL);
	assert_int_equal(transcript_open(&t, tmp.dir, NULL, &err),
			 REMEM_EINVAL);
	assert_int_equal(transcript_open(&t, tmp_path(&tmp, "none"), NULL,
					 &err), REMEM_ENOTFOUND);
	tmp_end(&tmp);
}
