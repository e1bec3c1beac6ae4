/* Chunks read back for the search. */
#include <string.h>

#include "store/sqlite_store.h"

static int slots_of(struct sq *s, struct arena *a, enum fp_state state,
		    int64_t first, struct store_chunk *c,
		    struct remem_err *err)
{
	int64_t *slots = ARENA_ARRAY(a, int64_t, (size_t)c->passage_count + 1);
	int rc = slots ? passages_slots(s, state, first, c->passage_count,
					slots, err) : fail_nomem(err);

	for (int i = 0; !rc && i < c->passage_count; i++)
		if (slots[i] >= 0)
			c->passages[i].slot = (uint32_t)slots[i];
	return rc;
}

/* Columns of CHUNK_GET, in their order. */
static int chunk_row(struct sq *s, struct arena *a, struct heading_cache *h,
		     sqlite3_stmt *st, struct packed *k, struct store_chunk *c,
		     struct remem_err *err)
{
	c->file = sqlite3_column_int64(st, 0);
	c->ord = sqlite3_column_int(st, 1);
	c->first_line = sqlite3_column_int(st, 2);
	c->line_first = sqlite3_column_int(st, 3);
	c->line_last = sqlite3_column_int(st, 4);
	c->heading_line = sqlite3_column_int(st, 5);
	k->first = sqlite3_column_int64(st, 6);
	c->passage_count = sqlite3_column_int(st, 7);
	k->data = sqlite3_column_blob(st, 8);
	k->len = (size_t)sqlite3_column_bytes(st, 8);
	c->heading_path = sq_col_text(a, st, 9);
	c->text = sq_col_text(a, st, 10);
	c->len = (uint32_t)sqlite3_column_bytes(st, 10);
	c->terms = s->map.rows && (size_t)c->id < s->map.count ?
		   s->map.rows[c->id].terms : 0;
	if (a->failed)
		return fail_nomem(err);
	if (!c->text || !c->heading_path)
		return sq_damaged(s, "a chunk makes no sense", err);
	return passages_read(s, a, h, k, c, err);
}

static int one_chunk(struct sq *s, struct arena *a, struct heading_cache *h,
		     enum fp_state state, int64_t id, struct store_chunk *c,
		     struct remem_err *err)
{
	struct packed k;
	sqlite3_stmt *st;
	int rc;

	if ((rc = sq_get(s, S_CHUNK_GET, &st, err)))
		return rc;
	sqlite3_bind_int64(st, 1, id);
	if ((rc = sq_step(s, st, err)) <= 0)
		return rc;
	c->id = id;
	rc = chunk_row(s, a, h, st, &k, c, err);
	sqlite3_reset(st);
	if (rc || state == FP_CACHE)
		return rc;
	return slots_of(s, a, state, k.first, c, err);
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
