/* The FTS5 tokenizer with the real SQLite. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "text/fts.h"
#include "text/query.h"
#include "text/term.h"

static sqlite3 *db_new(void)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	assert_int_equal(fts_register(db, NULL, NULL), 0);
	assert_int_equal(
		sqlite3_exec(
			db,
			"CREATE VIRTUAL TABLE t USING fts5(x, tokenize='remem',"
			" detail=none, columnsize=0)",
			NULL, NULL, NULL),
		SQLITE_OK);
	return db;
}

static void add(sqlite3 *db, int id, const char *text)
{
	sqlite3_stmt *s;

	assert_int_equal(sqlite3_prepare_v2(
				 db, "INSERT INTO t(rowid, x) VALUES (?1, ?2)",
				 -1, &s, NULL),
			 0);
	sqlite3_bind_int(s, 1, id);
	sqlite3_bind_text(s, 2, text, -1, SQLITE_STATIC);
	assert_int_equal(sqlite3_step(s), SQLITE_DONE);
	sqlite3_finalize(s);
}

/* Rowids found, as a bit set; the query is MATCH syntax. */
static unsigned match(sqlite3 *db, const char *query)
{
	sqlite3_stmt *s;
	unsigned found = 0;

	assert_int_equal(
		sqlite3_prepare_v2(db, "SELECT rowid FROM t WHERE t MATCH ?1",
				   -1, &s, NULL),
		0);
	sqlite3_bind_text(s, 1, query, -1, SQLITE_STATIC);
	while (sqlite3_step(s) == SQLITE_ROW)
		found |= 1u << sqlite3_column_int(s, 0);
	assert_int_equal(sqlite3_finalize(s), SQLITE_OK);
	return found;
}

static void test_fts__terms_are_found(void **state)
{
	sqlite3 *db = db_new();

	(void)state;
	add(db, 1, "用Redis缓存，端口8080");
	add(db, 2, "DEC-0054 stands; see carrier_adapter.go:218");
	add(db, 3, "今日はしりとりをした");
	assert_int_equal(match(db, "\"redis\""), 1 << 1);
	assert_int_equal(match(db, "\"缓存\""), 1 << 1);
	assert_int_equal(match(db, "\"存\"*"), 1 << 1);
	assert_int_equal(match(db, "\"缓\"*"), 1 << 1);
	assert_int_equal(match(db, "\"用缓\""), 0);
	assert_int_equal(match(db, "\"dec-0054\""), 1 << 2);
	assert_int_equal(match(db, "\"0054\""), 1 << 2);
	assert_int_equal(match(db, "\"carrier_adapter.go:218\""), 1 << 2);
	assert_int_equal(match(db, "\"しり\" OR \"redis\""), 1 << 3 | 1 << 1);
	sqlite3_close(db);
}

static void test_fts__a_query_is_one_term_as_it_is(void **state)
{
	sqlite3 *db = db_new();

	(void)state;
	add(db, 1, "DEC 0054");
	add(db, 2, "DEC-0054");
	/* not cut again: only the note with the whole has this term */
	assert_int_equal(match(db, "\"dec-0054\""), 1 << 2);
	assert_int_equal(match(db, "\"dec 0054\""), 0);
	assert_int_equal(match(db, "\"\""), 0);
	sqlite3_close(db);
}

static void test_fts__suffix_terms_tell_how_often(void **state)
{
	sqlite3 *db = db_new();

	(void)state;
	add(db, 1, "salt 缓存");
	add(db, 2, "salt salt 缓存、缓存");
	add(db, 3, "salt salt salt 缓存 缓存 缓存");
	add(db, 4, "salt salt salt salt 缓存 缓存 缓存 缓存");
	add(db, 5, "salt salt salt salt salt");
	assert_int_equal(match(db, "\"salt\""), 0x3e);
	assert_int_equal(match(db, "\"salt\x02\""), 0x3c);
	assert_int_equal(match(db, "\"salt\x04\""), 0x30);
	assert_int_equal(match(db, "\"缓存\x02\""), 0x1c);
	assert_int_equal(match(db, "\"缓存\x04\""), 0x10);
	sqlite3_close(db);
}

