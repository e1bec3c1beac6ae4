/*
 * Fingerprints: whose vectors they are. At most one is active and answers; at
 * most one other is next, being made beside it, and takes its place when every
 * passage has its vector. The rest is cache.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "store/sqlite_store.h"

static void fp_release(struct fp *f)
{
	fp_means_drop(f);
	vecfile_free(f->vec);
	mem_free(f->text);
	mem_free(f->file);
	memset(f, 0, sizeof(*f));
}

void fps_drop(struct sq *s)
{
	for (int i = 0; i < s->fp_count; i++)
		fp_release(&s->fps[i]);
	s->fp_count = 0;
	s->fps_loaded = false;
}

static struct fp *fp_slot(struct sq *s)
{
	struct fp *f;

	if (!mem_grow(&s->fps, &s->fp_cap, (size_t)s->fp_count + 1,
		      sizeof(*s->fps)))
		return NULL;
	f = &s->fps[s->fp_count];
	memset(f, 0, sizeof(*f));
	return f;
}

static char *owned_text(sqlite3_stmt *st, int at)
{
	const char *text = (const char *)sqlite3_column_text(st, at);

	return text ? mem_strdup(text) : NULL;
}

static int load_row(struct sq *s, sqlite3_stmt *st, struct remem_err *err)
{
	struct fp *f = fp_slot(s);

	if (!f)
		return fail_nomem(err);
	f->id = sqlite3_column_int(st, 0);
	f->text = owned_text(st, 1);
	f->dims = sqlite3_column_int(st, 2);
	f->state = (enum fp_state)sqlite3_column_int(st, 3);
	f->file = owned_text(st, 4);
	f->slots = sqlite3_column_int64(st, 5);
	f->rows = sqlite3_column_int64(st, 6);
	s->fp_count++;
	return f->text && f->file ? 0 : fail_nomem(err);
}

int fps_load(struct sq *s, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc;

	if (s->fps_loaded)
		return 0;
	fps_drop(s);
	if ((rc = sq_get(s, S_FP_ALL, &st, err)))
		return rc;
	while ((rc = sq_step(s, st, err)) > 0)
		if ((rc = load_row(s, st, err)))
			break;
	sqlite3_reset(st);
	if (rc)
		fps_drop(s);
	else
		s->fps_loaded = true;
	return rc;
}

static int flush_row(struct sq *s, struct fp *f, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = sq_get(s, S_FP_PUT, &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int(st, 1, f->id);
	sq_bind_text(st, 2, f->text);
	sqlite3_bind_int(st, 3, f->dims);
	sqlite3_bind_int(st, 4, f->state);
	sq_bind_text(st, 5, f->file);
	sqlite3_bind_int64(st, 6, f->slots);
	sqlite3_bind_int64(st, 7, f->rows);
	if (!(rc = sq_run(s, st, err)))
		f->dirty = false;
	return rc;
}

int fps_flush(struct sq *s, struct remem_err *err)
{
	int rc = 0;

	for (int i = 0; !rc && s->fps_loaded && i < s->fp_count; i++) {
		struct fp *f = &s->fps[i];

		if ((rc = fp_renew_norms(s, f, 2.0, err)) ||
		    (rc = fp_means_flush(s, f, err)))
			break;
		/* The bytes first, then the rows that name them. */
		if (f->vec && f->vec->dirty)
			rc = vecfile_sync(f->vec, err);
		if (!rc && f->dirty)
			rc = flush_row(s, f, err);
	}
	return rc;
}

struct fp *fp_by_id(struct sq *s, int id)
{
	for (int i = 0; i < s->fp_count; i++)
		if (s->fps[i].id == id)
			return &s->fps[i];
	return NULL;
}

struct fp *fp_in_state(struct sq *s, enum fp_state state)
{
	for (int i = 0; i < s->fp_count; i++)
		if (s->fps[i].state == state)
			return &s->fps[i];
	return NULL;
}

static struct fp *fp_by_text(struct sq *s, const char *text)
{
	for (int i = 0; i < s->fp_count; i++)
		if (!strcmp(s->fps[i].text, text))
			return &s->fps[i];
	return NULL;
}

/* ---- files ---- */

