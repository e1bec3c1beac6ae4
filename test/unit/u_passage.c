/* Passages: where they begin and end. */
#include "note_help.h"

static void check_words(const char *text, const char *const *want, int count)
{
	struct cut c;

	cut_text(&c, text);
	for (int i = 0; i < count && i < c.n.passage_count; i++)
		assert_string_equal(words_of(&c, i), want[i]);
	assert_int_equal(c.n.passage_count, count);
	cut_release(&c);
}

#define CHECK(text, ...)                                               \
	do {                                                           \
		static const char *const want[] = { __VA_ARGS__ };     \
		check_words(text, want, sizeof(want) / sizeof(*want)); \
	} while (0)

static void test_passage__items_are_passages(void **state)
{
	(void)state;
	CHECK("# 2026-01-26\n\n## 上午\n\n- 赵明请了半天假。\n* second\n+ "
	      "third\n"
	      "1. fourth\n2) fifth\n- [ ] open\n- [x] 完成\n3、第三条\n• dot\n",
	      "赵明请了半天假。", "second", "third", "fourth", "fifth", "open",
	      "完成", "第三条", "dot");
}

static void test_passage__continuation_lines_stay_with_the_item(void **state)
{
	(void)state;
	CHECK("- 删除目录\n  `git rm -r {{路径}}`\n\n- next\nlazy line\n\n  "
	      "second"
	      " paragraph\n\nnot of the item\n",
	      "删除目录\n  `git rm -r {{路径}}`",
	      "next\nlazy line\n\n  second paragraph", "not of the item");
}

static void test_passage__nested_items_are_their_own(void **state)
{
	(void)state;
	CHECK("- 部署步骤\n  - 先备份\n    - deep\n\t- tab\n- last\n",
	      "部署步骤", "先备份", "deep", "tab", "last");
}

static void test_passage__empty_items_are_none(void **state)
{
	(void)state;
	CHECK("-\n- [ ]\n- a\n-\n", "a");
	CHECK("1984. It was\n\nThe year was\n1984. It was cold\n- 但是\n",
	      "It was", "The year was\n1984. It was cold", "但是");
}

static void test_passage__numbers_are_no_markers(void **state)
{
	(void)state;
	CHECK("1.5 GB of logs\n", "1.5 GB of logs");
	CHECK("-5 degrees\n", "-5 degrees");
	CHECK("**重点**：不是列表\n", "**重点**：不是列表");
}

static void test_passage__paragraphs_end_at_blank_lines(void **state)
{
	(void)state;
	CHECK("　　今天天气好。\n　　我们去公园。\n\nSecond\none.\n",
	      "今天天气好。\n　　我们去公园。", "Second\none.");
}

static void test_passage__rows_of_tables(void **state)
{
	struct cut c;

	(void)state;
	CHECK("text\n| 仓库 | 端口 |\n|---|:--:|\n| A | 8080 |\n|  |  |\n| B | "
	      "9090 |\n"
	      "\nafter\n",
	      "text", "仓库 | 端口", "A | 8080", "B | 9090", "after");
	CHECK("a | b\n--|--\nc | d\n", "a | b", "c | d");
	CHECK("a | b\nno table\n", "a | b\nno table");
	cut_text(&c, "|a|b|\n|-|-|\n|c|d|\n");
	assert_int_equal(c.n.passages[1].kind, PASSAGE_ROW);
	assert_int_equal(c.n.passages[1].line_first, 3);
	cut_release(&c);
}

static void test_passage__code_blocks(void **state)
{
	struct cut c;

	(void)state;
	CHECK("```sh\n  make all\n\n# 不是标题\n```\ntext\n~~~\n```\n~~~\n",
	      "  make all\n\n# 不是标题", "text", "```");
	CHECK("para\n\n    indented\n      more\n\n    still\nafter\n", "para",
	      "    indented\n      more\n\n    still", "after");
	CHECK("- item\n  ```\n  - 不是列表\n  ```\n- next\n",
	      "item\n  ```\n  - 不是列表\n  ```", "next");
	cut_text(&c, "a\n\n```\ncode 代码\n```\n");
	assert_int_equal(c.n.passages[1].kind, PASSAGE_CODE);
	assert_int_equal(c.n.passages[1].line_first, 4);
	assert_int_equal(c.n.passages[1].line_last, 4);
	cut_release(&c);
}

static void test_passage__a_fence_without_end_swallows_nothing(void **state)
{
	struct cut c;

	(void)state;
	cut_text(&c, "```\nhalf\n\n# 标题\n\n- item\n\n~~~~\n~~~\nx\n~~~\n");
	assert_int_equal(c.n.heading_count, 1);
	assert_string_equal(words_of(&c, 0), "```\nhalf");
	assert_string_equal(words_of(&c, 1), "item");
	cut_release(&c);
}

