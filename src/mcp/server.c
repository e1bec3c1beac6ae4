/*
 * Requests from their arrival to their answer: reading, the queue, workers,
 * cancellation, batches. Everything shared stands behind one lock; answers are
 * built and sent outside it.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/utf8.h"
#include "mcp/request.h"

/* Two, so that a search is answered while the other indexes. */
#define WORKERS 2
/* What may wait: a client that sends more without reading is refused. */
#define QUEUE_MAX 4096
#define QUEUE_MAX_BYTES ((size_t)64 << 20)
#define BATCH_MAX 1000
#define REST_MS 60000 /* after memory failed: OpenClaw's figure */

struct server {
	struct mcp_opts o;
	pthread_mutex_t lock;
	pthread_cond_t work, over;
	struct request *first, **last; /* the queue */
	struct request *live; /* all that wait or run */
	int waiting, pending, idle, threads, alive;
	size_t bytes;
	bool stopping;
	struct worker workers[WORKERS];
	pthread_t ids[WORKERS];
	void (*on_done)(void *ctx);
	void *on_done_ctx;
	struct remem_err why; /* memory failed */
	int64_t rest_until_ns;
	char *guidance;
};

const struct mcp_opts *server_opts(const struct server *s)
{
	return &s->o;
}

void server_on_done(struct server *s, void (*fn)(void *ctx), void *ctx)
{
	s->on_done = fn;
	s->on_done_ctx = ctx;
}

int server_pending(struct server *s)
{
	int n;

	pthread_mutex_lock(&s->lock);
	n = s->pending;
	pthread_mutex_unlock(&s->lock);
	return n;
}

bool server_resting(struct server *s, struct remem_err *err, int *left_ms)
{
	int64_t left;

	pthread_mutex_lock(&s->lock);
	left = s->rest_until_ns - clock_mono_ns();
	if (left > 0)
		*err = s->why;
	pthread_mutex_unlock(&s->lock);
	*left_ms = left > 0 ? (int)(left / 1000000) + 1 : 0;
	return left > 0;
}

void server_rest(struct server *s, const struct remem_err *err)
{
	pthread_mutex_lock(&s->lock);
	s->why = *err;
	s->rest_until_ns = clock_mono_ns() + (int64_t)REST_MS * 1000000;
	pthread_mutex_unlock(&s->lock);
}

static bool is_read_only(struct remem *r)
{
	yyjson_doc *doc = NULL;
	char *json = NULL;
	bool on = false;

	if (!remem_config_get(r, "readOnly", &json, NULL) &&
	    !json_read(&doc, json, strlen(json), false, "settings", NULL))
		on = json_bool(yyjson_doc_get_root(doc), "value", false);
	yyjson_doc_free(doc);
	remem_free(json);
	return on;
}

/* What the settings say about citations and writing. Reading them costs a
 * millisecond; no workspace is no reason to say nothing. */
static void learn(struct server *s)
{
	struct remem *r = NULL;

	if (remem_open(&r, &s->o.open, NULL))
		r = NULL;
	if (r && is_read_only(r))
		s->o.open.read_only = 1;
	if (remem_guidance(r, s->o.shared, &s->guidance, NULL))
		s->guidance = NULL;
	remem_close(r);
}

void server_guidance(struct server *s, struct buf *out)
{
	buf_adds(out, s->guidance ? s->guidance : "");
}

int worker_open(struct worker *w, struct request *q, struct remem **out,
		struct remem_err *err)
{
	int rc = 0;

	if (!w->r)
		rc = remem_open(&w->r, &w->server->o.open, err);
	if (rc)
		w->r = NULL;
	else
		remem_client(w->r, q->client);
	*out = w->r;
	return rc;
}

void worker_close(struct worker *w)
{
	remem_close(w->r);
	w->r = NULL;
}

/* ---- one request -------------------------------------------------------- */

static void message_drop(struct message *m)
{
	if (!m || atomic_fetch_sub(&m->refs, 1) != 1)
		return;
	yyjson_doc_free(m->doc);
	mem_free(m);
}

static void request_free(struct request *q)
{
	if (!q)
		return;
	message_drop(q->message);
	mem_free(q->id);
	mem_free(q->progress_token);
	mem_free(q);
}

/* JSON text of a value; NULL when memory is out. */
static char *text_of(yyjson_val *v)
{
	struct buf b = BUF_INIT(0);
	struct json j;

	json_begin(&j, &b);
	if (v)
		json_put_val(&j, v);
	else
		json_put_null(&j);
	return buf_detach(&b);
}

