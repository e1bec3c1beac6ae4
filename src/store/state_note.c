/* See state_note.h. */
#include "store/state_note.h"

#include <string.h>

#include "store/state_db.h"

static void bind_blob(sqlite3_stmt *st, int at, const void *p, size_t len)
{
	sqlite3_bind_blob64(st, at, p ? p : "", len, SQLITE_STATIC);
}

static void bind_line(sqlite3_stmt *st, int at, const unsigned char *hash)
{
	bind_blob(st, at, hash, LINE_HASH_BYTES);
}

/* ---- notes ---- */

static void read_note(struct note_row *out, sqlite3_stmt *st)
{
	out->dev = (uint64_t)sqlite3_column_int64(st, 0);
	out->inode = (uint64_t)sqlite3_column_int64(st, 1);
	out->size = sqlite3_column_int64(st, 2);
	out->mtime_ns = sqlite3_column_int64(st, 3);
	out->ctime_ns = sqlite3_column_int64(st, 4);
	state_hash(st, 5, out->hash, SHA256_BYTES);
	state_hash(st, 6, &out->mid, (int)sizeof(out->mid));
	out->origin = sqlite3_column_int(st, 7);
	out->outside = sqlite3_column_int(st, 8);
	out->journal = sqlite3_column_int64(st, 9);
	out->seq = sqlite3_column_int64(st, 10);
	out->lines = sqlite3_column_int64(st, 11);
	/* State of another version of the hash: such a file is read anew. */
	if (sqlite3_column_bytes(st, 6) != (int)sizeof(out->mid))
		out->size = -1;
}

int state_note_get(struct state *s, struct arena *a, const char *path,
		   struct note_row *out, bool *found, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc;

	memset(out, 0, sizeof(*out));
	*found = false;
	if (s->version < 2)
		return 0;
	rc = state_ask(s, "SELECT dev, inode, size, mtime, ctime, hash, mid, "
		       "origin, outside, journal, seq, lines FROM note WHERE "
		       "path = ?1", &st, err);
	if (rc)
		return rc;
	state_text(st, 1, path);
	while (state_row(s, st, &rc, err)) {
		*found = true;
		read_note(out, st);
	}
	out->path = arena_strdup(a, path);
	return rc ? rc : a->failed ? fail_nomem(err) : 0;
}

int state_note_put(struct state *s, const struct note_row *row,
		   struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, "INSERT OR REPLACE INTO note VALUES(?1, ?2, ?3, "
			   "?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
			   &st, err);

	if (rc)
		return rc;
	state_text(st, 1, row->path);
	sqlite3_bind_int64(st, 2, (int64_t)row->dev);
	sqlite3_bind_int64(st, 3, (int64_t)row->inode);
	sqlite3_bind_int64(st, 4, row->size);
	sqlite3_bind_int64(st, 5, row->mtime_ns);
	sqlite3_bind_int64(st, 6, row->ctime_ns);
	bind_blob(st, 7, row->hash, SHA256_BYTES);
	bind_blob(st, 8, &row->mid, sizeof(row->mid));
	sqlite3_bind_int(st, 9, row->origin);
	sqlite3_bind_int(st, 10, row->outside);
	sqlite3_bind_int64(st, 11, row->journal);
	sqlite3_bind_int64(st, 12, row->seq);
	sqlite3_bind_int64(st, 13, row->lines);
	return state_done(s, st, err);
}

int state_note_remove(struct state *s, const char *path,
		      struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, "DELETE FROM note WHERE path = ?1", &st, err);

	if (rc)
		return rc;
	state_text(st, 1, path);
	return state_done(s, st, err);
}

int state_note_seq(struct state *s, int64_t *out, struct remem_err *err)
{
	int rc = state_number(s, "SELECT max(seq) FROM note", out, err);

	++*out;
	return rc;
}

int state_note_changed(struct state *s, int64_t seq, int64_t *last,
		       int (*fn)(void *ctx, const char *path), void *ctx,
		       struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc;

	*last = seq;
	if (s->version < 2)
		return 0;
	rc = state_ask(s, "SELECT path, seq FROM note WHERE seq > ?1 ORDER BY "
		       "seq", &st, err);
	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, seq);
	while (state_row(s, st, &rc, err)) {
		*last = sqlite3_column_int64(st, 1);
		rc = fn(ctx, (const char *)sqlite3_column_text(st, 0));
	}
	return rc;
}

