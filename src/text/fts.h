/*
 * Our terms as an FTS5 tokenizer named "remem". Terms that stand several
 * times in one text are given to FTS5 once (the index has detail=none), and
 * once more with a suffix byte when they stand at least 2 or 4 times:
 * "term\x02", "term\x04".
 */
#ifndef TEXT_FTS_H
#define TEXT_FTS_H

#include <sqlite3.h>

#include "base/err.h"

/* Registers the tokenizer; needed on every connection before the table is
 * touched. */
int fts_register(sqlite3 *db, struct remem_err *err);

#endif