char *fp_next_file(const struct fp *f)
{
	const char *dash = f->file ? strrchr(f->file, '-') : NULL;
	char name[64];
	int turn = 0;

	if (dash && dash != strchr(f->file, '-'))
		turn = atoi(dash + 1);
	if (f->file)
		snprintf(name, sizeof(name), "vectors-%d-%d.i8", f->id,
			 turn + 1);
	else
		snprintf(name, sizeof(name), "vectors-%d.i8", f->id);
	return mem_strdup(name);
}

static int vec_path(struct sq *s, const char *file, struct buf *path,
		    struct remem_err *err)
{
	buf_addf(path, "%s/%s", s->gen_dir, file);
	return buf_check(path, err);
}

static int too_short(struct sq *s, struct fp *f, struct remem_err *err)
{
	fail(err, REMEM_ECORRUPT,
	     "the vectors '%s/%s' are damaged: cut short", s->gen_dir, f->file);
	fail_action(err, "run: remem index");
	vecfile_free(f->vec);
	f->vec = NULL;
	return REMEM_ECORRUPT;
}

int fp_open_vec(struct sq *s, struct fp *f, struct remem_err *err)
{
	struct buf path = BUF_INIT(0);
	int rc;

	if (!f->vec) {
		if (!(rc = vec_path(s, f->file, &path, err)))
			rc = vecfile_open(&f->vec, buf_str(&path), f->dims,
					  s->mode != STORE_READ, err);
		buf_release(&path);
	} else {
		rc = vecfile_refresh(f->vec, err);
	}
	if (rc)
		return rc;
	if ((size_t)f->slots > f->vec->blocks * VEC_BLOCK)
		return too_short(s, f, err);
	return 0;
}

