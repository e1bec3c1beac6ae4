/* Chunks and passages read back for the search. */
#include <string.h>

#include "store/sqlite_store.h"

/* Headings met in one call: few, and the same for many passages. */
#define HEADING_SLOTS 256 /* a power of two */

struct heading_row {
	int64_t id;
	const char *text;
	int files;
};

struct heading_cache {
	struct heading_row rows[HEADING_SLOTS];
};

struct heading_cache *headings_new(struct arena *a)
{
	return ARENA_NEW(a, struct heading_cache);
}

static int heading_of(struct sq *s, struct arena *a, struct heading_cache *h,
		      int64_t id, struct store_passage *p,
		      struct remem_err *err)
{
	struct heading_row *row = &h->rows[id & (HEADING_SLOTS - 1)];
	sqlite3_stmt *st;
	int rc;

	if (!id)
		return 0;
	if (row->id != id) {
		if ((rc = sq_get(s, S_HEADING_GET, &st, err)))
			return rc;
		sqlite3_bind_int64(st, 1, id);
		if ((rc = sq_step(s, st, err)) < 0)
			return rc;
		row->id = id;
		row->text = rc ? sq_col_text(a, st, 0) : NULL;
		row->files = rc ? sqlite3_column_int(st, 1) : 0;
		sqlite3_reset(st);
	}
	p->heading = row->text;
	p->heading_files = row->files;
	return 0;
}

static uint32_t slot_of(sqlite3_stmt *st, enum fp_state state)
{
	int64_t slot = state == FP_ACTIVE ? sq_col_slot(st, 11) :
		       state == FP_NEXT ? sq_col_slot(st, 12) : SLOT_NONE;

	return slot < 0 ? STORE_NO_SLOT : (uint32_t)slot;
}

int sq_passage_row(struct sq *s, struct arena *a, struct heading_cache *h,
		   sqlite3_stmt *st, enum fp_state state, int first_line,
		   struct store_passage *p, struct remem_err *err)
{
	const void *hash = sqlite3_column_blob(st, 10);

	p->id = sqlite3_column_int64(st, 0);
	p->chunk = sqlite3_column_int64(st, 1);
	p->start = (uint32_t)sqlite3_column_int64(st, 2);
	p->len = (uint32_t)sqlite3_column_int64(st, 3);
	p->line_first = first_line + sqlite3_column_int(st, 4);
	p->line_last = p->line_first + sqlite3_column_int(st, 5) - 1;
	p->kind = (enum passage_kind)sqlite3_column_int(st, 6);
	p->script = (enum script)sqlite3_column_int(st, 7);
	p->continues = sqlite3_column_int(st, 8);
	if (hash && sqlite3_column_bytes(st, 10) == SHA256_BYTES)
		memcpy(p->hash, hash, SHA256_BYTES);
	p->slot = slot_of(st, state);
	p->importance = sqlite3_column_int(st, 13);
	p->project = sq_col_text(a, st, 14);
	p->status = sq_col_text(a, st, 15);
	p->origin = sq_col_text(a, st, 16);
	p->triggers = sq_col_text(a, st, 17);
	p->observed = sq_col_date(st, 18);
	return heading_of(s, a, h, sqlite3_column_int64(st, 9), p, err);
}

static int corrupt(struct sq *s, const char *what, struct remem_err *err)
{
	s->broken = true;
	fail(err, REMEM_ECORRUPT, "the index '%s' is damaged: %s", s->db_path,
	     what);
	fail_action(err, "run: remem index --force");
	return REMEM_ECORRUPT;
}

static int passages_of(struct sq *s, struct arena *a, struct heading_cache *h,
		       enum fp_state state, int64_t first,
		       struct store_chunk *c, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc, n = 0;

	c->passages = ARENA_ARRAY(a, struct store_passage,
				  (size_t)c->passage_count + 1);
	if (!c->passages)
		return fail_nomem(err);
	if ((rc = sq_get(s, S_PASSAGES_GET, &st, err)))
		return rc;
	sqlite3_bind_int64(st, 1, first);
	sqlite3_bind_int(st, 2, c->passage_count);
	while (n < c->passage_count && (rc = sq_step(s, st, err)) > 0) {
		struct store_passage *p = &c->passages[n++];

		p->file = c->file;
		if ((rc = sq_passage_row(s, a, h, st, state, c->first_line, p,
					 err)))
			break;
		if (p->chunk != c->id || p->start > c->len ||
		    p->len > c->len - p->start) {
			rc = corrupt(s, "a passage is not in its chunk", err);
			break;
		}
	}
	sqlite3_reset(st);
	c->passage_count = n;
	return rc < 0 ? rc : 0;
}

