/*
 * Postings of a first index, gathered here instead of by FTS5. FTS5 is called
 * for each term of each chunk, sorts 1 MB at a time and merges what it has
 * written again and again; that was more than half of a first index. Here a
 * term is looked up in one table, and a posting is one number in a log:
 *
 *   table   slots of 32 bytes with the term in them: one cache line a look
 *   log     number of the term and its class (1, 2, 4 times and more), in the
 *           order of the chunks; so a counting sort by term leaves the rows
 *           of each term in order
 *
 * At every commit, and when there is as much of it as fits the budget, terms
 * are sorted (a radix sort of their first 8 bytes) and written as one segment
 * in FTS5's own format. 16 segments of a level become one of the next: lists
 * are laid end to end, since rows only rise. maintain() makes one of all.
 *
 * FTS5 reads its list of segments once and then believes it, as long as no
 * other connection writes. So all this is done only while FTS5 has not touched
 * the table in this connection: whoever needs it (a posting taken back, MATCH)
 * ends the bulk first, and for the rest of the connection FTS5 does the work.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "store/sqlite_segment.h"
#include "store/sqlite_store.h"
#include "text/term.h"

/* Budget: 4 MB of log and as much for its rows in order, 8 MB of slots, 9 MB to
 * sort them. Half as many terms make 16 segments of 10,000 notes and cost 4 %;
 * what SQLite's cache no longer needs pays for it. */
#define MAX_ROWS (1u << 20)
#define MAX_TERMS (184u << 10) /* of 256 K slots, and some to spare */
#define SLOTS_FIRST (1u << 12)
#define ROWS_FIRST (1u << 14)
#define INLINE_BYTES 18
#define LONG_HEAD 4 /* bytes of its place in the pool, before its beginning */
#define CLASSES 3 /* of how often */
#define CLASS_BITS 2
#define MERGE_AT 16 /* segments of a level; as many as FTS5 allows */

struct bulk_slot {
	uint32_t hash;
	uint32_t number; /* from 1; 0: empty */
	uint32_t chunk; /* it was last met in */
	uint8_t len;
	uint8_t count; /* there; stops at 4 */
	char text[INLINE_BYTES]; /* longer ones: place, beginning */
};

struct bulk_key { /* to sort by */
	uint64_t front;
	uint32_t slot;
};

struct bulk_chunk {
	uint32_t id, end; /* of its part of the log */
};

struct bulk {
	bool whole; /* every segment there is was written here */
	bool known; /* that is decided */
	struct bulk_slot *slots;
	size_t slot_count, terms;
	char *pool; /* of long terms */
	size_t pool_len, pool_cap;
	uint32_t *log;
	size_t log_len, log_cap;
	struct bulk_chunk *chunks;
	size_t chunk_count, chunk_cap;
	uint32_t last_id;
	struct segment_out out;
};

_Static_assert(sizeof(struct bulk_slot) * 2 == 64, "two in a cache line");

/* ---- the table ---- */

static const char *slot_text(const struct bulk *b, const struct bulk_slot *s)
{
	uint32_t at;

	if (s->len <= INLINE_BYTES)
		return s->text;
	memcpy(&at, s->text, LONG_HEAD);
	return b->pool + at;
}

static bool slots_grow(struct bulk *b)
{
	size_t count = b->slot_count ? b->slot_count * 2 : SLOTS_FIRST;
	struct bulk_slot *slots = mem_zarray(count, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < b->slot_count; i++) {
		size_t k = b->slots[i].hash & (count - 1);

		if (!b->slots[i].number)
			continue;
		while (slots[k].number)
			k = (k + 1) & (count - 1);
		slots[k] = b->slots[i];
	}
	mem_free(b->slots);
	b->slots = slots;
	b->slot_count = count;
	return true;
}

/* A term on its way to its slot; short ones are followed by NULs. */
struct bulk_term {
	uint32_t hash, len;
	char text[TERM_MAX_BYTES];
};