static void batch_add(struct server *s, struct batch *b, const char *json,
		      size_t len)
{
	pthread_mutex_lock(&s->lock);
	buf_addc(&b->out, b->any ? ',' : '[');
	buf_add(&b->out, json, len);
	b->any = true;
	pthread_mutex_unlock(&s->lock);
}

/* One request of a batch less; the last one sends it. */
static void batch_leave(struct server *s, struct batch *b)
{
	struct remem_err err = { 0 };
	bool last;

	pthread_mutex_lock(&s->lock);
	last = --b->left == 0;
	pthread_mutex_unlock(&s->lock);
	if (!last)
		return;
	buf_addc(&b->out, ']');
	if (b->any && !buf_check(&b->out, &err))
		b->sink->send(b->sink, buf_str(&b->out), b->out.len);
	buf_release(&b->out);
	mem_free(b);
}

static void send_text(struct server *s, struct sink *sink, struct batch *b,
		      const struct buf *text)
{
	if (buf_check(text, NULL))
		log_msg(LOG_ERROR, "mcp", "an answer was lost: no memory");
	else if (b)
		batch_add(s, b, buf_str(text), text->len);
	else
		sink->send(sink, buf_str(text), text->len);
}

static void send_error(struct server *s, struct sink *sink, struct batch *b,
		       const char *id, int code, const char *message)
{
	struct buf out = BUF_INIT(0);

	rpc_put_error(&out, id, code, message, NULL);
	send_text(s, sink, b, &out);
	buf_release(&out);
}

void answer_fail(struct answer *a, int code, const char *fmt, ...)
{
	va_list ap;

	a->code = code;
	va_start(ap, fmt);
	vsnprintf(a->message, sizeof(a->message), fmt, ap);
	va_end(ap);
}

static void begin_answer(struct answer *a, const struct request *q)
{
	memset(a, 0, sizeof(*a));
	json_begin(&a->j, &a->body);
	json_obj(&a->j);
	if (q->era->modern)
		json_kstr(&a->j, "resultType", "complete");
}

/* What results of the newer versions say beside their own. */
static void end_answer(struct answer *a, const struct request *q)
{
	struct json *j = &a->j;

	if (q->era->modern && q->method && q->method->cached) {
		/* Nothing in the lists changes while the program runs, and
		 * what is read may change at any time. */
		json_kint(j, "ttlMs", q->method->heavy ? 0 : 300000);
		json_kstr(j, "cacheScope", "private");
	}
	if (q->era->modern) {
		json_key(j, "_meta");
		json_obj(j);
		json_key(j, META_PREFIX "serverInfo");
		json_obj(j);
		json_kstr(j, "name", "remem");
		json_kstr(j, "version", REMEM_VERSION_TEXT);
		json_end(j);
		json_end(j);
	}
	json_end(j);
}

static void send_answer(struct request *q, struct answer *a)
{
	struct buf out = BUF_INIT(0);

	if (!a->code && buf_check(&a->body, NULL))
		answer_fail(a, RPC_INTERNAL, "out of memory");
	if (!a->code)
		rpc_put_result(&out, q->id, buf_str(&a->body), a->body.len);
	else
		rpc_put_error(&out, q->id, a->code, a->message,
			      a->data.len ? buf_str(&a->data) : NULL);
	send_text(q->server, q->sink, q->batch, &out);
	buf_release(&out);
}

/* Answers it, unless nobody wants to know any more. */
static void run_request(struct request *q, struct worker *w)
{
	struct answer a;

	while (w && q->sink->ready && !q->sink->ready(q->sink) &&
	       !atomic_load(&q->cancelled))
		;
	if (atomic_load(&q->cancelled))
		return;
	begin_answer(&a, q);
	q->method->run(q, &a, w);
	end_answer(&a, q);
	if (!atomic_load(&q->cancelled))
		send_answer(q, &a);
	buf_release(&a.body);
	buf_release(&a.data);
}

static void unlink_live(struct server *s, struct request *q)
{
	if (q->prev_live)
		q->prev_live->next_live = q->next_live;
	else
		s->live = q->next_live;
	if (q->next_live)
		q->next_live->prev_live = q->prev_live;
}

/* The end of a request that waited or ran. */
static void finish(struct server *s, struct request *q)
{
	struct sink *sink = q->sink;

	if (q->batch)
		batch_leave(s, q->batch);
	pthread_mutex_lock(&s->lock);
	unlink_live(s, q);
	s->bytes -= q->bytes;
	s->pending--;
	pthread_cond_broadcast(&s->over);
	pthread_mutex_unlock(&s->lock);
	request_free(q);
	if (sink->done)
		sink->done(sink);
	if (s->on_done)
		s->on_done(s->on_done_ctx);
}

