/* See state_journal.h. */
#include "store/state_journal.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "store/state_db.h"

#define COLUMNS                                                     \
	"id, time, actor, session, op, path, before, after, bytes, " \
	"origin, detail, prev, hash"

enum {
	C_ID,
	C_TIME,
	C_ACTOR,
	C_SESSION,
	C_OP,
	C_PATH,
	C_BEFORE,
	C_AFTER,
	C_BYTES,
	C_ORIGIN,
	C_DETAIL,
	C_PREV,
	C_HASH
};

static const unsigned char nothing[SHA256_BYTES];

/* Bytes on their way into a hash: many small parts cost more than it does. */
struct feed {
	struct sha256 h;
	size_t len;
	unsigned char bytes[1024];
};

static void feed_add(struct feed *f, const void *p, size_t len)
{
	if (len > sizeof(f->bytes) - f->len) {
		sha256_add(&f->h, f->bytes, f->len);
		f->len = 0;
	}
	if (len > sizeof(f->bytes)) {
		sha256_add(&f->h, p, len);
	} else if (len) {
		memcpy(f->bytes + f->len, p, len);
		f->len += len;
	}
}

static void feed_le(struct feed *f, uint64_t v, int bytes)
{
	unsigned char b[8];

	for (int i = 0; i < bytes; i++)
		b[i] = (unsigned char)(v >> (8 * i));
	feed_add(f, b, (size_t)bytes);
}

static void feed_part(struct feed *f, const void *p, size_t len)
{
	feed_le(f, len, 4);
	feed_add(f, p, len);
}

static void feed_text(struct feed *f, const char *s)
{
	feed_part(f, s, s ? strlen(s) : 0);
}

static void row_hash(unsigned char out[SHA256_BYTES],
		     const unsigned char prev[SHA256_BYTES],
		     const struct journal_row *r)
{
	struct feed f;

	sha256_init(&f.h);
	f.len = 0;
	feed_add(&f, prev, SHA256_BYTES);
	feed_le(&f, (uint64_t)r->id, 8);
	feed_le(&f, (uint64_t)r->at_ms, 8);
	feed_le(&f, (uint64_t)r->bytes, 8);
	feed_text(&f, r->actor);
	feed_text(&f, r->session);
	feed_text(&f, r->op);
	feed_text(&f, r->path);
	feed_part(&f, r->before, r->before ? SHA256_BYTES : 0);
	feed_part(&f, r->after, r->after ? SHA256_BYTES : 0);
	feed_text(&f, r->origin);
	feed_text(&f, r->detail);
	sha256_add(&f.h, f.bytes, f.len);
	sha256_done(&f.h, out);
}

/* Of journal_head or journal_base: id 0 and zeros without a row. */
static int read_mark(struct state *s, const char *sql, int64_t *id,
		     unsigned char hash[SHA256_BYTES], struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, sql, &st, err);

	*id = 0;
	memcpy(hash, nothing, SHA256_BYTES);
	if (rc)
		return rc;
	while (state_row(s, st, &rc, err)) {
		*id = sqlite3_column_int64(st, 0);
		state_hash(st, 1, hash, SHA256_BYTES);
	}
	return rc;
}

static int read_head(struct state *s, int64_t *id,
		     unsigned char hash[SHA256_BYTES], struct remem_err *err)
{
	return read_mark(s, "SELECT id, hash FROM journal_head", id, hash, err);
}

static int read_base(struct state *s, int64_t *id,
		     unsigned char hash[SHA256_BYTES], struct remem_err *err)
{
	return read_mark(s, "SELECT id, hash FROM journal_base", id, hash, err);
}

static int write_mark(struct state *s, const char *sql, int64_t id,
		      const unsigned char hash[SHA256_BYTES],
		      struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, sql, &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, id);
	sqlite3_bind_blob(st, 2, hash, SHA256_BYTES, SQLITE_STATIC);
	return state_done(s, st, err);
}

static int insert(struct state *s, const struct journal_row *r,
		  struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, "INSERT INTO journal(" COLUMNS ") VALUES(?1, ?2, "
			   "?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
			   &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, r->id);
	sqlite3_bind_int64(st, 2, r->at_ms);
	state_text(st, 3, r->actor);
	state_text(st, 4, r->session);
	state_text(st, 5, r->op);
	state_text(st, 6, r->path);
	if (r->before)
		sqlite3_bind_blob(st, 7, r->before, SHA256_BYTES,
				  SQLITE_STATIC);
	if (r->after)
		sqlite3_bind_blob(st, 8, r->after, SHA256_BYTES,
				  SQLITE_STATIC);
	sqlite3_bind_int64(st, 9, r->bytes);
	state_text(st, 10, r->origin);
	state_text(st, 11, r->detail);
	sqlite3_bind_blob(st, 12, r->prev, SHA256_BYTES, SQLITE_STATIC);
	sqlite3_bind_blob(st, 13, r->hash, SHA256_BYTES, SQLITE_STATIC);
	return state_done(s, st, err);
}

