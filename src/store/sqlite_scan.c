/*
 * The pool of passages by vector: slots from the scan, looked up in this
 * snapshot's rows. Marks in the file may be newer than the snapshot: what has
 * no row is left out, and the scan goes wider if too few remain.
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "store/sqlite_store.h"
#include "store/vecscan.h"

#define WIDER 4 /* times as many when too few were found */
#define SPARE 64

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

static int pool(struct sq *s, const struct scan_question *u,
		const struct vecfile *v, size_t slots,
		const struct store_set *set, int k, struct store_scored *out,
		int *count, struct remem_err *err)
{
	struct scan_filter pass = { may_pass, set };
	int64_t want = 2 * (int64_t)k + SPARE;
	struct store_scored *room = NULL;
	struct topk wide, best;
	int rc;

	do {
		if (want > (int64_t)slots)
			want = (int64_t)slots;
		mem_free(room);
		if (!(room = mem_array((size_t)want + 1, sizeof(*room))))
			return fail_nomem(err);
		topk_init(&wide, room, (int)want);
		scan_vectors(u, v, slots, set ? &pass : NULL, &wide);
		topk_init(&best, out, k);
		rc = to_passages(s, set, &wide, &best, err);
		want *= WIDER;
	} while (!rc && best.count < k && wide.count == wide.k &&
		 wide.k < (int64_t)slots);
	mem_free(room);
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

int sq_vector_pool(struct store *st, int fp, const float *q,
		   const float *mean_q, const float *const *means,
		   const struct store_set *set, int k, struct store_scored *out,
		   int *count, struct remem_err *err)
{
	struct sq *s = sq_of(st);
	struct scan_question u = { .dims = 0 };
	struct store_set *mutable_set = (struct store_set *)set;
	struct fp *f;
	int rc = sq_op_begin(s, err);

	*count = 0;
	if (rc)
		return rc;
	if ((rc = find_fp(s, fp, &f, err)))
		goto out;
	if (f->state != FP_ACTIVE) {
		rc = fail(err, REMEM_ENOTFOUND,
			  "these vectors do not answer yet");
		goto out;
	}
	if (f->slots > INT32_MAX) {
		rc = fail(err, REMEM_ELIMIT, "too many vectors");
		goto out;
	}
	if ((set && (rc = set_slots(mutable_set, err))) ||
	    (rc = scan_question_init(&u, f->dims, q, mean_q, means, err)))
		goto out;
	if (k > 0 && f->slots && u.scale > 0)
		rc = pool(s, &u, f->vec, (size_t)f->slots, set, k, out, count,
			  err);
out:
	scan_question_release(&u);
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
