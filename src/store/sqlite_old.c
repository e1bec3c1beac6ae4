/* The rows of a file that is being replaced. */
#include <stdlib.h>
#include <string.h>

#include "store/sqlite_put.h"

static void old_row(struct old_chunk *c, sqlite3_stmt *st)
{
	const void *digest = sqlite3_column_blob(st, 9);

	memset(c, 0, sizeof(*c));
	c->id = sqlite3_column_int64(st, 0);
	c->ord = sqlite3_column_int(st, 1);
	c->lead = (size_t)sqlite3_column_int64(st, 2);
	c->first_line = sqlite3_column_int(st, 3);
	c->line_first = sqlite3_column_int(st, 4);
	c->line_last = sqlite3_column_int(st, 5);
	c->heading_line = sqlite3_column_int(st, 6);
	c->passage_first = sqlite3_column_int64(st, 7);
	c->passage_count = sqlite3_column_int(st, 8);
	if (digest && sqlite3_column_bytes(st, 9) == DIGEST_BYTES)
		memcpy(c->digest, digest, DIGEST_BYTES);
}

int old_load(struct put *p, struct remem_err *err)
{
	size_t cap = 0;
	sqlite3_stmt *st;
	int rc = sq_get(p->s, S_CHUNKS_OF_FILE, &st, err);

	if (rc || !p->existed)
		return rc;
	sqlite3_bind_int64(st, 1, p->before.id);
	while ((rc = sq_step(p->s, st, err)) > 0) {
		p->old = arena_grow(p->a, p->old, &cap,
				    (size_t)p->old_count + 1, sizeof(*p->old));
		if (!p->old) {
			rc = fail_nomem(err);
			break;
		}
		old_row(&p->old[p->old_count++], st);
	}
	sqlite3_reset(st);
	return rc;
}

static int load_text(struct put *p, int i, struct remem_err *err)
{
	struct post_chunk *c = &p->old_post[i];
	sqlite3_stmt *st;
	int rc;

	if (c->text)
		return 0;
	if ((rc = sq_get(p->s, S_CHUNK_TEXT, &st, err)))
		return rc;
	sqlite3_bind_int64(st, 1, p->old[i].id);
	if ((rc = sq_step(p->s, st, err)) <= 0)
		return rc ? rc : fail(err, REMEM_ECORRUPT,
				      "a chunk of '%s' is gone from the index",
				      p->before.path);
	c->id = p->old[i].id;
	c->lead = p->old[i].lead;
	c->text = sq_col_text(p->a, st, 0);
	c->len = (size_t)sqlite3_column_bytes(st, 0);
	c->heading_path = sq_col_text(p->a, st, 1);
	sqlite3_reset(st);
	return p->a->failed ? fail_nomem(err) : 0;
}

int old_texts(struct put *p, struct remem_err *err)
{
	size_t want = 0; /* bytes of overlap still to be covered */
	int rc;

	p->old_post = ARENA_ARRAY(p->a, struct post_chunk,
				  (size_t)p->old_count + 1);
	if (!p->old_post)
		return fail_nomem(err);
	for (int i = p->old_count - 1; i >= 0; i--) {
		const struct old_chunk *c = &p->old[i];

		if (c->kept && !want)
			continue;
		if ((rc = load_text(p, i, err)))
			return rc;
		want = want > p->old_post[i].len ? want - p->old_post[i].len :
		       0;
		if (!c->kept && c->lead > want)
			want = c->lead;
	}
	return 0;
}

static int keep_vectors(struct put *p, const struct old_chunk *c,
			struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = sq_get(p->s, S_PASSAGES_OLD, &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, c->passage_first);
	sqlite3_bind_int(st, 2, c->passage_count);
	while ((rc = sq_step(p->s, st, err)) > 0) {
		int64_t slot = sq_col_slot(st, 2), next = sq_col_slot(st, 3);
		const void *hash = sqlite3_column_blob(st, 0);
		struct reuse *r;

		if (slot == SLOT_NONE && next == SLOT_NONE)
			continue;
		p->reuse = arena_grow(p->a, p->reuse, &p->reuse_cap,
				      p->reuse_count + 1, sizeof(*p->reuse));
		if (!p->reuse) {
			rc = fail_nomem(err);
			break;
		}
		r = &p->reuse[p->reuse_count++];
		memset(r, 0, sizeof(*r));
		if (hash && sqlite3_column_bytes(st, 0) == SHA256_BYTES)
			memcpy(r->hash, hash, SHA256_BYTES);
		r->heading = sqlite3_column_int64(st, 1);
		r->slot = slot;
		r->slot_next = next;
	}
	sqlite3_reset(st);
	return rc;
}