static int run_for(struct sq *s, enum stmt_id id, int fp, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = sq_get(s, id, &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int(st, 1, fp);
	return sq_run(s, st, err);
}

/* f no longer answers and is no longer being made. */
static int demote(struct sq *s, struct fp *f, struct remem_err *err)
{
	bool active = f->state == FP_ACTIVE;
	int rc;

	if (f->state == FP_CACHE)
		return 0;
	if ((rc = sq_simple(s, active ? S_SLOTS_CLEAR : S_NEXT_CLEAR, err)) ||
	    (rc = run_for(s, S_MEANS_DEL, f->id, err)))
		return rc;
	fp_means_drop(f);
	s->counts[active ? C_EMBEDDED : C_EMBEDDED_NEXT] = 0;
	s->counts[active ? C_REFUSED : C_REFUSED_NEXT] = 0;
	s->counts_dirty = f->dirty = true;
	f->state = FP_CACHE;
	pending_drop(s);
	return 0;
}

int fp_forget(struct sq *s, struct fp *f, struct remem_err *err)
{
	enum fp_state state = f->state;
	struct buf path = BUF_INIT(0);
	char *file;
	int rc;

	if ((rc = demote(s, f, err)) ||
	    (rc = run_for(s, S_EMB_DEL_FP, f->id, err)))
		return rc;
	if (!(file = fp_next_file(f)))
		return fail_nomem(err);
	vecfile_free(f->vec);
	f->vec = NULL;
	if (!vec_path(s, f->file, &path, NULL)) {
		file_fault_step();
		unlink(buf_str(&path));
	}
	buf_release(&path);
	mem_free(f->file);
	f->file = file;
	f->slots = f->rows = 0;
	f->state = state;
	f->dirty = true;
	return 0;
}

int fps_verify(struct sq *s, struct remem_err *err)
{
	int rc;

	if ((rc = fps_load(s, err)))
		return rc;
	for (int i = 0; i < s->fp_count; i++) {
		if (!fp_open_vec(s, &s->fps[i], NULL))
			continue;
		if ((rc = sq_begin(&s->head, err)))
			return rc;
		/* begin may have loaded them anew */
		if ((rc = fps_load(s, err)) ||
		    (rc = fp_forget(s, &s->fps[i], err))) {
			sq_rollback(&s->head);
			return rc;
		}
		if ((rc = sq_commit(&s->head, err)))
			return rc;
	}
	return 0;
}

/* ---- choosing ---- */

static int fp_new(struct sq *s, const char *text, int dims, struct fp **out,
		  struct remem_err *err)
{
	struct fp *f = fp_slot(s);
	int64_t highest;
	int rc = sq_int(s, S_FP_MAX, &highest, err);

	if (rc)
		return rc;
	if (!f)
		return fail_nomem(err);
	f->id = (int)highest + 1;
	f->dims = dims;
	f->text = mem_strdup(text);
	f->file = fp_next_file(f);
	if (!f->text || !f->file) {
		fp_release(f);
		return fail_nomem(err);
	}
	f->dirty = true;
	s->fp_count++;
	*out = f;
	return flush_row(s, f, err);
}

int fp_obtain(struct sq *s, const char *text, int dims, struct fp **out,
	      struct remem_err *err)
{
	int rc = fps_load(s, err);

	if (rc)
		return rc;
	if (dims < 1 || dims > VEC_DIMS_MAX)
		return fail(err, REMEM_EINVAL, "vectors of %d dimensions", dims);
	if (!(*out = fp_by_text(s, text)))
		return fp_new(s, text, dims, out, err);
	if ((*out)->dims == dims)
		return 0;
	return fail(err, REMEM_EINVAL, "the index holds vectors of %d, not "
		    "%d dimensions", (*out)->dims, dims);
}

static int promote(struct sq *s, struct fp *f, struct remem_err *err)
{
	struct fp *active = fp_in_state(s, FP_ACTIVE);
	struct fp *next = fp_in_state(s, FP_NEXT);
	int rc = 0;

	if (next && next != f)
		rc = demote(s, next, err);
	if (rc || f->state != FP_CACHE)
		return rc;
	if (active && !s->counts[C_EMBEDDED]) {
		if ((rc = demote(s, active, err)))
			return rc;
		active = NULL;
	}
	f->state = active ? FP_NEXT : FP_ACTIVE;
	f->dirty = true;
	pending_drop(s);
	return 0;
}

int sq_fingerprint(struct store *st, const char *text, int dims, int *fp,
		   struct remem_err *err)
{
	struct sq *s = sq_of(st);
	bool own = !s->in_write;
	struct fp *f;
	int rc;

	*fp = 0;
	if (own && (rc = sq_begin(st, err)))
		return rc;
	if (!(rc = fp_obtain(s, text, dims, &f, err)) &&
	    !(rc = promote(s, f, err)))
		*fp = f->id;
	if (!own)
		return rc;
	if (!rc)
		return sq_commit(st, err);
	sq_rollback(st);
	return rc;
}

int sq_fingerprint_find(struct store *st, const char *text, int *fp, int *dims,
			struct remem_err *err)
{
	struct sq *s = sq_of(st);
	struct fp *f;
	int rc = sq_op_begin(s, err);

	*fp = *dims = 0;
	if (rc)
		return rc;
	if (!(rc = fps_load(s, err)) && (f = fp_by_text(s, text))) {
		*fp = f->id;
		*dims = f->dims;
	}
	sq_op_end(s);
	return rc;
}

int sq_fingerprint_active(struct store *st, int *fp, int *dims,
			  const char **text, struct remem_err *err)
{
	struct sq *s = sq_of(st);
	struct fp *f;
	int rc = sq_op_begin(s, err);

	*fp = *dims = 0;
	*text = NULL;
	if (rc)
		return rc;
	if (!(rc = fps_load(s, err)) && (f = fp_in_state(s, FP_ACTIVE))) {
		*fp = f->id;
		*dims = f->dims;
		*text = f->text;
	}
	sq_op_end(s);
	return rc;
}

int fp_flip_if_complete(struct sq *s, struct remem_err *err)
{
	int64_t *c = s->counts;
	struct fp *active, *next;
	int rc;

	if (!s->fps_loaded || !(next = fp_in_state(s, FP_NEXT)) ||
	    !s->counts_loaded ||
	    c[C_EMBEDDED_NEXT] + c[C_REFUSED_NEXT] < c[C_PASSAGES])
		return 0;
	active = fp_in_state(s, FP_ACTIVE);
	if ((rc = sq_simple(s, S_NEXT_FLIP, err)))
		return rc;
	if (active) {
		if ((rc = run_for(s, S_MEANS_DEL, active->id, err)))
			return rc;
		fp_means_drop(active);
		active->state = FP_CACHE;
		active->dirty = true;
	}
	next->state = FP_ACTIVE;
	next->dirty = true;
	c[C_EMBEDDED] = c[C_EMBEDDED_NEXT];
	c[C_REFUSED] = c[C_REFUSED_NEXT];
	c[C_EMBEDDED_NEXT] = c[C_REFUSED_NEXT] = 0;
	s->counts_dirty = true;
	s->unlinked.count = 0; /* they were the old one's */
	pending_drop(s);
	return 0;
}
