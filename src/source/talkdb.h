/*
 * SQLite stores of hosts: opened to read, while their owner writes. Never
 * locked for longer than one statement, never written, never assumed to stand
 * still.
 */
#ifndef SOURCE_TALKDB_H
#define SOURCE_TALKDB_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"

/* Whether the file begins as SQLite files do. */
bool talkdb_is(const char *path);
/* REMEM_EBUSY: its owner keeps it now, try again later. */
int talkdb_open(sqlite3 **out, const char *path, struct remem_err *err);
/* Whether the table has each of the columns ("a b c"). */
bool talkdb_has(sqlite3 *db, const char *table, const char *columns);
int talkdb_prepare(sqlite3_stmt **out, sqlite3 *db, const char *sql,
		   struct remem_err *err);
/* 1: a row, 0: the end (the statement is reset), or a code. */
int talkdb_step(sqlite3_stmt *st, struct remem_err *err);
/* Text of a column in the arena; NULL where it is none. */
const char *talkdb_text(struct arena *a, sqlite3_stmt *st, int column);

#endif
