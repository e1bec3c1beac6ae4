/* Rows of files. */
#include <string.h>

#include "store/sqlite_store.h"

enum file_column { /* as FILE_COLUMNS */
	F_ID,
	F_PATH,
	F_SOURCE,
	F_SKIPPED,
	F_REASON,
	F_CURATED,
	F_UNDATED,
	F_DEV,
	F_INODE,
	F_SIZE,
	F_MTIME,
	F_CTIME,
	F_HASH,
	F_DATE,
	F_TITLE,
	F_TAGS,
	F_ALIASES,
	F_WARNINGS,
	F_LINES,
	F_CHUNKS,
	F_PASSAGES
};

/* The columns up to the hash, without the texts among them. */
static void file_numbers(struct store_file *f, sqlite3_stmt *st)
{
	const void *hash = sqlite3_column_blob(st, F_HASH);

	memset(f, 0, sizeof(*f));
	f->id = sqlite3_column_int64(st, F_ID);
	f->source = (enum store_source)sqlite3_column_int(st, F_SOURCE);
	f->skipped = sqlite3_column_int(st, F_SKIPPED);
	f->curated = sqlite3_column_int(st, F_CURATED);
	f->undated_reference = sqlite3_column_int(st, F_UNDATED);
	f->dev = (uint64_t)sqlite3_column_int64(st, F_DEV);
	f->inode = (uint64_t)sqlite3_column_int64(st, F_INODE);
	f->size = sqlite3_column_int64(st, F_SIZE);
	f->mtime_ns = sqlite3_column_int64(st, F_MTIME);
	f->ctime_ns = sqlite3_column_int64(st, F_CTIME);
	if (hash && sqlite3_column_bytes(st, F_HASH) == SHA256_BYTES)
		memcpy(f->hash, hash, SHA256_BYTES);
}

void sq_file_row(struct store_file *f, struct arena *a, sqlite3_stmt *st)
{
	file_numbers(f, st);
	f->path = sq_col_text(a, st, F_PATH);
	f->reason = sq_col_text(a, st, F_REASON);
	f->date = sq_col_date(st, F_DATE);
	f->title = sq_col_text(a, st, F_TITLE);
	f->tags = sq_col_text(a, st, F_TAGS);
	f->aliases = sq_col_text(a, st, F_ALIASES);
	f->warnings = (unsigned)sqlite3_column_int(st, F_WARNINGS);
	f->lines = sqlite3_column_int(st, F_LINES);
	f->chunks = sqlite3_column_int(st, F_CHUNKS);
	f->passages = sqlite3_column_int(st, F_PASSAGES);
}

int sq_file_write(struct sq *s, const struct store_file *f,
		  struct remem_err *err)
{
	sqlite3_stmt *st;
	char room[16];
	int rc = sq_get(s, S_FILE_PUT, &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, F_ID + 1, f->id);
	sq_bind_text(st, F_PATH + 1, f->path);
	sqlite3_bind_int(st, F_SOURCE + 1, f->source);
	sqlite3_bind_int(st, F_SKIPPED + 1, f->skipped);
	sq_bind_text(st, F_REASON + 1, f->reason);
	sqlite3_bind_int(st, F_CURATED + 1, f->curated);
	sqlite3_bind_int(st, F_UNDATED + 1, f->undated_reference);
	sqlite3_bind_int64(st, F_DEV + 1, (int64_t)f->dev);
	sqlite3_bind_int64(st, F_INODE + 1, (int64_t)f->inode);
	sqlite3_bind_int64(st, F_SIZE + 1, f->size);
	sqlite3_bind_int64(st, F_MTIME + 1, f->mtime_ns);
	sqlite3_bind_int64(st, F_CTIME + 1, f->ctime_ns);
	sqlite3_bind_blob(st, F_HASH + 1, f->hash, SHA256_BYTES, SQLITE_STATIC);
	sq_bind_date(st, F_DATE + 1, f->date, room);
	sq_bind_text(st, F_TITLE + 1, f->title);
	sq_bind_text(st, F_TAGS + 1, f->tags);
	sq_bind_text(st, F_ALIASES + 1, f->aliases);
	sqlite3_bind_int(st, F_WARNINGS + 1, (int)f->warnings);
	sqlite3_bind_int(st, F_LINES + 1, f->lines);
	sqlite3_bind_int(st, F_CHUNKS + 1, f->chunks);
	sqlite3_bind_int(st, F_PASSAGES + 1, f->passages);
	return sq_run(s, st, err);
}

