/*
 * The mean vector of each script class: a running sum over the passages linked
 * now. Norms in the file of vectors are taken against ref, a mean of some
 * earlier moment; they only sort out whom the pool looks at, so it is enough
 * to renew them when the mean has moved or the vectors have doubled.
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "store/scan.h"
#include "store/sqlite_store.h"

/* Fewer vectors than this have no mean worth taking off: ref is zero. */
#define REF_MIN 32
/* A vector on its mean has no direction; keep its inverse finite. */
#define NORM_MIN 1e-6f

void fp_means_drop(struct fp *f)
{
	for (int i = 0; i < SCRIPT_COUNT; i++) {
		mem_free(f->mean[i].sum);
		mem_free(f->mean[i].ref);
	}
	memset(f->mean, 0, sizeof(f->mean));
	f->means_loaded = false;
}

static bool mean_make(const struct fp *f, struct mean *m)
{
	if (m->present)
		return true;
	m->sum = mem_zarray((size_t)f->dims, sizeof(*m->sum));
	m->ref = mem_zarray(vec_padded(f->dims), sizeof(*m->ref));
	m->present = m->sum && m->ref;
	return m->present;
}

static int mean_row(struct fp *f, sqlite3_stmt *st, struct remem_err *err)
{
	int script = sqlite3_column_int(st, 0);
	size_t dims = (size_t)f->dims;
	const void *sum = sqlite3_column_blob(st, 2);
	const void *ref = sqlite3_column_blob(st, 3);
	struct mean *m;

	if (script < 0 || script >= SCRIPT_COUNT || !sum || !ref ||
	    (size_t)sqlite3_column_bytes(st, 2) != dims * sizeof(double) ||
	    (size_t)sqlite3_column_bytes(st, 3) != dims * sizeof(float))
		return 0; /* check() tells; the mean is taken as none */
	m = &f->mean[script];
	if (!mean_make(f, m))
		return fail_nomem(err);
	m->count = sqlite3_column_int64(st, 1);
	m->ref_count = sqlite3_column_int64(st, 4);
	memcpy(m->sum, sum, dims * sizeof(double));
	memcpy(m->ref, ref, dims * sizeof(float));
	return 0;
}

int fp_means(struct sq *s, struct fp *f, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc;

	if (f->means_loaded)
		return 0;
	fp_means_drop(f);
	if ((rc = sq_get(s, S_MEANS_ALL, &st, err)))
		return rc;
	sqlite3_bind_int(st, 1, f->id);
	while ((rc = sq_step(s, st, err)) > 0)
		if ((rc = mean_row(f, st, err)))
			break;
	sqlite3_reset(st);
	f->means_loaded = !rc;
	return rc;
}

int fp_means_flush(struct sq *s, struct fp *f, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc;

	for (int i = 0; f->means_loaded && i < SCRIPT_COUNT; i++) {
		struct mean *m = &f->mean[i];

		if (!m->dirty)
			continue;
		if ((rc = sq_get(s, S_MEAN_PUT, &st, err)))
			return rc;
		sqlite3_bind_int(st, 1, f->id);
		sqlite3_bind_int(st, 2, i);
		sqlite3_bind_int64(st, 3, m->count);
		sqlite3_bind_blob(st, 4, m->sum, f->dims * (int)sizeof(double),
				  SQLITE_STATIC);
		sqlite3_bind_blob(st, 5, m->ref, f->dims * (int)sizeof(float),
				  SQLITE_STATIC);
		sqlite3_bind_int64(st, 6, m->ref_count);
		if ((rc = sq_run(s, st, err)))
			return rc;
		m->dirty = false;
	}
	return 0;
}

int fp_mean_add(struct sq *s, struct fp *f, uint32_t slot, int sign,
		struct remem_err *err)
{
	const struct vec_meta *meta;
	const int8_t *row;
	struct mean *m;
	int rc;

	if ((rc = fp_open_vec(s, f, err)) || (rc = fp_means(s, f, err)))
		return rc;
	meta = vecfile_meta(f->vec, slot);
	row = vecfile_row(f->vec, slot);
	if (!meta || meta->script >= SCRIPT_COUNT)
		return 0;
	m = &f->mean[meta->script];
	if (!mean_make(f, m))
		return fail_nomem(err);
	for (int i = 0; i < f->dims; i++)
		m->sum[i] += (double)(meta->scale * (float)row[i]) * sign;
	m->count += sign;
	m->dirty = true;
	return 0;
}

