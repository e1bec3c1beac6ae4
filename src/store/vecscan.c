/* See vecscan.h. */
#include "store/vecscan.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

_Static_assert(SCRIPT_COUNT <= SCAN_SCRIPTS, "every script has its mean");

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

void scan_question_release(struct scan_question *u)
{
	for (int i = 0; i < SCAN_SCRIPTS; i++)
		mem_free(u->mean[i]);
	mem_free(u->q);
	mem_free(u->q8);
	mem_free(u->zero);
}

int scan_question_init(struct scan_question *u, int dims, const float *q,
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

float scan_exact(const struct scan_question *u, const int8_t *row,
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

#define PART 4 /* blocks that a thread takes at a time */

static void scan_block(const struct scan_question *u, const struct vecfile *v,
		       size_t block, size_t n, const struct scan_filter *filter,
		       struct topk *top)
{
	const struct vec_meta *m = vecfile_metas(v, block);
	size_t first = block * VEC_BLOCK;
	int32_t dots[VEC_BLOCK];

	u->kernel->dots(dots, vecfile_block(v, block), n, v->padded, u->q8);
	for (size_t i = 0; i < n; i++) {
		float offset = u->offset[m[i].script & (SCAN_SCRIPTS - 1)];
		float score = ((float)dots[i] * m[i].scale * u->scale -
			       offset) * m[i].inv_norm;

		if (score >= top->floor && (m[i].flags & VEC_ALIVE) &&
		    (!filter || filter->pass(filter->ctx, &m[i], first + i)))
			topk_push(top, (int64_t)(first + i), score);
	}
}

void scan_parts(const struct scan_question *u, const struct vecfile *v,
		size_t slots, const struct scan_filter *filter,
		atomic_size_t *next, struct topk *top)
{
	size_t blocks = (slots + VEC_BLOCK - 1) / VEC_BLOCK, b, end;

	while ((b = atomic_fetch_add(next, PART)) < blocks)
		for (end = b + PART; b < end && b < blocks; b++) {
			size_t n = slots - b * VEC_BLOCK;

			scan_block(u, v, b, n < VEC_BLOCK ? n : VEC_BLOCK,
				   filter, top);
		}
}

void scan_finish(const struct scan_question *u, const struct vecfile *v,
		 struct topk *top)
{
	for (int i = 0; i < top->count; i++) {
		size_t slot = (size_t)top->heap[i].id;

		top->heap[i].score = scan_exact(u, vecfile_row(v, slot),
						vecfile_meta(v, slot));
	}
	topk_finish(top);
}

void scan_vectors(const struct scan_question *u, const struct vecfile *v,
		  size_t slots, const struct scan_filter *filter,
		  struct topk *top)
{
	atomic_size_t next = 0;

	scan_parts(u, v, slots, filter, &next, top);
	scan_finish(u, v, top);
}
