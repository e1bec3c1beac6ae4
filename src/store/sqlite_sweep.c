/*
 * Sweeping the vectors. Vectors of passages that are there never count against
 * the cache; of the others the longest unused go when there are too many, in
 * all or beside those in use: an index shrinks with its notes. The
 * slots they leave are dead; when a quarter of a file is dead, the rest moves
 * to a new file, named by the rows in the same transaction, and the old one
 * goes after the commit: who reads an older snapshot has it open.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "store/sqlite_store.h"

#define CACHE_ENTRIES 50000
/* Sweeping reads every row of embeddings: not for a handful of changes. */
#define SWEEP_MIN 64
#define SWEEP_MAX 2000
/* Of the model in use, this part of the vectors in use may lie beside them:
 * with half of the notes, seven sixteenths of the vectors go. */
#define BESIDE_PART 8
#define BESIDE_LEAST 64
#define SWEEP_PART 8 /* of its vectors given free since the last sweep */
#define DEAD_MIN 64 /* slots; fewer are not worth a new file */
#define NORM_SHARE 0.01 /* a mean has moved */

struct cached { /* a row of embeddings */
	unsigned char key[SHA256_BYTES];
	uint32_t slot;
	int day, script, fp;
};

struct rows {
	struct cached *rows;
	size_t count, cap;
};

/* ---- which slots are linked ---- */

static int live_slots(struct sq *s, const struct fp *f, unsigned char **live,
		      struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc;

	*live = mem_zalloc((size_t)f->slots / 8 + 1);
	if (!*live)
		return fail_nomem(err);
	if (f->state == FP_CACHE)
		return 0;
	if ((rc = sq_get(s, f->state == FP_ACTIVE ? S_SLOTS_LIVE : S_SLOTS_NEXT,
			 &st, err)))
		return rc;
	while ((rc = sq_step(s, st, err)) > 0) {
		int64_t slot = sqlite3_column_int64(st, 0);

		if (slot < f->slots)
			(*live)[slot / 8] |= (unsigned char)(1 << slot % 8);
	}
	return rc;
}

static bool is_live(const unsigned char *live, uint32_t slot)
{
	return live[slot / 8] >> (slot % 8) & 1;
}

