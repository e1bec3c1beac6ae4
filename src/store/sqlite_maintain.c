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

int sq_publish(struct store *st, struct remem_err *err)
{
	struct sq *s = sq_of(st);
	int rc;

	if (s->mode != STORE_REBUILD || s->in_write)
		return fail(err, REMEM_EINVAL, "there is no index to publish");
	if ((rc = verify(s, err)))
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

/* A quarter of free pages is room to work in; more is given back. */
static int shrink(struct sq *s, struct remem_err *err)
{
	int64_t pages, free_pages;
	int rc;

	if ((rc = pragma_int(s, "PRAGMA page_count", &pages, err)) ||
	    (rc = pragma_int(s, "PRAGMA freelist_count", &free_pages, err)))
		return rc;
	if (free_pages < 64 || free_pages < pages / 4)
		return 0;
	return sq_exec(s, "PRAGMA incremental_vacuum", err);
}

/* Postings taken back stay as marks until their segments are merged. Merging
 * is bounded, so that many small syncs share the work. */
#define MERGE_PAGES 500

static int merge_postings(struct sq *s, struct remem_err *err)
{
	char sql[96];

	sqlite3_snprintf(sizeof(sql), sql, "INSERT INTO postings(postings, "
			 "rank) VALUES('merge', %d)", MERGE_PAGES);
	return sq_exec(s, sql, err);
}

int sq_maintain(struct store *st, int64_t cache_entries, struct remem_err *err)
{
	struct sq *s = sq_of(st);
	int64_t before = 0, after = 0;
	int rc;

	if (s->mode == STORE_READ || s->in_write)
		return fail(err, REMEM_EINVAL,
			    "the index is not open for maintenance");
	if ((rc = sq_begin(st, err)))
		return rc;
	before = sqlite3_total_changes(s->db);
	if ((rc = vectors_maintain(s, cache_entries, err)) ||
	    (rc = merge_postings(s, err))) {
		sq_rollback(st);
		return rc;
	}
	after = sqlite3_total_changes(s->db);
	if ((rc = sq_commit(st, err)))
		return rc;
	vectors_swept(s);
	if ((rc = shrink(s, err)))
		return rc;
	if (after - before < 2)
		return 0;
	sqlite3_wal_checkpoint_v2(s->db, "main", SQLITE_CHECKPOINT_TRUNCATE,
				  NULL, NULL);
	return 0;
}
