/* See state.h. Rows here are the user's: every commit is synced, and nothing
 * is ever set aside or made anew by itself. */
#include "store/state_db.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"

#define BUSY_MS 10000
#define APPLICATION_ID 0x52454d53 /* "REMS" */

static const char schema_1[] =
	"CREATE TABLE workspace(id TEXT PRIMARY KEY, path TEXT, dev INT, "
	"inode INT);"
	"CREATE TABLE ledger(at INT, provider TEXT, model TEXT, items INT, "
	"tokens INT, status INT, took_ms INT);"
	"CREATE INDEX ledger_at ON ledger(at);"
	"CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;";

static const char schema_2[] =
	"CREATE TABLE journal(id INTEGER PRIMARY KEY, time INT, actor TEXT, "
	"session TEXT, op TEXT, path TEXT, before BLOB, after BLOB, "
	"bytes INT, origin TEXT, detail TEXT, prev BLOB, hash BLOB);"
	"CREATE TABLE journal_head(one INTEGER PRIMARY KEY, id INT, "
	"hash BLOB);"
	"CREATE TABLE journal_base(one INTEGER PRIMARY KEY, id INT, "
	"hash BLOB);"
	"CREATE TABLE note(path TEXT PRIMARY KEY, dev INT, inode INT, "
	"size INT, mtime INT, ctime INT, hash BLOB, mid BLOB, origin INT, "
	"outside INT, journal INT, seq INT, lines INT) WITHOUT ROWID;"
	"CREATE TABLE line(id INTEGER PRIMARY KEY, path TEXT, line BLOB, "
	"words BLOB, source TEXT, origin INT, time INT, journal INT);"
	"CREATE INDEX line_line ON line(line, path);"
	"CREATE INDEX line_words ON line(path, words);"
	"CREATE INDEX line_journal ON line(journal);"
	"CREATE TABLE pending(id INTEGER PRIMARY KEY, journal INT, path TEXT, "
	"rewrite INT, size INT, before BLOB, after BLOB, bytes BLOB);"
	"CREATE TABLE preimage(journal INTEGER PRIMARY KEY, time INT, "
	"path TEXT, mode INT, absent INT, size INT, bytes BLOB);"
	"CREATE TABLE tombstone(kind TEXT, hash BLOB, time INT, journal INT, "
	"PRIMARY KEY(kind, hash)) WITHOUT ROWID;"
	"CREATE TABLE rate(key TEXT PRIMARY KEY, span INT, sum INT) "
	"WITHOUT ROWID;";

/* What was put in front of a model, by conversation; see state_note.h. */
static const char schema_3[] =
	"CREATE TABLE given(words BLOB, session TEXT, time INT, "
	"PRIMARY KEY(words, session)) WITHOUT ROWID; "
	"CREATE INDEX given_time ON given(time);";

/* What waits for a person's word; see state_review.h. Numbers are never given
 * twice: a person may still hold the number of one that is gone. */
static const char schema_4[] =
	"CREATE TABLE review(id INTEGER PRIMARY KEY AUTOINCREMENT, time INT, "
	"path TEXT, text TEXT, source TEXT, reason TEXT, via TEXT, "
	"session TEXT, origin INT, words BLOB);"
	"CREATE INDEX review_words ON review(words);";

/* Jobs of batch interfaces; see state_batch.h. */
static const char schema_5[] =
	"CREATE TABLE batch_job(id INTEGER PRIMARY KEY AUTOINCREMENT, "
	"name TEXT, scope TEXT, provider TEXT, model TEXT, base TEXT, "
	"fingerprint TEXT, step INT, remote TEXT, input TEXT, output TEXT, "
	"errors TEXT, reason TEXT, lines INT, tokens INT, done INT, "
	"failed INT, remote_done INT, made INT, sent INT, asked INT, "
	"next INT, ended INT, tries INT, ledger INT);"
	"CREATE TABLE batch_line(job INT, key BLOB, script INT, tokens INT, "
	"PRIMARY KEY(job, key)) WITHOUT ROWID;";

/* Who asked, what a model wrote of it, and what is set aside for calls that
 * are on their way; see state.h. */
