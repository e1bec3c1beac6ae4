/* Notes as a whole: decoding, lines, hostile bytes, golden files. */
#include <glob.h>

#include "note_help.h"

#include "base/alloc.h"
#include "base/clock.h"

static void test_note__decodes_utf16_by_its_mark(void **state)
{
	static const char le[] = "\xff\xfe#\0 \0\x07\x59\xd8\x5f\r\0\n\0w\0o\0"
				 "m\0b\0a\0t\0 \0\x3c\xd8\x38\xdf\n\0";
	static const char be[] = "\xfe\xff\0#\0 \x59\x07\x5f\xd8\0\r\0\n\0w\0o"
				 "\0m\0b\0a\0t\0 \xd8\x3c\xdf\x38\0\n";
	struct cut c;

	(void)state;
	for (int i = 0; i < 2; i++) {
		cut_bytes(&c, i ? be : le, sizeof(le) - 1, NULL);
		assert_string_equal(c.n.text, "# 备忘\nwombat 🌸\n");
		assert_int_equal(c.n.warnings,
				 NOTE_UTF16 | NOTE_BOM | NOTE_CRLF);
		assert_string_equal(c.n.title, "备忘");
		assert_int_equal(c.n.passages[0].line_first, 2);
		cut_release(&c);
	}
	/* A lone surrogate and half a unit. */
	cut_bytes(&c,
		  "\xff\xfe\x00\xd8"
		  "a\0b",
		  7, NULL);
	assert_string_equal(c.n.text, "\xef\xbf\xbd"
				      "a\xef\xbf\xbd");
	assert_true(c.n.warnings & NOTE_INVALID_UTF8);
	cut_release(&c);
}

static void test_note__drops_the_mark_and_replaces_bad_bytes(void **state)
{
	/* "备忘录" in GBK. */
	static const char gbk[] = "\xb1\xb8\xcd\xfc\xc2\xbc\n";
	struct cut c;

	(void)state;
	cut_text(&c, "\xef\xbb\xbf# 标题\n\nx\n");
	assert_string_equal(c.n.text, "# 标题\n\nx\n");
	assert_int_equal(c.n.warnings, NOTE_BOM);
	assert_int_equal(c.n.heading_count, 1);
	cut_release(&c);
	cut_text(&c, "前\xff\xfe后\nb\n");
	assert_string_equal(c.n.text, "前\xef\xbf\xbd\xef\xbf\xbd后\nb\n");
	assert_int_equal(c.n.warnings, NOTE_INVALID_UTF8);
	assert_int_equal(c.n.passages[0].line_last, 2);
	cut_release(&c);
	cut_text(&c, gbk);
	assert_int_equal(c.n.warnings, NOTE_INVALID_UTF8);
	assert_int_equal(c.n.passage_count, 1);
	cut_release(&c);
	cut_bytes(&c, "a\0b\n", 4, NULL);
	assert_int_equal(c.n.len, 4);
	assert_memory_equal(c.n.text, "a b\n", 5);
	assert_int_equal(c.n.warnings, NOTE_NUL);
	cut_release(&c);
	cut_bytes(&c, "- 前\0后\0\0\n", 12, NULL);
	assert_string_equal(words_of(&c, 0), "前 后");
	cut_release(&c);
}

static void test_note__line_ends(void **state)
{
	struct cut c;

	(void)state;
	cut_text(&c, "# A\r\n\r\nKeep 保留.\r\nmixed\n\r\nlast");
	assert_string_equal(c.n.text, "# A\n\nKeep 保留.\nmixed\n\nlast");
	assert_int_equal(c.n.line_count, 6);
	assert_int_equal(c.n.passages[0].line_first, 3);
	assert_int_equal(c.n.passages[0].line_last, 4);
	assert_int_equal(c.n.passages[1].line_first, 6);
	assert_int_equal(c.n.warnings, NOTE_CRLF);
	cut_release(&c);
	cut_text(&c, "# A\r\rold\r"); /* no LF at all */
	assert_string_equal(c.n.text, "# A\n\nold\n");
	cut_release(&c);
	cut_text(&c, "10%\r20%\ndone\n"); /* a stray one is no line */
	assert_int_equal(c.n.line_count, 2);
	cut_release(&c);
	/* A line feed at the end opens no line. */
	cut_text(&c, "a\n");
	assert_int_equal(c.n.line_count, 1);
	assert_int_equal(c.n.chunks[0].line_first, 1);
	assert_int_equal(c.n.chunks[0].line_last, 1);
	cut_release(&c);
}

