/* Terms: what is cut from a text, and that texts and questions agree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "text/stem.h"
#include "text/term.h"

struct list {
	char text[16384]; /* "term term ..." */
	size_t len, count;
	uint32_t want; /* flags to show, 0 for all */
};

static int add(void *ctx, const struct term *t)
{
	struct list *l = ctx;

	l->count++;
	if (l->want && !(t->flags & l->want))
		return 0;
	if (l->len + t->len + 2 < sizeof(l->text))
		l->len += (size_t)sprintf(l->text + l->len, "%s%.*s",
					  l->len ? " " : "", (int)t->len,
					  t->text);
	return 0;
}

static const char *cut_flags(const char *s, size_t len, uint32_t want)
{
	static struct list lists[4];
	static int next;
	struct list *l = &lists[next++ % 4];

	memset(l, 0, sizeof(*l));
	l->want = want;
	assert_int_equal(term_cut(s, len, add, l), 0);
	return l->text;
}

static const char *cut(const char *s)
{
	return cut_flags(s, strlen(s), 0);
}

/* True when every term of the question stands in the text. */
static bool finds(const char *text, const char *question)
{
	char terms[16384], have[16384 + 2];

	snprintf(have, sizeof(have), " %s ", cut(text));
	snprintf(terms, sizeof(terms), "%s",
		 cut_flags(question, strlen(question),
			   TERM_WORD | TERM_PAIR | TERM_ID));
	for (char *t = strtok(terms, " "); t; t = strtok(NULL, " ")) {
		char padded[TERM_MAX_BYTES + 3];

		snprintf(padded, sizeof(padded), " %s ", t);
		if (!strstr(have, padded))
			return false;
	}
	return true;
}

static void test_term__words_and_stems(void **state)
{
	(void)state;
	assert_string_equal(cut("The caches RUNNING."),
			    "the caches cach running run");
	assert_string_equal(cut("db CI Go 8080 x"), "db ci go 8080 x");
	assert_string_equal(cut("don't John's rock"), "dont john rock");
	assert_string_equal(cut("l'homme"), "lhomme homme homm");
	assert_string_equal(cut(""), "");
	assert_string_equal(cut(" \t\n.,;- "), "");
}

static void test_term__forms_of_a_word_share_a_stem(void **state)
{
	static const char *const families[][6] = {
		{ "cache", "caches", "cached", "caching" },
		{ "notify", "notified", "notification", "notifies" },
		{ "configure", "configured", "configuration", "configures" },
		{ "operate", "operator", "operation", "operating" },
		{ "control", "controlled", "controls", "controlling" },
		{ "use", "used", "using", "uses" },
		{ "deploy", "deployment", "deployed", "deployments" },
		{ "quick", "quickly" },
		{ "battery", "batteries" },
		{ "habitat", "habitats" },
	};
	char out[STEM_MAX], first[STEM_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++) {
		for (int k = 0; k < 6 && families[i][k]; k++) {
			const char *w = families[i][k];
			size_t n = strlen(w);
			const char *s = stem_english(&n, out, w, n);

			if (!s)
				s = w;
			if (k == 0)
				snprintf(first, sizeof(first), "%.*s", (int)n,
					 s);
			assert_int_equal(n, strlen(first));
			assert_memory_equal(s, first, n);
		}
	}
}

/* What is remembered is what was found out. */
static void test_term__remembered_stems_are_the_same(void **state)
{
	static const char *const ends[] = { "s",  "es", "ies", "ed", "ing",
					    "ly", "er", "ate", "y",  "e",
					    "ss", "us", "is",  "x" };
	char a[STEM_MAX], b[STEM_MAX], word[24] = "";
	size_t n, m;

	(void)state;
	for (int i = 0; i < 26 * 26 * 14 * 2; i++) {
		const char *x, *y;
		int k = i / 2; /* each twice in a row */
		size_t len = (size_t)sprintf(word, "%c%c%s%s", 'a' + k % 26,
					     'a' + k / 26 % 26,
					     i % 7 ? "at" : "", ends[k / 676]);

		if (len < 4)
			continue;
		x = stem_english(&n, a, word, len);
		y = stem_short(&m, b, word, len);
		assert_int_equal(!x, !y);
		if (x) {
			assert_int_equal(n, m);
			assert_memory_equal(x, y, n);
		}
	}
}