/* A call of memcpy() would cost more than what it does. */
static void term_copy(char *to, const char *from, size_t n)
{
	memset(to, 0, 24);
	if (n > 16) {
		memcpy(to, from, n);
	} else if (n >= 8) {
		memcpy(to, from, 8);
		memcpy(to + n - 8, from + n - 8, 8);
	} else if (n >= 4) {
		memcpy(to, from, 4);
		memcpy(to + n - 4, from + n - 4, 4);
	} else if (n) {
		to[0] = from[0];
		to[n / 2] = from[n / 2];
		to[n - 1] = from[n - 1];
	}
}

static uint32_t term_hash(const char *text, size_t n)
{
	uint64_t a, b;

	if (n > 16)
		return (uint32_t)hash64(text, n, 0);
	memcpy(&a, text, 8);
	memcpy(&b, text + 8, 8);
	a = (a ^ (b * 0xb7e151628aed2a6bu)) * 0x9e3779b97f4a7c15u;
	return (uint32_t)(a >> 32 ^ a >> 7);
}

static bool slot_fill(struct bulk *b, struct bulk_slot *s,
		      const struct bulk_term *t)
{
	uint32_t at = (uint32_t)b->pool_len;

	if (t->len > INLINE_BYTES) {
		if (!mem_grow(&b->pool, &b->pool_cap, b->pool_len + t->len, 1))
			return false;
		memcpy(b->pool + b->pool_len, t->text, t->len);
		b->pool_len += t->len;
		memcpy(s->text, &at, LONG_HEAD);
		memcpy(s->text + LONG_HEAD, t->text, INLINE_BYTES - LONG_HEAD);
	} else {
		memcpy(s->text, t->text, INLINE_BYTES);
	}
	s->hash = t->hash;
	s->number = (uint32_t)++b->terms;
	s->chunk = 0;
	s->len = (uint8_t)t->len;
	return true;
}

static bool is_term(const struct bulk *b, const struct bulk_slot *s,
		    const struct bulk_term *t)
{
	if (s->hash != t->hash || s->len != t->len)
		return false;
	return s->len <= INLINE_BYTES ?
	       !memcmp(s->text, t->text, INLINE_BYTES) :
	       !memcmp(slot_text(b, s), t->text, t->len);
}

/* NULL when there is no memory. */
static struct bulk_slot *slot_of(struct bulk *b, const struct bulk_term *t)
{
	struct bulk_slot *s;
	size_t k;

	/* Three quarters full at most. */
	if (b->terms * 4 >= b->slot_count * 3 && !slots_grow(b))
		return NULL;
	k = t->hash & (b->slot_count - 1);
	for (s = &b->slots[k]; s->number; s = &b->slots[k]) {
		if (is_term(b, s, t))
			return s;
		k = (k + 1) & (b->slot_count - 1);
	}
	return slot_fill(b, s, t) ? s : NULL;
}

/* ---- one chunk ---- */

/* Most slots are not in the processor's cache: each is asked for some terms
 * before it is needed, which saves half of the time it takes. */
#define AHEAD 8 /* a power of two */

struct bulk_take {
	struct bulk *b;
	uint32_t id;
	size_t lead, len; /* of the body: overlap, overlap and own text */
	size_t all, own;
	struct bulk_term ahead[AHEAD];
	size_t cut, taken; /* terms so far */
};

static int post(struct bulk *b, const struct bulk_slot *s, uint32_t class)
{
	if (b->log_len == b->log_cap &&
	    !mem_grow(&b->log, &b->log_cap,
		      b->log_cap ? b->log_len + 1 : ROWS_FIRST,
		      sizeof(*b->log)))
		return REMEM_ENOMEM;
	b->log[b->log_len++] = (s->number - 1) << CLASS_BITS | class;
	return 0;
}

static int take_oldest(struct bulk_take *w)
{
	struct bulk_slot *s = slot_of(w->b, &w->ahead[w->taken++ % AHEAD]);

	if (!s)
		return REMEM_ENOMEM;
	if (s->chunk != w->id) {
		s->chunk = w->id;
		s->count = 1;
		return post(w->b, s, 0);
	}
	if (s->count >= 4)
		return 0;
	s->count++;
	return s->count == 3 ? 0 : post(w->b, s, s->count >> 1);
}