static int count_rows(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *s;
	int n;

	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), 0);
	assert_int_equal(sqlite3_step(s), SQLITE_ROW);
	n = sqlite3_column_int(s, 0);
	sqlite3_finalize(s);
	return n;
}

static void test_fts__a_deleted_row_leaves_no_term(void **state)
{
	sqlite3 *db = db_new();

	(void)state;
	add(db, 1, "alpha alpha beta 数据库 数据库");
	add(db, 2, "gamma");
	sqlite3_exec(db,
		     "CREATE VIRTUAL TABLE v USING fts5vocab(t, row);"
		     "DELETE FROM t WHERE rowid = 1",
		     NULL, NULL, NULL);
	assert_int_equal(count_rows(db, "SELECT count(*) FROM v"), 1);
	assert_int_equal(
		sqlite3_exec(db, "INSERT INTO t(t) VALUES ('integrity-check')",
			     NULL, NULL, NULL),
		SQLITE_OK);
	sqlite3_close(db);
}

/* Larger than what the tokenizer keeps, then small again. */
static void test_fts__table_grows_and_shrinks(void **state)
{
	sqlite3 *db = db_new();
	char *text = mem_alloc(1 << 20);
	size_t n = 0;

	(void)state;
	for (int i = 0; i < 60000; i++)
		n += (size_t)sprintf(text + n, "w%dx ", i);
	add(db, 1, text);
	add(db, 2, "w59999x");
	assert_int_equal(match(db, "\"w59999x\""), 6);
	assert_int_equal(match(db, "\"w7x\""), 2);
	mem_free(text);
	sqlite3_close(db);
}

static void test_fts__without_memory_says_so(void **state)
{
	sqlite3 *db = db_new();
	sqlite3_stmt *s;
	int rc = SQLITE_NOMEM;

	(void)state;
	for (long n = 1; rc != SQLITE_DONE && n < 100; n++) {
		assert_int_equal(
			sqlite3_prepare_v2(
				db, "INSERT INTO t(x) VALUES ('alpha 数据库')",
				-1, &s, NULL),
			SQLITE_OK);
		alloc_fail_at(n);
		rc = sqlite3_step(s);
		alloc_fail_at(0);
		assert_true(rc == SQLITE_NOMEM || rc == SQLITE_DONE);
		sqlite3_finalize(s);
	}
	assert_int_equal(rc, SQLITE_DONE);
	assert_int_equal(match(db, "\"alpha\""), 2);
	sqlite3_close(db);
}

/* ---- reports of notes that were not found ----------------------------- */

/* Rows that hold any term of the question that is no stop word, as the store
 * asks: quoted, with OR between. */
static unsigned ask(sqlite3 *db, const char *question)
{
	struct arena a = ARENA_INIT;
	char match_text[4096];
	struct query q;
	unsigned found;
	size_t n = 0;

	assert_int_equal(query_parse(&q, &a, question, strlen(question), 20000,
				     NULL),
			 0);
	for (int i = 0; i < q.term_count; i++)
		if (!q.terms[i].stop || q.all_stop)
			n += (size_t)snprintf(match_text + n,
					      sizeof(match_text) - n,
					      "%s\"%s\"%s", n ? " OR " : "",
					      q.terms[i].text,
					      q.terms[i].prefix ? "*" : "");
	arena_release(&a);
	found = n ? match(db, match_text) : 0;
	return found;
}