static void test_term__chinese_pairs_and_last_single(void **state)
{
	(void)state;
	assert_string_equal(cut("数据库"), "数据 据库 库");
	assert_string_equal(cut("猫"), "猫");
	assert_string_equal(cut("数据，库存"), "数据 据 库存 存");
	assert_string_equal(cut("𠀀𠀁"), "𠀀𠀁 𠀁");
	assert_string_equal(cut("二〇二六"), "二〇 〇二 二六 六");
}

static void test_term__breaks_where_the_script_changes(void **state)
{
	(void)state;
	assert_string_equal(cut("用Redis缓存"), "用 redis 缓存 存");
	assert_string_equal(cut("端口8080"), "端口 口 8080");
	assert_string_equal(cut("API网关限流"), "api 网关 关限 限流 流");
	assert_string_equal(cut("GitHub备份"), "github git hub 备份 份");
	assert_string_equal(cut("foo-бар"), "foo бар");
}

static void test_term__spellings_that_are_one(void **state)
{
	(void)state;
	assert_string_equal(cut("ＡＢＣ１２３"), cut("abc123"));
	assert_string_equal(cut("Café"), cut("cafe"));
	assert_string_equal(cut("cafe\xcc\x81"), cut("café"));
	assert_string_equal(cut("Straße"), cut("STRASSE"));
	assert_string_equal(cut("ø Đà Nẵng İstanbul"),
			    cut("o da nang istanbul"));
	assert_string_equal(cut("資料庫 軟體"), cut("资料库 软体"));
	/* 한글 and 각 as jamo; が and パ with marks, half width */
	assert_string_equal(cut("\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab"
				"\xe1\x84\x80\xe1\x85\xb3\xe1\x86\xaf"),
			    cut("한글"));
	assert_string_equal(cut("か\xe3\x82\x99く"), cut("がく"));
	assert_string_equal(cut("ハ\xe3\x82\x9aン"), cut("パン"));
	assert_string_equal(cut("ﾊﾟﾝ"), cut("パン"));
	assert_string_equal(cut("ёлка"), cut("елка"));
	assert_string_equal(cut("ﬁle ①"), cut("file 1"));
	assert_string_equal(cut("foo\xc2\xad"
				"bar"),
			    cut("foobar"));
	assert_string_equal(cut("ΟΔΟΣ"), cut("οδός"));
}

static void test_term__identifiers_whole_and_in_parts(void **state)
{
	(void)state;
	assert_string_equal(cut("DEC-0054"), "dec-0054 dec 0054");
	assert_string_equal(cut("ERR_PAY_4021"), "err_pay_4021 err pay 4021");
	assert_string_equal(cut("gateway.timeout_ms"),
			    "gateway.timeout_ms gateway timeout_ms timeout ms");
	assert_string_equal(cut("carrier_adapter.go:218"),
			    "carrier_adapter.go:218 carrier_adapter.go "
			    "carrier_adapter carrier adapter adapt go 218");
	assert_string_equal(cut("v1.2.3"), "v1.2.3 1.2.3 v1 1 2 3");
	assert_string_equal(cut("--from-offset"), "from-offset from offset");
	assert_string_equal(cut("getUserID"), "getuserid get user id");
	assert_string_equal(cut("HTTPServer"), "httpserver http server");
	assert_string_equal(cut("APIs"), "apis api");
	assert_string_equal(cut("C++ C# #1393"), "c++ c c# c #1393 1393");
	assert_string_equal(cut("2026-03-01"), "2026-03-01 2026 03 01");
	assert_string_equal(cut("38.101"), "38.101 38 101");
	assert_string_equal(cut("std::string"), "std::string std string");
	assert_string_equal(cut("9f86d081884c7d65"), "9f86d081884c7d65");
	assert_string_equal(cut("ana@ex.org"), "ana@ex.org ana ex.org ex org");
	assert_string_equal(cut("https://ex.org/a1"),
			    "https http ex.org/a1 ex.org ex org a1 1");
	assert_string_equal(cut("文件carrier.go在"),
			    "文件 件 carrier.go carrier"
			    " go 在");
}