/* ---- lines ---- */

int state_line_add(struct state *s, const struct line_row *row,
		   struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, "INSERT INTO line(path, line, words, source, "
			   "origin, time, journal) VALUES(?1, ?2, ?3, ?4, ?5, "
			   "?6, ?7)", &st, err);

	if (rc)
		return rc;
	state_text(st, 1, row->path);
	bind_line(st, 2, row->line);
	bind_line(st, 3, row->words);
	state_text(st, 4, row->source ? row->source : "");
	sqlite3_bind_int(st, 5, row->origin);
	sqlite3_bind_int64(st, 6, row->at_ms);
	sqlite3_bind_int64(st, 7, row->journal);
	return state_done(s, st, err);
}

int state_line_origin(struct state *s, const char *path,
		      const unsigned char line[LINE_HASH_BYTES], int *origin,
		      struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc;

	*origin = 0;
	if (s->version < 2)
		return 0;
	rc = state_ask(s, path ? "SELECT min(origin) FROM line WHERE "
		       "line = ?1 AND path = ?2" :
		       "SELECT min(origin) FROM line WHERE line = ?1", &st,
		       err);
	if (rc)
		return rc;
	bind_line(st, 1, line);
	if (path)
		state_text(st, 2, path);
	while (state_row(s, st, &rc, err))
		*origin = sqlite3_column_int(st, 0);
	return rc;
}

int state_line_known(struct state *s, const char *path,
		     const unsigned char words[LINE_HASH_BYTES],
		     const char *source, bool *known, struct line_row *row,
		     struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, "SELECT journal, line FROM line WHERE "
			   "path = ?1 AND words = ?2 AND (?3 = '' OR "
			   "source = '' OR source = ?3) ORDER BY id LIMIT 1",
			   &st, err);

	*known = false;
	if (rc)
		return rc;
	state_text(st, 1, path);
	bind_line(st, 2, words);
	state_text(st, 3, source ? source : "");
	while (state_row(s, st, &rc, err)) {
		*known = true;
		row->journal = sqlite3_column_int64(st, 0);
		state_hash(st, 1, row->line, LINE_HASH_BYTES);
	}
	return rc;
}

int state_line_worse(struct state *s, int origin,
		     int (*fn)(void *ctx, const struct line_row *row),
		     void *ctx, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc;

	if (s->version < 2)
		return 0;
	rc = state_ask(s, "SELECT line, min(origin) FROM line WHERE "
		       "origin < ?1 GROUP BY line ORDER BY line", &st, err);
	if (rc)
		return rc;
	sqlite3_bind_int(st, 1, origin);
	while (state_row(s, st, &rc, err)) {
		struct line_row r = { .origin = sqlite3_column_int(st, 1) };

		state_hash(st, 0, r.line, LINE_HASH_BYTES);
		rc = fn(ctx, &r);
	}
	return rc;
}

/* It is asked for each note of a first index: to prepare it anew each time
 * would cost more than all the answers. */
static int lines_ask(struct state *s, sqlite3_stmt **st, struct remem_err *err)
{
	*st = s->lines;
	s->lines = NULL;
	return *st ? 0 : state_ask(s, "SELECT line, words, source, origin, "
				   "time, journal FROM line WHERE path = ?1 "
				   "ORDER BY id", st, err);
}

static void lines_done(struct state *s, sqlite3_stmt *st)
{
	sqlite3_reset(st);
	sqlite3_clear_bindings(st);
	if (s->lines) /* somebody has asked in between */
		sqlite3_finalize(st);
	else
		s->lines = st;
}

int state_line_each(struct state *s, const char *path,
		    int (*fn)(void *ctx, const struct line_row *row),
		    void *ctx, struct remem_err *err)
{
	sqlite3_stmt *st;
	int step, rc;

	if (s->version < 2)
		return 0;
	if ((rc = lines_ask(s, &st, err)))
		return rc;
	state_text(st, 1, path);
	while (!rc && (step = sqlite3_step(st)) != SQLITE_DONE) {
		struct line_row r = { .path = path };

		if (step != SQLITE_ROW) {
			rc = state_fail(s, "read", err);
			break;
		}
		state_hash(st, 0, r.line, LINE_HASH_BYTES);
		state_hash(st, 1, r.words, LINE_HASH_BYTES);
		r.source = (const char *)sqlite3_column_text(st, 2);
		r.origin = sqlite3_column_int(st, 3);
		r.at_ms = sqlite3_column_int64(st, 4);
		r.journal = sqlite3_column_int64(st, 5);
		rc = fn(ctx, &r);
	}
	lines_done(s, st);
	return rc;
}

