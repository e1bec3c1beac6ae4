/*
 * What all batch interfaces have in common: requests and their errors, and
 * reading files of answers line by line as they arrive. A file of answers can
 * have gigabytes, so it is never held as a whole.
 */
#include "embed/batch.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/trouble.h"
#include "embed/check.h"
#include "embed/embedder.h"
#include "embed/job.h"
#include "embed/post.h"

#define MS INT64_C(1000000)
#define CALL_TIMEOUT_MS 60000
#define UPLOAD_TIMEOUT_MS 600000
#define FETCH_TIMEOUT_MS 3600000
#define REPLY_MAX ((size_t)8 << 20) /* a page of jobs */
#define FETCH_MAX ((size_t)2 << 30) /* 50,000 vectors of 3,072 numbers */
#define LINE_MAX_BYTES ((size_t)1 << 20) /* 16,384 dimensions of 30 bytes */
#define PAGES_MAX 20 /* of jobs, looked through for one name */
#define SLICE_MS 50

/* ---- vendors ---------------------------------------------------------- */

const struct batch_terms *embed_batch_terms_of(const char *provider)
{
	const struct embed_provider *p = embed_provider_find(provider);

	return p && p->batch ? &p->batch->terms : NULL;
}

const struct batch_terms *embed_batch_terms(struct embedder *e)
{
	return e->p->batch && !e->off[0] ? &e->p->batch->terms : NULL;
}

static const char *const *form_headers(struct arena *a, const char *type,
				       const char *const *headers)
{
	const char **out;
	size_t n = 0, k = 0;

	while (headers && headers[n])
		n++;
	out = ARENA_ARRAY(a, const char *, n + 2);
	if (!out)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (strncasecmp(headers[i], "content-type:", 13) != 0)
			out[k++] = headers[i];
	out[k] = arena_printf(a, "Content-Type: %s; boundary=%s", type,
			      BATCH_BOUNDARY);
	return out;
}

int embed_batch_new(struct embed_batch **out, struct embedder *e,
		    struct remem_err *err)
{
	/* The address may be that of the embeddings themselves. */
	static const char *const tails[] = { "/embeddings", NULL };
	const char *base;
	struct embed_batch *b;
	int rc;

	*out = NULL;
	if (!embed_batch_terms(e))
		return fail(err, REMEM_ENOTSUP, "the provider %s has no batch "
			    "interface", e->p->name);
	if ((rc = post_base(&base, &e->c, e->p->batch->base_url, err)))
		return rc;
	b = mem_zalloc(sizeof(*b));
	if (!b)
		return fail_nomem(err);
	b->e = e;
	b->v = e->p->batch;
	b->c = &e->c;
	b->info = &e->info;
	b->random = (uint64_t)clock_mono_ns();
	b->base = http_bare(&b->a, base, tails);
	b->headers = post_headers(&b->a, b->v->key_header, &e->c);
	b->form_headers = form_headers(&b->a, b->v->form_type, b->headers);
	if (b->a.failed) {
		embed_batch_free(b);
		return fail_nomem(err);
	}
	*out = b;
	return 0;
}

void embed_batch_free(struct embed_batch *b)
{
	if (!b)
		return;
	arena_release(&b->a);
	mem_free(b);
}

const char *embed_batch_base(const struct embed_batch *b)
{
	return b->base;
}

/* ---- words and ids ---------------------------------------------------- */

enum batch_state batch_state_of(const char *word)
{
	static const struct {
		const char *word;
		enum batch_state state;
	} words[] = {
		{ "completed", BATCH_DONE },
		{ "succeeded", BATCH_DONE },
		{ "partially_succeeded", BATCH_DONE },
		{ "failed", BATCH_FAILED },
		{ "expired", BATCH_EXPIRED },
		{ "cancelled", BATCH_CANCELLED },
		{ "canceled", BATCH_CANCELLED },
	};
	const char *state = word ? strstr(word, "STATE_") : NULL;

	if (state)
		word = state + 6;
	for (size_t i = 0; word && i < ARRAY_LEN(words); i++)
		if (!strcasecmp(word, words[i].word))
			return words[i].state;
	return BATCH_RUNNING;
}

void batch_copy_id(char out[BATCH_ID], const char *id)
{
	static const char may[] = "abcdefghijklmnopqrstuvwxyz"
				  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
	size_t n = id ? strlen(id) : 0;

	out[0] = '\0';
	if (n && n < BATCH_ID && strspn(id, may) == n && !strstr(id, ".."))
		memcpy(out, id, n + 1);
}

/* ---- requests --------------------------------------------------------- */

