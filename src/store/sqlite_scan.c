/*
 * The pool of passages by vector: slots from the scan, looked up in this
 * snapshot's rows. Marks in the file may be newer than the snapshot: what has
 * no row is left out, and the scan goes wider if too few remain.
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/aside.h"
#include "store/sqlite_store.h"
#include "store/vecscan.h"

#define WIDER 4 /* times as many when too few were found */
#define SPARE 64
/* From this many vectors on a scan takes longer than starting a thread. */
#define AHEAD_MIN 20000

static bool may_pass(const void *ctx, const struct vec_meta *m, size_t slot)
{
	const struct store_set *set = ctx;

	return (m->owner == VEC_SHARED || set_has_file(set, m->owner)) &&
	       set_has_slot(set, (uint32_t)slot);
}

/* ---- slots to passages ---- */

static int add_passages(struct sq *s, const struct store_set *set,
			const struct store_scored *slot, struct topk *best,
			struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = sq_get(s, S_SLOT_PASSAGES, &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, slot->id);
	while ((rc = sq_step(s, st, err)) > 0) {
		int64_t id = sqlite3_column_int64(st, 0);
		bool yes = true;

		if (set && (rc = set_has_passage(set, id,
						 sqlite3_column_int64(st, 1),
						 &yes, err)))
			break;
		if (yes)
			topk_push(best, id, slot->score);
	}
	sqlite3_reset(st);
	return rc;
}

static int to_passages(struct sq *s, const struct store_set *set,
		       const struct topk *slots, struct topk *best,
		       struct remem_err *err)
{
	int rc = 0;

	for (int i = 0; !rc && i < slots->count; i++) {
		if (best->count == best->k &&
		    slots->heap[i].score < best->floor)
			break;
		rc = add_passages(s, set, &slots->heap[i], best, err);
	}
	return rc;
}

/* ---- the scan ---- */

/* The first one of a pool begins in its own thread, if there is one; who has
 * nothing left to do but wait for it helps. */
struct scan {
	struct aside aside;
	int fp, k;
	const float *asked; /* the caller's query: to know it again */
	const struct store_set *set;
	struct scan_question u;
	const struct vecfile *v;
	size_t slots;
	struct store_scored *room; /* of both */
	atomic_size_t next;
	struct topk wide, helped;
};

static void scan_free(struct scan *c)
{
	if (!c)
		return;
	aside_join(&c->aside);
	scan_question_release(&c->u);
	mem_free(c->room);
	mem_free(c);
}

void sq_scan_drop(struct sq *s)
{
	scan_free(s->scan);
	s->scan = NULL;
}

static void scan_into(struct scan *c, struct topk *top)
{
	struct scan_filter pass = { may_pass, c->set };

	scan_parts(&c->u, c->v, c->slots, c->set ? &pass : NULL, &c->next, top);
}

static void scan_aside(void *ctx)
{
	struct scan *c = ctx;

	scan_into(c, &c->wide);
}

static void scan_rest(struct scan *c)
{
	scan_into(c, &c->helped);
	aside_join(&c->aside);
	topk_add(&c->wide, &c->helped);
	scan_finish(&c->u, c->v, &c->wide);
}

/* Room for that many slots. */
static int scan_widen(struct scan *c, int64_t want, struct remem_err *err)
{
	if (want > (int64_t)c->slots)
		want = (int64_t)c->slots;
	mem_free(c->room);
	if (!(c->room = mem_array((size_t)want + 1, 2 * sizeof(*c->room))))
		return fail_nomem(err);
	topk_init(&c->wide, c->room, (int)want);
	topk_init(&c->helped, c->room + want, (int)want);
	atomic_store(&c->next, 0);
	return 0;
}

static int64_t first_width(int k)
{
	return 2 * (int64_t)k + SPARE;
}

static int pool(struct sq *s, struct scan *c, struct store_scored *out,
		int *count, struct remem_err *err)
{
	int64_t want = first_width(c->k);
	struct topk best;
	int rc;

	for (;;) {
		scan_rest(c);
		topk_init(&best, out, c->k);
		rc = to_passages(s, c->set, &c->wide, &best, err);
		want *= WIDER;
		if (rc || best.count >= c->k || c->wide.count < c->wide.k ||
		    c->wide.k >= (int64_t)c->slots ||
		    (rc = scan_widen(c, want, err)))
			break;
	}
	topk_finish(&best);
	*count = rc ? 0 : best.count;
	return rc;
}