float fp_inv_norm(const struct fp *f, enum script script, const int8_t *row,
		  float scale)
{
	const struct mean *m = &f->mean[script];
	float d[3], square = 0, norm;
	size_t padded = vec_padded(f->dims);

	if (m->present) {
		scan_kernel()->dots_float(d, row, padded, m->ref, m->ref);
		for (int i = 0; i < f->dims; i++)
			square += m->ref[i] * m->ref[i];
		norm = scale * scale * d[2] - 2 * scale * d[0] + square;
	} else {
		int64_t sum = 0;

		for (size_t i = 0; i < padded; i++)
			sum += row[i] * row[i];
		norm = scale * scale * (float)sum;
	}
	norm = norm > 0 ? sqrtf(norm) : 0;
	return 1.0f / (norm > NORM_MIN ? norm : NORM_MIN);
}

/* |mean - ref| against |ref|. */
static bool has_moved(const struct fp *f, const struct mean *m, double share)
{
	double diff = 0, ref = 0;

	for (int i = 0; i < f->dims; i++) {
		double now = m->sum[i] / (double)m->count;

		diff += (now - m->ref[i]) * (now - m->ref[i]);
		ref += (double)m->ref[i] * m->ref[i];
	}
	return diff > share * share * ref;
}

static int renew_block(struct fp *f, size_t block, const bool *which,
		       struct vec_meta *room, struct remem_err *err)
{
	const struct vec_meta *m = vecfile_metas(f->vec, block);
	const int8_t *rows = vecfile_block(f->vec, block);
	bool any = false;

	memcpy(room, m, VEC_BLOCK * sizeof(*room));
	for (size_t i = 0; i < VEC_BLOCK; i++) {
		if (m[i].scale == 0 || m[i].script >= SCRIPT_COUNT ||
		    !which[m[i].script])
			continue;
		room[i].inv_norm = fp_inv_norm(f, (enum script)m[i].script,
					       rows + i * f->vec->padded,
					       m[i].scale);
		any = true;
	}
	return any ? vecfile_put_metas(f->vec, block, room, err) : 0;
}

static int renew(struct sq *s, struct fp *f, const bool *which,
		 struct remem_err *err)
{
	struct vec_meta *room;
	int rc = fp_open_vec(s, f, err);

	if (rc)
		return rc;
	if (!(room = mem_array(VEC_BLOCK, sizeof(*room))))
		return fail_nomem(err);
	for (size_t b = 0; !rc && b < f->vec->blocks; b++)
		rc = renew_block(f, b, which, room, err);
	mem_free(room);
	return rc;
}

int fp_renew_norms(struct sq *s, struct fp *f, double share,
		   struct remem_err *err)
{
	bool which[SCRIPT_COUNT] = { false }, any = false;

	for (int i = 0; f->means_loaded && i < SCRIPT_COUNT; i++) {
		struct mean *m = &f->mean[i];

		if (!m->present || m->count < REF_MIN)
			continue;
		if (m->count < 2 * m->ref_count && !has_moved(f, m, share))
			continue;
		for (int k = 0; k < f->dims; k++)
			m->ref[k] = (float)(m->sum[k] / (double)m->count);
		m->ref_count = m->count;
		m->dirty = which[i] = any = true;
	}
	return any ? renew(s, f, which, err) : 0;
}

int sq_means(struct store *st, struct arena *a, int fp,
	     struct store_mean **out, int *count, struct remem_err *err)
{
	struct sq *s = sq_of(st);
	struct fp *f;
	int rc = sq_op_begin(s, err);

	*count = 0;
	*out = ARENA_ARRAY(a, struct store_mean, SCRIPT_COUNT);
	if (rc)
		return rc;
	if ((rc = fps_load(s, err)) || !(f = fp_by_id(s, fp)) ||
	    (rc = fp_means(s, f, err)))
		goto out;
	for (int i = 0; *out && i < SCRIPT_COUNT; i++) {
		const struct mean *m = &f->mean[i];
		float *mean;

		if (!m->present || m->count <= 0)
			continue;
		if (!(mean = ARENA_ARRAY(a, float, (size_t)f->dims)))
			break;
		for (int k = 0; k < f->dims; k++)
			mean[k] = (float)(m->sum[k] / (double)m->count);
		(*out)[(*count)++] = (struct store_mean){ (enum script)i,
							  m->count, mean };
	}
	if (a->failed)
		rc = fail_nomem(err);
out:
	sq_op_end(s);
	return rc;
}
