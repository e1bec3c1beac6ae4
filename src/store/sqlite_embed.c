/*
 * Vectors stored and linked to passages. One key, one vector, however many
 * passages share it. In the file a slot is marked alive before the link is
 * committed and dead only after the unlinking is: rows decide, marks may be
 * stale only in the direction that costs a look.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "store/sqlite_store.h"

static uint16_t today(void)
{
	return (uint16_t)(clock_now_ms() / 86400000);
}

static int live_fp(struct sq *s, int fp, struct fp **out, struct remem_err *err)
{
	int rc;

	if ((rc = sq_need_write(s, err)) || (rc = fps_load(s, err)))
		return rc;
	*out = fp_by_id(s, fp);
	if (!*out || (*out)->state == FP_CACHE)
		return fail(err, REMEM_EINVAL,
			    "these vectors are not being made now");
	return 0;
}

/* ---- counting links ---- */

static int count_one(struct sq *s, enum fp_state state, int64_t slot, int sign,
		     struct remem_err *err)
{
	bool active = state == FP_ACTIVE;
	struct slot_list *u = &s->unlinked;
	struct fp *f;
	int rc;

	if (slot == SLOT_NONE)
		return 0;
	if (slot == SLOT_REFUSED) {
		sq_count(s, active ? C_REFUSED : C_REFUSED_NEXT, sign);
		return 0;
	}
	sq_count(s, active ? C_EMBEDDED : C_EMBEDDED_NEXT, sign);
	if ((rc = fps_load(s, err)) || !(f = fp_in_state(s, state)))
		return rc;
	if ((rc = fp_mean_add(s, f, (uint32_t)slot, sign, err)))
		return rc;
	if (sign > 0)
		return 0;
	sq_count(s, C_UNLINKED, 1);
	if (!active)
		return 0;
	if (!mem_grow(&u->slots, &u->cap, u->count + 1, sizeof(*u->slots)))
		return fail_nomem(err);
	u->slots[u->count++] = (uint32_t)slot;
	return 0;
}

int sq_slots_count(struct sq *s, int64_t slot, int64_t slot_next, int sign,
		   struct remem_err *err)
{
	int rc = count_one(s, FP_ACTIVE, slot, sign, err);

	return rc ? rc : count_one(s, FP_NEXT, slot_next, sign, err);
}

static void mark_dead(struct sq *s, struct fp *f, uint32_t slot)
{
	const struct vec_meta *old = vecfile_meta(f->vec, slot);
	struct vec_meta m;
	sqlite3_stmt *st;

	if (!old || !(old->flags & VEC_ALIVE) ||
	    sq_get(s, S_SLOT_USED, &st, NULL))
		return;
	sqlite3_bind_int64(st, 1, slot);
	if (sq_step(s, st, NULL)) { /* in use, or not known */
		sqlite3_reset(st);
		return;
	}
	m = *old;
	m.flags &= (uint8_t)~VEC_ALIVE;
	m.day = today();
	vecfile_put_meta(f->vec, slot, &m, NULL);
}

/* After the commit; what fails here maintain() does again. */
void sq_unlinked_flags(struct sq *s)
{
	struct slot_list *u = &s->unlinked;
	struct fp *f;

	if (u->count && !fps_load(s, NULL) &&
	    (f = fp_in_state(s, FP_ACTIVE)) && !fp_open_vec(s, f, NULL))
		for (size_t i = 0; i < u->count; i++)
			mark_dead(s, f, u->slots[i]);
	u->count = 0;
}

/* ---- keys ---- */

/* The slot of a key, SLOT_NONE if it is not stored. */
static int key_slot(struct sq *s, int fp, const unsigned char *key,
		    int64_t *slot, int *used_day, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = sq_get(s, S_EMB_GET, &st, err);

	*slot = SLOT_NONE;
	if (rc)
		return rc;
	sqlite3_bind_int(st, 1, fp);
	sqlite3_bind_blob(st, 2, key, SHA256_BYTES, SQLITE_STATIC);
	if ((rc = sq_step(s, st, err)) <= 0)
		return rc;
	*slot = sqlite3_column_int64(st, 0);
	*used_day = sqlite3_column_int(st, 2);
	sqlite3_reset(st);
	return 0;
}

bool embed_key_has(struct sq *s, int fp, const unsigned char *key)
{
	int64_t slot;
	int day;

	return !key_slot(s, fp, key, &slot, &day, NULL) && slot >= 0;
}