static int judge(struct embed_batch *b, const struct http_reply *reply,
		 struct remem_err *err)
{
	static const struct embed_request none = { EMBED_DOCUMENT, NULL, NULL,
						   0, NULL };
	struct outcome o;

	b->status = reply->status;
	b->retry_after_ms = reply->retry_after_ms;
	if (!reply->rc && reply->status >= 200 && reply->status < 300)
		return 0;
	outcome_of(&o, b->e, &none, reply);
	b->retry_after_ms = o.retry_after_ms;
	if (err)
		*err = o.err;
	return o.err.code ? o.err.code : REMEM_EREMOTE;
}

static int call(struct embed_batch *b, struct http_request *req,
		struct http_reply *reply, batch_cancel_fn cancel, void *ctx,
		struct remem_err *err)
{
	int rc;

	b->status = 0;
	b->retry_after_ms = -1;
	if (b->a.failed)
		return fail_nomem(err);
	if (!req->headers)
		req->headers = b->headers;
	if (!req->timeout_ms)
		req->timeout_ms = CALL_TIMEOUT_MS;
	if (!req->max_reply)
		req->max_reply = REPLY_MAX;
	rc = embed_send(b->e, &b->e->http, req, reply, cancel, ctx, err);
	return rc ? rc : judge(b, reply, err);
}

/* The reply's root; the caller frees *doc. */
static int read_root(yyjson_doc **doc, yyjson_val **root,
		     const struct http_reply *reply, struct remem_err *err)
{
	struct remem_err why = { 0 };
	int rc = json_read(doc, buf_str(&reply->body), reply->body.len, false,
			   "reply", &why);

	*root = NULL;
	if (rc == REMEM_ENOMEM)
		return fail_nomem(err);
	if (!rc)
		*root = yyjson_doc_get_root(*doc);
	if (yyjson_is_obj(*root))
		return 0;
	return fail(err, REMEM_EREMOTE, "the provider's batch interface "
		    "answered something that is no object of JSON");
}

/* Waits; false when it was cancelled. */
static bool nap(int ms, batch_cancel_fn cancel, void *ctx)
{
	int64_t end = clock_mono_ns() + ms * MS, left;

	while ((left = end - clock_mono_ns()) > 0) {
		struct timespec t = { 0, (long)(left < SLICE_MS * MS ?
						left : SLICE_MS * MS) };

		if (cancel && cancel(ctx))
			return false;
		nanosleep(&t, NULL);
	}
	return true;
}

static bool passing(const struct embed_batch *b)
{
	return !b->status || b->status == 408 || b->status == 429 ||
	       b->status >= 500;
}

static int upload_once(struct embed_batch *b, const struct buf *body,
		       char file[BATCH_ID], batch_cancel_fn cancel, void *ctx,
		       struct remem_err *err)
{
	struct http_request req = { .headers = b->form_headers,
				    .body = buf_str(body),
				    .body_len = body->len,
				    .timeout_ms = UPLOAD_TIMEOUT_MS };
	struct http_reply reply = { 0 };
	yyjson_doc *doc = NULL;
	yyjson_val *root;
	int rc;

	b->v->upload(b, &req);
	rc = call(b, &req, &reply, cancel, ctx, err);
	if (!rc && !(rc = read_root(&doc, &root, &reply, err))) {
		batch_copy_id(file, b->v->file(root));
		if (!file[0])
			rc = fail(err, REMEM_EREMOTE, "the provider took the "
				  "file of a batch and gave it no id");
	}
	yyjson_doc_free(doc);
	http_reply_release(&reply);
	return rc;
}

int embed_batch_upload(struct embed_batch *b, struct buf *body,
		       char file[BATCH_ID], batch_cancel_fn cancel, void *ctx,
		       struct remem_err *err)
{
	int rc;

	file[0] = '\0';
	buf_adds(body, "\r\n--" BATCH_BOUNDARY "--\r\n");
	if ((rc = buf_check(body, err)))
		return rc;
	for (int i = 0;; i++) {
		int wait;

		rc = upload_once(b, body, file, cancel, ctx, err);
		if (!rc || rc == REMEM_ENOMEM || rc == REMEM_ECANCELLED ||
		    !passing(b) || i + 1 >= RETRY_TRIES)
			return rc;
		wait = trouble_wait_ms(i, b->retry_after_ms,
				       embed_wait_scale(b->c,
							b->retry_after_ms),
				       &b->random);
		if (wait < 0 || !nap(wait, cancel, ctx))
			return rc;
	}
}