static const char schema_6[] =
	"ALTER TABLE ledger ADD COLUMN agent TEXT; "
	"ALTER TABLE ledger ADD COLUMN answer INT NOT NULL DEFAULT 0; "
	"CREATE TABLE hold(id INTEGER PRIMARY KEY AUTOINCREMENT, until INT, "
	"tokens INT, usd REAL);";

/* What brings a file from the version before to each one. */
static const char *const schemas[STATE_VERSION] = { schema_1, schema_2,
						    schema_3, schema_4,
						    schema_5,
						    schema_6 };

int state_fail(struct state *s, const char *what, struct remem_err *err)
{
	int code = sqlite3_errcode(s->db) & 0xff, rc = REMEM_EIO;

	if (code == SQLITE_NOMEM)
		return fail_nomem(err);
	if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
		rc = REMEM_ECORRUPT;
	else if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
		rc = REMEM_EBUSY;
	else if (code == SQLITE_READONLY || code == SQLITE_PERM)
		rc = REMEM_EPERM;
	fail(err, rc, "cannot %s '%s': %s", what, s->path,
	     sqlite3_errmsg(s->db));
	if (rc == REMEM_ECORRUPT)
		fail_action(err, "it holds what notes cannot give back: put a "
			    "copy from a dump in its place, or move it away");
	else if (code == SQLITE_FULL)
		fail_action(err, "make room on the disk");
	return rc;
}

int state_ask(struct state *s, const char *sql, sqlite3_stmt **st,
	      struct remem_err *err)
{
	if (sqlite3_prepare_v2(s->db, sql, -1, st, NULL))
		return state_fail(s, "read", err);
	return 0;
}

/* Runs and finalizes. */
int state_done(struct state *s, sqlite3_stmt *st, struct remem_err *err)
{
	int rc = sqlite3_step(st);

	rc = rc == SQLITE_DONE || rc == SQLITE_ROW ? 0 :
	     state_fail(s, "write", err);
	sqlite3_finalize(st);
	return rc;
}

int state_run(struct state *s, const char *sql, struct remem_err *err)
{
	if (sqlite3_exec(s->db, sql, NULL, NULL, NULL))
		return state_fail(s, "write", err);
	return 0;
}

bool state_row(struct state *s, sqlite3_stmt *st, int *rc,
	       struct remem_err *err)
{
	int step = *rc ? SQLITE_DONE : sqlite3_step(st);

	if (step == SQLITE_ROW)
		return true;
	if (step != SQLITE_DONE)
		*rc = state_fail(s, "read", err);
	sqlite3_finalize(st);
	return false;
}

int state_number(struct state *s, const char *sql, int64_t *out,
		 struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, sql, &st, err);

	*out = 0;
	if (rc)
		return rc;
	while (state_row(s, st, &rc, err))
		*out = sqlite3_column_int64(st, 0);
	return rc;
}

void state_text(sqlite3_stmt *st, int at, const char *value)
{
	sqlite3_bind_text(st, at, value, -1, SQLITE_STATIC);
}

const char *state_col(sqlite3_stmt *st, int at, struct arena *a)
{
	const char *t = (const char *)sqlite3_column_text(st, at);
	size_t n = (size_t)sqlite3_column_bytes(st, at);

	return t ? arena_strndup(a, t, n) : "";
}

void state_hash(sqlite3_stmt *st, int at, void *out, int len)
{
	const void *p = sqlite3_column_blob(st, at);

	memset(out, 0, (size_t)len);
	if (p && sqlite3_column_bytes(st, at) == len)
		memcpy(out, p, (size_t)len);
}

/* ---- transactions ---- */

int state_begin(struct state *s, bool sync, struct remem_err *err)
{
	int rc = 0;

	/* SQLite does not change it while a transaction is open. */
	if (!s->depth && s->lazy == sync) {
		rc = state_run(s, sync ? "PRAGMA synchronous = FULL" :
					 "PRAGMA synchronous = NORMAL", err);
		s->lazy = !sync;
		/* What need not be on disk at once need not be moved out of
		 * the log at once either: that takes three syncs. */
		sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE,
				  (int)!sync, NULL);
	}
	if (!rc && !s->depth)
		rc = state_run(s, "BEGIN IMMEDIATE", err);
	if (!rc)
		s->depth++;
	return rc;
}

