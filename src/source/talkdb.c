/* See talkdb.h. */
#include "source/talkdb.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define BUSY_MS 2000
#define NAME_BYTES 64

static bool has_magic(const char *path)
{
	static const char magic[16] = "SQLite format 3";
	char head[16];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool is = fd >= 0 && read(fd, head, sizeof(head)) == sizeof(head) &&
		  !memcmp(head, magic, sizeof(head));

	if (fd >= 0)
		close(fd);
	return is;
}

static int db_fail(sqlite3 *db, struct remem_err *err)
{
	int code = sqlite3_errcode(db) & 0xff;
	const char *name = sqlite3_db_filename(db, "main");

	if (code == SQLITE_NOMEM)
		return fail_nomem(err);
	if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
		return fail(err, REMEM_EFORMAT, "'%s' is damaged: %s",
			    name ? name : "", sqlite3_errmsg(db));
	if (code == SQLITE_ERROR)
		return fail(err, REMEM_EVERSION,
			    "'%s' has tables that are not known: %s",
			    name ? name : "", sqlite3_errmsg(db));
	fail(err, REMEM_EBUSY, "'%s' cannot be read now: %s",
	     name ? name : "", sqlite3_errmsg(db));
	fail_action(err, "it is tried again the next time");
	return REMEM_EBUSY;
}

static int open_any(sqlite3 **out, const char *path, struct remem_err *err)
{
	sqlite3 *db = NULL;
	int rc = 0;

	*out = NULL;
	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY |
			    SQLITE_OPEN_NOMUTEX, NULL)) {
		rc = db ? db_fail(db, err) : fail_nomem(err);
	} else {
		sqlite3_busy_timeout(db, BUSY_MS);
		if (sqlite3_exec(db, "PRAGMA query_only = 1; "
				 "PRAGMA cache_size = -1000; "
				 "SELECT 1 FROM sqlite_schema LIMIT 1",
				 NULL, NULL, NULL))
			rc = db_fail(db, err);
	}
	if (rc)
		sqlite3_close(db);
	else
		*out = db;
	return rc;
}

bool talkdb_is(const char *path, talkdb_known_fn *known)
{
	sqlite3 *db;
	bool is;

	if (!has_magic(path) || open_any(&db, path, NULL))
		return false;
	is = known(db);
	sqlite3_close(db);
	return is;
}

int talkdb_open(sqlite3 **out, const char *path, talkdb_known_fn *known,
		struct remem_err *err)
{
	int rc = open_any(out, path, err);

	if (rc || known(*out))
		return rc;
	sqlite3_close(*out);
	*out = NULL;
	fail(err, REMEM_EVERSION, "'%s' has no talks in a form that is known",
	     path);
	fail_action(err, "a newer remem may read it");
	return REMEM_EVERSION;
}

int talkdb_begin(struct talkdb *d, const char *path, talkdb_known_fn *known,
		 struct remem_err *err)
{
	d->parser.fd = -1;
	return talkdb_open(&d->db, path, known, err);
}

int talkdb_take(struct talkdb *d, const void *record, size_t len,
		struct remem_err *err)
{
	buf_reset(&d->record);
	if (len)
		buf_add(&d->record, record, len);
	buf_reserve(&d->record, TALKDB_ROOM);
	return buf_check(&d->record, err);
}

yyjson_val *talkdb_object(struct talkdb *d, const char **reason)
{
	yyjson_val *v = jsonl_parse(&d->parser, d->record.ptr, d->record.len,
				    reason);

	if (!v || yyjson_is_obj(v))
		return v;
	*reason = "it is no JSON object";
	return NULL;
}

void talkdb_put_flat(struct buf *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		buf_addc(out, text[i] == '\n' ? ' ' : text[i]);
}

void talkdb_release(struct talkdb *d)
{
	sqlite3_close(d->db);
	jsonl_release(&d->parser);
	buf_release(&d->record);
}

bool talkdb_has(sqlite3 *db, const char *table, const char *columns)
{
	while (*columns) {
		size_t n = strcspn(columns, " ");
		char name[NAME_BYTES];

		if (n >= sizeof(name))
			return false;
		memcpy(name, columns, n);
		name[n] = 0;
		if (sqlite3_table_column_metadata(db, NULL, table, name, NULL,
						  NULL, NULL, NULL, NULL))
			return false;
		columns += n;
		columns += *columns == ' ';
	}
	return true;
}

int talkdb_prepare(sqlite3_stmt **out, sqlite3 *db, const char *sql,
		   struct remem_err *err)
{
	*out = NULL;
	return sqlite3_prepare_v2(db, sql, -1, out, NULL) ? db_fail(db, err) :
							    0;
}

int talkdb_step(sqlite3_stmt *st, struct remem_err *err)
{
	int rc = sqlite3_step(st);

	if (rc == SQLITE_ROW)
		return 1;
	if (rc == SQLITE_DONE) {
		sqlite3_reset(st);
		return 0;
	}
	rc = db_fail(sqlite3_db_handle(st), err);
	sqlite3_reset(st);
	return rc;
}

const char *talkdb_text(struct arena *a, sqlite3_stmt *st, int column)
{
	const char *s = (const char *)sqlite3_column_text(st, column);

	return s ? arena_strdup(a, s) : NULL;
}
