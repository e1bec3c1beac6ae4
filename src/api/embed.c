/* remem_embed(): vectors of texts, for tests and for other programs. */
#include <string.h>

#include "api/handle.h"
#include "api/public.h"
#include "base/alloc.h"

struct sink {
	float *out; /* n * dims, made when dims is known */
	size_t n;
	int dims;
	struct remem_err *err;
	int rc;
};

static int make_room(struct sink *s, int dims)
{
	size_t count;

	if (s->out)
		return s->dims == dims ? 0 :
			fail(s->err, REMEM_EREMOTE, "the provider gave "
			     "vectors of %d and of %d dimensions", s->dims,
			     dims);
	if (size_mul(&count, s->n, (size_t)dims))
		return fail_nomem(s->err);
	s->dims = dims;
	s->out = mem_zarray(count, sizeof(float));
	return s->out ? 0 : fail_nomem(s->err);
}

static int take(void *ctx, const struct embed_item *const *items,
		const float *vecs, size_t n, int dims)
{
	struct sink *s = ctx;

	if ((s->rc = make_room(s, dims)))
		return 1;
	for (size_t i = 0; i < n; i++)
		memcpy(s->out + (size_t)items[i]->tag * (size_t)dims,
		       vecs + i * (size_t)dims, (size_t)dims * sizeof(float));
	return 0;
}

static void refuse(void *ctx, const struct embed_item *item,
		   const char *reason)
{
	struct sink *s = ctx;

	if (!s->rc)
		s->rc = fail(s->err, REMEM_EREMOTE,
			     "text %lld was refused: %s",
			     (long long)item->tag, reason);
}

static int documents(struct sink *s, struct embedder *e,
		     const char *const *texts, const size_t *lens,
		     struct remem_err *err)
{
	struct embed_item *items = mem_zarray(s->n ? s->n : 1, sizeof(*items));
	int rc;

	if (!items)
		return fail_nomem(err);
	for (size_t i = 0; i < s->n; i++)
		items[i] = (struct embed_item){ texts[i], lens[i], (int64_t)i,
						NULL };
	rc = embedder_documents(e, items, s->n, take, refuse, NULL, s, err);
	mem_free(items);
	return s->rc ? s->rc : rc;
}

static int queries(struct sink *s, struct embedder *e,
		   const char *const *texts, const size_t *lens,
		   struct remem_err *err)
{
	for (size_t i = 0; i < s->n; i++) {
		struct embed_item item = { texts[i], lens[i], (int64_t)i,
					   NULL };
		const struct embed_item *list = &item;
		float *vec = NULL;
		int dims, rc;

		rc = embedder_query(e, texts[i], lens[i], 0, &vec, &dims, err);
		if (!rc && take(s, &list, vec, 1, dims))
			rc = s->rc;
		mem_free(vec);
		if (rc)
			return rc;
	}
	return 0;
}

static int open_for(struct embedder **e, struct remem *r, const char *provider,
		    struct remem_err *err)
{
	struct embed_config c;
	const char *off;
	int rc;

	if ((rc = embed_config_from(&c, r, provider, err)) ||
	    (rc = embedder_open(e, &c, err)))
		return rc;
	embedder_wake(*e);
	off = embedder_off(*e);
	return off ? fail(err, REMEM_ENOTSUP, "%s", off) : 0;
}

PUBLIC int remem_embed(struct remem *r, const char *provider,
		       enum remem_embed_kind kind, const char *const *texts,
		       const size_t *lens, size_t n, float **out, int *dims,
		       struct remem_err *err)
{
	struct sink s = { .n = n, .err = err };
	struct embedder *e = NULL;
	int rc = open_for(&e, r, provider, err);

	*out = NULL;
	*dims = 0;
	if (!rc && kind == REMEM_EMBED_QUERY)
		rc = queries(&s, e, texts, lens, err);
	else if (!rc)
		rc = documents(&s, e, texts, lens, err);
	embedder_free(e);
	if (rc) {
		mem_free(s.out);
		return rc;
	}
	*out = s.out;
	*dims = s.dims;
	return 0;
}
