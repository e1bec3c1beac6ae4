/*
 * Passages that have no vector yet: curated files first, then the newest by
 * their date, then by their time stamp. The order of chunks is made once and
 * walked; writing of files drops it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "store/sqlite_store.h"

struct rank { /* of a file, by its id */
	int32_t date;
	int64_t mtime_ns;
	bool curated;
};

struct queued {
	int64_t chunk;
	struct rank rank;
	uint32_t file;
};

void pending_drop(struct sq *s)
{
	mem_free(s->queue);
	s->queue = NULL;
	s->queue_len = s->queue_pos = 0;
	s->queue_fp = 0;
}

static int first_first(const void *a, const void *b)
{
	const struct queued *x = a, *y = b;

	if (x->rank.curated != y->rank.curated)
		return x->rank.curated ? -1 : 1;
	if (x->rank.date != y->rank.date)
		return x->rank.date > y->rank.date ? -1 : 1;
	if (x->rank.mtime_ns != y->rank.mtime_ns)
		return x->rank.mtime_ns > y->rank.mtime_ns ? -1 : 1;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return (x->chunk > y->chunk) - (x->chunk < y->chunk);
}

static int file_ranks(struct sq *s, struct rank **ranks, size_t *count,
		      struct remem_err *err)
{
	size_t cap = 0;
	sqlite3_stmt *st;
	int rc = sq_get(s, S_FILE_ORDER, &st, err);

	if (rc)
		return rc;
	while ((rc = sq_step(s, st, err)) > 0) {
		size_t id = (size_t)sqlite3_column_int64(st, 0), old = cap;

		if (!mem_grow(ranks, &cap, id + 1, sizeof(**ranks))) {
			rc = fail_nomem(err);
			break;
		}
		memset(*ranks + old, 0, (cap - old) * sizeof(**ranks));
		(*ranks)[id].curated = sqlite3_column_int(st, 1);
		(*ranks)[id].date = sq_col_date(st, 2);
		(*ranks)[id].mtime_ns = sqlite3_column_int64(st, 3);
	}
	sqlite3_reset(st);
	*count = cap;
	return rc;
}

static int queue_chunks(struct sq *s, enum fp_state state,
			const struct rank *ranks, size_t rank_count,
			struct queued **out, size_t *count,
			struct remem_err *err)
{
	size_t cap = 0;
	sqlite3_stmt *st;
	int rc = sq_get(s, state == FP_ACTIVE ? S_PENDING_ACTIVE :
			   state == FP_NEXT ? S_PENDING_NEXT :
					      S_PENDING_ALL, &st, err);

	if (rc)
		return rc;
	while ((rc = sq_step(s, st, err)) > 0) {
		struct queued q = { .chunk = sqlite3_column_int64(st, 0) };

		q.file = map_file(s, q.chunk);
		if (q.file < rank_count)
			q.rank = ranks[q.file];
		if (!mem_grow(out, &cap, *count + 1, sizeof(**out))) {
			rc = fail_nomem(err);
			break;
		}
		(*out)[(*count)++] = q;
	}
	sqlite3_reset(st);
	return rc;
}

static int make_queue(struct sq *s, struct fp *f, struct remem_err *err)
{
	struct rank *ranks = NULL;
	struct queued *q = NULL;
	size_t rank_count = 0, count = 0;
	int rc;

	if (s->queue_fp == f->id)
		return 0;
	pending_drop(s);
	if ((rc = map_load(s, err)) ||
	    (rc = file_ranks(s, &ranks, &rank_count, err)) ||
	    (rc = queue_chunks(s, f->state, ranks, rank_count, &q, &count,
			       err)))
		goto out;
	if (count)
		qsort(q, count, sizeof(*q), first_first);
	if (!(s->queue = mem_array(count + 1, sizeof(*s->queue)))) {
		rc = fail_nomem(err);
		goto out;
	}
	for (size_t i = 0; i < count; i++)
		s->queue[i] = q[i].chunk;
	s->queue_len = count;
	s->queue_fp = f->id;
out:
	mem_free(ranks);
	mem_free(q);
	return rc;
}

/* ---- handing out ---- */

struct handing {
	struct sq *s;
	struct arena *a;
	struct fp *f;
	struct store_passage *out;
	const char **texts;
	int count, max;
};