int request_progress(void *ctx, const char *phase, int64_t done,
		     int64_t total, double rate, double left_s)
{
	struct request *q = ctx;
	struct buf b = BUF_INIT(0);
	struct json j;

	(void)rate, (void)left_s;
	if (atomic_load(&q->cancelled))
		return 1;
	if (!q->progress_token || q->batch)
		return 0;
	if (strcmp(q->phase, phase)) {
		snprintf(q->phase, sizeof(q->phase), "%s", phase);
		q->progress_base = q->progress;
	}
	/* Each figure has to be larger than the one before. */
	if (q->progress_base + (double)done <= q->progress)
		return 0;
	q->progress = q->progress_base + (double)done;
	json_begin(&j, &b);
	json_obj(&j);
	json_kstr(&j, "jsonrpc", "2.0");
	json_kstr(&j, "method", "notifications/progress");
	json_key(&j, "params");
	json_obj(&j);
	json_key(&j, "progressToken");
	json_put_raw(&j, q->progress_token, strlen(q->progress_token));
	json_knum(&j, "progress", q->progress);
	if (total > 0)
		json_knum(&j, "total", q->progress_base + (double)total);
	if (q->era->structured)
		json_kstr(&j, "message", phase);
	json_end(&j);
	json_end(&j);
	if (!buf_check(&b, NULL))
		q->sink->send(q->sink, buf_str(&b), b.len);
	buf_release(&b);
	return 0;
}

/* ---- workers ------------------------------------------------------------ */

static struct request *take_next(struct server *s)
{
	struct request *q;

	s->idle++;
	while (!s->first && !s->stopping)
		pthread_cond_wait(&s->work, &s->lock);
	s->idle--;
	q = s->first;
	if (!q)
		return NULL;
	s->first = q->next;
	if (!s->first)
		s->last = &s->first;
	s->waiting--;
	q->queued = false;
	return q;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct server *s = w->server;
	struct request *q;

