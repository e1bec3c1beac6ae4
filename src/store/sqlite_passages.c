/*
 * Passages of a chunk read back: what its row has packed (sqlite_pack.h),
 * headings by their ids, and slots, which stand in the table of passages
 * alone. A row handed out by sqlite3_step() costs more than a slot: a function
 * in the statement's WHERE takes them and lets no row through.
 */
#include <string.h>

#include "base/alloc.h"
#include "store/sqlite_pack.h"
#include "store/sqlite_store.h"

/* Headings met in one call: few, and the same for many passages. */
#define HEADING_SLOTS 256 /* a power of two */
/* Headings that a reader keeps while nothing is written. */
#define KNOWN_SLOTS 1024 /* a power of two */
#define KNOWN_BYTES ((size_t)1 << 20) /* of their text; then all go */
#define NO_SENSE "the passages of a chunk make no sense"

struct heading_row {
	int64_t id;
	const char *text;
	int files;
};

struct heading_cache {
	struct heading_row rows[HEADING_SLOTS];
};

struct known {
	struct arena a;
	struct heading_row rows[KNOWN_SLOTS];
};

/* ---- headings ---- */

struct heading_cache *headings_new(struct arena *a)
{
	return ARENA_NEW(a, struct heading_cache);
}

void known_drop(struct sq *s)
{
	if (!s->known)
		return;
	arena_reset(&s->known->a);
	memset(s->known->rows, 0, sizeof(s->known->rows));
}

void known_release(struct sq *s)
{
	if (!s->known)
		return;
	arena_release(&s->known->a);
	mem_free(s->known);
	s->known = NULL;
}

static int read_heading(struct sq *s, struct arena *a, int64_t id,
			struct heading_row *row, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc;

	if ((rc = sq_get(s, S_HEADING_GET, &st, err)))
		return rc;
	sqlite3_bind_int64(st, 1, id);
	if ((rc = sq_step(s, st, err)) < 0)
		return rc;
	row->text = rc ? sq_col_text(a, st, 0) : NULL;
	row->files = rc ? sqlite3_column_int(st, 1) : 0;
	row->id = a->failed ? 0 : id;
	sqlite3_reset(st);
	return a->failed ? fail_nomem(err) : 0;
}

/* Kept by a reader: what a writer itself changes shows in no data_version. */
static int known_heading(struct sq *s, int64_t id, struct heading_row **out,
			 struct remem_err *err)
{
	struct known *k = s->known;

	if (!k && !(k = s->known = mem_zalloc(sizeof(*k))))
		return fail_nomem(err);
	if (s->mode != STORE_READ || k->a.failed || k->a.used > KNOWN_BYTES)
		known_drop(s);
	*out = &k->rows[id & (KNOWN_SLOTS - 1)];
	return (*out)->id == id ? 0 : read_heading(s, &k->a, id, *out, err);
}

static int heading_of(struct sq *s, struct arena *a, struct heading_cache *h,
		      int64_t id, struct store_passage *p,
		      struct remem_err *err)
{
	struct heading_row *row = &h->rows[id & (HEADING_SLOTS - 1)];
	struct heading_row *known = NULL;
	int rc;

	if (!id)
		return 0;
	if (row->id != id) {
		if ((rc = known_heading(s, id, &known, err)))
			return rc;
		*row = *known;
		row->text = known->text ? arena_strdup(a, known->text) : NULL;
	}
	p->heading = row->text;
	p->heading_files = row->files;
	return 0;
}

/* ---- slots ---- */

/* slot_met(id, slot) */
static void slot_met(sqlite3_context *x, int n, sqlite3_value **v)
{
	struct slot_rows *r = ((struct sq *)sqlite3_user_data(x))->slot_rows;
	int64_t at;

	sqlite3_result_int(x, 0);
	if (!r || n != 2)
		return;
	at = sqlite3_value_int64(v[0]) - r->first;
	if (at < 0 || at >= r->count ||
	    sqlite3_value_type(v[1]) == SQLITE_NULL)
		return;
	r->slots[at] = sqlite3_value_int64(v[1]);
}

int passages_register(struct sq *s, struct remem_err *err)
{
	int rc = sqlite3_create_function_v2(s->db, "slot_met", 2,
					    SQLITE_UTF8 | SQLITE_DIRECTONLY, s,
					    slot_met, NULL, NULL, NULL);

	return rc ? sq_fail(s, "set up", err) : 0;
}

int passages_slots(struct sq *s, enum fp_state state, int64_t first, int count,
		   int64_t *slots, struct remem_err *err)
{
	struct slot_rows r = { first, count, slots };
	sqlite3_stmt *st;
	int rc;

	for (int i = 0; i < count; i++)
		slots[i] = SLOT_NONE;
	if (state == FP_CACHE)
		return 0;
	if ((rc = sq_get(s, state == FP_NEXT ? S_PASSAGES_NEXT :
					       S_PASSAGES_SLOTS, &st, err)))
		return rc;
	sqlite3_bind_int64(st, 1, first);
	sqlite3_bind_int(st, 2, count);
	s->slot_rows = &r;
	rc = sq_run(s, st, err);
	s->slot_rows = NULL;
	return rc;
}

/* ---- what is packed ---- */

int passages_read(struct sq *s, struct arena *a, struct heading_cache *h,
		  const struct packed *k, struct store_chunk *c,
		  struct remem_err *err)
{
	struct pack_reader r = { k->data, k->data + k->len,
				 0, 0, NULL };
	int64_t heading;
	int rc = 0;

	/* Seven bytes are the least that one takes. */
	if (c->passage_count < 0 || (size_t)c->passage_count > k->len / 7)
		return sq_damaged(s, NO_SENSE, err);
	c->passages = ARENA_ARRAY(a, struct store_passage,
				  (size_t)c->passage_count + 1);
	for (int i = 0; !a->failed && !rc && i < c->passage_count; i++) {
		struct store_passage *p = &c->passages[i];

		if (!pack_next(&r, a, p, &heading) || p->start > c->len ||
		    p->len > c->len - p->start)
			return a->failed ? fail_nomem(err) :
					   sq_damaged(s, NO_SENSE, err);
		p->id = k->first + i;
		p->chunk = c->id;
		p->file = c->file;
		p->line_first += c->first_line;
		p->line_last += c->first_line;
		p->slot = STORE_NO_SLOT;
		rc = heading_of(s, a, h, heading, p, err);
	}
	return rc || !a->failed ? rc : fail_nomem(err);
}