static void test_passage__long_code_is_cut_at_blank_lines(void **state)
{
	char text[4096] = "```\n";
	struct cut c;

	(void)state;
	for (int i = 0; i < 20; i++) {
		char line[64];

		snprintf(line, sizeof(line), "step_%02d();\n第%02d步();\n\n", i,
			 i);
		strcat(text, line);
	}
	strcat(text, "```\n");
	cut_text(&c, text);
	assert_true(c.n.passage_count > 1);
	for (int i = 0; i < c.n.passage_count; i++) {
		assert_memory_equal(words_of(&c, i), "step_", 5);
		assert_int_equal(c.n.passages[i].continues, i > 0);
	}
	cut_release(&c);
}

static void test_passage__quotes(void **state)
{
	(void)state;
	CHECK("> 从仓库删除文件。\n> more\n>\n> - item one\n> - item "
	      "two\n\ntext\n",
	      "从仓库删除文件。\n> more", "item one", "item two", "text");
}

static void test_passage__rules_and_comments_have_no_words(void **state)
{
	(void)state;
	CHECK("<!-- what goes\nhere -->\n\na\n\n***\n\n- - -\n\nb\n\n<!-- 隐藏 "
	      "-->\n",
	      "a", "b");
	CHECK("<!-- no end\n\n文字\n", "<!-- no end", "文字");
	CHECK("<!-- x --> text behind\n", "<!-- x --> text behind");
}

static void test_passage__a_heading_with_nothing_below(void **state)
{
	struct cut c;

	(void)state;
	cut_text(&c, "# A\n\n## Deploy failed again\n\n## 2026-03-01\n\n## "
		     "其他 ##\n");
	assert_int_equal(c.n.passage_count, 2);
	assert_string_equal(words_of(&c, 0), "Deploy failed again");
	assert_string_equal(words_of(&c, 1), "其他");
	assert_int_equal(c.n.passages[0].kind, PASSAGE_HEADING);
	assert_int_equal(c.n.passages[0].heading, 0);
	assert_int_equal(c.n.passages[1].line_first, 7);
	cut_release(&c);
}

static void test_passage__long_text_is_cut_at_sentences(void **state)
{
	struct cut c;
	size_t len;
	char *zh = repeat("他说：“今天仓库的扫描枪又坏了，已经换了新的电池。”",
			  12, &len);
	char *en = repeat("The build of Dr. J. Smith failed, e.g. at night. ",
			  20, &len);

	(void)state;
	cut_text(&c, zh);
	assert_true(c.n.passage_count > 2);
	for (int i = 0; i < c.n.passage_count; i++) {
		const char *w = words_of(&c, i);

		assert_memory_equal(w, "他说", 6);
		assert_string_equal(w + strlen(w) - 6, "。”");
	}
	cut_release(&c);
	cut_text(&c, en);
	assert_true(c.n.passage_count > 1);
	for (int i = 0; i < c.n.passage_count; i++) {
		const char *w = words_of(&c, i);

		assert_memory_equal(w, "The build", 9);
		assert_string_equal(w + strlen(w) - 6, "night.");
		assert_int_equal(c.n.passages[i].continues, i > 0);
	}
	cut_release(&c);
	free(zh);
	free(en);
}

static void test_passage__no_crumb_is_left(void **state)
{
	struct cut c;
	size_t len;
	/* A little more than one passage: two halves, not 96 % and a rest. */
	char *zh = repeat("陈洁负责报表导出。", 12, &len);

	(void)state;
	cut_text(&c, zh);
	assert_int_equal(c.n.passage_count, 2);
	assert_true(strlen(words_of(&c, 1)) > len / 3);
	cut_release(&c);
	free(zh);
}

static void test_passage__clusters_stay_whole(void **state)
{
	/* Family of three, flag, thumb with colour, e with accent. */
	static const char *const clusters[] = {
		"👨‍👩‍👧",
		"🇨🇳",
		"👍🏽",
		"é",
	};
	struct cut c;

	(void)state;
	for (int k = 0; k < 4; k++) {
		size_t len, n = strlen(clusters[k]);
		char *s = repeat(clusters[k], 900, &len);

		cut_text(&c, s);
		assert_true(c.n.passage_count > 1);
		for (int i = 0; i < c.n.passage_count; i++)
			assert_int_equal(strlen(words_of(&c, i)) % n, 0);
		cut_release(&c);
		free(s);
	}
}