	pthread_mutex_lock(&s->lock);
	while ((q = take_next(s))) {
		pthread_mutex_unlock(&s->lock);
		run_request(q, w);
		finish(s, q);
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	worker_close(w);
	pthread_mutex_lock(&s->lock);
	s->alive--;
	pthread_cond_broadcast(&s->over);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* With the lock held. */
static bool need_worker(struct server *s)
{
	struct worker *w = &s->workers[s->threads];

	if (s->idle >= s->waiting || s->threads == WORKERS)
		return true;
	w->server = s;
	if (pthread_create(&s->ids[s->threads], NULL, work, w))
		return s->threads > 0;
	s->threads++;
	s->alive++;
	return true;
}

static const char *enqueue(struct server *s, struct request *q)
{
	const char *no = NULL;

	pthread_mutex_lock(&s->lock);
	if (s->stopping)
		no = "the server is stopping";
	else if (s->waiting >= QUEUE_MAX || s->bytes > QUEUE_MAX_BYTES)
		no = "too many requests are waiting; read the answers first";
	if (!no) {
		q->queued = true;
		*s->last = q;
		s->last = &q->next;
		s->waiting++;
		s->pending++;
		s->bytes += q->bytes;
		q->next_live = s->live;
		if (s->live)
			s->live->prev_live = q;
		s->live = q;
		if (!need_worker(s))
			log_msg(LOG_ERROR, "mcp", "cannot make a thread");
		pthread_cond_signal(&s->work);
	}
	pthread_mutex_unlock(&s->lock);
	return no;
}

/* With the lock held: marks it, and wakes nobody: a waiting one is passed
 * over by the worker that comes to it. */
static void cancel(struct request *q)
{
	atomic_store(&q->cancelled, true);
}

static void on_cancelled(struct server *s, struct session *session,
			 yyjson_val *params)
{
	yyjson_val *v = yyjson_obj_get(params, "requestId");
	char *id = v ? text_of(v) : NULL;

	pthread_mutex_lock(&s->lock);
	for (struct request *q = s->live; id && q; q = q->next_live)
		if (q->session == session && !strcmp(q->id, id))
			cancel(q);
	pthread_mutex_unlock(&s->lock);
	mem_free(id);
}

void server_hang_up(struct server *s, struct sink *sink)
{
	pthread_mutex_lock(&s->lock);
	for (struct request *q = s->live; q; q = q->next_live)
		if (q->sink == sink)
			cancel(q);
	pthread_mutex_unlock(&s->lock);
}

/* ---- arrival ------------------------------------------------------------ */

struct arrival {
	struct server *s;
	struct session *session;
	struct sink *sink;
	struct batch *batch;
	struct message *message;
	size_t bytes;
	int under_way;
};

static void refuse(struct arrival *a, const char *id, int code,
		   const char *message)
{
	send_error(a->s, a->sink, a->batch, id, code, message);
}

static void refuse_version(struct arrival *a, const char *id,
			   const char *asked)
{
	struct buf out = BUF_INIT(0), data = BUF_INIT(0);
	struct json j;

	json_begin(&j, &data);
	json_obj(&j);
	json_key(&j, "supported");
	era_put_supported(&j);
	json_kstr(&j, "requested", asked);
	json_end(&j);
	rpc_put_error(&out, id, RPC_VERSION, "this version of the protocol is "
		      "not supported", buf_str(&data));
	send_text(a->s, a->sink, a->batch, &out);
	buf_release(&data);
	buf_release(&out);
}

static const struct era *era_for(struct arrival *a, const struct rpc *m,
				 const char **asked)
{
	const struct era *e = era_of(m->params, asked);

	if (e || *asked)
		return e;
	/* Asked without a version it can only be meant in the new way. */
	if (!strcmp(m->method, "server/discover"))
		return era_find(ERA_MODERN);
	e = era_find(a->session->version);
	return e ? e : era_first();
}

/* Why the request cannot be taken, NULL if it can. */
static const char *check_request(struct arrival *a, const struct rpc *m,
				 const struct era *era,
				 const struct method **method, int *code)
{
	bool hello = !strcmp(m->method, "initialize");

	*code = RPC_INVALID;
	*method = method_find(m->method, era);
	if (hello && a->batch)
		return "initialize does not stand in a batch";
	if (!era->modern && !a->session->version && !hello &&
	    strcmp(m->method, "ping"))
		return "the first request should be initialize";
	*code = RPC_NO_METHOD;
	if (!*method)
		return "";
	*code = RPC_PARAMS;
	return m->params && !yyjson_is_obj(m->params) ?
		       "\"params\" should be an object" : NULL;
}

void client_take(char out[CLIENT_BYTES], yyjson_val *info)
{
	const char *name = json_str(info, "name", "");
	size_t n = utf8_cut(name, strlen(name), CLIENT_BYTES - 1);

	if (n)
		snprintf(out, CLIENT_BYTES, "%.*s", (int)n, name);
}

static struct request *request_new(struct arrival *a, const struct rpc *m,
				   const struct era *era,
				   const struct method *method)
{
	yyjson_val *meta = yyjson_obj_get(m->params, "_meta");
	yyjson_val *token = yyjson_obj_get(meta, "progressToken");
	struct request *q = mem_zalloc(sizeof(*q));

	if (!q)
		return NULL;
	q->server = a->s;
	q->session = a->session;
	q->sink = a->sink;
	q->batch = a->batch;
	q->message = a->message;
	atomic_fetch_add(&a->message->refs, 1);
	q->method = method;
	q->params = m->params;
	q->era = era;
	memcpy(q->client, a->session->client, sizeof(q->client));
	client_take(q->client, yyjson_obj_get(meta, META_PREFIX "clientInfo"));
	q->bytes = a->bytes;
	q->id = text_of(m->id);
	if (yyjson_is_str(token) || yyjson_is_raw(token))
		q->progress_token = text_of(token);
	if (!q->id) {
		request_free(q);
		return NULL;
	}
	return q;
}

static void unknown_method(struct arrival *a, const char *id,
			   const char *method)
{
	char text[160];

	snprintf(text, sizeof(text), "there is no method '%.80s' in this "
		 "version of the protocol", method);
	refuse(a, id, RPC_NO_METHOD, text);
}

static void take_request(struct arrival *a, const struct rpc *m)
{
	const char *asked, *no;
	const struct era *era = era_for(a, m, &asked);
	const struct method *method = NULL;
	struct request *q;
	char *id = text_of(m->id);
	int code = 0;

	if (!era) {
		refuse_version(a, id, asked);
	} else if ((no = check_request(a, m, era, &method, &code))) {
		if (*no)
			refuse(a, id, code, no);
		else
			unknown_method(a, id, m->method);
	} else if (!(q = request_new(a, m, era, method))) {
		refuse(a, id, RPC_INTERNAL, "out of memory");
	} else if (!method->heavy) {
		run_request(q, NULL);
		request_free(q);
	} else {
		/* Counted before it can be over. */
		if (a->batch) {
			pthread_mutex_lock(&a->s->lock);
			a->batch->left++;
			pthread_mutex_unlock(&a->s->lock);
		}
		a->under_way++;
		no = enqueue(a->s, q);
		if (no) {
			a->under_way--;
			refuse(a, id, RPC_BUSY, no);
			if (a->batch)
				batch_leave(a->s, a->batch);
			request_free(q);
		}
	}
	mem_free(id);
}

static void take_one(struct arrival *a, yyjson_val *v)
{
	struct rpc m;
	char *id;

	rpc_read(&m, v);
	switch (m.kind) {
	case RPC_REQUEST:
		take_request(a, &m);
		break;
	case RPC_NOTIFICATION:
		if (!strcmp(m.method, "notifications/cancelled"))
			on_cancelled(a->s, a->session, m.params);
		break;
	case RPC_RESPONSE:
		break;
	case RPC_BAD:
		id = m.id ? text_of(m.id) : NULL;
		refuse(a, id, RPC_INVALID, m.why);
		mem_free(id);
		break;
	}
}

static void take_batch(struct arrival *a, yyjson_val *root)
{
	const struct era *era = era_find(a->session->version);
	struct batch *b;
	yyjson_val *v;
	size_t i, n;

	if (!era || !era->batches) {
		refuse(a, NULL, RPC_INVALID,
		       "this version of the protocol has no batches");
		return;
	}
	n = yyjson_arr_size(root);
	if (!n || n > BATCH_MAX) {
		refuse(a, NULL, RPC_INVALID, n ? "a batch should have at most "
		       "1000 messages" : "the batch is empty");
		return;
	}
	b = mem_zalloc(sizeof(*b));
	if (!b) {
		refuse(a, NULL, RPC_INTERNAL, "out of memory");
		return;
	}
	b->sink = a->sink;
	b->left = 1; /* ours, while it is read */
	a->batch = b;
	yyjson_arr_foreach(root, i, n, v)
		take_one(a, v);
	batch_leave(a->s, b);
}

int server_message(struct server *s, struct session *session,
		   struct sink *sink, const char *text, size_t len,
		   bool too_long)
{
	struct arrival a = { .s = s, .session = session, .sink = sink,
			     .bytes = len };
	struct remem_err err = { 0 };
	yyjson_doc *doc;
	yyjson_val *root;
	int rc;

	if (too_long) {
		refuse(&a, NULL, RPC_INVALID,
		       "the message is longer than 16 MiB");
		return 0;
	}
	rc = json_read_verbatim(&doc, text, len, "message", &err);
	if (rc) {
		refuse(&a, NULL, rc == REMEM_ENOMEM ? RPC_INTERNAL : RPC_PARSE,
		       err.message);
		return 0;
	}
	a.message = mem_zalloc(sizeof(*a.message));
	if (!a.message) {
		yyjson_doc_free(doc);
		refuse(&a, NULL, RPC_INTERNAL, "out of memory");
		return 0;
	}
	a.message->refs = 1;
	a.message->doc = doc;
	root = yyjson_doc_get_root(doc);
	if (yyjson_is_arr(root))
		take_batch(&a, root);
	else
		take_one(&a, root);
	message_drop(a.message);
	return a.under_way;
}

/* ---- life --------------------------------------------------------------- */

int server_new(struct server **out, const struct mcp_opts *o,
	       struct remem_err *err)
{
	pthread_condattr_t attr;
	struct server *s = mem_zalloc(sizeof(*s));

	*out = s;
	if (!s)
		return fail_nomem(err);
	s->o = *o;
	s->last = &s->first;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->work, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->over, &attr);
	pthread_condattr_destroy(&attr);
	learn(s);
	return 0;
}

bool server_stop(struct server *s, int wait_ms)
{
	struct timespec end;
	int64_t ns = clock_mono_ns() + (int64_t)wait_ms * 1000000;
	bool ended;

	end.tv_sec = (time_t)(ns / 1000000000);
	end.tv_nsec = (long)(ns % 1000000000);
	pthread_mutex_lock(&s->lock);
	s->stopping = true;
	for (struct request *q = s->live; q; q = q->next_live)
		cancel(q);
	pthread_cond_broadcast(&s->work);
	while (s->alive)
		if (pthread_cond_timedwait(&s->over, &s->lock, &end))
			break;
	ended = !s->alive;
	pthread_mutex_unlock(&s->lock);
	for (int i = 0; ended && i < s->threads; i++)
		pthread_join(s->ids[i], NULL);
	if (ended)
		s->threads = 0;
	return ended;
}

void server_free(struct server *s)
{
	if (!s)
		return;
	pthread_cond_destroy(&s->work);
	pthread_cond_destroy(&s->over);
	pthread_mutex_destroy(&s->lock);
	remem_free(s->guidance);
	mem_free(s);
}
