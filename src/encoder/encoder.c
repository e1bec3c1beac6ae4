/*
 * Texts in, vectors out. Each thread takes the next text, cuts its tokens into
 * windows, gathers windows of any texts into a batch and adds the mean vector
 * of each, weighted by its tokens, to the row of its text. Rows are brought to
 * length 1 at the end, which makes the sum a mean.
 */
#include "encoder/encoder.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fair.h"
#include "base/utf8.h"
#include "encoder/forward.h"

#define MAX_THREADS 64

struct encoder {
	struct model model;
	const struct kernel *kernel;
};

struct job { /* one call of encoder_embed(), shared by its threads */
	struct encoder *e;
	const char *const *texts;
	const size_t *lens;
	size_t n;
	float *out;
	atomic_size_t next; /* text */
	atomic_int code; /* first error, ends all threads */
	pthread_mutex_t asking;
	bool (*cancel)(void *ctx);
	void *ctx;
};

struct worker {
	struct job *job;
	struct forward forward;
	struct batch batch;
	size_t text[FORWARD_SEQUENCES]; /* of each sequence */
	float weight[FORWARD_SEQUENCES];
	float means[FORWARD_SEQUENCES * MODEL_MAX_WIDTH];
	struct unigram_run run;
	int32_t window[FORWARD_TOKENS];
};

int encoder_open(struct encoder **out, const char *path,
		 struct remem_err *err)
{
	struct encoder *e = mem_zalloc(sizeof(*e));
	int rc;

	*out = NULL;
	if (!e)
		return fail_nomem(err);
	if ((rc = model_open(&e->model, path, err))) {
		encoder_free(e);
		return rc;
	}
	e->kernel = kernel_best();
	*out = e;
	return 0;
}

void encoder_free(struct encoder *e)
{
	if (!e)
		return;
	model_release(&e->model);
	mem_free(e);
}

int encoder_dims(const struct encoder *e)
{
	return e->model.width;
}

int encoder_max_tokens(const struct encoder *e)
{
	return e->model.positions - 2;
}

const char *encoder_model(const struct encoder *e)
{
	return e->model.name;
}

const char *encoder_id(const struct encoder *e)
{
	return e->model.id;
}

static size_t bounded(const char *text, size_t len)
{
	return len > ENCODER_TEXT_BYTES ?
		utf8_cut(text, len, ENCODER_TEXT_BYTES) : len;
}

long encoder_tokens(const struct encoder *e, const char *text, size_t len,
		    int32_t *ids, size_t cap, struct remem_err *err)
{
	struct unigram_run *r = mem_alloc(sizeof(*r));
	int32_t some[256];
	size_t n, total = 0;

	if (!r)
		return fail_nomem(err);
	unigram_start(r, &e->model.tokenizer, text, bounded(text, len));
	while ((n = unigram_next(r, some, ARRAY_LEN(some)))) {
		for (size_t i = 0; i < n && total + i < cap; i++)
			ids[total + i] = some[i];
		total += n;
	}
	mem_free(r);
	return (long)total;
}

static void stop_job(struct job *j, int code)
{
	int none = 0;

	atomic_compare_exchange_strong(&j->code, &none, code);
}

static bool stopped(void *ctx)
{
	struct job *j = ctx;

	if (atomic_load_explicit(&j->code, memory_order_relaxed))
		return true;
	if (!j->cancel)
		return false;
	pthread_mutex_lock(&j->asking);
	if (j->cancel(j->ctx))
		stop_job(j, REMEM_ECANCELLED);
	pthread_mutex_unlock(&j->asking);
	return atomic_load_explicit(&j->code, memory_order_relaxed);
}

/* A short single text gets by with small buffers, which are quicker to make. */
static bool have_room(struct worker *w)
{
	struct job *j = w->job;
	int tokens = w->batch.n_tokens;

	if (w->forward.tokens >= tokens)
		return true;
	if (w->forward.tokens || atomic_load(&j->next) < j->n)
		tokens = FORWARD_TOKENS;
	forward_release(&w->forward);
	return forward_init(&w->forward, &j->e->model, j->e->kernel, tokens);
}

/* Runs the batch and adds its means to the rows of their texts. */
static void flush(struct worker *w)
{
	struct job *j = w->job;
	const struct model *m = &j->e->model;
	size_t width = (size_t)m->width;
	struct batch *b = &w->batch;

	if (!b->n_sequences)
		return;
	b->start[b->n_sequences] = b->n_tokens;
	if (!have_room(w)) {
		stop_job(j, REMEM_ENOMEM);
		return;
	}
	if (!forward_run(&w->forward, m, b, w->means, stopped, j))
		return;
	for (int s = 0; s < b->n_sequences; s++) {
		float *row = j->out + w->text[s] * width;
		const float *mean = w->means + (size_t)s * width;

		for (size_t i = 0; i < width; i++)
			row[i] += mean[i] * w->weight[s];
	}
	b->n_tokens = b->n_sequences = 0;
}

