/*
 * What a writer does behind a sync: old cache rows go, files of vectors with
 * too many dead slots are written anew, norms follow their means, the database
 * gives pages back. And publishing a new generation.
 */
#include <string.h>

#include "base/file.h"
#include "store/sqlite_store.h"

/* ---- publishing ---- */

static int pragma_ok(struct sq *s, const char *sql, struct remem_err *err)
{
	sqlite3_stmt *st;
	const char *text;
	int rc = 0;

	if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL))
		return sq_fail(s, "check", err);
	if (sqlite3_step(st) != SQLITE_ROW) {
		rc = sq_fail(s, "check", err);
	} else {
		text = (const char *)sqlite3_column_text(st, 0);
		if (!text || strcmp(text, "ok")) {
			s->broken = true;
			rc = fail(err, REMEM_ECORRUPT,
				  "the new index '%s' is damaged: %s",
				  s->db_path, text ? text : "no memory");
		}
	}
	sqlite3_finalize(st);
	return rc;
}

static int verify(struct sq *s, struct remem_err *err)
{
	struct arena a = ARENA_INIT;
	const char **problems;
	int count, rc;

	if ((rc = pragma_ok(s, "PRAGMA quick_check(1)", err)))
		return rc;
	rc = counts_check(s, &a, &problems, &count, err);
	if (!rc && count)
		rc = fail(err, REMEM_EBUG, "the new index does not add up: %s",
			  problems[0]);
	arena_release(&a);
	return rc;
}

/* What was gathered is written by now; checking may call FTS5. */
static int one_segment(struct sq *s, struct remem_err *err)
{
	bool done;
	int rc = sq_begin(&s->head, err);

	if (rc)
		return rc;
	if ((rc = bulk_merge(s, &done, err)) ||
	    (rc = sq_commit(&s->head, err)))
		sq_rollback(&s->head);
	else if (done)
		s->chunks_moved = 0;
	bulk_free(s);
	return rc;
}

int sq_publish(struct store *st, struct remem_err *err)
{
	struct sq *s = sq_of(st);
	int rc;

	if (s->mode != STORE_REBUILD || s->in_write)
		return fail(err, REMEM_EINVAL, "there is no index to publish");
	if ((rc = one_segment(s, err)) || (rc = verify(s, err)))
		return rc;
	/* With synchronous = NORMAL it is the checkpoint that syncs. */
	if ((rc = sq_exec(s, "PRAGMA wal_checkpoint(TRUNCATE)", err)) ||
	    (rc = dir_fsync(s->gen_dir, err)) ||
	    (rc = gen_set_current(s->dir, s->generation, err)))
		return rc;
	s->mode = STORE_WRITE;
	s->published = true;
	/* Who still reads the old one has it open. */
	gen_remove_others(s->dir, s->generation, s->generation);
	return 0;
}

/* ---- the database ---- */

#define FREE_MIN 16 /* pages; fewer are not worth a write */

static int pragma_int(struct sq *s, const char *sql, int64_t *out,
		      struct remem_err *err)
{
	sqlite3_stmt *st;

	*out = 0;
	if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL))
		return sq_fail(s, "read", err);
	if (sqlite3_step(st) == SQLITE_ROW)
		*out = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return 0;
}

/* A quarter of free pages is room to work in; more is given back. After a bulk
 * nothing is kept for a next one. */
static int shrink(struct sq *s, bool bulk, struct remem_err *err)
{
	int64_t pages, free_pages, spare;
	int rc;

	if ((rc = pragma_int(s, "PRAGMA page_count", &pages, err)) ||
	    (rc = pragma_int(s, "PRAGMA freelist_count", &free_pages, err)))
		return rc;
	spare = bulk ? pages / 16 : pages / 4;
	if (free_pages < FREE_MIN || free_pages < spare)
		return 0;
	return sq_exec(s, "PRAGMA incremental_vacuum", err);
}

/* A search asks every segment of the postings for every term: after a bulk of
 * chunks all become one, which saves it half its time, and what was removed
 * leaves the table. Otherwise a few pages of the small ones are merged, in 2 ms
 * at most. A bulk is this many chunks put or removed, or a quarter of all. */
#define BULK_CHUNKS 1000
#define BULK_LEAST 32
#define MERGE "INSERT INTO postings(postings, rank) VALUES('merge', 16)"
#define OPTIMIZE "INSERT INTO postings(postings) VALUES('optimize')"

#define WAL_LARGE (4 << 20) /* bytes: cut before the next run */

static bool is_bulk(const struct sq *s)
{
	return s->chunks_moved >= BULK_CHUNKS ||
	       (s->chunks_moved >= BULK_LEAST &&
		s->chunks_moved >= s->counts[C_CHUNKS] / 4);
}

static int merge_postings(struct sq *s, bool bulk, struct remem_err *err)
{
	bool done;
	int rc = bulk_merge(s, &done, err);

	if (rc || done)
		return rc;
	if ((rc = bulk_end(s, err)))
		return rc;
	return sq_exec(s, bulk ? OPTIMIZE : MERGE, err);
}

int sq_maintain(struct store *st, int64_t cache_entries, struct remem_err *err)
{
	struct sq *s = sq_of(st);
	bool bulk;
	int rc;

	if (s->mode == STORE_READ || s->in_write)
		return fail(err, REMEM_EINVAL,
			    "the index is not open for maintenance");
	if ((rc = sq_begin(st, err)))
		return rc;
	bulk = is_bulk(s);
	if ((rc = vectors_maintain(s, cache_entries, err)) ||
	    (rc = merge_postings(s, bulk, err))) {
		sq_rollback(st);
		return rc;
	}
	if ((rc = sq_commit(st, err)))
		return rc;
	s->chunks_moved = 0;
	vectors_swept(s);
	if ((rc = shrink(s, bulk, err)))
		return rc;
	sq_checkpoint(s, bulk ? 0 : WAL_LARGE);
	return 0;
}