static int one_chunk(struct sq *s, struct arena *a, struct heading_cache *h,
		     enum fp_state state, int64_t id, struct store_chunk *c,
		     struct remem_err *err)
{
	sqlite3_stmt *st;
	int64_t first;
	int rc;

	if ((rc = sq_get(s, S_CHUNK_GET, &st, err)))
		return rc;
	sqlite3_bind_int64(st, 1, id);
	if ((rc = sq_step(s, st, err)) <= 0)
		return rc;
	c->id = id;
	c->file = sqlite3_column_int64(st, 0);
	c->ord = sqlite3_column_int(st, 1);
	c->first_line = sqlite3_column_int(st, 2);
	c->line_first = sqlite3_column_int(st, 3);
	c->line_last = sqlite3_column_int(st, 4);
	c->heading_line = sqlite3_column_int(st, 5);
	first = sqlite3_column_int64(st, 6);
	c->passage_count = sqlite3_column_int(st, 7);
	c->heading_path = sq_col_text(a, st, 8);
	c->text = sq_col_text(a, st, 9);
	c->len = (uint32_t)sqlite3_column_bytes(st, 9);
	c->terms = s->map.rows && (size_t)id < s->map.count ?
		   s->map.rows[id].terms : 0;
	sqlite3_reset(st);
	if (a->failed)
		return fail_nomem(err);
	if (c->passage_count < 0 || !c->text || !c->heading_path)
		return corrupt(s, "a chunk makes no sense", err);
	return passages_of(s, a, h, state, first, c, err);
}

int sq_chunks_get(struct store *store, struct arena *a, int fp,
		  const int64_t *ids, int n, struct store_chunk *out,
		  struct remem_err *err)
{
	struct sq *s = sq_of(store);
	struct heading_cache *h = headings_new(a);
	struct fp *f;
	int rc;

	if (!h)
		return fail_nomem(err);
	memset(out, 0, (size_t)n * sizeof(*out));
	if ((rc = sq_op_begin(s, err)))
		return rc;
	if ((rc = map_load(s, err)) || (rc = fps_load(s, err)))
		goto out;
	f = fp_by_id(s, fp);
	for (int i = 0; !rc && i < n; i++)
		rc = one_chunk(s, a, h, f ? f->state : FP_CACHE, ids[i],
			       &out[i], err);
	if (!rc && a->failed)
		rc = fail_nomem(err);
out:
	sq_op_end(s);
	return rc;
}

int sq_passage_chunks(struct store *store, const int64_t *ids, int n,
		      int64_t *out, struct remem_err *err)
{
	struct sq *s = sq_of(store);
	sqlite3_stmt *st;
	int rc;

	if ((rc = sq_op_begin(s, err)))
		return rc;
	for (int i = 0; rc >= 0 && i < n; i++) {
		out[i] = 0;
		if ((rc = sq_get(s, S_PASSAGE_CHUNK, &st, err)))
			break;
		sqlite3_bind_int64(st, 1, ids[i]);
		if ((rc = sq_step(s, st, err)) > 0) {
			out[i] = sqlite3_column_int64(st, 0);
			sqlite3_reset(st);
		}
	}
	sq_op_end(s);
	return rc < 0 ? rc : 0;
}

int sq_file_chunks(struct store *store, struct arena *a, int64_t file,
		   int64_t **ids, int *count, struct remem_err *err)
{
	struct sq *s = sq_of(store);
	size_t cap = 0;
	sqlite3_stmt *st;
	int rc;

	*ids = NULL;
	*count = 0;
	if ((rc = sq_get(s, S_FILE_CHUNKS, &st, err)))
		return rc;
	sqlite3_bind_int64(st, 1, file);
	while ((rc = sq_step(s, st, err)) > 0) {
		*ids = arena_grow(a, *ids, &cap, (size_t)*count + 1,
				  sizeof(**ids));
		if (!*ids) {
			rc = fail_nomem(err);
			break;
		}
		(*ids)[(*count)++] = sqlite3_column_int64(st, 0);
	}
	sqlite3_reset(st);
	return rc;
}