int sq_files_each(struct store *store,
		  int (*fn)(void *ctx, const struct store_file *f), void *ctx,
		  struct remem_err *err)
{
	struct sq *s = sq_of(store);
	struct arena a = ARENA_INIT;
	struct store_file f;
	sqlite3_stmt *st;
	int rc;

	if ((rc = sq_op_begin(s, err)))
		return rc;
	if ((rc = sq_get(s, S_FILES_ALL, &st, err)))
		goto out;
	while ((rc = sq_step(s, st, err)) > 0) {
		arena_reset(&a);
		sq_file_row(&f, &a, st);
		rc = a.failed ? fail_nomem(err) : fn(ctx, &f);
		if (rc)
			break;
	}
	sqlite3_reset(st);
out:
	sq_op_end(s);
	arena_release(&a);
	return rc;
}

/* The statement for one path and those below it: from "path/" to "path0",
 * as '0' comes behind '/'. */
static int stamps_under(struct sq *s, const char *under, sqlite3_stmt **st,
			struct arena *a, struct remem_err *err)
{
	const char *from = arena_printf(a, "%s/", under);
	const char *to = arena_printf(a, "%s0", under);
	int rc = sq_get(s, S_FILE_STAMPS_UNDER, st, err);

	if (rc)
		return rc;
	sq_bind_text(*st, 1, under);
	sq_bind_text(*st, 2, from);
	sq_bind_text(*st, 3, to);
	return a->failed ? fail_nomem(err) : 0;
}

int sq_file_stamps(struct store *store, const char *under,
		   int (*fn)(void *ctx, const struct store_file *f), void *ctx,
		   struct remem_err *err)
{
	struct sq *s = sq_of(store);
	struct arena a = ARENA_INIT;
	struct store_file f;
	sqlite3_stmt *st;
	int rc;

	if ((rc = sq_op_begin(s, err)))
		return rc;
	rc = under ? stamps_under(s, under, &st, &a, err) :
		     sq_get(s, S_FILE_STAMPS, &st, err);
	if (!rc) {
		while ((rc = sq_step(s, st, err)) > 0) {
			file_numbers(&f, st);
			f.path = (const char *)sqlite3_column_text(st, F_PATH);
			f.reason = (const char *)sqlite3_column_text(st,
								     F_REASON);
			rc = f.path ? fn(ctx, &f) : fail_nomem(err);
			if (rc)
				break;
		}
		sqlite3_reset(st);
	}
	sq_op_end(s);
	arena_release(&a);
	return rc;
}

static int one_file(struct sq *s, struct arena *a, sqlite3_stmt *st,
		    struct store_file *out, bool *found, struct remem_err *err)
{
	int rc = sq_step(s, st, err);

	*found = rc > 0;
	if (rc <= 0)
		return rc;
	sq_file_row(out, a, st);
	sqlite3_reset(st);
	return a->failed ? fail_nomem(err) : 0;
}

int sq_file_get(struct store *store, struct arena *a, int64_t id,
		struct store_file *out, bool *found, struct remem_err *err)
{
	struct sq *s = sq_of(store);
	sqlite3_stmt *st;
	int rc = sq_get(s, S_FILE_BY_ID, &st, err);

	*found = false;
	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, id);
	return one_file(s, a, st, out, found, err);
}

int sq_file_brief(struct store *store, struct arena *a, int64_t id,
		  struct store_file *out, bool *found, struct remem_err *err)
{
	struct sq *s = sq_of(store);
	sqlite3_stmt *st;
	int rc = sq_get(s, S_FILE_BRIEF, &st, err);

	*found = false;
	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, id);
	if ((rc = sq_step(s, st, err)) <= 0)
		return rc;
	memset(out, 0, sizeof(*out));
	out->id = id;
	out->path = sq_col_text(a, st, 0);
	out->source = (enum store_source)sqlite3_column_int(st, 1);
	out->date = sq_col_date(st, 2);
	*found = true;
	sqlite3_reset(st);
	return a->failed ? fail_nomem(err) : 0;
}

int sq_file_find(struct store *store, struct arena *a, const char *path,
		 struct store_file *out, bool *found, struct remem_err *err)
{
	struct sq *s = sq_of(store);
	sqlite3_stmt *st;
	int rc = sq_get(s, S_FILE_BY_PATH, &st, err);

	*found = false;
	if (rc)
		return rc;
	sq_bind_text(st, 1, path);
	return one_file(s, a, st, out, found, err);
}