static int take(void *ctx, const struct term *t)
{
	struct bulk_take *w = ctx;
	struct bulk_term *to = &w->ahead[w->cut++ % AHEAD];

	term_copy(to->text, t->text, t->len);
	to->hash = term_hash(to->text, t->len);
	to->len = t->len;
	if (w->b->slot_count)
		PREFETCH(&w->b->slots[to->hash & (w->b->slot_count - 1)]);
	if (t->start < w->len) {
		w->all++;
		w->own += t->start >= w->lead;
	}
	return w->cut - w->taken < AHEAD ? 0 : take_oldest(w);
}

static int take_rest(struct bulk_take *w)
{
	int rc = 0;

	while (!rc && w->taken < w->cut)
		rc = take_oldest(w);
	return rc;
}

static void forget(struct bulk *b)
{
	if (b->slots)
		memset(b->slots, 0, b->slot_count * sizeof(*b->slots));
	b->terms = b->pool_len = b->log_len = b->chunk_count = 0;
}

/* ---- rows of the table ---- */

static int data_get(struct sq *s, int64_t id, sqlite3_stmt **st,
		    struct remem_err *err)
{
	int rc = sq_get(s, S_POST_LEAF, st, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(*st, 1, id);
	return sq_step(s, *st, err);
}

static int data_put(struct sq *s, int64_t id, const void *data, size_t len,
		    struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = sq_get(s, S_LEAF_PUT, &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, id);
	sqlite3_bind_blob(st, 2, data, (int)len, SQLITE_STATIC);
	return sq_run(s, st, err);
}

static int put_leaf(void *ctx, uint32_t segment, uint32_t page,
		    const void *data, size_t len, struct remem_err *err)
{
	return data_put(ctx, fts5_leaf_id(segment, page), data, len, err);
}

static int put_entry(void *ctx, uint32_t segment, const void *term, size_t len,
		     uint32_t page, struct remem_err *err)
{
	struct sq *s = ctx;
	sqlite3_stmt *st;
	int rc = sq_get(s, S_ENTRY_PUT, &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, segment);
	sqlite3_bind_blob(st, 2, len ? term : "", (int)len, SQLITE_STATIC);
	/* The low bit says that there is a list of leaves. */
	sqlite3_bind_int64(st, 3, (int64_t)page << 1);
	return sq_run(s, st, err);
}

/* *ok: it is there, and of the kind we know. */
static int structure_look(struct sq *s, struct structure *out, bool *ok,
			  struct remem_err *err)
{
	sqlite3_stmt *st = NULL;
	int rc = data_get(s, FTS5_STRUCTURE_ROW, &st, err);

	*ok = rc > 0 &&
	      structure_decode(out, sqlite3_column_blob(st, 0),
			       (size_t)sqlite3_column_bytes(st, 0));
	sqlite3_reset(st);
	return rc < 0 ? rc : 0;
}

static int structure_get(struct sq *s, struct structure *out,
			 struct remem_err *err)
{
	bool ok;
	int rc = structure_look(s, out, &ok, err);

	return rc ? rc : ok ? 0 : sq_damaged(s, BAD_POSTINGS, err);
}

static int structure_put(struct sq *s, const struct structure *t,
			 struct remem_err *err)
{
	unsigned char record[STRUCTURE_MAX_BYTES];

	return data_put(s, FTS5_STRUCTURE_ROW, record,
			structure_encode(record, t), err);
}

/* FTS5's totals: rows, and terms of all of them. */
static int totals_add(struct sq *s, uint64_t rows, uint64_t terms,
		      struct remem_err *err)
{
	uint64_t old_rows = 0, old_terms = 0;
	unsigned char record[20];
	sqlite3_stmt *st = NULL;
	size_t n = 0;
	int rc = data_get(s, FTS5_TOTALS_ROW, &st, err);

