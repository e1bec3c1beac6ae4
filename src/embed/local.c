/*
 * Any embedding model in a GGUF file, run by llama.cpp in a process of its own
 * (remem embed-worker), since a text or a file can make that abort. When it
 * dies, or is silent for too long, at a text:
 *
 *   once       it is started again, and goes on at that text
 *   twice      a tiny text is tried: if that works, the text is set aside with
 *              the reason and the run goes on; if not, the model is to blame
 *              and the run ends
 *
 * After a failure of the model itself nothing is tried for a while, so that
 * not every search pays for the start of a worker that cannot work.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "embed/local_model.h"
#include "embed/provider.h"
#include "embed/runtime.h"
#include "embed/worker.h"

#define S INT64_C(1000000000)
#define MS INT64_C(1000000)
#define QUERY_TIMEOUT_MS 300000
#define BATCH_TIMEOUT_MS 600000
#define COOL_DOWN_NS (30 * S)
#define MAX_TEXTS 64 /* as the builtin one: a commit now and then */
#define TRIES 2 /* deaths at one text before it is suspected */

struct local {
	struct arena a;
	struct local_model facts;
	struct worker_model model;
	struct worker worker;
	struct stat seen; /* the file, when its facts were read */
	const char *const *runtimes;
	char name[256];
	int dims_wanted; /* 0: all of them */
	int query_timeout_ms, batch_timeout_ms;
	int64_t cool_until_ns; /* nothing is tried before */
	struct remem_err failure; /* why */
};

/* ---- opening ---------------------------------------------------------- */

static int no_file(struct remem_err *err)
{
	fail(err, REMEM_ENOTFOUND, "no local model is set");
	fail_action(err, "remem models use FILE.gguf, or set "
		    "memorySearch.local.modelPath");
	return REMEM_ENOTFOUND;
}

static int no_address(const char *path, struct remem_err *err)
{
	fail(err, REMEM_EINVAL, "memorySearch.local.modelPath is '%.100s' and "
	     "not a file: nothing is fetched by itself", path);
	fail_action(err, "remem models pull %.100s, then remem models use NAME",
		    path);
	return REMEM_EINVAL;
}

static int check_wanted(const struct local *l, struct remem_err *err)
{
	if (!l->dims_wanted || l->dims_wanted == l->facts.dims ||
	    (l->facts.shortens && l->dims_wanted < l->facts.dims))
		return 0;
	fail(err, REMEM_EINVAL, "'%s' gives %d dimensions, not %d",
	     l->facts.name, l->facts.dims, l->dims_wanted);
	fail_action(err, "remem config set "
		    "memorySearch.outputDimensionality 0");
	return REMEM_EINVAL;
}

static int set_up(struct local *l, const struct embed_config *c,
		  struct remem_err *err)
{
	int rc;

	/* Before, so that a change in between is noticed later. */
	stat(c->local_path, &l->seen);
	if ((rc = local_model_read(&l->facts, c->local_path, err)))
		return rc;
	l->dims_wanted = c->dims;
	if ((rc = check_wanted(l, err)))
		return rc;
	l->runtimes = c->runtimes;
	l->model.program = c->worker ? c->worker : "remem";
	l->model.path = c->local_path;
	l->model.window = local_model_window(&l->facts);
	l->model.threads = c->threads;
	l->model.pooling = l->facts.pooling;
	l->model.nfkc = l->facts.nfkc;
	l->query_timeout_ms = c->query_timeout_ms > 0 ? c->query_timeout_ms :
							QUERY_TIMEOUT_MS;
	l->batch_timeout_ms = c->batch_timeout_ms > 0 ? c->batch_timeout_ms :
							BATCH_TIMEOUT_MS;
	/* Window and pooling change vectors, so they are part of the name. */
	snprintf(l->name, sizeof(l->name), "%s@%s/%s/%d", l->facts.name,
		 l->facts.id, local_pooling_name(l->facts.pooling),
		 l->model.window);
	return 0;
}