static void test_note__crlf_changes_no_hash(void **state)
{
	struct cut a, b;

	(void)state;
	cut_text(&a, "- 一\n  two\n- three\n");
	cut_text(&b, "- 一\r\n  two\r\n- three\r\n");
	for (int i = 0; i < 2; i++)
		assert_memory_equal(a.n.passages[i].hash, b.n.passages[i].hash,
				    SHA256_BYTES);
	assert_memory_equal(a.n.chunks[0].hash, b.n.chunks[0].hash,
			    SHA256_BYTES);
	cut_release(&a);
	cut_release(&b);
}

static void test_note__nothing_in_it(void **state)
{
	static const char *const empty[] = {
		"",
		"\xef\xbb\xbf",
		"\xff\xfe",
		" \n\t\n\n",
		"　\n",
		"---\ntitle: 空\n---\n",
		"---\n---\n",
		"```\n```\n",
		"# \n",
		"-\n-\n",
		"---\n",
		"# 2026-03-01\n\n## 上午\n",
		"<!-- 注释 -->\n",
		"\r\n",
	};
	struct cut c;

	(void)state;
	for (size_t i = 0; i < sizeof(empty) / sizeof(*empty); i++) {
		cut_text(&c, empty[i]);
		assert_int_equal(c.n.passage_count, 0);
		assert_int_equal(c.n.chunk_count, 0);
		cut_release(&c);
	}
	cut_bytes(&c, "\0\0\n\0", 4, NULL);
	assert_int_equal(c.n.passage_count, 0);
	cut_release(&c);
}

static void test_note__lines_are_those_of_the_file(void **state)
{
	char text[4096] = "# 宠物\n";
	struct cut c;

	(void)state;
	for (int i = 2; i < 50; i++)
		strcat(text, i % 7 ? "- 一行 filler\n" : "\n");
	strcat(text, "- Dog: Bella\n");
	cut_text(&c, text);
	assert_string_equal(words_of(&c, c.n.passage_count - 1), "Dog: Bella");
	assert_int_equal(c.n.passages[c.n.passage_count - 1].line_first, 50);
	cut_release(&c);
}

static void test_note__the_end_of_a_long_note_is_there(void **state)
{
	struct cut c;
	size_t len;
	char *s = repeat("A sentence that fills. 又一句话。", 1200, &len);
	char *t = malloc(len + 32);

	(void)state;
	snprintf(t, len + 32, "%s\n\nwombat 袋熊\n", s);
	cut_text(&c, t);
	assert_string_equal(words_of(&c, c.n.passage_count - 1), "wombat 袋熊");
	assert_int_equal(c.n.passages[c.n.passage_count - 1].chunk,
			 c.n.chunk_count - 1);
	cut_release(&c);
	free(s);
	free(t);
}

static void test_note__a_line_of_many_megabytes(void **state)
{
	struct cut c;
	size_t len;
	char *s = repeat("{\"键\":\"value\",\"n\":[1,2,3]},", 300000, &len);

	(void)state;
	cut_bytes(&c, s, len, NULL);
	assert_true(c.n.warnings & NOTE_LONG_LINE);
	assert_true(c.a.used < 8 * len);
	cut_release(&c);
	free(s);
}

/* Text that makes a reader look ahead again and again; were that quadratic,
 * this would take hours. */
