/* Rows of the inbox; see state_review.h. */
#include "store/state_review.h"

#include <string.h>

#include "base/clock.h"
#include "store/state_db.h"

#define FIRST_VERSION 4 /* of the state that has the table */

static void bind_row(sqlite3_stmt *st, const struct review_row *row)
{
	sqlite3_bind_int64(st, 1, row->at_ms ? row->at_ms : clock_now_ms());
	state_text(st, 2, row->path);
	sqlite3_bind_text64(st, 3, row->text, row->len, SQLITE_STATIC,
			    SQLITE_UTF8);
	state_text(st, 4, row->source ? row->source : "");
	state_text(st, 5, row->reason);
	state_text(st, 6, row->via ? row->via : "");
	state_text(st, 7, row->session ? row->session : "");
	sqlite3_bind_int(st, 8, row->origin);
	sqlite3_bind_blob(st, 9, row->words, LINE_HASH_BYTES, SQLITE_STATIC);
}

int state_review_add(struct state *s, const struct review_row *row,
		     int64_t *id, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, "INSERT INTO review(time, path, text, source, "
			      "reason, via, session, origin, words) "
			      "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
			   &st, err);

	if (rc)
		return rc;
	bind_row(st, row);
	rc = state_done(s, st, err);
	*id = rc ? 0 : sqlite3_last_insert_rowid(s->db);
	return rc;
}

int state_review_find(struct state *s, const char *path,
		      const unsigned char words[LINE_HASH_BYTES], int64_t *id,
		      struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc;

	*id = 0;
	rc = state_ask(s, "SELECT id FROM review WHERE words = ?1 AND "
			  "path = ?2 LIMIT 1", &st, err);
	if (rc)
		return rc;
	sqlite3_bind_blob(st, 1, words, LINE_HASH_BYTES, SQLITE_STATIC);
	state_text(st, 2, path);
	while (state_row(s, st, &rc, err))
		*id = sqlite3_column_int64(st, 0);
	return rc;
}

static const char *text_at(sqlite3_stmt *st, int at)
{
	const char *t = (const char *)sqlite3_column_text(st, at);

	return t ? t : "";
}

static void read_row(struct review_row *row, sqlite3_stmt *st)
{
	row->id = sqlite3_column_int64(st, 0);
	row->at_ms = sqlite3_column_int64(st, 1);
	row->path = text_at(st, 2);
	row->text = text_at(st, 3);
	row->len = (size_t)sqlite3_column_bytes(st, 3);
	row->source = text_at(st, 4);
	row->reason = text_at(st, 5);
	row->via = text_at(st, 6);
	row->session = text_at(st, 7);
	row->origin = sqlite3_column_int(st, 8);
	state_hash(st, 9, row->words, LINE_HASH_BYTES);
}

int state_review_each(struct state *s, int64_t id,
		      int (*fn)(void *ctx, const struct review_row *row),
		      void *ctx, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc;

	/* A reader may find a state of before. */
	if (s->version < FIRST_VERSION)
		return 0;
	rc = state_ask(s, "SELECT id, time, path, text, source, reason, via, "
			  "session, origin, words FROM review "
			  "WHERE ?1 = 0 OR id = ?1 ORDER BY id", &st, err);
	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, id);
	while (state_row(s, st, &rc, err)) {
		struct review_row row;

		read_row(&row, st);
		rc = fn(ctx, &row);
	}
	return rc;
}

int state_review_count(struct state *s, int64_t *out, struct remem_err *err)
{
	*out = 0;
	return s->version < FIRST_VERSION ? 0 :
	       state_number(s, "SELECT count(*) FROM review", out, err);
}

int state_review_remove(struct state *s, int64_t id, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, "DELETE FROM review WHERE id = ?1", &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, id);
	return state_done(s, st, err);
}

int state_review_forget(struct state *s, const char *text, size_t len,
			struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, "DELETE FROM review WHERE instr(text, ?1)", &st,
			   err);

	if (rc)
		return rc;
	sqlite3_bind_text64(st, 1, text, len, SQLITE_STATIC, SQLITE_UTF8);
	return state_done(s, st, err);
}