int state_commit(struct state *s, struct remem_err *err)
{
	int rc;

	BUG_IF(!s->depth, err);
	if (s->depth > 1) {
		s->depth--;
		return 0;
	}
	file_fault_step();
	rc = state_run(s, "COMMIT", err);
	s->depth = 0;
	if (rc)
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

void state_rollback(struct state *s)
{
	if (s->depth)
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	s->depth = 0;
}

/* ---- opening ---- */

/* One step after the other, in the transaction that is open. */
static int migrate(struct state *s, int64_t version, struct remem_err *err)
{
	char mark[96];
	int rc = 0;

	for (; version < STATE_VERSION && !rc; version++)
		rc = state_run(s, schemas[version], err);
	snprintf(mark, sizeof(mark), "PRAGMA application_id = %d; "
		 "PRAGMA user_version = %d", APPLICATION_ID, STATE_VERSION);
	return rc ? rc : state_run(s, mark, err);
}

static int make_schema(struct state *s, struct remem_err *err)
{
	int64_t version;
	int rc = state_begin(s, true, err);

	if (rc)
		return rc;
	/* Another process may have made it while we waited. */
	if ((rc = state_number(s, "PRAGMA user_version", &version, err)) ||
	    (version < STATE_VERSION && (rc = migrate(s, version, err)))) {
		state_rollback(s);
		return rc;
	}
	s->version = STATE_VERSION;
	return state_commit(s, err);
}

static int check_version(struct state *s, bool read_only, struct remem_err *err)
{
	int64_t version;
	int rc = state_number(s, "PRAGMA user_version", &version, err);

	if (rc)
		return rc;
	if (version > STATE_VERSION) {
		fail(err, REMEM_EVERSION, "'%s' was made by a newer remem",
		     s->path);
		fail_action(err, "use the newer program");
		return REMEM_EVERSION;
	}
	s->version = (int)version;
	if (version == STATE_VERSION || (version && read_only))
		return 0;
	return read_only ? fail(err, REMEM_ENOTFOUND, "'%s' is empty",
				s->path) : make_schema(s, err);
}

/* The path as an address that SQLite opens without making files beside it. */
static void add_still(struct buf *b, const char *path)
{
	buf_adds(b, path[0] == '/' ? "file://" : "file:");
	for (const char *p = path; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (c == '/' || (c >= '0' && c <= '9') ||
		    (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
			buf_addc(b, (char)c);
		else
			buf_addf(b, "%%%02X", c);
	}
	buf_adds(b, "?immutable=1");
}

/*
 * A reader would make the files of the log and could not remove them. Without
 * a log nobody has the database open, and all is in the one file.
 */
static int open_reader(struct state *s, struct remem_err *err)
{
	int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX;
	struct buf b = BUF_INIT(0);
	int rc;

	buf_addf(&b, "%s-wal", s->path);
	if (!(rc = buf_check(&b, err)) && !file_exists(buf_str(&b))) {
		buf_reset(&b);
		add_still(&b, s->path);
		flags |= SQLITE_OPEN_URI;
	} else {
		buf_reset(&b);
		buf_adds(&b, s->path);
	}
	if (!rc && !(rc = buf_check(&b, err)))
		rc = sqlite3_open_v2(buf_str(&b), &s->db, flags, NULL);
	buf_release(&b);
	return rc;
}

/* Nobody else reads what it holds; SQLite would make it readable for all. */
static void make_private(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW |
		      O_NONBLOCK, 0600);

	/* A failure is SQLite's to word. */
	if (fd >= 0)
		close(fd);
}

static int open_db(struct state *s, bool read_only, struct remem_err *err)
{
	int rc;

	if (!read_only && !file_exists(s->path))
		make_private(s->path);
	rc = read_only ? open_reader(s, err) :
		 sqlite3_open_v2(s->path, &s->db, SQLITE_OPEN_READWRITE |
				 SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
				 NULL);

	if (rc) {
		if (!s->db)
			return fail_nomem(err);
		return read_only && !file_exists(s->path) ?
		       fail(err, REMEM_ENOTFOUND, "there is no '%s'",
			    s->path) : state_fail(s, "open", err);
	}
	sqlite3_busy_timeout(s->db, BUSY_MS);
	if (!read_only && (rc = state_run(s, "PRAGMA journal_mode = WAL; "
				    "PRAGMA synchronous = FULL; "
				    "PRAGMA temp_store = MEMORY", err)))
		return rc;
	return check_version(s, read_only, err);
}

static int set_path(struct state *s, const char *state_dir, const char *uuid,
		    bool make, struct remem_err *err)
{
	struct buf b = BUF_INIT(0);
	int rc = 0;

	buf_addf(&b, "%s/%s", state_dir, uuid);
	if (!(rc = buf_check(&b, err)) && make)
		rc = dir_make(buf_str(&b), 0700, err);
	buf_adds(&b, "/state.sqlite");
	if (!rc && !(rc = buf_check(&b, err)) && !(s->path = buf_detach(&b)))
		rc = fail_nomem(err);
	buf_release(&b);
	return rc;
}

int state_open(struct state **out, const char *state_dir, const char *uuid,
	       bool read_only, struct remem_err *err)
{
	struct state *s = mem_zalloc(sizeof(*s));
	int rc;

	*out = NULL;
	if (!s)
		return fail_nomem(err);
	rc = set_path(s, state_dir, uuid, !read_only, err);
	if (!rc)
		rc = open_db(s, read_only, err);
	if (rc)
		state_close(s);
	else
		*out = s;
	return rc;
}

void state_close(struct state *s)
{
	if (!s)
		return;
	sqlite3_finalize(s->lines);
	sqlite3_close(s->db);
	mem_free(s->path);
	mem_free(s);
}

/* ---- rows ---- */

int state_set_workspace(struct state *s, const char *real_path, uint64_t dev,
			uint64_t inode, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, "INSERT INTO workspace VALUES('this', ?1, ?2, ?3) "
		     "ON CONFLICT(id) DO UPDATE SET path = ?1, dev = ?2, "
		     "inode = ?3", &st, err);

	if (rc)
		return rc;
	state_text(st, 1, real_path);
	sqlite3_bind_int64(st, 2, (int64_t)dev);
	sqlite3_bind_int64(st, 3, (int64_t)inode);
	return state_done(s, st, err);
}

int state_workspace(struct state *s, struct arena *a, const char **real_path,
		    uint64_t *dev, uint64_t *inode, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, "SELECT path, dev, inode FROM workspace", &st, err);

	*real_path = "";
	*dev = *inode = 0;
	if (rc)
		return rc;
	while (state_row(s, st, &rc, err)) {
		*real_path = state_col(st, 0, a);
		*dev = (uint64_t)sqlite3_column_int64(st, 1);
		*inode = (uint64_t)sqlite3_column_int64(st, 2);
	}
	return rc ? rc : a->failed ? fail_nomem(err) : 0;
}