/* One job's object; id as it says. */
static int read_status(struct embed_batch *b, struct batch_status *out,
		       const struct http_reply *reply, struct remem_err *err)
{
	yyjson_doc *doc = NULL;
	yyjson_val *root;
	int rc = read_root(&doc, &root, reply, err);

	if (!rc) {
		b->v->read(out, root);
		if (!out->id[0])
			rc = fail(err, REMEM_EREMOTE, "the provider answered "
				  "a batch without an id");
	}
	yyjson_doc_free(doc);
	return rc;
}

int embed_batch_create(struct embed_batch *b, const char *name,
		       const char *file, struct batch_status *out,
		       bool *unsure, batch_cancel_fn cancel, void *ctx,
		       struct remem_err *err)
{
	struct buf body = BUF_INIT(0);
	struct http_request req = { 0 };
	struct http_reply reply = { 0 };
	int rc;

	memset(out, 0, sizeof(*out));
	*unsure = false;
	b->v->create(b, &req, &body, name, file);
	rc = buf_check(&body, err);
	req.body = buf_str(&body);
	req.body_len = body.len;
	if (rc)
		goto out;
	rc = call(b, &req, &reply, cancel, ctx, err);
	*unsure = rc && passing(b);
	if (!rc && (rc = read_status(b, out, &reply, err)))
		*unsure = true;
out:
	http_reply_release(&reply);
	buf_release(&body);
	return rc;
}

/* True when the job is on this page. */
static bool on_page(struct embed_batch *b, const char *name,
		    struct batch_status *out, yyjson_val *root)
{
	yyjson_val *job;
	size_t i, n;

	yyjson_arr_foreach(b->v->jobs(root), i, n, job) {
		const char *its = b->v->name(job);

		if (its && !strcmp(its, name)) {
			b->v->read(out, job);
			return out->id[0];
		}
	}
	return false;
}

int embed_batch_find(struct embed_batch *b, const char *name,
		     struct batch_status *out, batch_cancel_fn cancel,
		     void *ctx, struct remem_err *err)
{
	char after[BATCH_ID] = "";
	bool found = false;
	int rc = 0;

	memset(out, 0, sizeof(*out));
	for (int page = 0; !rc && !found && page < PAGES_MAX; page++) {
		struct http_request req = { 0 };
		struct http_reply reply = { 0 };
		yyjson_doc *doc = NULL;
		yyjson_val *root;

		b->v->list(b, &req, after[0] ? after : NULL);
		rc = call(b, &req, &reply, cancel, ctx, err);
		if (!rc && !(rc = read_root(&doc, &root, &reply, err))) {
			found = on_page(b, name, out, root);
			batch_copy_id(after, b->v->next(root));
		}
		yyjson_doc_free(doc);
		http_reply_release(&reply);
		if (!after[0])
			break;
	}
	return rc;
}

int embed_batch_look(struct embed_batch *b, const char *id,
		     struct batch_status *out, batch_cancel_fn cancel,
		     void *ctx, struct remem_err *err)
{
	struct http_request req = { 0 };
	struct http_reply reply = { 0 };
	int rc;

	memset(out, 0, sizeof(*out));
	b->v->look(b, &req, id);
	rc = call(b, &req, &reply, cancel, ctx, err);
	if (!rc)
		rc = read_status(b, out, &reply, err);
	else if (b->status == 404 || b->status == 410)
		rc = 0; /* BATCH_NONE */
	http_reply_release(&reply);
	return rc;
}

int embed_batch_cancel(struct embed_batch *b, const char *id,
		       batch_cancel_fn cancel, void *ctx,
		       struct remem_err *err)
{
	struct http_request req = { 0 };
	struct http_reply reply = { 0 };
	int rc;

	b->v->cancel(b, &req, id);
	req.method = "POST";
	rc = call(b, &req, &reply, cancel, ctx, err);
	http_reply_release(&reply);
	return rc;
}

void embed_batch_discard(struct embed_batch *b, const char *file)
{
	struct http_request req = { 0 };
	struct http_reply reply = { 0 };
	struct remem_err why = { 0 };

	if (!file[0])
		return;
	b->v->discard(b, &req, file);
	req.method = "DELETE";
	if (call(b, &req, &reply, NULL, NULL, &why))
		log_msg(LOG_INFO, "embed", "the file of a batch stays with "
			"the provider: %s", why.message);
	http_reply_release(&reply);
}

/* ---- the file that is sent -------------------------------------------- */

void embed_batch_begin(const struct embed_batch *b, struct buf *out,
		       const char *name)
{
	b->v->head(b, out, name);
}

int64_t embed_batch_tokens(const struct embed_batch *b,
			   const struct embed_item *item)
{
	return job_tokens(b->e, item);
}