static void test_passage__dialogue_is_cut_at_speakers(void **state)
{
	struct cut c;

	(void)state;
	CHECK("**User:** 你好\n**Assistant:** 你好！\nmore of it\n**User**: "
	      "bye\n",
	      "**User:** 你好", "**Assistant:** 你好！\nmore of it",
	      "**User**: bye");
	CHECK("[12:03] 王峰: 早\n12:04 林薇：早啊\n", "[12:03] 王峰: 早",
	      "12:04 林薇：早啊");
	CHECK("At 10:30 we met.\nsee http://a.b\n",
	      "At 10:30 we met.\nsee http://a.b");
	cut_text(&c, "- Tim: Hey\n- John: Hi\n- Tim: 好吗\n- John: ok\n");
	for (int i = 0; i < 4; i++)
		assert_int_equal(c.n.passages[i].kind, PASSAGE_MESSAGE);
	cut_release(&c);
	cut_text(&c, "王峰：今天好吗？\n\n助手：很好。\n\n王峰：那就好。\n");
	for (int i = 0; i < 3; i++)
		assert_int_equal(c.n.passages[i].kind, PASSAGE_MESSAGE);
	cut_release(&c);
	/* Keys with values are no speakers. */
	cut_text(&c, "- Host: a\n- Port: 80\n- User: root\n- 密码: 无\n");
	for (int i = 0; i < 4; i++)
		assert_int_equal(c.n.passages[i].kind, PASSAGE_ITEM);
	cut_release(&c);
}

static void test_passage__annotations_are_taken_off(void **state)
{
	const struct annotations *ann;
	struct cut c;

	(void)state;
	cut_text(&c,
		 "- 偏好 tabs <!-- importance: 8; trigger: 缩进, indent; style;"
		 " project: remem; observed: 2026-03-01; status: superseded;"
		 " origin: agent -->\n"
		 "  - nested\n"
		 "- plain <!-- just a remark -->\n"
		 "- two <!-- project: x | status: done --> <!-- Importance： 11 -->\n"
		 "- next line\n  <!-- origin: owner -->\n"
		 "<!-- importance: 3 -->\n");
	ann = c.n.passages[0].ann;
	assert_string_equal(words_of(&c, 0), "偏好 tabs");
	assert_non_null(ann);
	assert_int_equal(ann->importance, 8);
	assert_string_equal(ann->triggers, "缩进, indent, style");
	assert_string_equal(ann->project, "remem");
	assert_string_equal(ann->status, "superseded");
	/* A text cannot say whom it comes from. */
	assert_null(ann->origin);
	assert_int_equal(ann->observed, 20513);
	assert_ptr_equal(c.n.passages[1].ann, ann);
	assert_string_equal(words_of(&c, 2), "plain <!-- just a remark -->");
	assert_null(c.n.passages[2].ann);
	assert_string_equal(words_of(&c, 3), "two");
	assert_string_equal(c.n.passages[3].ann->project, "x");
	assert_string_equal(c.n.passages[3].ann->status, "done");
	assert_int_equal(c.n.passages[3].ann->importance, 0);
	assert_string_equal(words_of(&c, 4), "next line");
	assert_null(c.n.passages[4].ann->origin);
	assert_int_equal(c.n.passages[4].ann->importance, 3);
	assert_int_equal(c.n.passage_count, 5);
	cut_release(&c);
}

static void test_passage__hash_is_of_the_words_alone(void **state)
{
	struct cut a, b;

	(void)state;
	cut_text(&a, "- 一样\n\n1. same\n");
	cut_text(&b, "# Title\n\nnew line\n\n2. 一样 <!-- importance: 2 -->\n"
		     "- [x] same\n");
	assert_memory_equal(a.n.passages[0].hash, b.n.passages[1].hash,
			    SHA256_BYTES);
	assert_memory_equal(a.n.passages[1].hash, b.n.passages[2].hash,
			    SHA256_BYTES);
	cut_release(&a);
	cut_release(&b);
}

static void test_passage__script_of_the_larger_part(void **state)
{
	struct cut c;

	(void)state;
	cut_text(&c,
		 "- Ferry 是货运跟踪接口\n- Привет, мир\n- 1234\n- plain\n");
	assert_int_equal(c.n.passages[0].script, SCRIPT_HAN);
	assert_int_equal(c.n.passages[1].script, SCRIPT_CYRILLIC);
	assert_int_equal(c.n.passages[2].script, SCRIPT_LATIN);
	assert_int_equal(c.n.passages[3].script, SCRIPT_LATIN);
	cut_release(&c);
}
