/* A question, understood. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "text/query.h"
#include "text/term.h"

#define TODAY date_from_ymd(2026, 11, 30) /* a Monday */

static struct arena arena;

static int setup(void **state)
{
	(void)state;
	arena_init(&arena, 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

static struct query *parse_n(const char *text, size_t len)
{
	struct query *q = ARENA_NEW(&arena, struct query);

	assert_int_equal(query_parse(q, &arena, text, len, TODAY, NULL), 0);
	return q;
}

static struct query *parse(const char *text)
{
	return parse_n(text, strlen(text));
}

/* Terms as "word", stop words as "~word", with prefix as "word*". */
static const char *terms(const char *text)
{
	struct query *q = parse(text);
	char *out = arena_alloc(&arena, 1 << 16);
	size_t n = 0;

	for (int i = 0; i < q->term_count; i++)
		n += (size_t)sprintf(out + n, "%s%s%s%s", i ? " " : "",
				     q->terms[i].stop ? "~" : "",
				     q->terms[i].text,
				     q->terms[i].prefix ? "*" : "");
	return out;
}

static const struct query_term *term(const struct query *q, const char *text)
{
	for (int i = 0; i < q->term_count; i++)
		if (!strcmp(q->terms[i].text, text))
			return &q->terms[i];
	fail_msg("no term '%s'", text);
	return NULL;
}

static int group(const struct query *q, const char *text)
{
	return term(q, text)->group;
}

static bool has(const char *text, const char *word)
{
	struct query *q = parse(text);

	for (int i = 0; i < q->term_count; i++)
		if (!strcmp(q->terms[i].text, word))
			return !q->terms[i].stop;
	return false;
}

static const struct query_phrase *phrase(const struct query *q,
					 const char *text)
{
	for (int i = 0; i < q->phrase_count; i++)
		if (!strcmp(q->phrases[i].text, text))
			return &q->phrases[i];
	return NULL;
}

static void test_query__blank_is_no_error(void **state)
{
	static const char *const blank[] = {
		"",	  " ", "\t\n", "\u3000",   " \u3000\u00a0 ",
		"。？！", "%", "\"\"", "- : . / @"
	};

	setup(state);
	for (size_t i = 0; i < sizeof(blank) / sizeof(*blank); i++) {
		assert_int_equal(parse(blank[i])->term_count, 0);
		assert_int_equal(parse(blank[i])->all_stop, false);
		assert_int_equal(parse(blank[i])->date_from, DATE_NONE);
	}
	assert_string_equal(parse(" \u3000数据 ")->text, "数据");
	teardown(state);
}

static void test_query__word_and_stem_are_one_group(void **state)
{
	struct query *q;

	setup(state);
	q = parse("caching layers");
	assert_int_equal(group(q, "caching"), group(q, "cach"));
	assert_int_equal(q->group_count, 2);
	/* said twice in two forms: once */
	assert_int_equal(parse("cache caching CACHES cache")->group_count, 1);
	teardown(state);
}

static void test_query__identifier_whole_and_parts(void **state)
{
	struct query *q;

	setup(state);
	q = parse("who changed carrier_adapter.go:218");
	assert_int_equal(q->group_count, 4);
	assert_int_equal(term(q, "carrier_adapter.go:218")->flags, TERM_ID);
	assert_int_equal(group(q, "carrier"), group(q, "adapter"));
	assert_int_equal(group(q, "carrier"), group(q, "carrier_adapter.go"));
	assert_int_not_equal(group(q, "carrier"),
			     group(q, "carrier_adapter.go:218"));
	assert_true(phrase(q, "carrier_adapter.go:218")->identifier);
	assert_true(phrase(parse("DEC-0054"), "DEC-0054")->identifier);
	assert_true(phrase(parse("接口ERR_PAY_4021报错"), "ERR_PAY_4021")
			    ->identifier);
	assert_true(phrase(parse("\"DEC-0054\""), "DEC-0054")->identifier);
	teardown(state);
}

static void test_query__names_that_are_no_identifiers(void **state)
{
	static const char *const plain[] = {
		"well-known", "GitHub",	 "9am",		"and/or", "e.g.",
		"iPhone 15",  "phase-2", "2026-03-01",	"10:30",  "3/4",
		"don't",      "O'Brien", "用GitHub备份"
	};
	static const char *const names[] = {
		"getUserName",	    "README.md",   "v1.2.3",
		"38.101",	    "C++",	   "#1393",
		"OPS-3778",	    "a_b",	   "--from-offset",
		"src/text/term",    "std::string", "x@ex.org",
		"9f86d081884c7d65", "/usr/bin",	   "utf8mb4"
	};

	setup(state);
	for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++) {
		struct query *q = parse(plain[i]);

		for (int k = 0; k < q->phrase_count; k++)
			assert_false(q->phrases[k].identifier);
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct query *q = parse(names[i]);

		assert_int_equal(q->phrase_count, 1);
		assert_true(q->phrases[0].identifier);
	}
	assert_string_equal(terms("phase-2"), "phase 2 phas");
	assert_string_equal(terms("GitHub"), "github");
	teardown(state);
}

static void test_query__chinese_stop_words_before_pairs(void **state)
{
	setup(state);
	assert_string_equal(terms("记忆检索怎么配置"),
			    "记忆 忆检 检索 ~索怎 ~怎么 ~么配 配置");
	assert_string_equal(terms("我们的方案是什么"),
			    "~我们 ~们的 ~的方 方案 ~案是 ~是什 ~什么");
	assert_string_equal(terms("我的猫在哪里"),
			    "~我的 ~的猫 ~猫在 ~在哪 ~哪里 猫*");
	assert_string_equal(terms("我們的資料庫"),
			    "~我们 ~们的 ~的资 资料 料库");
	/* 我喜 stands where 我喜欢 stands; 我 alone says nothing */
	assert_string_equal(terms("我喜欢"), "我喜 喜欢");
	assert_string_equal(terms("我 猫"), "~我* 猫*");
	/* content words with function characters stay */
	assert_true(has("目的是什么", "目的"));
	assert_true(has("怎么了解首都", "了解"));
	assert_true(has("怎么了解首都", "首都"));
	teardown(state);
}

static void test_query__a_lone_character_is_a_prefix(void **state)
{
	setup(state);
	assert_string_equal(terms("猫"), "猫*");
	assert_string_equal(terms("猫 dog"), "猫* dog");
	assert_string_equal(terms("数据库"), "数据 据库");
	assert_string_equal(terms("집"), "집*");
	assert_string_equal(terms("👍"), "👍");
	teardown(state);
}

static void test_query__stop_words_by_language(void **state)
{
	setup(state);
	assert_string_equal(terms("what is the CI DB id for 2026"),
			    "~what ~is ~the ci db id ~for 2026");
	assert_true(has("the para problem", "para"));
	assert_false(has("¿qué es esto para el equipo?", "para"));
	assert_true(has("¿qué es esto para el equipo?", "equipo"));
	assert_false(has("wo ist der Schlüssel für das Auto", "fur"));
	assert_true(has("wo ist der Schlüssel für das Auto", "auto"));
	assert_false(has("какой пароль у нас", "какои"));
	assert_true(has("какой пароль у нас", "пароль"));
	assert_false(has("배포는 언제 했나요", "언제"));
	assert_true(has("배포는 언제 했나요", "배포"));
	assert_false(has("会議はどこですか", "です"));
	assert_true(has("会議はどこですか", "会议"));
	assert_true(has("りんごはどこ", "りん"));
	teardown(state);
}

static void test_query__a_command_line_has_no_stop_words(void **state)
{
	setup(state);
	assert_string_equal(terms("just --list"), "just list");
	assert_string_equal(terms("as -o"), "as o");
	assert_string_equal(terms("who -a 是什么"), "who a ~是什 ~什么");
	/* a minus or a joined word is no option */
	assert_string_equal(terms("the stand-up - is it"),
			    "~the stand up ~is ~it");
	teardown(state);
}

static void test_query__nothing_but_stop_words(void **state)
{
	setup(state);
	assert_true(parse("the who")->all_stop);
	assert_true(parse("我们是谁")->all_stop);
	assert_false(parse("the cache")->all_stop);
	assert_false(parse("\"to be or not to be\"")->all_stop);
	teardown(state);
}

static void test_query__mixed_scripts_lose_nothing(void **state)
{
	setup(state);
	assert_string_equal(terms("用Redis缓存"), "用* redis 缓存");
	assert_string_equal(terms("端口8080"), "端口 8080");
	assert_string_equal(terms("GitHub备份脚本"), "github 备份 份脚 脚本");
	teardown(state);
}

static void test_query__quoted_phrases(void **state)
{
	struct query *q;

	setup(state);
	q = parse("who said \"the cold cache\" and “数据库 连接” or 'x y'?");
	assert_true(phrase(q, "the cold cache")->quoted);
	assert_int_equal(phrase(q, "the cold cache")->count, 3);
	assert_string_equal(q->terms[phrase(q, "the cold cache")->first].text,
			    "the");
	assert_false(term(q, "the")->stop);
	assert_true(phrase(q, "数据库 连接")->quoted);
	assert_int_equal(phrase(q, "数据库 连接")->count, 3);
	assert_true(phrase(q, "x y")->quoted);
	q = parse("「成语接龙」是什么");
	assert_true(phrase(q, "成语接龙")->quoted);
	assert_string_equal(
		phrase(parse("\"Ｃafé 資料庫\""), "Ｃafé 資料庫")->folded,
		"cafe 资料库");
	/* apostrophes and marks that stand alone quote nothing */
	q = parse("don't touch John's 5\" disk");
	for (int i = 0; i < q->phrase_count; i++)
		assert_false(q->phrases[i].quoted);
	teardown(state);
}

static void test_query__runs_are_phrases(void **state)
{
	struct query *q;

	setup(state);
	q = parse("我们的数据库连接在哪里");
	assert_non_null(phrase(q, "数据库连接"));
	assert_int_equal(phrase(q, "数据库连接")->count, 4);
	assert_string_equal(q->terms[phrase(q, "数据库连接")->first].text,
			    "数据");
	assert_false(phrase(q, "数据库连接")->quoted);
	/* a pair that came before breaks the order; the text is whole */
	q = parse("数据 库存数据表");
	assert_string_equal(phrase(q, "库存数据表")->folded, "库存数据表");
	assert_int_equal(phrase(q, "库存数据表")->count, 2);
	teardown(state);
}

static void dates(const char *text, const char *from, const char *to)
{
	struct query *q = parse(text);
	char a[16], b[16];

	date_format(a, q->date_from);
	date_format(b, q->date_to);
	if (strcmp(a, from) || strcmp(b, to))
		fail_msg("'%s' gave %s..%s", text, a, b);
}

static void day(const char *text, const char *d)
{
	dates(text, d, d);
}

static void test_query__time_in_english(void **state)
{
	setup(state);
	day("what did we do yesterday", "2026-11-29");
	day("the day before yesterday", "2026-11-28");
	day("3 days ago", "2026-11-27");
	dates("deploys last week", "2026-11-23", "2026-11-29");
	dates("this week", "2026-11-30", "2026-12-06");
	dates("last month", "2026-10-01", "2026-10-31");
	dates("last year", "2025-01-01", "2025-12-31");
	dates("in the past 3 weeks", "2026-11-09", "2026-11-30");
	dates("two weeks ago", "2026-11-13", "2026-11-19");
	dates("a month ago", "2026-10-01", "2026-10-31");
	dates("in March", "2026-03-01", "2026-03-31");
	dates("last December", "2025-12-01", "2025-12-31");
	day("last Friday", "2026-11-27");
	day("on Monday", "2026-11-30");
	day("March 5", "2026-03-05");
	day("March 5th, 2025", "2025-03-05");
	day("5 March 2025", "2025-03-05");
	dates("March 2025", "2025-03-01", "2025-03-31");
	dates("since 2025", "2025-01-01", "2025-12-31");
	dates("what changed recently", "2026-11-16", "2026-11-30");
	day("2026-03-01", "2026-03-01");
	day("2026/3/1 notes", "2026-03-01");
	dates("2026-03", "2026-03-01", "2026-03-31");
	dates("between March 5 and March 9", "2026-03-05", "2026-03-09");
	teardown(state);
}

static void test_query__time_in_chinese(void **state)
{
	setup(state);
	day("昨天讨论了什么", "2026-11-29");
	day("前天", "2026-11-28");
	day("三天前的会议", "2026-11-27");
	dates("上周的部署", "2026-11-23", "2026-11-29");
	dates("上週的部署", "2026-11-23", "2026-11-29");
	dates("上個月", "2026-10-01", "2026-10-31");
	day("上周三", "2026-11-25");
	dates("最近两周", "2026-11-16", "2026-11-30");
	dates("最近", "2026-11-16", "2026-11-30");
	dates("3月的计划", "2026-03-01", "2026-03-31");
	dates("十二月", "2025-12-01", "2025-12-31");
	day("3月5日", "2026-03-05");
	day("王峰：4月27号的公园", "2026-04-27");
	day("2025年3月5号", "2025-03-05");
	dates("2025年", "2025-01-01", "2025-12-31");
	dates("去年3月", "2025-03-01", "2025-03-31");
	dates("2个月前", "2026-09-01", "2026-09-30");
	day("昨日の会議", "2026-11-29");
	dates("先週", "2026-11-23", "2026-11-29");
	day("어제 회의", "2026-11-29");
	teardown(state);
}

static void test_query__what_is_no_time(void **state)
{
	static const char *const none[] = { "march through the list",
					    "you may decide",
					    "the second day",
					    "300 days",
					    "version 2.5",
					    "DEC-0054",
					    "12 monkeys",
					    "ago",
					    "last name",
					    "十个月饼",
					    "week",
					    "99月",
					    "2026-13-01",
					    "1234567 days ago",
					    "\"yesterday\"",
					    "“昨天”" };

	setup(state);
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		dates(none[i], "", "");
	teardown(state);
}

static void test_query__time_words_are_no_terms(void **state)
{
	setup(state);
	assert_string_equal(terms("caching last week"),
			    "caching ~last ~week cach");
	assert_string_equal(terms("上周的部署方案"),
			    "~上周 ~周的 ~的部 部署 署方 方案");
	/* a date in full stays a term */
	assert_string_equal(terms("2026-03-01 stand-up"),
			    "2026-03-01 stand up");
	assert_true(has("March 5 meeting", "march"));
	teardown(state);
}

static void test_query__long_ones_are_bounded(void **state)
{
	char *s = arena_alloc((setup(state), &arena), 300000);
	struct query *q;
	size_t n = 0;

	memcpy(s, "first", 5);
	for (n = 5; n + 3 < 300000; n += 3)
		memcpy(s + n, n % 2 ? "数" : "据", 3);
	memcpy(s + n - 6, " last", 5);
	q = parse_n(s, n);
	assert_true(q->len <= QUERY_MAX_BYTES && q->len > 4000);
	assert_true(utf8_valid(q->text, q->len));
	assert_non_null(term(q, "first"));
	assert_non_null(term(q, "last"));
	n = 0;
	for (int i = 0; i < 2000; i++)
		n += (size_t)sprintf(s + n, "w%dq ", i);
	q = parse_n(s, n);
	assert_int_equal(q->term_count, QUERY_MAX_TERMS);
	teardown(state);
}

static void check_all(const struct query *q)
{
	bool seen[QUERY_MAX_TERMS + 1] = { false };

	assert_true(utf8_valid(q->text, q->len));
	for (int i = 0; i < q->term_count; i++) {
		assert_in_range(q->terms[i].group, 0, q->group_count - 1);
		seen[q->terms[i].group] = true;
		for (int k = 0; k < i; k++)
			assert_string_not_equal(q->terms[i].text,
						q->terms[k].text);
	}
	for (int g = 0; g < q->group_count; g++)
		assert_true(seen[g]);
	for (int i = 0; i < q->phrase_count; i++)
		assert_true(q->phrases[i].first + q->phrases[i].count <=
			    q->term_count);
}

static void test_query__any_bytes(void **state)
{
	static const char text[] = "a\0b \xff\xfe 数\x80据 \"un'closed “ '";

	setup(state);
	check_all(parse_n(text, sizeof(text) - 1));
	check_all(parse("foo-bar AND OR NOT NEAR( * ^ col: \"; DROP"));
	check_all(parse(
		"DEC-0054 \"DEC-0054\" dec 0054 DEC-0054.md 数据库 据库"));
	check_all(parse("ﷺﷺﷺ 👨‍👩‍👧 ก็ e\xcc\x81\xcc\x81 ｶﾞ '' \"\" "
			"“”"));
	teardown(state);
}

static void test_query__without_memory_says_so(void **state)
{
	static const char text[] =
		"\"DEC-0054\" 我们的数据库 last week caching";
	struct query q;
	int rc = REMEM_ENOMEM;

	(void)state;
	for (long n = 1; rc && n < 1000; n++) {
		struct remem_err err = { 0 };

		arena_init(&arena, 0);
		alloc_fail_at(n);
		rc = query_parse(&q, &arena, text, sizeof(text) - 1, TODAY,
				 &err);
		alloc_fail_at(0);
		assert_true(rc == 0 || rc == REMEM_ENOMEM);
		assert_int_equal(rc, err.code);
		arena_release(&arena);
	}
	assert_int_equal(rc, 0);
}