static void test_term__sentences_are_no_identifiers(void **state)
{
	(void)state;
	assert_string_equal(cut("end. Next"), "end next");
	assert_string_equal(cut("wait...what"), "wait what");
	assert_string_equal(cut("yes--no"), "yes no");
	assert_string_equal(cut("(a) b: c/ -d"), "a b c d");
	assert_string_equal(cut("完成。OPS-1"), "完成 成 ops-1 ops 1");
}

static void test_term__japanese_and_korean(void **state)
{
	(void)state;
	assert_true(finds("今日はしりとりをした", "しりとり"));
	assert_true(finds("デプロイ手順を決めた", "デプロイ"));
	assert_true(finds("オデプロイ", "デプロイ"));
	assert_true(finds("らーめん", "らーめ"));
	assert_true(finds("오늘 끝말잇기를 했다", "끝말잇기"));
	assert_true(finds("배포계획을 세웠다", "배포 계획"));
	assert_string_equal(cut("회의에서"), "회의에서 회의 의에 에서 서");
	assert_string_equal(cut("나는"), "나는 는");
}

static void test_term__other_scripts(void **state)
{
	(void)state;
	assert_true(finds("ฉันชอบกินข้าวผัด", "ข้าวผัด"));
	assert_true(finds("ខ្ញុំចូលចិត្តភាសាខ្មែរ", "ភាសា"));
	assert_string_equal(cut("हिन्दी भाषा"), "हिन्दी भाषा");
	assert_string_equal(cut("كِتَاب"), cut("كتاب"));
	assert_string_equal(cut("👍🏽 ok"), "👍 ok");
	assert_string_equal(cut("٣٤"), "34");
}

/* The reports of notes that could not be found. */
static void test_term__reported_cases_are_found(void **state)
{
	(void)state;
	assert_true(finds("今天玩成语接龙游戏", "成语接龙"));
	assert_true(
		finds("备份脚本在周五上传失败，GitHub 令牌过期", "GitHub备份"));
	assert_true(finds("飞书插件放在这里，配置见下", "飞书插件 配置"));
	assert_true(finds("the db and 用户", "用户 db"));
	assert_true(finds("Decision DEC-0054 stands.", "DEC-0054"));
	assert_true(finds("Order BENCH-100821", "-100821"));
	assert_true(finds("Spec 38.101 applies", "-38.101"));
	assert_true(finds("TODO: fix the hinge", "TODO: fix"));
	assert_true(finds("rate 10% a_b", "10%"));
	assert_true(finds("rate 10% a_b", "a_b"));
	assert_true(finds("部署方案：数据库选用PostgreSQL 16",
			  "PostgreSQL 部署 方案 数据库"));
}

struct check {
	const char *s;
	size_t len;
	uint32_t pos, run;
	size_t start, count;
	bool first;
};

static int check_term(void *ctx, const struct term *t)
{
	struct check *c = ctx;

	assert_true(t->len > 0 && t->len <= TERM_MAX_BYTES);
	assert_true(utf8_valid(t->text, t->len));
	assert_true(t->start < t->end && t->end <= c->len);
	assert_true(t->flags != 0);
	assert_null(memchr(t->text, '"', t->len));
	if (!c->first) {
		assert_true(t->pos == c->pos || t->pos == c->pos + 1);
		assert_true(t->run == c->run || t->run == c->run + 1);
		if (t->run != c->run)
			assert_true(t->pos == c->pos + 1);
	}
	c->first = false;
	c->pos = t->pos;
	c->run = t->run;
	c->count++;
	return 0;
}

static size_t check(const char *s, size_t len)
{
	struct check c = { s, len, 0, 0, 0, 0, true };

	assert_int_equal(term_cut(s, len, check_term, &c), 0);
	return c.count;
}