/* Rows of f; with live only those not linked. */
static int read_rows(struct sq *s, struct fp *f, const unsigned char *live,
		     struct rows *r, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = sq_get(s, S_EMB_OF_FP, &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int(st, 1, f->id);
	while ((rc = sq_step(s, st, err)) > 0) {
		const void *key = sqlite3_column_blob(st, 0);
		int64_t slot = sqlite3_column_int64(st, 1);
		const struct vec_meta *m;
		struct cached *c;

		if (!key || sqlite3_column_bytes(st, 0) != SHA256_BYTES ||
		    slot < 0 || slot >= f->slots ||
		    (live && is_live(live, (uint32_t)slot)))
			continue;
		if (!mem_grow(&r->rows, &r->cap, r->count + 1,
			      sizeof(*r->rows))) {
			rc = fail_nomem(err);
			break;
		}
		c = &r->rows[r->count++];
		memcpy(c->key, key, SHA256_BYTES);
		c->slot = (uint32_t)slot;
		c->script = sqlite3_column_int(st, 2);
		c->day = sqlite3_column_int(st, 3);
		c->fp = f->id;
		m = vecfile_meta(f->vec, (size_t)slot);
		if (m && m->day > c->day)
			c->day = m->day;
	}
	sqlite3_reset(st);
	return rc;
}

/* Marks that a killed run left behind. */
static int mend_marks(struct fp *f, const unsigned char *live,
		      struct remem_err *err)
{
	int rc = 0;

	for (int64_t i = 0; !rc && i < f->slots; i++) {
		const struct vec_meta *old = vecfile_meta(f->vec, (size_t)i);
		bool yes = is_live(live, (uint32_t)i);
		struct vec_meta m;

		if (!old || !(old->flags & VEC_ALIVE) == !yes)
			continue;
		m = *old;
		m.flags ^= VEC_ALIVE;
		if (yes)
			m.owner = VEC_SHARED;
		rc = vecfile_put_meta(f->vec, (size_t)i, &m, err);
	}
	return rc;
}

/* ---- evicting ---- */

static int oldest_first(const void *a, const void *b)
{
	const struct cached *x = a, *y = b;

	if (x->day != y->day)
		return x->day < y->day ? -1 : 1;
	if (x->fp != y->fp)
		return x->fp < y->fp ? -1 : 1;
	return memcmp(x->key, y->key, SHA256_BYTES);
}

/* Of the rows from there on only so many stay. */
static int evict(struct sq *s, struct rows *r, size_t from, size_t keep,
		 struct remem_err *err)
{
	struct cached *c = r->rows + from;
	size_t n = r->count - from;
	sqlite3_stmt *st;
	int rc;

	if (n <= keep)
		return 0;
	qsort(c, n, sizeof(*c), oldest_first);
	for (size_t i = 0; i < n - keep; i++) {
		struct fp *f = fp_by_id(s, c[i].fp);

		if ((rc = sq_get(s, S_EMB_DEL, &st, err)))
			return rc;
		sqlite3_bind_int(st, 1, c[i].fp);
		sqlite3_bind_blob(st, 2, c[i].key, SHA256_BYTES,
				  SQLITE_STATIC);
		if ((rc = sq_run(s, st, err)))
			return rc;
		f->rows--;
		f->dirty = true;
	}
	memmove(c, c + (n - keep), keep * sizeof(*c));
	r->count = from + keep;
	return 0;
}

/* Those beside the ones in use. */
static int evict_beside(struct sq *s, const struct fp *f, struct rows *r,
			size_t from, struct remem_err *err)
{
	size_t beside = r->count - from, keep;

	if (f->state != FP_ACTIVE)
		return 0;
	keep = ((size_t)f->rows - beside) / BESIDE_PART;
	return evict(s, r, from, keep < BESIDE_LEAST ? BESIDE_LEAST : keep,
		     err);
}

static int sweep_cache(struct sq *s, int64_t cache_entries,
		       struct remem_err *err)
{
	struct rows r = { NULL, 0, 0 };
	int rc = 0;

	for (int i = 0; !rc && i < s->fp_count; i++) {
		struct fp *f = &s->fps[i];
		unsigned char *live = NULL;
		size_t from = r.count;

		if (!(rc = fp_open_vec(s, f, err)) &&
		    !(rc = live_slots(s, f, &live, err)) &&
		    !(rc = read_rows(s, f, live, &r, err)) &&
		    !(rc = mend_marks(f, live, err)))
			rc = evict_beside(s, f, &r, from, err);
		mem_free(live);
	}
	if (!rc)
		rc = evict(s, &r, 0, (size_t)cache_entries, err);
	mem_free(r.rows);
	if (!rc)
		sq_count(s, C_UNLINKED, -s->counts[C_UNLINKED]);
	return rc;
}

/* ---- compacting ---- */

static int by_slot(const void *a, const void *b)
{
	const struct cached *x = a, *y = b;

	return (x->slot > y->slot) - (x->slot < y->slot);
}

static int move_row(struct sq *s, const struct fp *f, struct vecfile *to,
		    const struct cached *c, uint32_t slot,
		    struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = vecfile_put(to, slot, vecfile_row(f->vec, c->slot),
			     vecfile_meta(f->vec, c->slot), err);

	if (rc || slot == c->slot)
		return rc;
	if ((rc = sq_get(s, S_EMB_SLOT, &st, err)))
		return rc;
	sqlite3_bind_int(st, 1, f->id);
	sqlite3_bind_blob(st, 2, c->key, SHA256_BYTES, SQLITE_STATIC);
	sqlite3_bind_int64(st, 3, slot);
	return sq_run(s, st, err);
}

struct relink {
	int64_t passage;
	uint32_t slot;
};

static int relink_all(struct sq *s, const struct fp *f, const uint32_t *to,
		      struct remem_err *err)
{
	bool active = f->state == FP_ACTIVE;
	struct relink *list = NULL;
	size_t n = 0, cap = 0;
	sqlite3_stmt *st;
	int rc;

	if (f->state == FP_CACHE)
		return 0;
	if ((rc = sq_get(s, active ? S_SLOTS_LIVE : S_SLOTS_NEXT, &st, err)))
		return rc;
	while ((rc = sq_step(s, st, err)) > 0) {
		int64_t slot = sqlite3_column_int64(st, 0);

		if (slot >= f->slots || to[slot] == slot)
			continue;
		if (!mem_grow(&list, &cap, n + 1, sizeof(*list))) {
			rc = fail_nomem(err);
			break;
		}
		list[n++] = (struct relink){ sqlite3_column_int64(st, 1),
					     to[slot] };
	}
	sqlite3_reset(st);
	for (size_t i = 0; !rc && i < n; i++) {
		if ((rc = sq_get(s, active ? S_LINK_ACTIVE : S_LINK_NEXT, &st,
				 err)))
			break;
		sqlite3_bind_int64(st, 1, list[i].passage);
		sqlite3_bind_int64(st, 2, list[i].slot);
		rc = sq_run(s, st, err);
	}
	mem_free(list);
	return rc;
}

static int open_new(struct sq *s, struct fp *f, char **file,
		    struct vecfile **to, struct remem_err *err)
{
	struct buf path = BUF_INIT(0);
	int rc;

	if (!(*file = fp_next_file(f)))
		return fail_nomem(err);
	buf_addf(&path, "%s/%s", s->gen_dir, *file);
	if (!(rc = buf_check(&path, err))) {
		unlink(buf_str(&path)); /* of a killed run */
		rc = vecfile_open(to, buf_str(&path), f->dims, true, err);
	}
	buf_release(&path);
	return rc;
}

static int compact(struct sq *s, struct fp *f, struct remem_err *err)
{
	struct rows r = { NULL, 0, 0 };
	uint32_t *map = NULL;
	struct vecfile *to = NULL;
	char *file = NULL;
	int rc;

	if ((rc = fp_open_vec(s, f, err)) ||
	    (rc = read_rows(s, f, NULL, &r, err)) ||
	    (rc = open_new(s, f, &file, &to, err)))
		goto out;
	if (!(map = mem_array((size_t)f->slots + 1, sizeof(*map)))) {
		rc = fail_nomem(err);
		goto out;
	}
	memset(map, 0xff, ((size_t)f->slots + 1) * sizeof(*map));
	if (r.count)
		qsort(r.rows, r.count, sizeof(*r.rows), by_slot);
	for (size_t i = 0; !rc && i < r.count; i++) {
		map[r.rows[i].slot] = (uint32_t)i;
		rc = move_row(s, f, to, &r.rows[i], (uint32_t)i, err);
	}
	if (rc || (rc = relink_all(s, f, map, err)))
		goto out;
	vecfile_free(f->vec);
	mem_free(f->file);
	f->vec = to;
	f->file = file;
	f->slots = f->rows = (int64_t)r.count;
	f->dirty = true;
	to = NULL;
	file = NULL;
out:
	vecfile_free(to);
	mem_free(file);
	mem_free(map);
	mem_free(r.rows);
	return rc;
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

/* Old models of which nothing is left. */
static int drop_empty(struct sq *s, struct remem_err *err)
{
	int rc = 0;

	for (int i = 0; !rc && i < s->fp_count; i++) {
		struct fp *f = &s->fps[i];

		if (f->state != FP_CACHE || f->rows > 0)
			continue;
		rc = run_for(s, S_FP_DEL, f->id, err);
		if (!rc)
			rc = run_for(s, S_REFUSED_DEL_FP, f->id, err);
		f->dirty = false;
	}
	return rc;
}

static bool sweep_is_due(struct sq *s, int64_t rows, int64_t cache_entries)
{
	const struct fp *f = fp_in_state(s, FP_ACTIVE);
	int64_t least = rows / 50 < SWEEP_MAX ? rows / 50 : SWEEP_MAX;
	int64_t unlinked = s->counts[C_UNLINKED];

	if (unlinked < (least < SWEEP_MIN ? SWEEP_MIN : least))
		return false;
	return rows > cache_entries || (f && unlinked >= f->rows / SWEEP_PART);
}

int vectors_maintain(struct sq *s, int64_t cache_entries,
		     struct remem_err *err)
{
	int64_t rows = 0;
	int rc = fps_load(s, err);

	if (cache_entries <= 0)
		cache_entries = CACHE_ENTRIES;
	for (int i = 0; !rc && i < s->fp_count; i++) {
		rows += s->fps[i].rows;
		if ((rc = fp_means(s, &s->fps[i], err)))
			break;
		rc = fp_renew_norms(s, &s->fps[i], NORM_SHARE, err);
	}
	if (!rc && sweep_is_due(s, rows, cache_entries))
		rc = sweep_cache(s, cache_entries, err);
	for (int i = 0; !rc && i < s->fp_count; i++) {
		struct fp *f = &s->fps[i];
		int64_t dead = f->slots - f->rows;

		if (dead >= DEAD_MIN && dead > f->slots / 4)
			rc = compact(s, f, err);
	}
	return rc ? rc : drop_empty(s, err);
}

static bool is_named(const struct sq *s, const char *file)
{
	for (int i = 0; i < s->fp_count; i++)
		if (!strcmp(s->fps[i].file, file))
			return true;
	return false;
}

void vectors_swept(struct sq *s)
{
	struct buf path = BUF_INIT(0);
	struct dirent *e;
	DIR *d;

	fps_drop(s);
	if (fps_load(s, NULL) || !(d = opendir(s->gen_dir)))
		return;
	while ((e = readdir(d))) {
		if (strncmp(e->d_name, "vectors-", 8) || is_named(s, e->d_name))
			continue;
		buf_reset(&path);
		buf_addf(&path, "%s/%s", s->gen_dir, e->d_name);
		file_fault_step();
		if (!buf_check(&path, NULL))
			unlink(buf_str(&path));
	}
	closedir(d);
	buf_release(&path);
}