static int remove_rows(struct put *p, const struct old_chunk *c,
		       struct remem_err *err)
{
	static const struct map_entry none = { 0, 0, 0 };
	sqlite3_stmt *st;
	int rc;

	if ((rc = sq_get(p->s, S_PASSAGES_DEL, &st, err)))
		return rc;
	sqlite3_bind_int64(st, 1, c->passage_first);
	sqlite3_bind_int(st, 2, c->passage_count);
	if ((rc = sq_run(p->s, st, err)) ||
	    (rc = sq_get(p->s, S_CHUNK_DEL, &st, err)))
		return rc;
	sqlite3_bind_int64(st, 1, c->id);
	if ((rc = sq_run(p->s, st, err)))
		return rc;
	sq_count(p->s, C_PASSAGES, -c->passage_count);
	p->s->chunks_moved++;
	return map_set(p->s, c->id, &none, err);
}

static int by_hash(const void *a, const void *b)
{
	const struct reuse *x = a, *y = b;
	int d = memcmp(x->hash, y->hash, SHA256_BYTES);

	if (d)
		return d;
	return (x->heading > y->heading) - (x->heading < y->heading);
}

static int by_id(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

int old_remove(struct put *p, struct remem_err *err)
{
	int rc;

	p->free_ids = ARENA_ARRAY(p->a, int64_t, (size_t)p->old_count + 1);
	if (!p->free_ids)
		return fail_nomem(err);
	for (int i = 0; i < p->old_count; i++) {
		if (p->old[i].kept)
			continue;
		if ((rc = keep_vectors(p, &p->old[i], err)) ||
		    (rc = remove_rows(p, &p->old[i], err)))
			return rc;
		sq_count(p->s, C_TEXT_BYTES, -(int64_t)p->old_post[i].len);
		p->free_ids[p->free_count++] = p->old[i].id;
	}
	if (p->reuse_count)
		qsort(p->reuse, p->reuse_count, sizeof(*p->reuse), by_hash);
	qsort(p->free_ids, (size_t)p->free_count, sizeof(int64_t), by_id);
	return 0;
}

static int refused_before(struct put *p, const unsigned char *hash, int fp,
			  int64_t *slot, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = sq_get(p->s, S_REFUSED_HAS, &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int(st, 1, fp);
	sqlite3_bind_blob(st, 2, hash, SHA256_BYTES, SQLITE_STATIC);
	if ((rc = sq_step(p->s, st, err)) > 0) {
		*slot = SLOT_REFUSED;
		sqlite3_reset(st);
		rc = 0;
	}
	return rc;
}

static int first_vector(struct put *p, const unsigned char *hash,
			int64_t *slot, int64_t *slot_next,
			struct remem_err *err)
{
	struct fp *f;
	int rc = fps_load(p->s, err);

	if (!rc && (f = fp_in_state(p->s, FP_ACTIVE)))
		rc = refused_before(p, hash, f->id, slot, err);
	if (!rc && (f = fp_in_state(p->s, FP_NEXT)))
		rc = refused_before(p, hash, f->id, slot_next, err);
	if (rc || (*slot == SLOT_NONE && *slot_next == SLOT_NONE))
		return rc;
	return sq_slots_count(p->s, *slot, *slot_next, 1, err);
}

int old_vector(struct put *p, const unsigned char *hash, int64_t heading,
	       int64_t *slot, int64_t *slot_next, struct remem_err *err)
{
	struct reuse key = { .heading = heading }, *r, *end;

	*slot = *slot_next = SLOT_NONE;
	memcpy(key.hash, hash, SHA256_BYTES);
	r = p->reuse_count ? bsearch(&key, p->reuse, p->reuse_count, sizeof(*r),
				     by_hash) : NULL;
	if (!r)
		return first_vector(p, hash, slot, slot_next, err);
	while (r > p->reuse && !by_hash(r - 1, &key))
		r--;
	*slot = r->slot;
	*slot_next = r->slot_next;
	end = p->reuse + p->reuse_count;
	for (; r < end && !by_hash(r, &key); r++) {
		if (r->used)
			continue;
		r->used = true;
		*slot = r->slot;
		*slot_next = r->slot_next;
		return 0;
	}
	return sq_slots_count(p->s, *slot, *slot_next, 1, err);
}

int old_finish(struct put *p, struct remem_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < p->reuse_count; i++)
		if (!p->reuse[i].used)
			rc = sq_slots_count(p->s, p->reuse[i].slot,
					    p->reuse[i].slot_next, -1, err);
	return rc;
}