	if (rc < 0)
		return rc;
	if (rc) {
		const unsigned char *p = sqlite3_column_blob(st, 0);
		size_t len = (size_t)sqlite3_column_bytes(st, 0);

		if (p && (n = varint_get(p, 0, len, &old_rows)))
			varint_get(p, n, len, &old_terms);
		sqlite3_reset(st);
	}
	n = varint_put(record, old_rows + rows);
	n += varint_put(record + n, old_terms + terms);
	return data_put(s, FTS5_TOTALS_ROW, record, n, err);
}

/* ---- in order ---- */

static uint64_t front_of(const struct bulk *b, const struct bulk_slot *s)
{
	const char *text = slot_text(b, s);
	uint64_t v = 0;

	for (int i = 0; i < 8; i++)
		v = v << 8 | (i < s->len ? (unsigned char)text[i] : 0);
	return v;
}

static int compare(const struct bulk *b, const struct bulk_key *x,
		   const struct bulk_key *y)
{
	const struct bulk_slot *p = &b->slots[x->slot], *q = &b->slots[y->slot];
	size_t n = p->len < q->len ? p->len : q->len;
	int d = memcmp(slot_text(b, p), slot_text(b, q), n);

	return d ? d : p->len - q->len;
}

/* One byte of the fronts; false if all have the same there. */
static bool radix_pass(struct bulk_key *to, const struct bulk_key *from,
		       size_t n, int shift)
{
	uint32_t at[256] = { 0 }, sum = 0;

	for (size_t i = 0; i < n; i++)
		at[from[i].front >> shift & 0xff]++;
	if (at[from[0].front >> shift & 0xff] == n)
		return false;
	for (int i = 0; i < 256; i++) {
		uint32_t c = at[i];

		at[i] = sum;
		sum += c;
	}
	for (size_t i = 0; i < n; i++)
		to[at[from[i].front >> shift & 0xff]++] = from[i];
	return true;
}

/* Those whose first 8 bytes are the same: hardly ever more than a few. */
static void sort_equal(const struct bulk *b, struct bulk_key *k, size_t n)
{
	for (size_t gap = n / 2; gap; gap /= 2)
		for (size_t i = gap; i < n; i++) {
			struct bulk_key x = k[i];
			size_t j = i;

			for (; j >= gap && compare(b, &x, &k[j - gap]) < 0;
			     j -= gap)
				k[j] = k[j - gap];
			k[j] = x;
		}
}

/* keys has room for twice the terms. Returns where they are in order. */
static struct bulk_key *sort_terms(const struct bulk *b, struct bulk_key *keys)
{
	struct bulk_key *from = keys, *to = keys + b->terms, *swap;
	size_t n = 0, i, k;

	for (i = 0; i < b->slot_count; i++)
		if (b->slots[i].number)
			keys[n++] = (struct bulk_key){
				front_of(b, &b->slots[i]), (uint32_t)i
			};
	for (int shift = 0; shift < 64; shift += 8)
		if (radix_pass(to, from, n, shift)) {
			swap = from;
			from = to;
			to = swap;
		}
	for (i = 0; i < n; i = k) {
		for (k = i + 1; k < n && from[k].front == from[i].front; k++)
			;
		if (k - i > 1)
			sort_equal(b, from + i, k - i);
	}
	return from;
}

/* ends[t]: behind the rows of term and class t, which begin where those of the
 * one before end. */
static void sort_rows(const struct bulk *b, uint32_t *ends, uint32_t *rows)
{
	size_t n = b->terms << CLASS_BITS, at = 0;
	uint32_t sum = 0;

	memset(ends, 0, n * sizeof(*ends));
	for (size_t i = 0; i < b->log_len; i++)
		ends[b->log[i]]++;
	for (size_t i = 0; i < n; i++) {
		uint32_t c = ends[i];

		ends[i] = sum;
		sum += c;
	}
	for (size_t c = 0; c < b->chunk_count; c++)
		for (; at < b->chunks[c].end; at++)
			rows[ends[b->log[at]]++] = b->chunks[c].id;
}

/* ---- a segment of what is gathered ---- */

static int write_list(struct segment_out *w, unsigned char *term, size_t len,
		      const uint32_t *rows, size_t n, struct remem_err *err)
{
	int rc = n ? segment_term(w, term, len, err) : 0;

	for (size_t i = 0; i < n && !rc; i++)
		rc = segment_row(w, rows[i], err);
	return rc;
}

static int write_term(struct bulk *b, const struct bulk_slot *s,
		      const uint32_t *ends, const uint32_t *rows,
		      struct remem_err *err)
{
	unsigned char term[TERM_MAX_BYTES + 2];
	size_t t = (size_t)(s->number - 1) << CLASS_BITS, len = s->len;
	int rc = 0;

