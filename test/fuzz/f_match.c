/*
 * Text and question through the real FTS5: the first half of the input is
 * indexed, terms of the second are asked for, quoted as the store does. No
 * input may give an SQL error, and a note finds itself by each of its terms.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/fts.h"
#include "text/query.h"
#include "text/term.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define CHECK(x)                 \
	do {                     \
		if (!(x))        \
			abort(); \
	} while (0)
#define TERMS_ASKED 40

static sqlite3 *db;
static sqlite3_stmt *insert, *match;
static int asked;

static void open_once(void)
{
	if (db)
		return;
	CHECK(sqlite3_open(":memory:", &db) == SQLITE_OK);
	CHECK(fts_register(db, NULL, NULL) == 0);
	CHECK(sqlite3_exec(db,
			   "CREATE VIRTUAL TABLE t USING fts5(x,"
			   " tokenize='remem', detail=none, columnsize=0)",
			   NULL, NULL, NULL) == SQLITE_OK);
	CHECK(sqlite3_prepare_v2(db, "INSERT INTO t(rowid, x) VALUES (1, ?1)",
				 -1, &insert, NULL) == SQLITE_OK);
	CHECK(sqlite3_prepare_v2(db, "SELECT rowid FROM t WHERE t MATCH ?1", -1,
				 &match, NULL) == SQLITE_OK);
}

/* Rows found by one term. */
static int ask(const char *text, size_t len, bool prefix)
{
	char query[TERM_MAX_BYTES + 8];
	int n = snprintf(query, sizeof(query), "\"%.*s\"%s", (int)len, text,
			 prefix ? "*" : "");
	int rows = 0, rc;

	sqlite3_bind_text(match, 1, query, n, SQLITE_STATIC);
	while ((rc = sqlite3_step(match)) == SQLITE_ROW)
		rows++;
	CHECK(rc == SQLITE_DONE);
	sqlite3_reset(match);
	return rows;
}

static int ask_own(void *ctx, const struct term *t)
{
	(void)ctx;
	CHECK(ask(t->text, t->len, false) == 1);
	return ++asked == TERMS_ASKED;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *s = (const char *)data;
	size_t half = len / 2;
	struct arena a = ARENA_INIT;
	struct query q;

	open_once();
	sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
	sqlite3_bind_text(insert, 1, s, (int)half, SQLITE_STATIC);
	CHECK(sqlite3_step(insert) == SQLITE_DONE);
	sqlite3_reset(insert);
	asked = 0;
	term_cut(s, half, ask_own, NULL);
	CHECK(query_parse(&q, &a, s + half, len - half, 20000, NULL) == 0);
	for (int i = 0; i < q.term_count && i < TERMS_ASKED; i++)
		ask(q.terms[i].text, q.terms[i].len, q.terms[i].prefix);
	arena_release(&a);
	sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	return 0;
}
