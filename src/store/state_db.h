/* What the files of the durable side share: the open database, and the few
 * steps that every statement takes. */
#ifndef STORE_STATE_DB_H
#define STORE_STATE_DB_H

#include <sqlite3.h>

#include "store/state.h"

struct state {
	sqlite3 *db;
	char *path;
	int version; /* of the file; a reader may find an older one */
	bool lazy; /* synchronous = NORMAL */
	int depth; /* of open transactions: the outermost one counts */
	sqlite3_stmt *lines; /* of state_line_each() while it is not at work */
};

/* "cannot WHAT 'state.sqlite': reason", with what to do about it. */
int state_fail(struct state *s, const char *what, struct remem_err *err);
int state_ask(struct state *s, const char *sql, sqlite3_stmt **st,
	      struct remem_err *err);
/* Runs one that gives no rows, and finalizes it. */
int state_done(struct state *s, sqlite3_stmt *st, struct remem_err *err);
int state_run(struct state *s, const char *sql, struct remem_err *err);
/*
 * True: a row that may be read. At the end, after an error and where *rc is
 * set already the statement is finalized and *rc tells which of them it was.
 */
bool state_row(struct state *s, sqlite3_stmt *st, int *rc,
	       struct remem_err *err);
/* First column of the only row; 0 without one. */
int state_number(struct state *s, const char *sql, int64_t *out,
		 struct remem_err *err);
/* value may be NULL; it has to live until the statement has run. */
void state_text(sqlite3_stmt *st, int at, const char *value);
/* A column's text in the arena, "" for NULL. */
const char *state_col(sqlite3_stmt *st, int at, struct arena *a);
/* Copies a blob of exactly len bytes; zeros where it has another size. */
void state_hash(sqlite3_stmt *st, int at, void *out, int len);

#endif