int64_t embed_batch_left(const struct embed_batch *b)
{
	return b->c->budget_left ? b->c->budget_left(b->c->budget_ctx) :
				   INT64_MAX;
}

int embed_batch_line(const struct embed_batch *b, struct buf *out,
		     const char *key, const struct embed_item *item,
		     struct remem_err *err)
{
	struct arena a = ARENA_INIT;
	struct json j;
	const char *text;
	size_t len;
	int rc = embed_join(&a, b->e, EMBED_DOCUMENT, item->text,
			    job_cut(b->e, item), 0, &text, &len);

	if (rc) {
		arena_release(&a);
		return fail_nomem(err);
	}
	json_begin(&j, out);
	b->v->line(b, &j, key, text, len);
	buf_addc(out, '\n');
	arena_release(&a);
	return buf_check(out, err);
}

/* ---- the file that comes back ----------------------------------------- */

struct reader {
	struct embed_batch *b;
	const struct batch_sink *sink;
	struct buf line;
	bool too_long; /* this line: it is left out */
	int64_t bad;
	int rc; /* of the receiver */
};

/* Vectors are checked as those of any reply. */
static int give_vector(struct reader *r, const struct batch_result *res)
{
	struct embedder *e = r->b->e;
	struct embed_reply reply = { 0 };
	struct remem_err why = { 0 };
	const char *wrong = NULL;
	int rc = reply_root(&reply, res->shape, res->root, 1, &why);

	if (rc)
		wrong = why.message;
	else if (!(wrong = check_vector(reply.vecs, reply.dims)) &&
		 e->info.dims && e->info.dims != reply.dims)
		wrong = "the provider answered a vector of another dimension";
	if (!wrong && !e->info.dims)
		e->info.dims = reply.dims;
	rc = r->sink->line(r->sink->ctx, res->key, res->len,
			   wrong ? NULL : reply.vecs, reply.dims, reply.tokens,
			   wrong);
	mem_free(reply.vecs);
	return rc;
}

static int give_line(struct reader *r)
{
	struct batch_result res = { 0 };
	struct remem_err why = { 0 };
	yyjson_doc *doc = NULL;
	yyjson_val *root;
	int rc = 0;

	if (r->line.len && r->line.ptr[r->line.len - 1] == '\r')
		buf_truncate(&r->line, r->line.len - 1);
	if (!r->line.len && !r->too_long)
		return 0;
	if (r->too_long || reply_json(&doc, buf_str(&r->line), r->line.len,
				      &why)) {
		r->bad++;
		return 0;
	}
	root = yyjson_doc_get_root(doc);
	if (yyjson_is_obj(root))
		r->b->v->result(&res, root);
	if (!res.key)
		r->bad++;
	else if (res.error)
		rc = r->sink->line(r->sink->ctx, res.key, res.len, NULL, 0, 0,
				   res.error);
	else
		rc = give_vector(r, &res);
	yyjson_doc_free(doc);
	return rc;
}

static int take(void *ctx, const char *data, size_t len)
{
	struct reader *r = ctx;

	while (len && !r->rc) {
		const char *end = memchr(data, '\n', len);
		size_t n = end ? (size_t)(end - data) : len;

		if (!r->too_long)
			buf_add(&r->line, data, n);
		if (r->line.failed == REMEM_ENOMEM)
			return r->rc = REMEM_ENOMEM;
		r->too_long |= r->line.failed != 0;
		if (!end)
			return 0;
		r->rc = give_line(r);
		buf_reset(&r->line);
		r->too_long = false;
		data += n + 1;
		len -= n + 1;
	}
	return r->rc;
}

int embed_batch_fetch(struct embed_batch *b, const char *file,
		      const struct batch_sink *sink, int64_t *bad,
		      struct remem_err *err)
{
	struct reader r = { .b = b, .sink = sink,
			    .line = BUF_INIT(LINE_MAX_BYTES) };
	struct http_request req = { .timeout_ms = FETCH_TIMEOUT_MS,
				    .max_reply = FETCH_MAX,
				    .take = take, .take_ctx = &r };
	struct http_reply reply = { 0 };
	int rc;

	b->v->fetch(b, &req, file);
	rc = call(b, &req, &reply, sink->cancel, sink->ctx, err);
	/* A test's transport gives the whole at once. */
	if (!rc && reply.body.len)
		take(&r, buf_str(&reply.body), reply.body.len);
	if (!rc && !r.rc) /* the last line may have no end */
		r.rc = give_line(&r);
	*bad = r.bad;
	http_reply_release(&reply);
	buf_release(&r.line);
	if (r.rc == REMEM_ENOMEM)
		return fail_nomem(err);
	return r.rc ? r.rc : rc;
}
