/*
 * The embedder: chooses the provider, says what it is, answers questions and
 * passes documents on: to a local provider in groups, to a remote one by
 * run.c.
 */
#include "embed/embed.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/aside.h"
#include "base/clock.h"
#include "base/log.h"
#include "embed/check.h"
#include "embed/embedder.h"
#include "embed/price.h"
#include "text/token.h"

#define MS INT64_C(1000000)
#define LOCAL_ITEMS 64
#define QUERY_TIMEOUT_MS 60000
#define QUERY_TIMEOUT_LOCAL_MS 300000
/* Of a question; what stands behind adds noise, and a whole prompt would take
 * seconds. */
#define QUERY_TOKENS 1024
#define SECRET_BYTES 6 /* shorter ones would tear other words apart */

#define PROVIDER(name) extern const struct embed_provider provider_##name;
#include "embed/providers.def"
#undef PROVIDER

static const struct embed_provider *const providers[] = {
#define PROVIDER(name) &provider_##name,
#include "embed/providers.def"
#undef PROVIDER
};

/* The i-th of both tables, NULL behind the last. */
static const struct embed_provider *row(size_t i)
{
	return i < ARRAY_LEN(providers) ? providers[i] :
					  embed_presets[i - ARRAY_LEN(providers)];
}

const struct embed_provider *embed_provider_find(const char *name)
{
	const struct embed_provider *p;

	for (size_t i = 0; (p = row(i)); i++)
		if (!strcmp(p->name, name))
			return p;
	return NULL;
}

const char *embed_provider_at(int i)
{
	const struct embed_provider *p = NULL;

	/* Behind the last there is nothing to count on from. */
	for (int k = 0; k <= i && (p = row((size_t)k)); k++)
		;
	return p ? p->name : NULL;
}

const char *const *embed_media_of(const char *provider, const char *model)
{
	const struct embed_provider *p = embed_provider_find(provider);

	return p && p->media && model ? p->media(model) : NULL;
}

bool embed_provider_is_remote(const char *name)
{
	const struct embed_provider *p = embed_provider_find(name);

	return p && p->remote;
}

bool embed_provider_is_auto(const char *name)
{
	const struct embed_provider *p = embed_provider_find(name);

	return p && p->in_auto;
}

const char *embed_provider_key_env(const char *name)
{
	const struct embed_provider *p = embed_provider_find(name);

	return p ? p->key_env : NULL;
}

/* ---- opening ---------------------------------------------------------- */

static const char *or_empty(const char *s)
{
	return s ? s : "";
}

static int name_fingerprint(struct embedder *e)
{
	const char *query = or_empty(e->c.query_input_type);
	const char *document = or_empty(e->c.document_input_type);
	struct buf b = BUF_INIT(0);

	buf_addf(&b, "%s|%s|%d|%s|%s", e->p->name, or_empty(e->info.model),
		 e->info.dims, e->info.query_prefix, e->info.document_prefix);
	if (e->p->remote && (query[0] || document[0]))
		buf_addf(&b, "|%s|%s", query, document);
	e->fingerprint = buf_detach(&b);
	e->info.fingerprint = e->fingerprint;
	return e->fingerprint ? 0 : REMEM_ENOMEM;
}

static void fill_info(struct embedder *e)
{
	const struct embed_config *c = &e->c;

	e->info.provider = e->p->name;
	e->info.remote = e->p->remote;
	if (c->query_prefix)
		e->info.query_prefix = c->query_prefix;
	if (c->document_prefix)
		e->info.document_prefix = c->document_prefix;
	if (!e->info.max_input_tokens)
		e->info.max_input_tokens = e->p->max_input_tokens;
	if (e->p->remote && c->max_input_tokens > 0)
		e->info.max_input_tokens = c->max_input_tokens;
}

static size_t either(int set, int own)
{
	return (size_t)(set > 0 ? set : own);
}

static void fill_limits(struct embedder *e)
{
	const struct embed_config *c = &e->c;
	size_t items = either(c->max_batch_items, e->info.max_items > 0 ?
				      e->info.max_items : e->p->max_items);

	/* Its form has room for one: no setting makes it two. */
	if (e->info.max_items == 1)
		items = 1;
	if (c->learned_items > 0 && (size_t)c->learned_items < items)
		items = (size_t)c->learned_items;
	limits_init(&e->limits, items,
		    either(c->max_batch_tokens, e->p->max_tokens),
		    (size_t)e->info.max_input_tokens);
	e->info.learned_items = c->learned_items;
	e->random = (uint64_t)clock_mono_ns();
}