static void test_note__looking_ahead_stays_linear(void **state)
{
	static const char *const again[] = {
		"```\nx\n\n~~~~\n",
		"<!-- x\n\n",
		"[[[[[",
		"**a: ",
		"a|b\n",
		"- \n\n",
		"> ",
		"1. ",
		"- a <!-- b\n",
		"<!-->",
		"a\n- ",
		"-->",
		"[a](",
		"# [[x\n",
		"<!--->\n\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(again) / sizeof(*again); i++) {
		size_t len, times = 1000000 / strlen(again[i]);
		char *s = repeat(again[i], times, &len);
		struct cut c;

		cut_bytes(&c, s, len, NULL);
		assert_true(c.a.used < 40 * len);
		cut_release(&c);
		free(s);
	}
}

static void test_note__random_text_holds_all_promises(void **state)
{
	static const char *const parts[] = {
		"\n",
		"\n\n",
		"- ",
		"  - ",
		"# ",
		"## ",
		"```\n",
		"~~~",
		"> ",
		"| ",
		"|-|-|\n",
		"<!-- importance: 3 -->",
		"<!-- ",
		" -->",
		"    ",
		"\t",
		"---\n",
		"===\n",
		"**",
		"Name: ",
		"名字：",
		"word ",
		"A sentence. ",
		"一句话。",
		"，",
		"🌸",
		"👨‍👩‍👧",
		"\xcc\x81",
		"\xff",
		"longwordwithoutspaces",
		"很长的没有标点的一段文字",
		"1. ",
		"[ ] ",
		"2026-03-01",
		"上午",
		"\r\n",
		"　",
		"\xc2\xa0",
	};
	static const struct note_opts opts[] = {
		{ 400, 80, 100, false },
		{ 40, 39, 20, false },
		{ 32, 5, 4, true },
	};
	uint64_t seed = 42;
	char text[2048];

	(void)state;
	for (int round = 0; round < 3000; round++) {
		size_t len = 0, want = 20 + round % 1900;
		struct cut c;

		while (len < want) {
			const char *s;

			seed = seed * 6364136223846793005u +
			       1442695040888963407u;
			s = parts[(seed >> 33) %
				  (sizeof(parts) / sizeof(*parts))];
			memcpy(text + len, s, strlen(s));
			len += strlen(s);
		}
		cut_bytes(&c, text, len, &opts[round % 3]);
		cut_release(&c);
	}
}

static void test_note__every_failed_allocation_is_reported(void **state)
{
	static const char text[] =
		"---\ntags: [a, 乙]\ntitle: x\n---\n# **标题**\n\n"
		"- one <!-- trigger: a; b -->\n\n| a | b |\n|---|---|\n| c | d "
		"|\n";
	struct note_opts opts = NOTE_OPTS_DEFAULT;
	struct remem_err err;
	int rc = REMEM_ENOMEM;

	(void)state;
	for (long k = 1; rc; k++) {
		struct arena a = ARENA_INIT;
		struct note n;

		alloc_fail_at(k);
		rc = note_parse(&n, &a, text, sizeof(text) - 1, &opts, &err);
		alloc_fail_at(0);
		if (rc)
			assert_int_equal(rc, REMEM_ENOMEM);
		arena_release(&a);
		assert_true(k < 1000);
	}
	/* The arena's own limit stands for each allocation there. */
	for (size_t limit = 64; limit < 20000; limit += 64) {
		struct arena a;
		struct note n;

		arena_init(&a, limit);
		rc = note_parse(&n, &a, text, sizeof(text) - 1, &opts, &err);
		assert_true(rc == 0 || rc == REMEM_ENOMEM);
		arena_release(&a);
	}
	assert_int_equal(rc, 0);
}

static void check_path(const char *path, int y, int m, int d)
{
	int32_t want = y ? date_from_ymd(y, m, d) : DATE_NONE;

	assert_int_equal(note_path_date(path), want);
}

static void test_note__date_of_a_path(void **state)
{
	(void)state;
	check_path("memory/2026-03-01.md", 2026, 3, 1);
	check_path("memory/2026-03-01-会议.md", 2026, 3, 1);
	check_path("/a/2025-01-02/notes.md", 2025, 1, 2);
	check_path("2025-01-02/2026-03-01 x.md", 2026, 3, 1);
	check_path("memory/2026/03/01.md", 2026, 3, 1);
	check_path("memory/2026/03/01/笔记.md", 2026, 3, 1);
	check_path("memory/2026-02-30.md", 0, 0, 0);
	check_path("memory/2026-03-011.md", 0, 0, 0);
	check_path("notes/2026-03-01/2026-02-30.md", 2026, 3, 1);
	check_path("memory/projects/ferry.md", 0, 0, 0);
	check_path("2026/13/01.md", 0, 0, 0);
	check_path("x2026-03-01.md", 0, 0, 0);
	check_path("", 0, 0, 0);
	check_path("///", 0, 0, 0);
}