static void test_term__places_and_positions(void **state)
{
	static const char *const texts[] = {
		"The Cafe\xcc\x81 has 3 tables; see src/term_cut.c:218, v1.2!",
		"用Redis缓存，端口8080。資料庫は2026年3月5日にＡＢＣ",
		"오늘 끝말잇기를 했다 ｶﾞｷﾞ ﷺ ㍿ ﬁn "
		"👨‍👩‍👧 "
		"ข้าวผัด",
	};

	(void)state;
	for (size_t i = 0; i < 3; i++)
		check(texts[i], strlen(texts[i]));
}

static int expect_place(void *ctx, const struct term *t)
{
	const char *s = ctx;
	char source[64], folded[64];
	size_t n;

	/* folding the source of a whole term gives the term */
	if (!(t->flags & (TERM_WORD | TERM_PAIR | TERM_SINGLE | TERM_ID)))
		return 0;
	n = t->end - t->start;
	assert_true(n < sizeof(source));
	memcpy(source, s + t->start, n);
	n = term_fold(folded, sizeof(folded), source, n);
	assert_int_equal(n, t->len);
	assert_memory_equal(folded, t->text, n);
	return 0;
}

static void test_term__source_of_a_term_folds_to_it(void **state)
{
	char s[] =
		"Cafe\xcc\x81 ＡＢＣ-12 資料庫 か\xe3\x82\x99く X.Y_z 한국어";

	(void)state;
	term_cut(s, strlen(s), expect_place, s);
}

static void test_term__long_terms_are_cut_between_characters(void **state)
{
	char *s = malloc(100000);
	size_t n = 0;

	(void)state;
	assert_non_null(s);
	memset(s, 'a', 1000);
	assert_int_equal(check(s, 1000), 16); /* 512 and 488 by 64 */
	for (n = 0; n < 3000; n += 2)
		memcpy(s + n, "ж", 2);
	check(s, n);
	for (n = 0; n < 9000; n += 3)
		memcpy(s + n, "각", 3);
	check(s, n);
	for (n = 0; n < 9000; n += 6)
		memcpy(s + n, "a_b-c.", 6);
	check(s, n);
	free(s);
}

static void test_term__any_input_in_linear_time(void **state)
{
	static const char *const pieces[] = { "a",
					      "\x80",
					      "\xef\xb7\xba",
					      "数",
					      "😀",
					      "\xcc\x81",
					      "か\xe3\x82\x99",
					      "a-",
					      "#",
					      "1.",
					      "'a",
					      "각",
					      "\xe1\x84\x80",
					      "a\xcc\x81-",
					      "\xe2\x80\x8d",
					      "กุ้",
					      ":/",
					      "A" };
	size_t bytes = 1 << 20;
	char *s = malloc(bytes + 16);

	(void)state;
	assert_non_null(s);
	for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
		size_t n = 0, k = strlen(pieces[i]);

		for (; n + k <= bytes; n += k)
			memcpy(s + n, pieces[i], k);
		check(s, n);
	}
	memset(s, 0, bytes);
	assert_int_equal(check(s, bytes), 0);
	free(s);
}

static int stop_at_third(void *ctx, const struct term *t)
{
	int *n = ctx;

	(void)t;
	return ++*n == 3 ? 42 : 0;
}

static void test_term__the_callback_can_stop(void **state)
{
	int n = 0;

	(void)state;
	assert_int_equal(term_cut("数据库存", 12, stop_at_third, &n), 42);
	assert_int_equal(n, 3);
	n = 0;
	assert_int_equal(term_cut("a_b c", 5, stop_at_third, &n), 42);
	n = 0;
	assert_int_equal(term_cut("x y z 각", 9, stop_at_third, &n), 42);
}

static void test_term__fold_keeps_everything(void **state)
{
	char out[64];
	size_t n = term_fold(out, sizeof(out), "Ｃａｆé：資料庫、A-1!", 30);

	(void)state;
	assert_int_equal(n, strlen("cafe:资料库、a-1!"));
	assert_memory_equal(out, "cafe:资料库、a-1!", n);
	/* never cut inside a character */
	assert_int_equal(term_fold(out, 5, "数据库", 9), 3);
	assert_int_equal(term_fold(out, 0, "abc", 3), 0);
}