	term[0] = FTS5_TERM_MARK;
	memcpy(term + 1, slot_text(b, s), len++);
	for (size_t c = 0; c < CLASSES && !rc; c++, t++) {
		uint32_t from = t ? ends[t - 1] : 0;

		term[len] = (unsigned char)(c << 1); /* 2, 4 */
		rc = write_list(&b->out, term, len + !!c, rows + from,
				ends[t] - from, err);
	}
	return rc;
}

static int write_terms(struct bulk *b, uint32_t *last, struct remem_err *err)
{
	struct bulk_key *keys = mem_array(b->terms, 2 * sizeof(*keys)), *k;
	uint32_t *ends = mem_array(b->terms, sizeof(*ends) << CLASS_BITS);
	uint32_t *rows = mem_array(b->log_len, sizeof(*rows));
	int rc = keys && ends && rows ? 0 : fail_nomem(err);

	if (rc)
		goto out;
	k = sort_terms(b, keys);
	sort_rows(b, ends, rows);
	for (size_t i = 0; i < b->terms && !rc; i++)
		rc = write_term(b, &b->slots[k[i].slot], ends, rows, err);
	if (!rc)
		rc = segment_end(&b->out, last, err);
out:
	mem_free(rows);
	mem_free(ends);
	mem_free(keys);
	return rc;
}

/* ---- segments made one ---- */

struct merge {
	struct sq *s;
	struct segment_out *out;
	struct cursor *c;
	int count;
	struct remem_err *err;
};

/* A leaf that was read is not needed again: its room is for the new ones. */
static int take_leaf(void *ctx, struct cursor *c, uint32_t page)
{
	struct merge *m = ctx;
	int64_t id = fts5_leaf_id(c->segment, page);
	sqlite3_stmt *st;
	int rc = data_get(m->s, id, &st, m->err);

	if (rc < 0)
		return rc;
	if (!rc)
		return sq_damaged(m->s, BAD_POSTINGS, m->err);
	c->len = (size_t)sqlite3_column_bytes(st, 0);
	rc = mem_grow(&c->buf, &c->cap, c->len, 1) ? 0 : fail_nomem(m->err);
	if (!rc)
		memcpy(c->buf, sqlite3_column_blob(st, 0), c->len);
	sqlite3_reset(st);
	if (rc || (rc = sq_get(m->s, S_LEAF_DEL, &st, m->err)))
		return rc;
	sqlite3_bind_int64(st, 1, id);
	return sq_run(m->s, st, m->err);
}

static int order(const struct cursor *a, const struct cursor *b)
{
	uint32_t n = a->term_len < b->term_len ? a->term_len : b->term_len;
	int d = memcmp(a->term, b->term, n);

	return d ? d : (int)a->term_len - (int)b->term_len;
}

/* The oldest of those with the lowest term: its rows are the lowest. */
static struct cursor *lowest(const struct merge *m)
{
	struct cursor *low = NULL;

