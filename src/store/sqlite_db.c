/*
 * Statements, errors and transactions of the SQLite backend.
 *
 * A reader's caches (chunk map, fingerprints) are good for one data_version;
 * every snapshot begins by asking for it. The writer keeps its caches in step
 * itself and drops them when it rolls back.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "store/sqlite_store.h"

static const char *const sql[S_COUNT] = {
#define STMT(name, text) [S_##name] = text,
#include "store/sqlite_stmt.def"
#undef STMT
};

static int code_of(int rc)
{
	switch (rc & 0xff) {
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return REMEM_ECORRUPT;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return REMEM_EBUSY;
	case SQLITE_NOMEM:
		return REMEM_ENOMEM;
	case SQLITE_READONLY:
	case SQLITE_PERM:
		return REMEM_EPERM;
	case SQLITE_TOOBIG:
		return REMEM_ELIMIT;
	case SQLITE_INTERRUPT:
		return REMEM_ECANCELLED;
	case SQLITE_MISUSE:
	case SQLITE_RANGE:
		return REMEM_EBUG;
	default:
		return REMEM_EIO;
	}
}

int sq_fail(struct sq *s, const char *what, struct remem_err *err)
{
	int code = sqlite3_extended_errcode(s->db), rc = code_of(code);
	bool full = (code & 0xff) == SQLITE_FULL;

	if (rc == REMEM_ENOMEM)
		return fail_nomem(err);
	/* Also a statement that only reads may have to write. */
	if (full)
		what = "write";
	fail(err, rc, "cannot %s the index '%s': %s", what, s->db_path,
	     sqlite3_errmsg(s->db));
	if (rc == REMEM_ECORRUPT) {
		s->broken = true;
		fail_action(err, "run: remem index --force");
	} else if (rc == REMEM_EPERM) {
		fail_action(err, "make the folder '%s' writable", s->dir);
	} else if (full) {
		fail_action(err, "make room on the disk, then: remem index");
	}
	return rc;
}

int sq_damaged(struct sq *s, const char *what, struct remem_err *err)
{
	s->broken = true;
	fail(err, REMEM_ECORRUPT, "the index '%s' is damaged: %s", s->db_path,
	     what);
	fail_action(err, "run: remem index --force");
	return REMEM_ECORRUPT;
}

/* Whether FTS5 is called for the postings. */
static bool asks_fts(enum stmt_id id)
{
	return id == S_POST_ADD || id == S_POST_DEL || id == S_POST_MATCH;
}

/* FTS5 hears of a rollback only if it has written, be it nothing. Else it goes
 * on believing what it read of postings that went with the transaction. */
static int enlist_fts(struct sq *s, struct remem_err *err)
{
	if (!s->in_write || s->fts_enlisted)
		return 0;
	s->fts_enlisted = true;
	return sq_exec(s, "INSERT INTO postings(postings, rank) "
		       "VALUES('merge', 0)", err);
}

int sq_get(struct sq *s, enum stmt_id id, sqlite3_stmt **out,
	   struct remem_err *err)
{
	sqlite3_stmt **st = &s->stmt[id];
	int rc;

	if (!s->bulk_over && asks_fts(id) && (rc = bulk_end(s, err)))
		return rc;
	if (id == S_POST_MATCH && (rc = enlist_fts(s, err)))
		return rc;
	if (!*st && sqlite3_prepare_v3(s->db, sql[id], -1,
				       SQLITE_PREPARE_PERSISTENT, st, NULL))
		return sqlite3_errcode(s->db) == SQLITE_ERROR ?
			       sq_damaged(s, sqlite3_errmsg(s->db), err) : sq_fail(s, "ask", err);
	sqlite3_reset(*st);
	*out = *st;
	return 0;
}

int sq_step(struct sq *s, sqlite3_stmt *st, struct remem_err *err)
{
	int rc = sqlite3_step(st);

	if (rc == SQLITE_ROW)
		return 1;
	if (rc == SQLITE_DONE) {
		sqlite3_reset(st);
		return 0;
	}
	rc = sq_fail(s, sqlite3_stmt_readonly(st) ? "read" : "write", err);
	sqlite3_reset(st);
	return rc;
}

int sq_run(struct sq *s, sqlite3_stmt *st, struct remem_err *err)
{
	int rc;

	while ((rc = sq_step(s, st, err)) > 0)
		;
	return rc;
}

int sq_simple(struct sq *s, enum stmt_id id, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = sq_get(s, id, &st, err);

	return rc ? rc : sq_run(s, st, err);
}

int sq_exec(struct sq *s, const char *text, struct remem_err *err)
{
	if (sqlite3_exec(s->db, text, NULL, NULL, NULL))
		return sq_fail(s, "set up", err);
	return 0;
}

int sq_int(struct sq *s, enum stmt_id id, int64_t *out, struct remem_err *err)
{
	sqlite3_stmt *st = NULL;
	int rc;

	*out = 0;
	if ((rc = sq_get(s, id, &st, err)))
		return rc;
	if ((rc = sq_step(s, st, err)) > 0) {
		*out = sqlite3_column_int64(st, 0);
		sqlite3_reset(st);
		rc = 0;
	}
	return rc;
}

void sq_bind_text(sqlite3_stmt *st, int at, const char *text)
{
	sqlite3_bind_text(st, at, text, text ? (int)strlen(text) : 0,
			  SQLITE_STATIC);
}

void sq_bind_date(sqlite3_stmt *st, int at, int32_t date, char room[16])
{
	date_format(room, date);
	sq_bind_text(st, at, room[0] ? room : NULL);
}

