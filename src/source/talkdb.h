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
#include "base/buf.h"
#include "base/err.h"
#include "source/jsonl.h"

/* An open store and the record of it that was read last. */
#define TALKDB_ROOM 16 /* that jsonl_parse() wants behind a record */

struct talkdb {
	sqlite3 *db;
	struct buf record;
	struct jsonl parser; /* for its document alone */
};

typedef bool talkdb_known_fn(sqlite3 *db);

/* Whether the file is a database with tables that are known. */
bool talkdb_is(const char *path, talkdb_known_fn *known);
/*
 * REMEM_EBUSY: its owner keeps it now, try again later. REMEM_EVERSION: its
 * tables are not known.
 */
int talkdb_open(sqlite3 **out, const char *path, talkdb_known_fn *known,
		struct remem_err *err);
/* Opens it for reading records; to be released whatever comes of it. */
int talkdb_begin(struct talkdb *d, const char *path, talkdb_known_fn *known,
		 struct remem_err *err);
/* Takes the record, with the room behind it that the parser wants. */
int talkdb_take(struct talkdb *d, const void *record, size_t len,
		struct remem_err *err);
/* The record as an object; NULL with the reason. It is the parser's. */
yyjson_val *talkdb_object(struct talkdb *d, const char **reason);
/* Writes it as a part of one line. */
void talkdb_put_flat(struct buf *out, const char *text, size_t len);
void talkdb_release(struct talkdb *d);
/* Whether the table has each of the columns ("a b c"). */
bool talkdb_has(sqlite3 *db, const char *table, const char *columns);
int talkdb_prepare(sqlite3_stmt **out, sqlite3 *db, const char *sql,
		   struct remem_err *err);
/* 1: a row, 0: the end (the statement is reset), or a code. */
int talkdb_step(sqlite3_stmt *st, struct remem_err *err);
/* Text of a column in the arena; NULL where it is none. */
const char *talkdb_text(struct arena *a, sqlite3_stmt *st, int column);

#endif
