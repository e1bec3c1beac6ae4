/*
 * Vectors of another generation taken over as cache: a rebuild, or a run that
 * was killed in the middle of one, does not pay for them again.
 */
#include <string.h>

#include "base/alloc.h"
#include "store/sqlite_store.h"

struct source { /* one fingerprint of the other generation */
	struct sq *s;
	sqlite3 *db;
	const char *gen_dir;
	int fp, dims;
	int64_t slots;
	struct vecfile *vec;
};

static int query(struct source *o, const char *sql, sqlite3_stmt **st)
{
	return sqlite3_prepare_v2(o->db, sql, -1, st, NULL) ? REMEM_EIO : 0;
}

static int copy_one(struct source *o, struct fp *f, sqlite3_stmt *row,
		    struct remem_err *err)
{
	const unsigned char *key = sqlite3_column_blob(row, 0);
	int64_t slot = sqlite3_column_int64(row, 1);
	const struct vec_meta *m;
	struct vec_meta copy;
	int rc;

	if (!key || sqlite3_column_bytes(row, 0) != SHA256_BYTES || slot < 0 ||
	    slot >= o->slots || !(m = vecfile_meta(o->vec, (size_t)slot)) ||
	    !(m->scale > 0))
		return 0;
	if (embed_key_has(o->s, f->id, key))
		return 0;
	copy = *m;
	copy.flags = 0;
	copy.owner = VEC_SHARED;
	if ((rc = vecfile_put(f->vec, (size_t)f->slots,
			      vecfile_row(o->vec, (size_t)slot), &copy, err)) ||
	    (rc = embed_key_put(o->s, f, key, f->slots,
				sqlite3_column_int(row, 2),
				sqlite3_column_int(row, 3), err)))
		return rc;
	f->slots++;
	f->dirty = true;
	return 0;
}

static int copy_rows(struct source *o, struct fp *f, struct remem_err *err)
{
	sqlite3_stmt *row;
	int rc = query(o, o->s->live_only ?
		       "SELECT key, slot, script, used_day FROM embeddings e "
		       "WHERE fp = ?1 AND EXISTS(SELECT 1 FROM passages p "
		       "WHERE p.slot = e.slot) ORDER BY key" :
		       "SELECT key, slot, script, used_day FROM embeddings "
		       "WHERE fp = ?1 ORDER BY key", &row);

	if (rc)
		return rc;
	sqlite3_bind_int(row, 1, o->fp);
	while (!rc && sqlite3_step(row) == SQLITE_ROW)
		rc = copy_one(o, f, row, err);
	sqlite3_finalize(row);
	return rc;
}

static int copy_fp(struct source *o, sqlite3_stmt *row, struct remem_err *err)
{
	const char *text = (const char *)sqlite3_column_text(row, 1);
	const char *file = (const char *)sqlite3_column_text(row, 3);
	struct buf path = BUF_INIT(0);
	struct fp *f;
	int rc;

	o->fp = sqlite3_column_int(row, 0);
	o->dims = sqlite3_column_int(row, 2);
	o->slots = sqlite3_column_int64(row, 4);
	if (!text || !file)
		return 0;
	buf_addf(&path, "%s/%s", o->gen_dir, file);
	/* A file that is damaged has nothing to give. */
	if (buf_check(&path, NULL) ||
	    vecfile_open(&o->vec, buf_str(&path), o->dims, false, NULL)) {
		buf_release(&path);
		return 0;
	}
	if (!(rc = fp_obtain(o->s, text, o->dims, &f, err)) &&
	    !(rc = fp_open_vec(o->s, f, err)))
		rc = copy_rows(o, f, err);
	vecfile_free(o->vec);
	o->vec = NULL;
	buf_release(&path);
	return rc;
}

static int copy_refused(struct source *o, struct remem_err *err)
{
	sqlite3_stmt *row, *put;
	int rc = query(o, "SELECT f.text, f.dims, r.hash, r.reason "
		       "FROM refused r JOIN fingerprints f ON f.fp = r.fp",
		       &row);

	if (rc)
		return 0;
	while (!rc && sqlite3_step(row) == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(row, 0);
		struct fp *f;

		if (!text || fp_obtain(o->s, text, sqlite3_column_int(row, 1),
				       &f, NULL))
			continue;
		if ((rc = sq_get(o->s, S_REFUSE, &put, err)))
			break;
		sqlite3_bind_int(put, 1, f->id);
		sqlite3_bind_value(put, 2, sqlite3_column_value(row, 2));
		sqlite3_bind_value(put, 3, sqlite3_column_value(row, 3));
		rc = sq_run(o->s, put, err);
	}
	sqlite3_finalize(row);
	return rc;
}

static int copy_all(struct source *o, struct remem_err *err)
{
	sqlite3_stmt *row;
	int rc = query(o, "SELECT fp, text, dims, file, slots "
		       "FROM fingerprints ORDER BY fp", &row);

	if (rc)
		return rc;
	while (!rc && sqlite3_step(row) == SQLITE_ROW)
		rc = copy_fp(o, row, err);
	sqlite3_finalize(row);
	return rc ? rc : copy_refused(o, err);
}

int cache_import(struct sq *s, const char *gen_dir, struct remem_err *err)
{
	struct source o = { .s = s, .gen_dir = gen_dir };
	struct buf path = BUF_INIT(0);
	int rc;

	buf_addf(&path, "%s/" DATABASE_NAME, gen_dir);
	if ((rc = buf_check(&path, err)))
		goto out;
	/* Its last transactions may still stand in its WAL. */
	if (sqlite3_open_v2(buf_str(&path), &o.db, SQLITE_OPEN_READWRITE |
			    SQLITE_OPEN_NOMUTEX, NULL)) {
		rc = fail(err, REMEM_EIO, "cannot open '%s'", buf_str(&path));
		goto out;
	}
	sqlite3_busy_timeout(o.db, 1000);
	if ((rc = sq_begin(&s->head, err)))
		goto out;
	if (!(rc = copy_all(&o, err)))
		rc = sq_commit(&s->head, err);
	else
		sq_rollback(&s->head);
out:
	sqlite3_close(o.db);
	buf_release(&path);
	return rc;
}
