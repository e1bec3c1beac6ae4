/*
 * The answers of a job: each line is looked up among those that were sent, so
 * that lines in another order, double or strange ones do no harm. What is good
 * is kept as it comes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "index/jobs.h"

#define FLUSH 256 /* vectors in one transaction */

struct fetch {
	struct jobs *j;
	struct batch_job *job;
	struct batch_line *lines; /* by key */
	bool *seen, *good;
	size_t count;
	int64_t used, unknown, doubled;
	const char *first_error;
	/* Vectors that are not yet stored. */
	struct store_vec_item items[FLUSH];
	float *vecs;
	int n;
	struct remem_err *err;
};

static int flush(struct fetch *f)
{
	struct vector_run *v = f->j->v;
	int rc;

	if (!f->n)
		return 0;
	rc = vectors_store(v, f->items, f->n, f->err);
	v->fetched += f->n;
	(void)progress_step(&v->y->progress, f->n);
	f->n = 0;
	return rc;
}

static int keep(struct fetch *f, const struct batch_line *line,
		const float *vec)
{
	size_t dims = (size_t)f->j->v->dims;
	float *to = f->vecs + (size_t)f->n * dims;
	struct store_vec_item *it = &f->items[f->n++];

	memcpy(to, vec, dims * sizeof(*vec));
	memset(it, 0, sizeof(*it));
	memcpy(it->key, line->key, SHA256_BYTES);
	it->script = (enum script)line->script;
	it->vec = to;
	return f->n == FLUSH ? flush(f) : 0;
}

static int on_line(void *ctx, const char *key, size_t len, const float *vec,
		   int dims, int64_t tokens, const char *error)
{
	struct fetch *f = ctx;
	unsigned char k[SHA256_BYTES];
	const struct batch_line *line =
		len != JOB_KEY_HEX || hex_decode(k, key, SHA256_BYTES) ? NULL :
		bsearch(k, f->lines, f->count, sizeof(*f->lines), jobs_by_key);
	size_t i = line ? (size_t)(line - f->lines) : 0;

	if (!line || f->good[i]) {
		f->unknown += !line;
		f->doubled += line != NULL;
		return 0;
	}
	f->seen[i] = true;
	if (error && !f->first_error)
		f->first_error = arena_printf(&f->j->a, "%.200s", error);
	if (error || dims != f->j->v->dims)
		return 0;
	f->good[i] = true;
	f->job->done++;
	f->used += tokens > 0 ? tokens : line->tokens;
	return keep(f, line, vec);
}

static bool is_stopped(void *ctx)
{
	struct fetch *f = ctx;

	return vectors_stop(f->j->v);
}

/* 0 also when the file could not be read to its end: *torn, with *why. */
static int fetch_file(struct fetch *f, const char *file, bool *torn,
		      struct remem_err *why)
{
	const struct batch_sink sink = { on_line, is_stopped, f };
	int64_t bad = 0;
	int rc;

	if (!file[0])
		return 0;
	rc = embed_batch_fetch(f->j->b, file, &sink, &bad, why);
	if (rc && !f->err->code && !jobs_fatal(rc)) {
		*torn = true;
		return 0;
	}
	if (rc) {
		if (!f->err->code)
			*f->err = *why;
		return rc;
	}
	if (bad) {
		fail(why, REMEM_EREMOTE, "%lld lines of the answers cannot be "
		     "read", (long long)bad);
		*torn = true;
	}
	return 0;
}

static int begin_fetch(struct fetch *f, struct arena *a, struct remem_err *err)
{
	size_t floats = (size_t)FLUSH * (size_t)f->j->v->dims;
	int rc = state_batch_lines(f->j->o->state, a, f->job->id, &f->lines,
				   &f->count, err);

	if (rc)
		return rc;
	f->seen = ARENA_ARRAY(a, bool, f->count + 1);
	f->good = ARENA_ARRAY(a, bool, f->count + 1);
	f->vecs = ARENA_ARRAY(a, float, floats);
	f->job->done = 0;
	return a->failed ? fail_nomem(err) : 0;
}

static void say_lines(struct fetch *f)
{
	int64_t missing = 0;

	for (size_t i = 0; i < f->count; i++)
		missing += !f->seen[i];
	if (missing || f->unknown || f->doubled)
		log_msg(LOG_WARN, "embed", "batch %s: %lld lines missing, %lld "
			"not ours, %lld double", f->job->name,
			(long long)missing, (long long)f->unknown,
			(long long)f->doubled);
	if (!f->job->reason[0] && f->first_error)
		f->job->reason = f->first_error;
}

/* Answers are there as long as the provider keeps them: another try later. */
static int after_fetch(struct fetch *f, bool torn, const struct remem_err *why,
		       struct remem_err *err)
{
	struct batch_job *job = f->job;
	int status = f->j->b->status;
	bool gone = status == 404 || status == 410;

	say_lines(f);
	if (torn && !gone && job->tries + 1 < JOB_TRIES &&
	    job->done < job->lines)
		return jobs_put_off(f->j, job, why, err);
	if (torn && jobs_paid(job) > f->used)
		f->used = jobs_paid(job);
	if (torn && job->done < job->lines)
		jobs_reason(f->j, job, gone ? "the provider does not have the "
			    "answers any more" : why->message);
	return jobs_end(f->j, job, f->used, err);
}

int jobs_collect(struct jobs *j, struct batch_job *job,
		   struct remem_err *err)
{
	struct fetch *f = mem_zalloc(sizeof(*f));
	struct remem_err own = { 0 }, why = { 0 };
	struct arena a = ARENA_INIT;
	bool torn = false;
	int rc;

	if (!f)
		return fail_nomem(err);
	f->j = j;
	f->job = job;
	f->err = &own;
	if (!(rc = begin_fetch(f, &a, &own)) &&
	    !(rc = fetch_file(f, job->output, &torn, &why)) && !torn)
		rc = fetch_file(f, job->errors, &torn, &why);
	if (!rc)
		rc = flush(f);
	if (!rc)
		rc = after_fetch(f, torn, &why, &own);
	if (rc && err)
		*err = own;
	arena_release(&a);
	mem_free(f);
	return rc;
}