int state_meta_set(struct state *s, const char *key, const char *value,
		   struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, value ?
		     "INSERT INTO meta VALUES(?1, ?2) ON CONFLICT(key) "
		     "DO UPDATE SET value = ?2" :
		     "DELETE FROM meta WHERE key = ?1", &st, err);

	if (rc)
		return rc;
	state_text(st, 1, key);
	if (value)
		state_text(st, 2, value);
	return state_done(s, st, err);
}

const char *state_meta_get(struct state *s, struct arena *a, const char *key)
{
	const char *value = NULL;
	sqlite3_stmt *st;
	int rc = 0;

	if (state_ask(s, "SELECT value FROM meta WHERE key = ?1", &st, NULL))
		return NULL;
	state_text(st, 1, key);
	while (state_row(s, st, &rc, NULL))
		if (sqlite3_column_text(st, 0))
			value = state_col(st, 0, a);
	return value;
}

int state_meta_each(struct state *s, const char *prefix,
		    void (*fn)(void *ctx, const char *value), void *ctx,
		    struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, "SELECT value FROM meta WHERE "
			   "substr(key, 1, length(?1)) = ?1 "
			   "ORDER BY key", &st, err);

	if (rc)
		return rc;
	state_text(st, 1, prefix);
	while (state_row(s, st, &rc, err)) {
		const char *value = (const char *)sqlite3_column_text(st, 0);

		if (value)
			fn(ctx, value);
	}
	return rc;
}