/* Key and header values, which no message may repeat. */
static int list_secrets(struct embedder *e)
{
	const char *const *h = e->c.headers;
	size_t n = 0;

	while (h && h[n])
		n++;
	e->secrets = mem_zarray(n + 2, sizeof(*e->secrets));
	if (!e->secrets)
		return REMEM_ENOMEM;
	n = 0;
	if (e->c.api_key && strlen(e->c.api_key) >= SECRET_BYTES)
		e->secrets[n++] = e->c.api_key;
	for (; h && *h; h++) {
		const char *value = strchr(*h, ':');

		value = value ? value + 1 + strspn(value + 1, " ") : "";
		if (strlen(value) >= SECRET_BYTES)
			e->secrets[n++] = value;
	}
	return 0;
}

static int open_provider(struct embedder *e)
{
	struct remem_err why = { 0 };

	e->info.query_prefix = e->info.document_prefix = "";
	if (e->p->open(&e->self, &e->info, &e->c, &why)) {
		e->self = NULL;
		snprintf(e->off, sizeof(e->off), "%s", why.message);
		snprintf(e->off_action, sizeof(e->off_action), "%s",
			 why.action);
		if (why.code == REMEM_ENOMEM)
			return REMEM_ENOMEM;
	}
	fill_info(e);
	fill_limits(e);
	return 0;
}

/* Never a remote one by itself: notes leave the machine when asked to. */
static const char *choose(const struct embed_config *c)
{
	if (c->provider && strcmp(c->provider, "auto") != 0)
		return c->provider;
	if (c->local_path)
		return "local";
	return c->builtin_enabled ? "builtin" : "none";
}

int embedder_open(struct embedder **out, const struct embed_config *c,
		  struct remem_err *err)
{
	const struct embed_provider *p = embed_provider_find(choose(c));
	struct embedder *e;

	*out = NULL;
	if (!p) {
		fail(err, REMEM_EINVAL, "no embedding provider '%s'",
		     choose(c));
		fail_action(err, "set memorySearch.provider to auto, builtin, "
			    "local, none, openai, gemini, voyage, mistral, "
			    "ollama, openai-compatible or one of its presets");
		return REMEM_EINVAL;
	}
	e = mem_zalloc(sizeof(*e));
	if (!e)
		return fail_nomem(err);
	e->c = *c;
	e->c.provider = p->name;
	e->p = p;
	if (list_secrets(e) || open_provider(e) || name_fingerprint(e)) {
		embedder_free(e);
		return fail_nomem(err);
	}
	*out = e;
	return 0;
}

void embedder_free(struct embedder *e)
{
	if (!e)
		return;
	if (e->self && e->p->close)
		e->p->close(e->self);
	http_free(e->http);
	mem_free(e->secrets);
	mem_free(e->fingerprint);
	mem_free(e);
}

/* ---- what it is ------------------------------------------------------- */

const struct embed_info *embedder_info(struct embedder *e)
{
	return &e->info;
}

const struct embed_config *embedder_config(const struct embedder *e)
{
	return &e->c;
}

const char *embedder_off(struct embedder *e)
{
	return e->off[0] ? e->off : NULL;
}

int embedder_expect(struct embedder *e, int dims, struct remem_err *err)
{
	if (!e->info.dims || e->info.dims == dims) {
		e->info.dims = dims;
		return 0;
	}
	fail(err, REMEM_EREMOTE, "the index holds vectors of %d dimensions, "
	     "the provider gives %d", dims, e->info.dims);
	fail_action(err, "to change over: remem config set "
		    "%s.outputDimensionality %d", embed_section(&e->c),
		    e->info.dims);
	return REMEM_EREMOTE;
}

int64_t embedder_tokens(struct embedder *e, const char *text, size_t len)
{
	const char *prefix = e->info.document_prefix;

	return (int64_t)(token_estimate(text, len) +
			 token_estimate(prefix, strlen(prefix)));
}

/* A server of one's own has no list price. */
double embedder_price(struct embedder *e)
{
	if (!e->p->remote)
		return 0;
	return e->c.base_url && http_is_loopback(e->c.base_url) ?
		       -1 : price_of(e->info.model);
}

/* ---- local providers -------------------------------------------------- */

static void release_reply(struct embed_reply *reply, size_t n)
{
	for (size_t i = 0; reply->refused && i < n; i++)
		mem_free(reply->refused[i]);
	mem_free(reply->refused);
	mem_free(reply->vecs);
	memset(reply, 0, sizeof(*reply));
}

static int check_dims(struct embedder *e, int dims, struct remem_err *err)
{
	if (!e->info.dims)
		e->info.dims = dims;
	if (e->info.dims == dims)
		return 0;
	return fail(err, REMEM_EREMOTE, "the model gives vectors of %d "
		    "dimensions, and gave %d before", dims, e->info.dims);
}