int sq_vectors_have(struct store *st, int fp,
		    const unsigned char (*keys)[SHA256_BYTES], int n,
		    bool *have, struct remem_err *err)
{
	struct sq *s = sq_of(st);
	int64_t slot;
	int day, rc = sq_op_begin(s, err);

	if (rc)
		return rc;
	for (int i = 0; !rc && i < n; i++) {
		rc = key_slot(s, fp, keys[i], &slot, &day, err);
		have[i] = slot >= 0;
	}
	sq_op_end(s);
	return rc;
}

static int key_used(struct sq *s, int fp, const unsigned char *key,
		    struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = sq_get(s, S_EMB_USED, &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int(st, 1, fp);
	sqlite3_bind_blob(st, 2, key, SHA256_BYTES, SQLITE_STATIC);
	sqlite3_bind_int(st, 3, today());
	return sq_run(s, st, err);
}

int embed_key_put(struct sq *s, struct fp *f, const unsigned char *key,
		  int64_t slot, int script, int day, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = sq_get(s, S_EMB_PUT, &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int(st, 1, f->id);
	sqlite3_bind_blob(st, 2, key, SHA256_BYTES, SQLITE_STATIC);
	sqlite3_bind_int64(st, 3, slot);
	sqlite3_bind_int(st, 4, script);
	sqlite3_bind_int(st, 5, day);
	if (!(rc = sq_run(s, st, err))) {
		f->rows++;
		f->dirty = true;
	}
	return rc;
}

/* ---- putting ---- */

struct putting {
	struct sq *s;
	struct fp *f;
	int8_t *row; /* room for one */
};

static int new_vector(struct putting *p, const struct store_vec_item *item,
		      int64_t *slot, struct remem_err *err)
{
	struct fp *f = p->f;
	struct vec_meta m = { .script = (uint8_t)item->script,
			      .flags = 0, .owner = VEC_SHARED,
			      .day = today() };
	int rc;

	if ((unsigned)item->script >= SCRIPT_COUNT)
		return fail(err, REMEM_EINVAL, "no such script");
	m.scale = vec_quantise(p->row, item->vec, f->dims);
	if (!(m.scale > 0))
		return fail(err, REMEM_EINVAL,
			    "a vector is zero or not finite");
	if (f->slots >= STORE_NO_SLOT - 1)
		return fail(err, REMEM_ELIMIT, "too many vectors");
	if ((rc = fp_means(p->s, f, err)))
		return rc;
	m.inv_norm = fp_inv_norm(f, item->script, p->row, m.scale);
	*slot = f->slots;
	if ((rc = vecfile_put(f->vec, (size_t)*slot, p->row, &m, err)) ||
	    (rc = embed_key_put(p->s, f, item->key, *slot, item->script, m.day,
				err)))
		return rc;
	f->slots++;
	f->dirty = true;
	return 0;
}

static int mark_alive(struct putting *p, int64_t slot, uint32_t file,
		      struct remem_err *err)
{
	const struct vec_meta *old = vecfile_meta(p->f->vec, (size_t)slot);
	struct vec_meta m;

	if (!old)
		return fail(err, REMEM_ECORRUPT, "a vector is gone");
	m = *old;
	if (!(m.flags & VEC_ALIVE))
		m.owner = file;
	else if (m.owner != file)
		m.owner = VEC_SHARED;
	m.flags |= VEC_ALIVE;
	m.day = today();
	if (!memcmp(&m, old, sizeof(m)))
		return 0;
	return vecfile_put_meta(p->f->vec, (size_t)slot, &m, err);
}

/* *found is false when the passage is gone. slots: of active and next. */
static int passage_slots(struct sq *s, int64_t passage, int64_t *chunk,
			 int64_t slots[2], unsigned char *hash, bool *found,
			 struct remem_err *err)
{
	sqlite3_stmt *st;
	const void *blob;
	int rc = sq_get(s, S_PASSAGE_SLOTS, &st, err);

	*found = false;
	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, passage);
	if ((rc = sq_step(s, st, err)) <= 0)
		return rc;
	*found = true;
	*chunk = sqlite3_column_int64(st, 0);
	slots[0] = sq_col_slot(st, 1);
	slots[1] = sq_col_slot(st, 2);
	blob = sqlite3_column_blob(st, 3);
	if (hash && blob && sqlite3_column_bytes(st, 3) == SHA256_BYTES)
		memcpy(hash, blob, SHA256_BYTES);
	sqlite3_reset(st);
	return 0;
}

static int set_slot(struct sq *s, enum fp_state state, int64_t passage,
		    int64_t old, int64_t slot, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc;

	if ((rc = sq_get(s, state == FP_ACTIVE ? S_LINK_ACTIVE : S_LINK_NEXT,
			 &st, err)))
		return rc;
	sqlite3_bind_int64(st, 1, passage);
	sq_bind_slot(st, 2, slot);
	if ((rc = sq_run(s, st, err)) ||
	    (rc = count_one(s, state, old, -1, err)))
		return rc;
	return count_one(s, state, slot, 1, err);
}

static int unrefuse(struct sq *s, int fp, const unsigned char *hash,
		    struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = sq_get(s, S_UNREFUSE, &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int(st, 1, fp);
	sqlite3_bind_blob(st, 2, hash, SHA256_BYTES, SQLITE_STATIC);
	return sq_run(s, st, err);
}

static int link_passage(struct putting *p, int64_t passage, int64_t slot,
			struct remem_err *err)
{
	enum fp_state state = p->f->state;
	unsigned char hash[SHA256_BYTES] = { 0 };
	int64_t chunk, slots[2], old;
	bool found;
	int rc;

	if ((rc = passage_slots(p->s, passage, &chunk, slots, hash, &found,
				err)) || !found)
		return rc;
	old = slots[state == FP_NEXT];
	if (old == slot)
		return 0;
	if ((rc = mark_alive(p, slot, map_file(p->s, chunk), err)))
		return rc;
	if (old == SLOT_REFUSED &&
	    (rc = unrefuse(p->s, p->f->id, hash, err)))
		return rc;
	return set_slot(p->s, state, passage, old, slot, err);
}

static int put_item(struct putting *p, const struct store_vec_item *item,
		    struct remem_err *err)
{
	int64_t slot;
	int day = 0, rc;

	if ((rc = key_slot(p->s, p->f->id, item->key, &slot, &day, err)))
		return rc;
	if (slot >= 0 && day != today())
		rc = key_used(p->s, p->f->id, item->key, err);
	else if (slot < 0 && !item->vec)
		rc = fail(err, REMEM_ENOTFOUND, "no vector has that key");
	else if (slot < 0)
		rc = new_vector(p, item, &slot, err);
	for (int i = 0; !rc && i < item->passage_count; i++)
		rc = link_passage(p, item->passages[i], slot, err);
	return rc;
}

int sq_vectors_put(struct store *st, int fp, const struct store_vec_item *items,
		   int n, struct remem_err *err)
{
	struct putting p = { .s = sq_of(st) };
	int rc;

	if ((rc = live_fp(p.s, fp, &p.f, err)) || (rc = map_load(p.s, err)) ||
	    (rc = fp_open_vec(p.s, p.f, err)))
		return rc;
	if (!(p.row = mem_alloc(vec_padded(p.f->dims))))
		return fail_nomem(err);
	for (int i = 0; !rc && i < n; i++)
		rc = put_item(&p, &items[i], err);
	mem_free(p.row);
	return rc;
}

int sq_vector_refused(struct store *store, int fp, int64_t passage,
		      const char *reason, struct remem_err *err)
{
	struct sq *s = sq_of(store);
	unsigned char hash[SHA256_BYTES] = { 0 };
	int64_t chunk, slots[2], old;
	struct fp *f;
	bool found;
	sqlite3_stmt *st;
	int rc;

	if ((rc = live_fp(s, fp, &f, err)) ||
	    (rc = passage_slots(s, passage, &chunk, slots, hash, &found, err)))
		return rc;
	old = slots[f->state == FP_NEXT];
	if (!found || old == SLOT_REFUSED)
		return 0;
	if ((rc = sq_get(s, S_REFUSE, &st, err)))
		return rc;
	sqlite3_bind_int(st, 1, fp);
	sqlite3_bind_blob(st, 2, hash, SHA256_BYTES, SQLITE_STATIC);
	sq_bind_text(st, 3, reason);
	if ((rc = sq_run(s, st, err)))
		return rc;
	return set_slot(s, f->state, passage, old, SLOT_REFUSED, err);
}

int sq_refused_each(struct store *store,
		    int (*fn)(void *ctx, const char *path, int line_first,
			      int line_last, const char *reason), void *ctx,
		    struct remem_err *err)
{
	struct sq *s = sq_of(store);
	sqlite3_stmt *st;
	int rc;

	if ((rc = sq_op_begin(s, err)))
		return rc;
	if ((rc = sq_get(s, S_REFUSED_ALL, &st, err)))
		goto out;
	while ((rc = sq_step(s, st, err)) > 0) {
		const char *path = (const char *)sqlite3_column_text(st, 0);
		const char *reason = (const char *)sqlite3_column_text(st, 3);

		rc = path ? fn(ctx, path, sqlite3_column_int(st, 1),
			       sqlite3_column_int(st, 2), reason) : 0;
		if (rc)
			break;
	}
	sqlite3_reset(st);
out:
	sq_op_end(s);
	return rc;
}