static int hand_chunk(struct handing *h, const struct store_chunk *c,
		      int64_t first, struct remem_err *err)
{
	int64_t *slots = ARENA_ARRAY(h->a, int64_t,
				     (size_t)c->passage_count + 1);
	int rc = slots ? passages_slots(h->s, h->f->state, first,
					c->passage_count, slots, err) :
			 fail_nomem(err);

	for (int i = 0; !rc && i < c->passage_count && h->count < h->max; i++) {
		const struct store_passage *p = &c->passages[i];

		if (slots[i] != SLOT_NONE)
			continue;
		h->out[h->count] = *p;
		h->texts[h->count++] = arena_strndup(h->a, c->text + p->start,
						     p->len);
	}
	return rc;
}

/* Columns of CHUNK_GET. */
static int hand_one(struct handing *h, struct heading_cache *cache,
		    int64_t chunk, struct remem_err *err)
{
	struct store_chunk c = { .id = chunk };
	struct packed k;
	sqlite3_stmt *st;
	int rc = sq_get(h->s, S_CHUNK_GET, &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, chunk);
	if ((rc = sq_step(h->s, st, err)) <= 0)
		return rc;
	c.file = sqlite3_column_int64(st, 0);
	c.first_line = sqlite3_column_int(st, 2);
	k.first = sqlite3_column_int64(st, 6);
	c.passage_count = sqlite3_column_int(st, 7);
	k.data = sqlite3_column_blob(st, 8);
	k.len = (size_t)sqlite3_column_bytes(st, 8);
	/* Borrowed from the statement, which stays on its row. */
	c.text = (const char *)sqlite3_column_text(st, 10);
	c.len = (uint32_t)sqlite3_column_bytes(st, 10);
	rc = passages_read(h->s, h->a, cache, &k, &c, err);
	if (!rc && c.text)
		rc = hand_chunk(h, &c, k.first, err);
	sqlite3_reset(st);
	return rc;
}

static int hand_out(struct handing *h, struct remem_err *err)
{
	struct heading_cache *cache = headings_new(h->a);
	struct sq *s = h->s;
	int rc = 0;

	h->out = ARENA_ARRAY(h->a, struct store_passage, (size_t)h->max + 1);
	h->texts = ARENA_ARRAY(h->a, const char *, (size_t)h->max + 1);
	if (!cache || !h->out || !h->texts)
		return fail_nomem(err);
	while (s->queue_pos < s->queue_len) {
		int before = h->count;

		rc = hand_one(h, cache, s->queue[s->queue_pos], err);
		if (rc || h->count == h->max)
			break;
		/* Handed out from the start: all of it is done. */
		if (h->count == before && !before)
			s->queue_pos++;
		else
			break;
	}
	for (size_t i = s->queue_pos + 1; !rc && h->count < h->max &&
	     i < s->queue_len; i++)
		rc = hand_one(h, cache, s->queue[i], err);
	return rc || !h->a->failed ? rc : fail_nomem(err);
}

/* Of a set that is neither there nor being made every passage waits. */
static struct fp no_set = { .id = -1, .state = FP_CACHE };

int sq_pending(struct store *st, struct arena *a, int fp, int max,
	       struct store_passage **out, const char ***texts, int *count,
	       struct remem_err *err)
{
	struct handing h = { .s = sq_of(st), .a = a, .max = max };
	int rc = sq_op_begin(h.s, err);

	*out = NULL;
	*texts = NULL;
	*count = 0;
	if (rc)
		return rc;
	if ((rc = fps_load(h.s, err)))
		goto out;
	h.f = fp_by_id(h.s, fp);
	if (!h.f)
		h.f = &no_set;
	if (max <= 0)
		goto out;
	if (!(rc = make_queue(h.s, h.f, err)) && !(rc = hand_out(&h, err))) {
		*out = h.out;
		*texts = h.texts;
		*count = h.count;
	}
out:
	sq_op_end(h.s);
	return rc;
}

int sq_pending_count(struct store *st, int fp, int64_t *out,
		     struct remem_err *err)
{
	struct sq *s = sq_of(st);
	const int64_t *c = s->counts;
	struct fp *f;
	int rc = sq_op_begin(s, err);

	*out = 0;
	if (rc)
		return rc;
	if ((rc = fps_load(s, err)) || (rc = sq_counts_load(s, err)))
		goto out;
	f = fp_by_id(s, fp);
	*out = c[C_PASSAGES];
	if (f && f->state == FP_ACTIVE)
		*out -= c[C_EMBEDDED] + c[C_REFUSED];
	else if (f && f->state == FP_NEXT)
		*out -= c[C_EMBEDDED_NEXT] + c[C_REFUSED_NEXT];
out:
	sq_op_end(s);
	return rc;
}