/* Under no path, where a lookup in any file finds them. */
static int remember_worse(struct state *s, const char *path,
			  struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, "INSERT INTO line(path, line, words, source, "
			   "origin, time, journal) SELECT '', line, words, "
			   "source, origin, time, 0 FROM line AS l WHERE "
			   "path = ?1 AND origin < ?2 AND NOT EXISTS (SELECT "
			   "1 FROM line WHERE path = '' AND line = l.line)",
			   &st, err);

	if (rc)
		return rc;
	state_text(st, 1, path);
	sqlite3_bind_int(st, 2, REMEM_ORIGIN_AGENT);
	return state_done(s, st, err);
}

int state_line_remove(struct state *s, const char *path, int64_t journal,
		      struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = path && path[0] ? remember_worse(s, path, err) : 0;

	if (rc || (rc = state_ask(s, path ?
				  "DELETE FROM line WHERE path = ?1" :
				  "DELETE FROM line WHERE journal = ?1", &st,
				  err)))
		return rc;
	if (path)
		state_text(st, 1, path);
	else
		sqlite3_bind_int64(st, 1, journal);
	return state_done(s, st, err);
}

/* ---- writes that were begun ---- */

int state_pending_add(struct state *s, const struct pending_row *row,
		      struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, "INSERT INTO pending(journal, path, rewrite, "
			   "size, before, after, bytes) VALUES(?1, ?2, ?3, "
			   "?4, ?5, ?6, ?7)", &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, row->journal);
	state_text(st, 2, row->path);
	sqlite3_bind_int(st, 3, row->rewrite);
	sqlite3_bind_int64(st, 4, row->size);
	bind_blob(st, 5, row->before, SHA256_BYTES);
	bind_blob(st, 6, row->after, SHA256_BYTES);
	bind_blob(st, 7, row->bytes, row->len);
	return state_done(s, st, err);
}

int state_pending_each(struct state *s,
		       int (*fn)(void *ctx, const struct pending_row *row),
		       void *ctx, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, "SELECT id, journal, path, rewrite, size, "
			   "before, after, bytes FROM pending ORDER BY id",
			   &st, err);

	if (rc)
		return rc;
	while (state_row(s, st, &rc, err)) {
		struct pending_row r = {
			.id = sqlite3_column_int64(st, 0),
			.journal = sqlite3_column_int64(st, 1),
			.path = (const char *)sqlite3_column_text(st, 2),
			.rewrite = sqlite3_column_int(st, 3) != 0,
			.size = sqlite3_column_int64(st, 4),
		};

		state_hash(st, 5, r.before, SHA256_BYTES);
		state_hash(st, 6, r.after, SHA256_BYTES);
		r.bytes = sqlite3_column_blob(st, 7);
		r.len = (size_t)sqlite3_column_bytes(st, 7);
		rc = r.path ? fn(ctx, &r) : 0;
	}
	return rc;
}

int state_pending_remove(struct state *s, int64_t journal,
			 struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, "DELETE FROM pending WHERE journal = ?1", &st,
			   err);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, journal);
	return state_done(s, st, err);
}

/* ---- files as they were ---- */