static int find_fp(struct sq *s, int fp, struct fp **out, struct remem_err *err)
{
	int rc;

	if ((rc = fps_load(s, err)))
		return rc;
	if (!(*out = fp_by_id(s, fp)))
		return fail(err, REMEM_ENOTFOUND,
			    "the index has no such vectors");
	return (*out)->slots ? fp_open_vec(s, *out, err) : 0;
}

/* Everything but the scan itself; *out NULL if there is nothing to find. */
static int scan_new(struct scan **out, struct sq *s, int fp, const float *q,
		    const float *mean_q, const float *const *means,
		    const struct store_set *set, int k, struct remem_err *err)
{
	struct store_set *mutable_set = (struct store_set *)set;
	struct scan *c;
	struct fp *f;
	int rc;

	*out = NULL;
	if ((rc = find_fp(s, fp, &f, err)))
		return rc;
	if (f->state != FP_ACTIVE)
		return fail(err, REMEM_ENOTFOUND,
			    "these vectors do not answer yet");
	if (f->slots > INT32_MAX)
		return fail(err, REMEM_ELIMIT, "too many vectors");
	if (!(c = mem_zalloc(sizeof(*c))))
		return fail_nomem(err);
	c->fp = fp;
	c->k = k;
	c->asked = q;
	c->set = set;
	c->v = f->vec;
	c->slots = (size_t)f->slots;
	if ((set && (rc = set_slots(mutable_set, err))) ||
	    (rc = scan_question_init(&c->u, f->dims, q, mean_q, means, err)))
		goto out;
	if (k > 0 && c->slots && c->u.scale > 0 &&
	    !(rc = scan_widen(c, first_width(k), err))) {
		*out = c;
		return 0;
	}
out:
	scan_free(c);
	return rc;
}

void sq_vector_begin(struct store *st, int fp, const float *q,
		     const float *mean_q, const float *const *means,
		     const struct store_set *set, int k)
{
	struct sq *s = sq_of(st);
	struct scan *c;

	sq_scan_drop(s);
	if (!s->in_read || scan_new(&c, s, fp, q, mean_q, means, set, k, NULL))
		return;
	if (c && c->slots >= AHEAD_MIN && aside_start(&c->aside, scan_aside, c))
		s->scan = c;
	else
		scan_free(c);
}

int sq_vector_pool(struct store *st, int fp, const float *q,
		   const float *mean_q, const float *const *means,
		   const struct store_set *set, int k, struct store_scored *out,
		   int *count, struct remem_err *err)
{
	struct sq *s = sq_of(st);
	struct scan *c = s->scan;
	int rc = sq_op_begin(s, err);

	*count = 0;
	if (rc)
		return rc;
	if (c && c->fp == fp && c->k == k && c->asked == q && c->set == set) {
		s->scan = NULL;
	} else {
		sq_scan_drop(s);
		rc = scan_new(&c, s, fp, q, mean_q, means, set, k, err);
	}
	if (!rc && c)
		rc = pool(s, c, out, count, err);
	scan_free(c);
	sq_op_end(s);
	return rc;
}

int sq_vector_scores(struct store *st, int fp, const float *q,
		     const float *mean_q, const float *const *means,
		     const uint32_t *slots, int n, float *out,
		     struct remem_err *err)
{
	struct sq *s = sq_of(st);
	struct scan_question u = { .dims = 0 };
	struct fp *f;
	int rc = sq_op_begin(s, err);

	if (rc)
		return rc;
	if ((rc = find_fp(s, fp, &f, err)) ||
	    (rc = scan_question_init(&u, f->dims, q, mean_q, means, err)))
		goto out;
	for (int i = 0; i < n; i++) {
		const int8_t *row = slots[i] >= f->slots ? NULL :
				    vecfile_row(f->vec, slots[i]);

		out[i] = row ? scan_exact(&u, row, vecfile_meta(f->vec, slots[i])) :
			 NAN;
	}
out:
	scan_question_release(&u);
	sq_op_end(s);
	return rc;
}

int sq_vector_get(struct store *st, int fp, uint32_t slot, float *out,
		  struct remem_err *err)
{
	struct sq *s = sq_of(st);
	const int8_t *row;
	struct fp *f;
	int rc = sq_op_begin(s, err);

	if (rc)
		return rc;
	if ((rc = find_fp(s, fp, &f, err)))
		goto out;
	row = slot < f->slots ? vecfile_row(f->vec, slot) : NULL;
	if (!row) {
		rc = fail(err, REMEM_ENOTFOUND, "there is no such vector");
		goto out;
	}
	for (int i = 0; i < f->dims; i++)
		out[i] = vecfile_meta(f->vec, slot)->scale * (float)row[i];
out:
	sq_op_end(s);
	return rc;
}