static void push(struct worker *w, size_t text, size_t n)
{
	const struct model *m = &w->job->e->model;
	struct batch *b = &w->batch;
	int s;

	if (b->n_tokens + (int)n + 2 > FORWARD_TOKENS)
		flush(w);
	if (atomic_load(&w->job->code))
		return;
	s = b->n_sequences++;
	b->start[s] = b->n_tokens;
	w->text[s] = text;
	w->weight[s] = n ? (float)n : 1;
	b->ids[b->n_tokens++] = m->first_token;
	for (size_t i = 0; i < n; i++)
		b->ids[b->n_tokens++] = w->window[i];
	b->ids[b->n_tokens++] = m->last_token;
}

static void add_text(struct worker *w, size_t text)
{
	struct job *j = w->job;
	const struct model *m = &j->e->model;
	size_t most = (size_t)m->positions - 2, n;
	bool first = true;

	memset(j->out + text * (size_t)m->width, 0,
	       (size_t)m->width * sizeof(float));
	unigram_start(&w->run, &m->tokenizer, j->texts[text],
		      bounded(j->texts[text], j->lens[text]));
	do {
		n = unigram_next(&w->run, w->window, most);
		if (n || first)
			push(w, text, n);
		first = false;
	} while (n == most && !atomic_load(&j->code));
}

static void *work(void *arg)
{
	struct job *j = arg;
	struct worker *w = mem_alloc(sizeof(*w));
	size_t text;

	if (!w) {
		stop_job(j, REMEM_ENOMEM);
		return NULL;
	}
	w->job = j;
	w->batch.n_tokens = w->batch.n_sequences = 0;
	memset(&w->forward, 0, sizeof(w->forward));
	while (!atomic_load(&j->code) &&
	       (text = atomic_fetch_add(&j->next, 1)) < j->n)
		add_text(w, text);
	if (!atomic_load(&j->code))
		flush(w);
	forward_release(&w->forward);
	mem_free(w);
	return NULL;
}

static void run_threads(struct job *j, int threads)
{
	pthread_t ids[MAX_THREADS];
	int started = 0;

	if (threads <= 0)
		threads = j->n > 1 ? fair_threads() : 1;
	if (threads > MAX_THREADS)
		threads = MAX_THREADS;
	if ((size_t)threads > j->n)
		threads = (int)j->n;
	/* this thread works, too; with fewer than wanted it just takes longer */
	while (started < threads - 1 &&
	       !pthread_create(&ids[started], NULL, work, j))
		started++;
	work(j);
	while (started)
		pthread_join(ids[--started], NULL);
}

/* False when the row has no direction (not finite, or all zero). */
static bool set_length_1(float *row, size_t width)
{
	double sum = 0;
	float by;

	for (size_t i = 0; i < width; i++)
		sum += (double)row[i] * row[i];
	if (!(sum > 0 && sum < INFINITY))
		return false;
	by = (float)(1 / sqrt(sum));
	for (size_t i = 0; i < width; i++)
		row[i] *= by;
	return true;
}

static int finish(const struct job *j, struct remem_err *err)
{
	size_t width = (size_t)j->e->model.width;
	int code = atomic_load(&j->code);

	if (code == REMEM_ENOMEM)
		return fail_nomem(err);
	if (code)
		return fail(err, code, "embedding was cancelled");
	for (size_t i = 0; i < j->n; i++)
		if (!set_length_1(j->out + i * width, width))
			return fail(err, REMEM_EFORMAT,
				    "model '%s' gives values that are not "
				    "finite", j->e->model.name);
	return 0;
}

int encoder_embed(struct encoder *e, const char *const *texts,
		  const size_t *lens, size_t n, float *out, int threads,
		  bool (*cancel)(void *ctx), void *ctx, struct remem_err *err)
{
	struct job j = { .e = e, .texts = texts, .lens = lens, .n = n,
			 .out = out, .cancel = cancel, .ctx = ctx };
	int rc;

	if (!n)
		return 0;
	atomic_init(&j.next, 0);
	atomic_init(&j.code, 0);
	if ((rc = pthread_mutex_init(&j.asking, NULL)))
		return fail_errno(err, REMEM_ENOMEM, rc, "cannot make a lock");
	run_threads(&j, threads);
	pthread_mutex_destroy(&j.asking);
	return finish(&j, err);
}
