/*
 * The pool of passages by vector. With raw v, q' = q - mean_q and m the mean
 * of v's script:  score = (q'.v - q'.m) / (|q'| |v - m|)
 *
 * All rows are scanned with q' as int8 and the norms as stored, for twice as
 * many as wanted; those are scored again exactly, with the caller's means, and
 * looked up in this snapshot's rows. Marks in the file may be newer than the
 * snapshot: what has no row is left out, and the scan goes wider if too few
 * remain.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "store/scan.h"
#include "store/sqlite_store.h"
#include "store/topk.h"

#define WIDER 4 /* times as many when too few were found */
#define SPARE 64

struct question {
	const struct scan_kernel *kernel;
	int dims;
	size_t padded;
	float *q; /* q - mean_q, padded */
	int8_t *q8;
	float scale; /* q8 * scale is q */
	float norm;
	float *mean[SCRIPT_COUNT]; /* padded; NULL: zero */
	float offset[16]; /* by script; q'.mean */
	float mean_square[SCRIPT_COUNT];
	float *zero; /* padded */
};

static float dot(const float *a, const float *b, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += (double)a[i] * b[i];
	return (float)sum;
}

static float *padded_copy(const float *v, int dims)
{
	float *p = mem_zarray(vec_padded(dims), sizeof(*p));

	if (p && v)
		memcpy(p, v, (size_t)dims * sizeof(*p));
	return p;
}

static void question_release(struct question *u)
{
	for (int i = 0; i < SCRIPT_COUNT; i++)
		mem_free(u->mean[i]);
	mem_free(u->q);
	mem_free(u->q8);
	mem_free(u->zero);
}

static int question_init(struct question *u, int dims, const float *q,
			 const float *mean_q, const float *const *means,
			 struct remem_err *err)
{
	memset(u, 0, sizeof(*u));
	u->kernel = scan_kernel();
	u->dims = dims;
	u->padded = vec_padded(dims);
	u->q = padded_copy(q, dims);
	u->q8 = mem_zalloc(u->padded);
	u->zero = padded_copy(NULL, dims);
	if (!u->q || !u->q8 || !u->zero)
		return fail_nomem(err);
	for (int i = 0; mean_q && i < dims; i++)
		u->q[i] -= mean_q[i];
	for (int i = 0; means && i < SCRIPT_COUNT; i++) {
		if (!means[i])
			continue;
		if (!(u->mean[i] = padded_copy(means[i], dims)))
			return fail_nomem(err);
		u->offset[i] = dot(u->q, u->mean[i], dims);
		u->mean_square[i] = dot(u->mean[i], u->mean[i], dims);
	}
	u->norm = sqrtf(dot(u->q, u->q, dims));
	u->scale = vec_quantise(u->q8, u->q, dims);
	return 0;
}

/* The exact score of one row. */
static float exact(const struct question *u, const int8_t *row,
		   const struct vec_meta *m)
{
	int script = m->script < SCRIPT_COUNT ? m->script : 0;
	const float *mean = u->mean[script] ? u->mean[script] : u->zero;
	float d[3], square;

	u->kernel->dots_float(d, row, u->padded, u->q, mean);
	square = m->scale * m->scale * d[2] - 2 * m->scale * d[1] +
		 u->mean_square[script];
	if (!(square > 1e-12f) || !(u->norm > 0))
		return 0;
	return (m->scale * d[0] - u->offset[script]) /
	       (u->norm * sqrtf(square));
}

/* ---- the scan ---- */

static bool may_pass(const struct store_set *set, const struct vec_meta *m,
		     size_t slot)
{
	if (!set)
		return true;
	return (m->owner == VEC_SHARED || set_has_file(set, m->owner)) &&
	       set_has_slot(set, (uint32_t)slot);
}

static void scan_block(const struct question *u, const struct vecfile *v,
		       size_t block, size_t n, const struct store_set *set,
		       struct topk *top)
{
	const struct vec_meta *m = vecfile_metas(v, block);
	size_t first = block * VEC_BLOCK;
	int32_t dots[VEC_BLOCK];

	u->kernel->dots(dots, vecfile_block(v, block), n, v->padded, u->q8);
	for (size_t i = 0; i < n; i++) {
		float score = ((float)dots[i] * m[i].scale * u->scale -
			       u->offset[m[i].script & 15]) * m[i].inv_norm;

		if (score >= top->floor && (m[i].flags & VEC_ALIVE) &&
		    may_pass(set, &m[i], first + i))
			topk_push(top, (int64_t)(first + i), score);
	}
}

static void scan_all(const struct question *u, const struct vecfile *v,
		     size_t slots, const struct store_set *set,
		     struct topk *top)
{
	for (size_t b = 0; b * VEC_BLOCK < slots; b++) {
		size_t n = slots - b * VEC_BLOCK;

		scan_block(u, v, b, n < VEC_BLOCK ? n : VEC_BLOCK, set, top);
	}
	for (int i = 0; i < top->count; i++) {
		size_t slot = (size_t)top->heap[i].id;

		top->heap[i].score = exact(u, vecfile_row(v, slot),
					   vecfile_meta(v, slot));
	}
	topk_finish(top);
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

static int pool(struct sq *s, const struct question *u,
		const struct vecfile *v, size_t slots,
		const struct store_set *set, int k, struct store_scored *out,
		int *count, struct remem_err *err)
{
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
		scan_all(u, v, slots, set, &wide);
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
	return fp_open_vec(s, *out, err);
}

int sq_vector_pool(struct store *st, int fp, const float *q,
		   const float *mean_q, const float *const *means,
		   const struct store_set *set, int k, struct store_scored *out,
		   int *count, struct remem_err *err)
{
	struct sq *s = sq_of(st);
	struct question u = { .dims = 0 };
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
	    (rc = question_init(&u, f->dims, q, mean_q, means, err)))
		goto out;
	if (k > 0 && f->slots && u.scale > 0)
		rc = pool(s, &u, f->vec, (size_t)f->slots, set, k, out, count,
			  err);
out:
	question_release(&u);
	sq_op_end(s);
	return rc;
}

int sq_vector_scores(struct store *st, int fp, const float *q,
		     const float *mean_q, const float *const *means,
		     const uint32_t *slots, int n, float *out,
		     struct remem_err *err)
{
	struct sq *s = sq_of(st);
	struct question u = { .dims = 0 };
	struct fp *f;
	int rc = sq_op_begin(s, err);

	if (rc)
		return rc;
	if ((rc = find_fp(s, fp, &f, err)) ||
	    (rc = question_init(&u, f->dims, q, mean_q, means, err)))
		goto out;
	for (int i = 0; i < n; i++) {
		const int8_t *row = slots[i] == STORE_NO_SLOT ? NULL :
				    vecfile_row(f->vec, slots[i]);

		out[i] = row ? exact(&u, row, vecfile_meta(f->vec, slots[i])) :
			 NAN;
	}
out:
	question_release(&u);
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
	row = vecfile_row(f->vec, slot);
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