	for (int i = 0; i < m->count; i++)
		if (m->c[i].live && (!low || order(&m->c[i], low) < 0))
			low = &m->c[i];
	return low;
}

static int merge_list(struct merge *m, struct cursor *c)
{
	struct leaf_row rows[512];
	size_t n;
	int rc;

	do {
		if ((rc = cursor_rows(c, rows, ARRAY_LEN(rows), &n)))
			return rc;
		for (size_t i = 0; i < n && !rc; i++)
			rc = segment_row(m->out, rows[i].id, m->err);
	} while (n && !rc);
	if (!rc)
		rc = cursor_next(c);
	return !rc && c->broken ? sq_damaged(m->s, BAD_POSTINGS, m->err) : rc;
}

static int merge_terms(struct merge *m)
{
	unsigned char term[LEAF_TERM_MAX];
	struct cursor *c;
	size_t len = 0;
	int rc = 0;

	while (!rc && (c = lowest(m))) {
		if (c->term_len != len || memcmp(c->term, term, len)) {
			len = c->term_len;
			memcpy(term, c->term, len);
			rc = segment_term(m->out, term, len, m->err);
		}
		if (!rc)
			rc = merge_list(m, c);
	}
	return rc;
}

static int open_cursors(struct merge *m, const struct segment *g)
{
	for (int i = 0; i < m->count; i++) {
		struct cursor *c = &m->c[i];
		int rc;

		c->segment = g[i].id;
		c->first = g[i].first;
		c->last = g[i].last;
		c->load = take_leaf;
		c->ctx = m;
		if ((rc = cursor_seek(c, c->first, "", 0, true)))
			return rc;
		if (c->broken)
			return sq_damaged(m->s, BAD_POSTINGS, m->err);
	}
	return 0;
}

static int drop_entries(struct sq *s, uint32_t segment, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = sq_get(s, S_ENTRY_DEL, &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, segment);
	return sq_run(s, st, err);
}

/* The segments of g, oldest first, become *made. */
static int merge_into(struct sq *s, const struct segment *g, int count,
		      struct segment *made, struct remem_err *err)
{
	struct merge m = { s, &s->bulk->out, NULL, count, err };
	int rc;

	if (!(m.c = mem_zarray((size_t)count, sizeof(*m.c))))
		return fail_nomem(err);
	segment_begin(m.out, made->id);
	made->first = 1;
	if (!(rc = open_cursors(&m, g)) && !(rc = merge_terms(&m)))
		rc = segment_end(m.out, &made->last, err);
	for (int i = 0; i < count; i++) {
		if (!rc)
			rc = drop_entries(s, g[i].id, err);
		mem_free(m.c[i].buf);
	}
	mem_free(m.c);
	return rc;
}

/* All of a level become one of the next. */
static int merge_level(struct sq *s, struct structure *t, int level,
		       struct remem_err *err)
{
	struct segment made = { .id = structure_free_id(t) };
	int at = 0, rc;

	for (int i = 0; i < level; i++)
		at += t->level[i].count;
	rc = merge_into(s, t->segments + at, t->level[level].count, &made, err);
	if (rc)
		return rc;
	structure_clear(t, level);
	return structure_add(t, level + 1, &made) ? 0 :
	       sq_damaged(s, BAD_POSTINGS, err);
}

/* All there are become one of the highest level. */
static int merge_all(struct sq *s, struct structure *t, struct remem_err *err)
{
	struct segment old[STRUCTURE_MAX_SEGMENTS];
	struct segment made = { .id = structure_free_id(t) };
	int n = structure_by_age(old, t), top = t->levels - 1, rc;

	if ((rc = merge_into(s, old, n, &made, err)))
		return rc;
	for (int i = 0; i <= top; i++)
		structure_clear(t, i);
	return structure_add(t, top, &made) ? 0 :
	       sq_damaged(s, BAD_POSTINGS, err);
}

static int write_segment(struct sq *s, struct structure *t,
			 struct remem_err *err)
{
	struct bulk *b = s->bulk;
	struct segment made = { structure_free_id(t), 1, 0 };
	int rc;

	if (!b->terms)
		return 0;
	segment_begin(&b->out, made.id);
	if ((rc = write_terms(b, &made.last, err)))
		return rc;
	t->writes += made.last;
	return structure_add(t, 0, &made) ? 0 :
	       sq_damaged(s, BAD_POSTINGS, err);
}

int bulk_flush(struct sq *s, struct remem_err *err)
{
	struct bulk *b = s->bulk;
	struct structure t;
	int rc;

	if (!b || !b->chunk_count)
		return 0;
	if ((rc = structure_get(s, &t, err)))
		return rc;
	if (!b->known)
		b->whole = !t.count;
	b->known = true;
	if ((rc = write_segment(s, &t, err)) ||
	    (rc = totals_add(s, b->chunk_count, b->log_len, err)))
		return rc;
	for (int i = 0; b->whole && i < t.levels && !rc; i++)
		if (t.level[i].count >= MERGE_AT)
			rc = merge_level(s, &t, i, err);
	if (!rc)
		rc = structure_put(s, &t, err);
	if (rc)
		return rc;
	forget(b);
	/* FTS5 merges what it has written itself. */
	if (!b->whole && t.level[0].count >= MERGE_AT)
		bulk_free(s);
	return 0;
}

int bulk_merge(struct sq *s, bool *done, struct remem_err *err)
{
	struct structure t;
	int rc;

	*done = false;
	if ((rc = bulk_flush(s, err)) || !s->bulk || !s->bulk->whole)
		return rc;
	if ((rc = structure_get(s, &t, err)))
		return rc;
	*done = true;
	if (t.count < 2)
		return 0;
	rc = merge_all(s, &t, err);
	return rc ? rc : structure_put(s, &t, err);
}

/* ---- when ---- */

/* Tables of FTS5 may be written only by itself where it is made so. */
static bool may_write_tables(struct sq *s)
{
	int defensive = 1;

	/* -1 asks; 0 would take the protection off. */
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, -1, &defensive);
	return !defensive;
}