static int shrink(struct state *s, int keep, int64_t max_bytes,
		  struct remem_err *err)
{
	sqlite3_stmt *st;
	/* The newest is kept whatever its size. */
	int rc = state_ask(s, "DELETE FROM preimage WHERE journal IN (SELECT "
			   "journal FROM (SELECT journal, row_number() OVER w "
			   "AS n, sum(size) OVER w AS total FROM preimage "
			   "WINDOW w AS (ORDER BY journal DESC)) WHERE n > 1 "
			   "AND (n > ?1 OR total > ?2))", &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int(st, 1, keep);
	sqlite3_bind_int64(st, 2, max_bytes);
	return state_done(s, st, err);
}

int state_preimage_add(struct state *s, const struct preimage_row *row,
		       int keep, int64_t max_bytes, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, "INSERT OR REPLACE INTO preimage VALUES(?1, ?2, "
			   "?3, ?4, ?5, ?6, ?7)", &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, row->journal);
	sqlite3_bind_int64(st, 2, row->at_ms);
	state_text(st, 3, row->path);
	sqlite3_bind_int(st, 4, (int)row->mode);
	sqlite3_bind_int(st, 5, row->absent);
	sqlite3_bind_int64(st, 6, (int64_t)row->len);
	bind_blob(st, 7, row->bytes, row->len);
	rc = state_done(s, st, err);
	return rc ? rc : shrink(s, keep, max_bytes, err);
}

int state_preimage_get(struct state *s, struct arena *a, int64_t journal,
		       struct preimage_row *out, bool *found,
		       struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc;

	memset(out, 0, sizeof(*out));
	*found = false;
	if (s->version < 2)
		return 0;
	rc = state_ask(s, "SELECT time, path, mode, absent, bytes FROM "
		       "preimage WHERE journal = ?1", &st, err);
	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, journal);
	while (state_row(s, st, &rc, err)) {
		const void *p = sqlite3_column_blob(st, 4);

		*found = true;
		out->journal = journal;
		out->at_ms = sqlite3_column_int64(st, 0);
		out->path = state_col(st, 1, a);
		out->mode = (unsigned)sqlite3_column_int(st, 2);
		out->absent = sqlite3_column_int(st, 3) != 0;
		out->len = (size_t)sqlite3_column_bytes(st, 4);
		out->bytes = arena_strndup(a, p ? p : "", out->len);
	}
	return rc ? rc : a->failed ? fail_nomem(err) : 0;
}

int state_preimage_remove(struct state *s, const char *path, const char *text,
			  size_t len, int64_t *removed, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, path ? "DELETE FROM preimage WHERE path = ?1" :
			   "DELETE FROM preimage WHERE instr(bytes, ?1)", &st,
			   err);

	if (rc)
		return rc;
	if (path)
		state_text(st, 1, path);
	else
		bind_blob(st, 1, text, len);
	rc = state_done(s, st, err);
	if (removed)
		*removed = rc ? 0 : sqlite3_changes64(s->db);
	return rc;
}

/* ---- what was forgotten ---- */

int state_tombstone_add(struct state *s, const char *kind,
			const unsigned char hash[LINE_HASH_BYTES],
			int64_t at_ms, int64_t journal, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, "INSERT OR IGNORE INTO tombstone VALUES(?1, ?2, "
			   "?3, ?4)", &st, err);

	if (rc)
		return rc;
	state_text(st, 1, kind);
	bind_line(st, 2, hash);
	sqlite3_bind_int64(st, 3, at_ms);
	sqlite3_bind_int64(st, 4, journal);
	return state_done(s, st, err);
}

int state_tombstone_has(struct state *s, const char *kind,
			const unsigned char hash[LINE_HASH_BYTES], bool *has,
			struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc;

	*has = false;
	if (s->version < 2)
		return 0;
	rc = state_ask(s, "SELECT 1 FROM tombstone WHERE kind = ?1 AND "
		       "hash = ?2", &st, err);
	if (rc)
		return rc;
	state_text(st, 1, kind);
	bind_line(st, 2, hash);
	while (state_row(s, st, &rc, err))
		*has = true;
	return rc;
}

/* ---- limits ---- */

int state_rate_add(struct state *s, const char *key, int64_t window,
		   int64_t add, int64_t *sum, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, "INSERT INTO rate VALUES(?1, ?2, ?3) "
			   "ON CONFLICT(key) DO UPDATE SET sum = CASE WHEN "
			   "span = ?2 THEN sum + ?3 ELSE ?3 END, span = ?2 "
			   "RETURNING sum", &st, err);

	*sum = 0;
	if (rc)
		return rc;
	state_text(st, 1, key);
	sqlite3_bind_int64(st, 2, window);
	sqlite3_bind_int64(st, 3, add);
	while (state_row(s, st, &rc, err))
		*sum = sqlite3_column_int64(st, 0);
	return rc;
}