static void test_fts__words_between_others_are_found(void **state)
{
	sqlite3 *db = db_new();

	(void)state;
	add(db, 1, "今天玩成语接龙游戏");
	add(db, 2, "今日はしりとりをした");
	add(db, 3, "오늘 끝말잇기를 했다");
	add(db, 4, "备份脚本在周五上传失败，GitHub 令牌过期");
	add(db, 5, "飞书插件放在这里，配置见下");
	assert_int_equal(ask(db, "成语接龙"), 1 << 1);
	assert_int_equal(ask(db, "しりとり"), 1 << 2);
	assert_int_equal(ask(db, "끝말잇기"), 1 << 3);
	assert_int_equal(ask(db, "GitHub备份脚本上传失败"), 1 << 4);
	assert_int_equal(ask(db, "飞书插件配置"), 1 << 5);
	sqlite3_close(db);
}

static void test_fts__any_of_several_terms_finds(void **state)
{
	sqlite3 *db = db_new();

	(void)state;
	add(db, 1, "整理了书签");
	add(db, 2, "今年的书单");
	add(db, 3, "用户偏好");
	add(db, 4, "the db is up");
	assert_int_equal(ask(db, "书签 书单 偏好"), 0xe);
	assert_int_equal(ask(db, "用户"), 1 << 3);
	assert_int_equal(ask(db, "db"), 1 << 4);
	assert_int_equal(ask(db, "交互"), 0);
	assert_int_equal(ask(db, " \u3000 "), 0);
	sqlite3_close(db);
}

static void test_fts__seven_plain_questions_in_chinese(void **state)
{
	static const char *const pairs[][2] = {
		{ "元宝的妻子刚怀孕", "谁怀孕了" },
		{ "房租每月五号交", "几号交房租" },
		{ "医生说每天早晚各吃一片降压药", "降压药怎么吃" },
		{ "猫粮买的是渴望鸡肉味", "猫吃什么猫粮" },
		{ "车停在地下二层 B217", "我的车停在哪里" },
		{ "签证材料缺一张照片", "签证还缺什么材料" },
		{ "老王推荐的牙医在建国路", "哪个牙医是老王推荐的" },
	};
	sqlite3 *db = db_new();

	(void)state;
	for (int i = 0; i < 7; i++)
		add(db, i + 1, pairs[i][0]);
	for (int i = 0; i < 7; i++)
		assert_int_equal(ask(db, pairs[i][1]), 1u << (i + 1));
	sqlite3_close(db);
}

static void test_fts__signs_are_no_syntax(void **state)
{
	static const char *const odd[] = { "foo-bar",  "what's up?",
					   "a AND",    "NEAR(x y)",
					   "\"",       "\"\"",
					   "*",	       "^a",
					   "x:y",      "'; DROP TABLE t",
					   "%",	       "_",
					   "(",	       "col: -x",
					   "数据\"库", "hinge: fix" };
	sqlite3 *db = db_new();

	(void)state;
	add(db, 1, "Decision DEC-0054 stands.");
	add(db, 2, "Spec 38.101 applies");
	add(db, 3, "Order BENCH-100821");
	add(db, 4, "TODO: fix the hinge");
	add(db, 5, "Phase 2 starts, rate 10% a_b");
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++)
		ask(db, odd[i]); /* match() checks for errors */
	assert_int_equal(ask(db, "DEC-0054"), 1 << 1);
	assert_int_equal(ask(db, "\"DEC-0054\""), 1 << 1);
	assert_int_equal(ask(db, "38.101"), 1 << 2);
	assert_int_equal(ask(db, "spec -38.101"), 1 << 2);
	assert_int_equal(ask(db, "BENCH-100821"), 1 << 3);
	assert_int_equal(ask(db, "-100821"), 1 << 3);
	assert_int_equal(ask(db, "TODO: fix"), 1 << 4);
	assert_int_equal(ask(db, "phase-2"), 1 << 5);
	assert_int_equal(ask(db, "10%"), 1 << 5);
	assert_int_equal(ask(db, "a_b"), 1 << 5);
	sqlite3_close(db);
}