/* ---- golden files ------------------------------------------------------ */

static void put_words(FILE *f, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (s[i] == '\n')
			fputs("\\n", f);
		else
			fputc(s[i], f);
	}
	fputc('\n', f);
}

static void put_lines(FILE *f, int first, int last)
{
	if (last > first)
		fprintf(f, " L%d-L%d", first, last);
	else
		fprintf(f, " L%d", first);
}

static void list_note(FILE *f, struct cut *c)
{
	static const char *const kinds[] = {
		"paragraph", "item", "row", "code", "heading", "message"
	};
	const struct note *n = &c->n;

	if (n->title)
		fprintf(f, "title %s\n", n->title);
	for (int i = 0; i < n->tag_count; i++)
		fprintf(f, "tag %s\n", n->tags[i]);
	for (int i = 0; i < n->heading_count; i++)
		fprintf(f, "heading L%d%s %s\n", n->headings[i].line,
			n->headings[i].empty_word ? " empty" : "",
			note_heading_path(&c->a, n, i));
	for (int i = 0; i < n->chunk_count; i++) {
		const struct chunk *k = &n->chunks[i];

		fprintf(f, "chunk");
		put_lines(f, k->line_first, k->line_last);
		fprintf(f, " lead %zu\n", k->start - k->lead);
		for (int j = 0; j < k->passage_count; j++) {
			const struct passage *g =
				&n->passages[k->passage_first + j];

			fprintf(f, "  %s%s", kinds[g->kind],
				g->continues ? "+" : "");
			put_lines(f, g->line_first, g->line_last);
			fprintf(f, "%s: ", g->ann ? " annotated" : "");
			put_words(f, n->text + g->start, g->end - g->start);
		}
	}
}

/* Contents of a file, freed with free(); NULL if there is none. */
static char *slurp(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	char *s = calloc(1, 1 << 20);

	*len = f ? fread(s, 1, (1 << 20) - 1, f) : 0;
	if (!f) {
		free(s);
		return NULL;
	}
	fclose(f);
	return s;
}

/*
 * test/golden/note/NAME.md must be cut as NAME.txt lists. NAME "curated-..."
 * is cut as a curated file. REMEM_GOLDEN=write writes the lists anew.
 */
static void check_golden(const char *path)
{
	struct note_opts opts = NOTE_OPTS_DEFAULT;
	char out[4096], *text, *want, *got = NULL;
	size_t len, size;
	struct cut c;
	FILE *f;

	opts.curated = strstr(path, "/curated-") != NULL;
	text = slurp(path, &len);
	assert_non_null(text);
	cut_bytes(&c, text, len, &opts);
	f = open_memstream(&got, &size);
	list_note(f, &c);
	fclose(f);
	snprintf(out, sizeof(out), "%.*s.txt", (int)strlen(path) - 3, path);
	if (getenv("REMEM_GOLDEN")) {
		f = fopen(out, "wb");
		assert_non_null(f);
		fwrite(got, 1, size, f);
		fclose(f);
	}
	want = slurp(out, &len);
	if (!want || strcmp(want, got))
		fail_msg("%s is cut otherwise:\n%s", path, got);
	cut_release(&c);
	free(want);
	free(text);
	free(got);
}

static void test_note__golden_files(void **state)
{
	glob_t g;

	(void)state;
	assert_int_equal(glob("test/golden/note/*.md", 0, NULL, &g), 0);
	assert_true(g.gl_pathc > 5);
	for (size_t i = 0; i < g.gl_pathc; i++)
		check_golden(g.gl_pathv[i]);
	globfree(&g);
}
