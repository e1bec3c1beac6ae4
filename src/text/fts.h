/*
 * Our terms as an FTS5 tokenizer named "remem". Terms that stand several
 * times in one text are given to FTS5 once (the index has detail=none), and
 * once more with a suffix byte when they stand at least 2 or 4 times:
 * "term\x02", "term\x04".
 */
#ifndef TEXT_FTS_H
#define TEXT_FTS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* What the tokenizer counts on the way, while `on`: terms of the first len
 * bytes of a text, and those of them from lead on. */
struct fts_count {
	bool on;
	size_t lead, len;
	size_t all, own;
};

/* Registers the tokenizer; needed on every connection before the table is
 * touched. count may be NULL; it must outlive the connection. */
int fts_register(sqlite3 *db, struct fts_count *count, struct remem_err *err);

#endif