static bool is_refused(const struct embed_reply *reply, size_t i)
{
	return reply->refused && reply->refused[i];
}

static int run_local(struct embedder *e, struct embed_request *r,
		     struct embed_reply *reply, bool (*cancel)(void *),
		     void *ctx, struct remem_err *err)
{
	const char *wrong = NULL;
	int rc = e->p->embed(e->self, r, reply, cancel, ctx, err);

	if (!rc)
		rc = check_dims(e, reply->dims, err);
	for (size_t i = 0; !rc && !wrong && i < r->n; i++)
		if (!is_refused(reply, i))
			wrong = check_vector(reply->vecs +
					     i * (size_t)reply->dims,
					     reply->dims);
	if (wrong)
		rc = fail(err, REMEM_EREMOTE, "%s", wrong);
	if (rc)
		release_reply(reply, r->n);
	return rc;
}

static bool is_late(void *ctx)
{
	const int64_t *deadline_ns = ctx;

	return clock_mono_ns() >= *deadline_ns;
}

static int query_local(struct embedder *e, const char *text, size_t len,
		       int64_t deadline_ns, float **out, int *dims,
		       struct remem_err *err)
{
	struct arena a = ARENA_INIT;
	struct embed_reply reply = { 0 };
	struct embed_request r = { .kind = EMBED_QUERY, .n = 1 };
	const char *whole;
	size_t whole_len;
	int rc = embed_join(&a, e, EMBED_QUERY, text, len, 0, &whole,
			    &whole_len);

	if (rc)
		return fail_nomem(err);
	r.texts = &whole;
	r.lens = &whole_len;
	rc = run_local(e, &r, &reply, is_late, &deadline_ns, err);
	if (rc == REMEM_ECANCELLED)
		rc = fail(err, REMEM_ETIMEOUT, "the question was not embedded "
			  "in the time that was left");
	if (!rc && is_refused(&reply, 0))
		rc = fail(err, REMEM_EREMOTE, "the question was not embedded: "
			  "%s", reply.refused[0]);
	if (!rc) {
		*out = reply.vecs;
		*dims = reply.dims;
		reply.vecs = NULL;
	}
	release_reply(&reply, 1);
	arena_release(&a);
	return rc;
}

/* Hands on what has a vector; the rest with its reasons. */
static int give_local(const struct embed_item **list, size_t n,
		      struct embed_reply *reply, const struct embed_sink *sink)
{
	size_t dims = (size_t)reply->dims, kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (is_refused(reply, i)) {
			if (sink->refused)
				sink->refused(sink->ctx, list[i],
					      reply->refused[i]);
			continue;
		}
		if (kept != i)
			memcpy(reply->vecs + kept * dims,
			       reply->vecs + i * dims, dims * sizeof(float));
		list[kept++] = list[i];
	}
	return kept ? sink->done(sink->ctx, list, reply->vecs, kept,
				 reply->dims) : 0;
}

struct local_call {
	struct embedder *e;
	struct embed_request *r;
	struct embed_reply *reply;
	const struct embed_sink *sink;
	struct remem_err *err;
	int rc;
};

static void do_local(void *ctx)
{
	struct local_call *c = ctx;

	c->rc = run_local(c->e, c->r, c->reply, c->sink->cancel, c->sink->ctx,
			  c->err);
}

static int run_group(struct embedder *e, struct embed_request *r,
		     struct embed_reply *reply, const struct embed_sink *sink,
		     struct remem_err *err)
{
	struct local_call c = { e, r, reply, sink, err, 0 };

	if (e->behind)
		aside_behind(do_local, &c);
	else
		do_local(&c);
	return c.rc;
}

void embedder_behind(struct embedder *e)
{
	e->behind = true;
}

static int group_local(struct embedder *e, const struct embed_item *items,
		       size_t n, const struct embed_sink *sink,
		       struct remem_err *err)
{
	struct arena a = ARENA_INIT;
	const char **texts = ARENA_ARRAY(&a, const char *, n);
	size_t *lens = ARENA_ARRAY(&a, size_t, n);
	const struct embed_item **list =
		ARENA_ARRAY(&a, const struct embed_item *, n);
	struct embed_reply reply = { 0 };
	struct embed_request r = { EMBED_DOCUMENT, texts, lens, n, NULL };
	int rc = a.failed ? REMEM_ENOMEM : 0;

	for (size_t i = 0; !rc && i < n; i++) {
		rc = embed_join(&a, e, EMBED_DOCUMENT, items[i].text,
				items[i].len, 0, &texts[i], &lens[i]);
		list[i] = &items[i];
	}
	rc = rc ? fail_nomem(err) :
		  run_group(e, &r, &reply, sink, err);
	if (!rc && give_local(list, n, &reply, sink))
		rc = fail(err, REMEM_ECANCELLED, "stopped");
	release_reply(&reply, n);
	arena_release(&a);
	return rc;
}