static void local_close(void *self)
{
	struct local *l = self;

	if (!l)
		return;
	worker_end(&l->worker, NULL);
	arena_release(&l->a);
	mem_free(l);
}

static int local_open(void **self, struct embed_info *info,
		      const struct embed_config *c, struct remem_err *err)
{
	struct local *l;
	int rc;

	if (!c->local_path)
		return no_file(err);
	if (strstr(c->local_path, "://") || !strncmp(c->local_path, "hf:", 3))
		return no_address(c->local_path, err);
	l = mem_zalloc(sizeof(*l));
	if (!l)
		return fail_nomem(err);
	if ((rc = set_up(l, c, err))) {
		local_close(l);
		return rc;
	}
	info->model = l->name;
	info->dims = l->dims_wanted;
	info->query_prefix = l->facts.query_prefix;
	info->document_prefix = l->facts.document_prefix;
	info->max_input_tokens = l->facts.max_tokens;
	info->calibration = 0.5;
	*self = l;
	return 0;
}

/* ---- the worker ------------------------------------------------------- */

static int find_libraries(struct local *l, struct remem_err *err)
{
	if (!l->model.libraries)
		l->model.libraries = runtime_find(&l->a, l->runtimes);
	if (l->a.failed)
		return fail_nomem(err);
	if (l->model.libraries)
		return 0;
	fail(err, REMEM_ENOTFOUND, "llama.cpp's libraries, which run the local "
	     "model, are not installed");
	fail_action(err, "remem models runtime");
	return REMEM_ENOTFOUND;
}

/* Said before it is started, not by the kernel's killer after. */
static int check_memory(const struct local *l, struct remem_err *err)
{
	int64_t need = local_model_memory(&l->facts);
	int64_t left = local_memory_free("");

	if (left < 0 || need <= left)
		return 0;
	fail(err, REMEM_ELIMIT, "the local model needs about %lld MB of "
	     "memory, and %lld MB are free", (long long)(need >> 20),
	     (long long)(left >> 20));
	fail_action(err, "close something, or use a smaller model: remem "
		    "models list shows their sizes");
	return REMEM_ELIMIT;
}

static int start_now(struct local *l, const struct child_wait *wait,
		     struct remem_err *err)
{
	int rc = find_libraries(l, err);

	if (!rc && !l->worker.child.pid)
		rc = check_memory(l, err);
	return rc ? rc : worker_start(&l->worker, &l->model, wait, err);
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	       a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/*
 * Another file under the same name would give vectors that do not belong to
 * the ones that are stored under this model's name. One that is gone may go on
 * in a worker that has it.
 */
static int check_file(struct local *l, struct remem_err *err)
{
	struct local_model now;
	struct stat st;

	if (stat(l->model.path, &st) || same_file(&st, &l->seen))
		return 0;
	if (!local_model_read(&now, l->model.path, NULL) &&
	    !strcmp(now.id, l->facts.id)) {
		l->seen = st;
		return 0;
	}
	worker_end(&l->worker, NULL);
	fail(err, REMEM_EREMOTE, "the file of the local model '%.100s' was "
	     "changed while it was in use", l->model.path);
	fail_action(err, "start the program again: with the file as it is now, "
		    "everything is embedded anew");
	return REMEM_EREMOTE;
}

static void cool_down(struct local *l, const struct remem_err *why)
{
	l->failure = *why;
	l->cool_until_ns = clock_mono_ns() + COOL_DOWN_NS;
	log_msg(LOG_TRACE, "embed", "the local model: %s", why->message);
}

static int start(struct local *l, const struct child_wait *wait,
		 struct remem_err *err)
{
	struct remem_err why = { 0 };
	int rc = check_file(l, err);

