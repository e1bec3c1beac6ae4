/*
 * The embedder: what all providers have in common. Chooses the provider,
 * adds prefixes, packs batches, normalises and checks what comes back.
 */
#include "embed/embed.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "embed/provider.h"

#define PROVIDER(name) extern const struct embed_provider provider_##name;
#include "embed/providers.def"
#undef PROVIDER

static const struct embed_provider *const providers[] = {
#define PROVIDER(name) &provider_##name,
#include "embed/providers.def"
#undef PROVIDER
};

struct embedder {
	struct embed_config c;
	const struct embed_provider *p;
	void *self; /* NULL: off */
	struct embed_info info;
	char fingerprint[256];
	char off[512]; /* why there are no vectors; "" if there are */
	char off_action[256];
};

const struct embed_provider *embed_provider_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(providers); i++)
		if (!strcmp(providers[i]->name, name))
			return providers[i];
	return NULL;
}

const char *embed_provider_at(int i)
{
	return i >= 0 && (size_t)i < ARRAY_LEN(providers) ?
		       providers[i]->name : NULL;
}

static void name_fingerprint(struct embedder *e)
{
	snprintf(e->fingerprint, sizeof(e->fingerprint), "%s|%s|%d|%s|%s",
		 e->p->name, e->info.model ? e->info.model : "", e->info.dims,
		 e->info.query_prefix, e->info.document_prefix);
	e->info.fingerprint = e->fingerprint;
}

int embedder_open(struct embedder **out, const struct embed_config *c,
		  struct remem_err *err)
{
	const char *name = c->provider ? c->provider : "auto";
	struct remem_err why = { 0 };
	struct embedder *e;

	if (!strcmp(name, "auto"))
		name = c->builtin_enabled ? "builtin" : "none";
	e = mem_zalloc(sizeof(*e));
	if (!e)
		return fail_nomem(err);
	e->c = *c;
	e->p = embed_provider_find(name);
	if (!e->p) {
		mem_free(e);
		fail(err, REMEM_EINVAL, "no embedding provider '%s'", name);
		return REMEM_EINVAL;
	}
	e->info.query_prefix = e->info.document_prefix = "";
	if (e->p->open(&e->self, &e->info, c, &why)) {
		snprintf(e->off, sizeof(e->off), "%s", why.message);
		snprintf(e->off_action, sizeof(e->off_action), "%s",
			 why.action);
		e->self = NULL;
	}
	e->info.provider = e->p->name;
	e->info.remote = e->p->remote;
	if (c->query_prefix)
		e->info.query_prefix = c->query_prefix;
	if (c->document_prefix)
		e->info.document_prefix = c->document_prefix;
	if (!e->info.max_input_tokens)
		e->info.max_input_tokens = e->p->max_input_tokens;
	name_fingerprint(e);
	*out = e;
	return 0;
}

void embedder_free(struct embedder *e)
{
	if (!e)
		return;
	if (e->self && e->p->close)
		e->p->close(e->self);
	mem_free(e);
}

const struct embed_info *embedder_info(struct embedder *e)
{
	return &e->info;
}

const char *embedder_off(struct embedder *e)
{
	return e->off[0] ? e->off : NULL;
}

static int run_off(struct embedder *e, struct remem_err *err)
{
	fail(err, REMEM_ENOTSUP, "%s", e->off);
	fail_action(err, "%s", e->off_action);
	return REMEM_ENOTSUP;
}

/* Finite, not zero, normalised in place. */
static int check_vector(float *v, int dims, struct remem_err *err)
{
	double sum = 0;
	float k;
	int i;

	for (i = 0; i < dims; i++)
		sum += (double)v[i] * v[i];
	if (!isfinite(sum) || sum <= 0)
		return fail(err, REMEM_EREMOTE,
			    "the provider answered a vector that is %s",
			    isfinite(sum) ? "all zeros" : "not finite");
	k = (float)(1 / sqrt(sum));
	for (i = 0; i < dims; i++)
		v[i] *= k;
	return 0;
}

static int run_local(struct embedder *e, struct embed_request *r,
		     struct embed_reply *reply, bool (*cancel)(void *),
		     void *ctx, struct remem_err *err)
{
	size_t i;
	int rc;

	rc = e->p->embed(e->self, r, reply, cancel, ctx, err);
	for (i = 0; !rc && i < r->n; i++)
		rc = check_vector(reply->vecs + i * (size_t)reply->dims,
				  reply->dims, err);
	if (rc) {
		mem_free(reply->vecs);
		reply->vecs = NULL;
	}
	return rc;
}

int embedder_query(struct embedder *e, const char *text, size_t len,
		   int deadline_ms, float **out, int *dims,
		   struct remem_err *err)
{
	struct arena a = ARENA_INIT;
	struct embed_reply reply = { 0 };
	struct embed_request r = { .kind = EMBED_QUERY, .n = 1 };
	const char *whole;
	int rc;

	(void)deadline_ms;
	if (e->off[0])
		return run_off(e, err);
	whole = arena_printf(&a, "%s%.*s", e->info.query_prefix, (int)len, text);
	if (!whole)
		return fail_nomem(err);
	len = strlen(whole);
	r.texts = &whole;
	r.lens = &len;
	rc = run_local(e, &r, &reply, NULL, NULL, err);
	arena_release(&a);
	*out = reply.vecs;
	*dims = reply.dims;
	return rc;
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
	size_t max = (size_t)(e->p->max_items ? e->p->max_items : 64), i, j;
	int rc = 0;

	(void)refused;
	if (e->off[0])
		return run_off(e, err);
	for (i = 0; !rc && i < n; i += max) {
		struct arena a = ARENA_INIT;
		size_t k = n - i < max ? n - i : max;
		const char **texts = ARENA_ARRAY(&a, const char *, k);
		size_t *lens = ARENA_ARRAY(&a, size_t, k);
		const struct embed_item **tags =
			ARENA_ARRAY(&a, const struct embed_item *, k);
		struct embed_reply reply = { 0 };
		struct embed_request r = { EMBED_DOCUMENT, texts, lens, k };

		for (j = 0; !a.failed && j < k; j++) {
			texts[j] = arena_printf(&a, "%s%.*s",
						e->info.document_prefix,
						(int)items[i + j].len,
						items[i + j].text);
			lens[j] = texts[j] ? strlen(texts[j]) : 0;
			tags[j] = &items[i + j];
		}
		rc = a.failed ? fail_nomem(err) :
				run_local(e, &r, &reply, cancel, ctx, err);
		if (!rc && done(ctx, tags, reply.vecs, k, reply.dims))
			rc = fail(err, REMEM_ECANCELLED, "stopped");
		mem_free(reply.vecs);
		arena_release(&a);
	}
	return rc;
}

int64_t embedder_tokens(struct embedder *e, const char *text, size_t len)
{
	(void)e;
	(void)text;
	return (int64_t)(len / 3 + 1);
}

double embedder_price(struct embedder *e)
{
	return e->p->remote ? -1 : 0;
}

int embedder_probe(struct embedder *e, int64_t *took_ms, struct remem_err *err)
{
	int64_t t = clock_mono_ns();
	float *v = NULL;
	int dims, rc;

	rc = embedder_query(e, "probe", 5, 0, &v, &dims, err);
	mem_free(v);
	*took_ms = (clock_mono_ns() - t) / 1000000;
	return rc;
}