static int documents_local(struct embedder *e, const struct embed_item *items,
			   size_t n, const struct embed_sink *sink,
			   struct remem_err *err)
{
	size_t max = either(e->c.max_batch_items, e->p->max_items);
	int rc = 0;

	if (!max || (e->p->max_items && max > (size_t)e->p->max_items))
		max = e->p->max_items ? (size_t)e->p->max_items : LOCAL_ITEMS;
	for (size_t i = 0; !rc && i < n; i += max)
		rc = group_local(e, items + i, n - i < max ? n - i : max, sink,
				 err);
	return rc;
}

/* ---- questions and documents ------------------------------------------ */

static int run_off(struct embedder *e, struct remem_err *err)
{
	fail(err, REMEM_ENOTSUP, "%s", e->off);
	fail_action(err, "%s", e->off_action);
	return REMEM_ENOTSUP;
}

static int query_timeout(const struct embedder *e)
{
	if (e->c.query_timeout_ms > 0)
		return e->c.query_timeout_ms;
	return e->p->remote ? QUERY_TIMEOUT_MS : QUERY_TIMEOUT_LOCAL_MS;
}

static size_t query_tokens(const struct embedder *e)
{
	size_t max = (size_t)e->info.max_input_tokens;

	return max && max < QUERY_TOKENS ? max : QUERY_TOKENS;
}

void embedder_on_cancel(struct embedder *e, bool (*cancel)(void *ctx),
			void *ctx)
{
	e->cancel = cancel;
	e->cancel_ctx = ctx;
}

static int query_remote(struct embedder *e, const struct ask *ask, float **out,
			int *dims, struct remem_err *err)
{
	struct remem_err why = { 0 };
	int rc = embed_ask(e, ask, out, dims, &why);

	health_note(e, rc, &why);
	if (rc && err)
		*err = why;
	return rc;
}

static int query(struct embedder *e, const char *text, size_t len,
		 int deadline_ms, bool patient, float **out, int *dims,
		 struct remem_err *err)
{
	int timeout = query_timeout(e);
	int whole = deadline_ms > 0 && deadline_ms < timeout ? deadline_ms :
							       timeout;
	struct ask ask = { .kind = EMBED_QUERY, .text = text,
			   .timeout_ms = whole,
			   .tries = health_tries(e), .patient = patient,
			   .cancel = e->cancel, .ctx = e->cancel_ctx };

	*out = NULL;
	*dims = 0;
	if (e->off[0])
		return run_off(e, err);
	ask.deadline_ns = clock_mono_ns() + whole * MS;
	ask.len = len > query_tokens(e) ?
			  token_prefix(text, len, query_tokens(e)) : len;
	if (e->p->remote && health_is_cooling(e, err))
		return e->health.code;
	if (e->p->remote)
		return query_remote(e, &ask, out, dims, err);
	return query_local(e, text, ask.len, ask.deadline_ns, out, dims, err);
}

int embedder_query(struct embedder *e, const char *text, size_t len,
		   int deadline_ms, float **out, int *dims,
		   struct remem_err *err)
{
	return query(e, text, len, deadline_ms, false, out, dims, err);
}

int embedder_documents(struct embedder *e, const struct embed_item *items,
		       size_t n,
		       int (*done)(void *ctx,
				   const struct embed_item *const *items,
				   const float *vecs, size_t n, int dims),
		       void (*refused)(void *ctx, const struct embed_item *item,
				       const char *reason),
		       bool (*cancel)(void *ctx), void *ctx,
		       struct remem_err *err)
{
	const struct embed_sink sink = { done, refused, cancel, ctx };
	struct remem_err why = { 0 };
	int rc;

	if (e->off[0])
		return run_off(e, err);
	if (!e->p->remote)
		return documents_local(e, items, n, &sink, err);
	if (health_is_cooling(e, err))
		return e->health.code;
	rc = health_probe(e, cancel, ctx, &why);
	if (!rc)
		rc = embed_run(e, items, n, &sink, &why);
	health_note(e, rc, &why);
	if (rc && err)
		*err = why;
	return rc;
}

int embedder_probe(struct embedder *e, int64_t *took_ms, struct remem_err *err)
{
	int64_t t = clock_mono_ns();
	float *v = NULL;
	int dims, rc;

	embedder_wake(e);
	rc = query(e, "probe", 5, 0, true, &v, &dims, err);
	mem_free(v);
	*took_ms = (clock_mono_ns() - t) / MS;
	return rc;
}