	if (rc || l->worker.loaded)
		return rc;
	if (clock_mono_ns() < l->cool_until_ns) {
		why = l->failure;
		rc = why.code;
	} else {
		rc = start_now(l, wait, &why);
		if (rc && rc != REMEM_ECANCELLED)
			cool_down(l, &why);
	}
	if (rc && err)
		*err = why;
	return rc;
}

/* ---- one request ------------------------------------------------------ */

struct job {
	struct local *l;
	const struct embed_request *r;
	struct embed_reply *out;
	struct child_wait wait;
	size_t at; /* texts before it are answered */
	int deaths; /* at this text */
	int dims; /* that are kept of each vector; 0: not known yet */
};

static int64_t patience_ns(const struct job *j)
{
	return (j->r->kind == EMBED_QUERY ? j->l->query_timeout_ms :
					    j->l->batch_timeout_ms) * MS;
}

static int make_room(struct job *j, struct remem_err *err)
{
	struct local *l = j->l;
	int dims = l->dims_wanted && l->dims_wanted < l->worker.dims ?
			   l->dims_wanted : l->worker.dims;

	if (j->dims)
		return j->dims == dims ? 0 :
		       fail(err, REMEM_EREMOTE, "the local model gives vectors "
			    "of %d dimensions, and gave %d before", dims,
			    j->dims);
	if (l->dims_wanted > l->worker.dims)
		return fail(err, REMEM_EINVAL,
			    "the local model gives %d dimensions, not %d",
			    l->worker.dims, l->dims_wanted);
	j->dims = j->out->dims = dims;
	j->out->vecs = mem_array(j->r->n, (size_t)dims * sizeof(float));
	j->out->refused = mem_zarray(j->r->n, sizeof(*j->out->refused));
	return j->out->vecs && j->out->refused ? 0 : fail_nomem(err);
}

static int set_aside(struct job *j, size_t i, const char *why,
		     struct remem_err *err)
{
	log_msg(LOG_INFO, "embed", "a text is set aside: %s", why);
	mem_free(j->out->refused[i]);
	j->out->refused[i] = mem_strdup(why);
	return j->out->refused[i] ? 0 : fail_nomem(err);
}

/* A vector with NaN or without length has no meaning, and llama.cpp would give
 * the same again. */
static const char *judge(const float *v, int dims)
{
	double sum = 0;

	for (int i = 0; i < dims; i++)
		sum += (double)v[i] * v[i];
	return !isfinite(sum) ? "the model gave numbers that are none" :
	       sum < 1e-20 ? "the model gave a vector without length" : NULL;
}

static int take(struct job *j, const struct worker_answer *a, size_t from,
		struct remem_err *err)
{
	size_t i = from + a->text;
	const char *why = a->refused ? a->refused : judge(a->vec, j->dims);

	if (i != j->at)
		return fail(err, REMEM_EFORMAT, "the embedding worker answers "
			    "out of order");
	j->at++;
	j->deaths = 0;
	j->wait.until_ns = clock_mono_ns() + patience_ns(j);
	if (why)
		return set_aside(j, i, why, err);
	memcpy(j->out->vecs + i * (size_t)j->dims, a->vec,
	       (size_t)j->dims * sizeof(float));
	return 0;
}

/* The texts that are left, until all are answered or something happens. */
static int ask(struct job *j, struct remem_err *err)
{
	struct local *l = j->l;
	size_t from = j->at, n = j->r->n - from;
	struct worker_answer a = { 0 };
	int rc = worker_ask(&l->worker, j->r->texts + from, j->r->lens + from,
			    n, &j->wait, err);

	while (!rc && !(rc = worker_next(&l->worker, n, &a, &j->wait, err)) &&
	       !a.done)
		rc = take(j, &a, from, err);
	if (!rc && j->at != j->r->n)
		rc = fail(err, REMEM_EFORMAT,
			  "the embedding worker left out texts");
	return rc;
}

/* Whether the model can embed anything; if not, err says so. */
static int probe(struct job *j, const char *why, struct remem_err *err)
{
	static const char *const text[] = { "probe" };
	static const size_t len[] = { 5 };
	struct worker *w = &j->l->worker;
	struct worker_answer a;
	struct remem_err e = { 0 };
	int rc;

	j->wait.until_ns = clock_mono_ns() + patience_ns(j);
	rc = start(j->l, &j->wait, &e);
	if (!rc)
		rc = worker_ask(w, text, len, 1, &j->wait, &e);
	while (!rc && !(rc = worker_next(w, 1, &a, &j->wait, &e)) && !a.done)
		if (a.refused)
			rc = fail(&e, REMEM_EREMOTE, "%s", a.refused);
	if (rc == REMEM_ECANCELLED)
		return fail(err, rc, "stopped");
	if (!rc)
		return 0;
	worker_end(w, NULL);
	fail(err, REMEM_EREMOTE, "the local model does not work: %s", why);
	fail_action(err, "remem models verify, or remem models use another "
		    "one");
	if (err)
		cool_down(j->l, err);
	return REMEM_EREMOTE;
}

/* What the worker's end means; 0: the run goes on. */
static int on_death(struct job *j, int rc, const struct remem_err *said,
		    struct remem_err *err)
{
	struct buf end = BUF_INIT(600), why = BUF_INIT(900);
	bool late = rc == REMEM_ETIMEOUT;