static int add(struct state *s, const struct journal_row *row, int64_t *id,
	       struct remem_err *err)
{
	unsigned char prev[SHA256_BYTES], hash[SHA256_BYTES];
	struct journal_row r = *row;
	int64_t last;
	int rc = read_head(s, &last, prev, err);

	if (rc)
		return rc;
	r.id = last + 1;
	r.at_ms = row->at_ms ? row->at_ms : clock_now_ms();
	row_hash(hash, prev, &r);
	r.prev = prev;
	r.hash = hash;
	if (id)
		*id = r.id;
	rc = insert(s, &r, err);
	return rc ? rc : write_mark(s, "INSERT INTO journal_head VALUES(1, ?1, "
				    "?2) ON CONFLICT(one) DO UPDATE SET "
				    "id = ?1, hash = ?2", r.id, hash, err);
}

int state_journal_add(struct state *s, const struct journal_row *row,
		      int64_t *id, struct remem_err *err)
{
	int rc = state_begin(s, true, err);

	if (rc)
		return rc;
	rc = add(s, row, id, err);
	if (!rc)
		return state_commit(s, err);
	state_rollback(s);
	return rc;
}

/* ---- reading ---- */

static const unsigned char *column_hash(sqlite3_stmt *st, int at)
{
	return sqlite3_column_bytes(st, at) == SHA256_BYTES ?
	       sqlite3_column_blob(st, at) : NULL;
}

static void read_row(struct journal_row *r, sqlite3_stmt *st)
{
	r->id = sqlite3_column_int64(st, C_ID);
	r->at_ms = sqlite3_column_int64(st, C_TIME);
	r->actor = (const char *)sqlite3_column_text(st, C_ACTOR);
	r->session = (const char *)sqlite3_column_text(st, C_SESSION);
	r->op = (const char *)sqlite3_column_text(st, C_OP);
	r->path = (const char *)sqlite3_column_text(st, C_PATH);
	r->before = column_hash(st, C_BEFORE);
	r->after = column_hash(st, C_AFTER);
	r->bytes = sqlite3_column_int64(st, C_BYTES);
	r->origin = (const char *)sqlite3_column_text(st, C_ORIGIN);
	r->detail = (const char *)sqlite3_column_text(st, C_DETAIL);
	r->prev = column_hash(st, C_PREV);
	r->hash = column_hash(st, C_HASH);
}

static void add_conditions(struct buf *b, const struct journal_query *q)
{
	buf_adds(b, " WHERE time >= ?1");
	if (q->op)
		buf_adds(b, " AND op = ?2");
	if (q->path)
		buf_adds(b, " AND path = ?3");
	if (q->like)
		buf_adds(b, " AND (instr(path, ?4) OR instr(detail, ?4))");
	if (q->session)
		buf_adds(b, " AND session = ?5");
	if (q->id)
		buf_adds(b, " AND id = ?6");
}

static int ask_rows(struct state *s, const struct journal_query *q,
		    sqlite3_stmt **st, struct remem_err *err)
{
	struct buf b = BUF_INIT(0);
	int rc;

	buf_adds(&b, "SELECT * FROM (SELECT " COLUMNS " FROM journal");
	add_conditions(&b, q);
	buf_adds(&b, " ORDER BY id DESC LIMIT ?7) ORDER BY id");
	if (!(rc = buf_check(&b, err)))
		rc = state_ask(s, buf_str(&b), st, err);
	buf_release(&b);
	if (rc)
		return rc;
	sqlite3_bind_int64(*st, 1, q->since_ms);
	state_text(*st, 2, q->op);
	state_text(*st, 3, q->path);
	state_text(*st, 4, q->like);
	state_text(*st, 5, q->session);
	sqlite3_bind_int64(*st, 6, q->id);
	sqlite3_bind_int(*st, 7, q->limit > 0 ? q->limit : -1);
	return 0;
}

int state_journal_each(struct state *s, const struct journal_query *q,
		       int (*fn)(void *ctx, const struct journal_row *row),
		       void *ctx, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc;

	if (s->version < 2)
		return 0;
	if ((rc = ask_rows(s, q, &st, err)))
		return rc;
	while (state_row(s, st, &rc, err)) {
		struct journal_row r;

		read_row(&r, st);
		rc = fn(ctx, &r);
	}
	return rc;
}

/* ---- verifying ---- */

static void broken(struct journal_state *out, int64_t id, const char *why)
{
	if (out->broken)
		return;
	out->broken = id ? id : 1;
	snprintf(out->why, sizeof(out->why), "%s", why);
}