/* Only for an index whose first run has not come to its end, in a format that
 * we know and where its tables may be written. What runs that were killed have
 * left may be so much that FTS5 has to merge it first. */
static bool may_begin(struct sq *s)
{
	struct structure t;
	int64_t n = 0;
	bool ok;

	return !sq_int(s, S_INDEXED, &n, NULL) && !n &&
	       !sq_int(s, S_POST_FORMAT, &n, NULL) && n == FTS5_FORMAT &&
	       may_write_tables(s) && !structure_look(s, &t, &ok, NULL) &&
	       ok && (!t.levels || t.level[0].count < MERGE_AT);
}

static int begin(struct sq *s, struct remem_err *err)
{
	struct bulk *b;

	if (s->bulk_over || s->bulk)
		return 0;
	if (!may_begin(s)) {
		s->bulk_over = true;
		return 0;
	}
	if (!(b = s->bulk = mem_zalloc(sizeof(*b))))
		return fail_nomem(err);
	b->out.ctx = s;
	b->out.leaf = put_leaf;
	b->out.entry = put_entry;
	return 0;
}

void bulk_free(struct sq *s)
{
	struct bulk *b = s->bulk;

	s->bulk_over = true;
	s->bulk = NULL;
	if (!b)
		return;
	mem_free(b->slots);
	mem_free(b->pool);
	mem_free(b->log);
	mem_free(b->chunks);
	mem_free(b);
}

void bulk_drop(struct sq *s)
{
	if (!s->bulk)
		return;
	forget(s->bulk);
	s->bulk->known = s->bulk->whole = false;
	s->bulk->last_id = 0;
}

int bulk_end(struct sq *s, struct remem_err *err)
{
	int rc = bulk_flush(s, err);

	bulk_free(s);
	return rc;
}

static int add(struct bulk *b, uint32_t id, const struct buf *body,
	       struct fts_count *n)
{
	struct bulk_take w;

	w.b = b;
	w.id = id;
	w.lead = n->lead;
	w.len = n->len;
	w.all = w.own = w.cut = w.taken = 0;
	if (!mem_grow(&b->chunks, &b->chunk_cap, b->chunk_count + 1,
		      sizeof(*b->chunks)) ||
	    term_cut(body->ptr, body->len, take, &w) || take_rest(&w))
		return REMEM_ENOMEM;
	b->chunks[b->chunk_count++] = (struct bulk_chunk){
		id, (uint32_t)b->log_len
	};
	b->last_id = id;
	n->all = w.all;
	n->own = w.own;
	return 0;
}

int bulk_add(struct sq *s, int64_t id, const struct buf *body,
	     struct fts_count *n, bool *taken, struct remem_err *err)
{
	int rc = begin(s, err);

	*taken = false;
	if (!rc && s->bulk && id <= s->bulk->last_id)
		rc = bulk_end(s, err);
	if (rc || !s->bulk)
		return rc;
	*taken = true;
	if (add(s->bulk, (uint32_t)id, body, n))
		return fail_nomem(err);
	if (s->bulk->log_len < MAX_ROWS && s->bulk->terms < MAX_TERMS)
		return 0;
	return bulk_flush(s, err);
}