	worker_end(&j->l->worker, &end);
	if (rc == REMEM_EREMOTE)
		buf_addf(&why, "the embedding worker died: %s", buf_str(&end));
	else if (late)
		buf_addf(&why, "the model did not answer within %lld s",
			 (long long)(patience_ns(j) / S));
	else
		buf_adds(&why, said->message);
	/* All were answered before it died: nothing is lost. */
	rc = 0;
	if (j->at < j->r->n && (late || ++j->deaths >= TRIES)) {
		rc = probe(j, buf_str(&why), err);
		if (!rc)
			rc = set_aside(j, j->at, buf_str(&why), err);
		j->at++;
		j->deaths = 0;
	}
	buf_release(&why);
	buf_release(&end);
	return rc;
}

/* One that has more than a text to go would keep the next request waiting. */
static int on_cancel(struct job *j, struct remem_err *err)
{
	if (j->l->worker.loaded && j->r->n - j->at > 1)
		worker_end(&j->l->worker, NULL);
	return fail(err, REMEM_ECANCELLED, "stopped");
}

static int run(struct job *j, struct remem_err *err)
{
	struct remem_err why = { 0 };
	int rc = 0;

	while (!rc && j->at < j->r->n) {
		j->wait.until_ns = clock_mono_ns() + patience_ns(j);
		if ((rc = start(j->l, &j->wait, err)) ||
		    (rc = make_room(j, err)))
			break;
		rc = ask(j, &why);
		if (rc == REMEM_EREMOTE || rc == REMEM_ETIMEOUT ||
		    rc == REMEM_EFORMAT)
			rc = on_death(j, rc, &why, err);
		else if (rc && rc != REMEM_ECANCELLED && err)
			*err = why;
	}
	return rc == REMEM_ECANCELLED ? on_cancel(j, err) : rc;
}

static void drop(struct job *j)
{
	for (size_t i = 0; j->out->refused && i < j->r->n; i++)
		mem_free(j->out->refused[i]);
	mem_free(j->out->refused);
	mem_free(j->out->vecs);
	j->out->refused = NULL;
	j->out->vecs = NULL;
}

static int local_embed(void *self, const struct embed_request *r,
		       struct embed_reply *out, bool (*cancel)(void *),
		       void *ctx, struct remem_err *err)
{
	struct job j = { .l = self, .r = r, .out = out,
			 .wait = { 0, cancel, ctx } };
	int rc = run(&j, err);

	if (rc)
		drop(&j);
	return rc;
}

const struct embed_provider provider_local = {
	.name = "local",
	.max_items = MAX_TEXTS,
	.open = local_open,
	.close = local_close,
	.embed = local_embed,
};