/* One link of the chain; expect: the hash before it. */
static void check(struct journal_state *out, const struct journal_row *r,
		  int64_t before, unsigned char expect[SHA256_BYTES])
{
	unsigned char hash[SHA256_BYTES];

	if (r->id != before + 1)
		broken(out, before + 1, "the record is missing");
	else if (!r->prev || memcmp(r->prev, expect, SHA256_BYTES))
		broken(out, r->id, "it does not follow from the one before");
	row_hash(hash, r->prev ? r->prev : nothing, r);
	if (!r->hash || memcmp(r->hash, hash, SHA256_BYTES))
		broken(out, r->id, "its contents were changed");
	if (r->hash)
		memcpy(expect, r->hash, SHA256_BYTES);
}

static int check_rows(struct state *s, struct journal_state *out,
		      unsigned char expect[SHA256_BYTES],
		      struct remem_err *err)
{
	int64_t before = out->compacted;
	sqlite3_stmt *st;
	int rc = state_ask(s, "SELECT " COLUMNS " FROM journal ORDER BY id",
			   &st, err);

	if (rc)
		return rc;
	while (state_row(s, st, &rc, err)) {
		struct journal_row r;

		read_row(&r, st);
		if (!out->broken)
			check(out, &r, before, expect);
		if (!out->records++)
			out->first = r.id;
		before = out->last = r.id;
	}
	return rc;
}

static int verify(struct state *s, struct journal_state *out,
		  struct remem_err *err)
{
	unsigned char expect[SHA256_BYTES], head[SHA256_BYTES];
	int64_t head_id;
	int rc;

	if ((rc = read_base(s, &out->compacted, expect, err)) ||
	    (rc = read_head(s, &head_id, head, err)) ||
	    (rc = check_rows(s, out, expect, err)))
		return rc;
	if (head_id > out->last)
		broken(out, out->last + 1, "the record is missing");
	else if (head_id != out->last || (out->records &&
		 memcmp(head, expect, SHA256_BYTES)))
		broken(out, out->last, "it is not the one that was written "
		       "last");
	return 0;
}

int state_journal_verify(struct state *s, struct journal_state *out,
			 struct remem_err *err)
{
	int rc;

	memset(out, 0, sizeof(*out));
	if (s->version < 2)
		return 0;
	/* One snapshot: others may write meanwhile. */
	if ((rc = state_run(s, "BEGIN", err)))
		return rc;
	rc = verify(s, out, err);
	sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

/* ---- compaction ---- */

static int note_compaction(struct state *s, int64_t upto, int64_t removed,
			   const unsigned char hash[SHA256_BYTES],
			   int64_t now_ms, struct remem_err *err)
{
	char hex[2 * SHA256_BYTES + 1], detail[160];
	struct journal_row r = { .at_ms = now_ms, .actor = "remem",
				 .op = "compact", .origin = "system",
				 .detail = detail };

	hex_encode(hex, hash, SHA256_BYTES);
	snprintf(detail, sizeof(detail), "{\"upTo\":%lld,\"removed\":%lld,"
		 "\"hash\":\"%s\"}", (long long)upto, (long long)removed, hex);
	return state_journal_add(s, &r, NULL, err);
}

static int compact(struct state *s, int64_t upto, int64_t now_ms,
		   int64_t *removed, struct remem_err *err)
{
	unsigned char hash[SHA256_BYTES];
	sqlite3_stmt *st;
	int64_t id = 0;
	int rc = state_ask(s, "SELECT id, hash FROM journal WHERE id <= ?1 "
			   "ORDER BY id DESC LIMIT 1", &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, upto);
	while (state_row(s, st, &rc, err)) {
		id = sqlite3_column_int64(st, 0);
		state_hash(st, 1, hash, SHA256_BYTES);
	}
	if (rc || !id)
		return rc;
	if ((rc = write_mark(s, "INSERT INTO journal_base VALUES(1, ?1, ?2) "
			     "ON CONFLICT(one) DO UPDATE SET id = ?1, "
			     "hash = ?2", id, hash, err)) ||
	    (rc = state_ask(s, "DELETE FROM journal WHERE id <= ?1", &st,
			    err)))
		return rc;
	sqlite3_bind_int64(st, 1, id);
	if ((rc = state_done(s, st, err)))
		return rc;
	*removed = sqlite3_changes64(s->db);
	return note_compaction(s, id, *removed, hash, now_ms, err);
}

int state_journal_compact(struct state *s, int64_t upto, int64_t now_ms,
			  int64_t *removed, struct remem_err *err)
{
	struct journal_state js;
	int rc = state_journal_verify(s, &js, err);

	*removed = 0;
	if (rc)
		return rc;
	if (js.broken)
		return fail(err, REMEM_ECORRUPT, "the journal is broken at "
			    "record %lld: %s", (long long)js.broken, js.why);
	if (upto >= js.last) /* the newest stays */
		upto = js.last - 1;
	if (upto < js.first)
		return 0;
	if ((rc = state_begin(s, true, err)))
		return rc;
	rc = compact(s, upto, now_ms, removed, err);
	if (!rc)
		return state_commit(s, err);
	state_rollback(s);
	return rc;
}