void sq_bind_slot(sqlite3_stmt *st, int at, int64_t slot)
{
	if (slot == SLOT_NONE)
		sqlite3_bind_null(st, at);
	else
		sqlite3_bind_int64(st, at, slot);
}

int64_t sq_col_slot(sqlite3_stmt *st, int at)
{
	if (sqlite3_column_type(st, at) == SQLITE_NULL)
		return SLOT_NONE;
	return sqlite3_column_int64(st, at);
}

int32_t sq_col_date(sqlite3_stmt *st, int at)
{
	const char *text = (const char *)sqlite3_column_text(st, at);
	int32_t date;

	if (!text || !date_parse(&date, text,
				 (size_t)sqlite3_column_bytes(st, at)))
		return DATE_NONE;
	return date;
}

const char *sq_col_text(struct arena *a, sqlite3_stmt *st, int at)
{
	const char *text;

	if (sqlite3_column_type(st, at) == SQLITE_NULL)
		return NULL;
	text = (const char *)sqlite3_column_text(st, at);
	if (!text) {
		a->failed = true; /* SQLite found no memory */
		return NULL;
	}
	return arena_strndup(a, text, (size_t)sqlite3_column_bytes(st, at));
}

/* ---- snapshots ---- */

static int refresh(struct sq *s, struct remem_err *err)
{
	int64_t version;
	int rc = sq_int(s, S_DATA_VERSION, &version, err);

	if (rc || version == s->data_version)
		return rc;
	map_drop(s);
	fps_drop(s);
	pending_drop(s);
	lists_drop(s);
	known_drop(s);
	s->counts_loaded = false;
	s->data_version = version;
	return 0;
}

static int snapshot(struct sq *s, struct remem_err *err)
{
	int rc = sq_simple(s, S_BEGIN_READ, err);

	if (rc)
		return rc;
	rc = refresh(s, err);
	if (rc)
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

static void snapshot_end(struct sq *s)
{
	/* Statements that were left in the middle would keep it open. */
	sq_simple(s, S_COMMIT, NULL);
	if (!sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

int sq_read_begin(struct store *st, struct remem_err *err)
{
	struct sq *s = sq_of(st);
	struct fp *f;
	int rc;

	if (s->in_write || s->in_read)
		return fail(err, REMEM_EINVAL,
			    "a snapshot of the index is open already");
	if ((rc = snapshot(s, err)))
		return rc;
	s->in_read = true;
	/* The file of vectors must be the one this snapshot names: it is
	 * removed when the vectors have moved to another. Without vectors the
	 * text still answers. */
	if (!fps_load(s, NULL) && (f = fp_in_state(s, FP_ACTIVE)) && f->slots)
		fp_open_vec(s, f, NULL);
	return 0;
}

void sq_read_end(struct store *st)
{
	struct sq *s = sq_of(st);

	if (!s->in_read)
		return;
	sq_scan_drop(s);
	s->in_read = false;
	snapshot_end(s);
}

int sq_op_begin(struct sq *s, struct remem_err *err)
{
	int rc;

	if (!s->in_write && !s->in_read && !s->op_depth)
		if ((rc = snapshot(s, err)))
			return rc;
	s->op_depth++;
	return 0;
}

void sq_op_end(struct sq *s)
{
	if (!--s->op_depth && !s->in_write && !s->in_read)
		snapshot_end(s);
}

/* ---- writing ---- */

int sq_need_write(struct sq *s, struct remem_err *err)
{
	if (s->in_write)
		return 0;
	return fail(err, REMEM_EINVAL, "the index is not open for writing");
}

int sq_begin(struct store *st, struct remem_err *err)
{
	struct sq *s = sq_of(st);
	int rc;

	if (s->mode == STORE_READ)
		return fail(err, REMEM_EINVAL, "the index is open for reading");
	if (s->in_write || s->in_read)
		return fail(err, REMEM_EINVAL,
			    "a transaction on the index is open already");
	if ((rc = sq_simple(s, S_BEGIN_WRITE, err)))
		return rc;
	s->in_write = true;
	s->fts_enlisted = false;
	s->next_passage = s->next_file = 0;
	s->unlinked.count = 0;
	if ((rc = refresh(s, err)) || (rc = sq_counts_load(s, err)))
		sq_rollback(st);
	return rc;
}

static int flush(struct sq *s, struct remem_err *err)
{
	int rc;

	if ((rc = bulk_flush(s, err)) || (rc = fp_flip_if_complete(s, err)) ||
	    (rc = map_flush(s, err)) ||
	    (rc = fps_flush(s, err)))
		return rc;
	return sq_counts_save(s, err);
}

int sq_commit(struct store *st, struct remem_err *err)
{
	struct sq *s = sq_of(st);
	int rc;

	if ((rc = sq_need_write(s, err)))
		return rc;
	if ((rc = flush(s, err)) || (rc = sq_simple(s, S_COMMIT, err))) {
		sq_rollback(st);
		return rc;
	}
	s->in_write = false;
	sq_unlinked_flags(s);
	return 0;
}

void sq_rollback(struct store *st)
{
	struct sq *s = sq_of(st);

	if (!s->in_write)
		return;
	for (int i = 0; i < S_COUNT; i++)
		if (s->stmt[i])
			sqlite3_reset(s->stmt[i]);
	sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	s->in_write = false;
	s->unlinked.count = 0;
	s->counts_loaded = s->counts_dirty = false;
	bulk_drop(s);
	map_drop(s);
	fps_drop(s);
	pending_drop(s);
}

void sq_finalize(struct sq *s)
{
	for (int i = 0; i < S_COUNT; i++) {
		sqlite3_finalize(s->stmt[i]);
		s->stmt[i] = NULL;
	}
}
