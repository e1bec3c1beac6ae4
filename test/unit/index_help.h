/* An index over a workspace of a test, and an embedder that is no model. */
#ifndef TEST_INDEX_HELP_H
#define TEST_INDEX_HELP_H

#include "workspace.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "index/index.h"
#include "text/term.h"

#define FAKE_DIMS 8
#define FAKE_BATCH 4 /* inputs in a request */

/* Vectors made of the input's bytes; what was asked for is recorded. */
struct embedder {
	struct embed_info info;
	const char *off;
	char *asked[512]; /* inputs, in order */
	int count, requests;
	int expected; /* dimensions, 0: it was not asked */
	int fail_at; /* this request (from 1) fails; 0: none */
	const char *refuse; /* inputs that hold this */
	void (*hook)(void *); /* called before each request */
	void *hook_ctx;
};

static inline const struct embed_info *fake_info(struct embedder *e)
{
	return &e->info;
}

static inline const char *fake_off(struct embedder *e)
{
	return e->off;
}

static inline void fake_vector(float *v, const char *s, size_t len)
{
	unsigned char h[SHA256_BYTES];
	float sum = 0;

	sha256_of(h, s, len);
	for (int i = 0; i < FAKE_DIMS; i++) {
		v[i] = (float)h[i] + 1;
		sum += v[i] * v[i];
	}
	for (int i = 0; i < FAKE_DIMS; i++)
		v[i] /= __builtin_sqrtf(sum);
}

static inline int fake_documents(struct embedder *e,
	const struct embed_item *items, size_t n,
	int (*done)(void *ctx, const struct embed_item *const *items,
		    const float *vecs, size_t n, int dims),
	void (*refused)(void *ctx, const struct embed_item *item,
			const char *reason),
	bool (*cancel)(void *ctx), void *ctx, struct remem_err *err)
{
	const struct embed_item *batch[FAKE_BATCH];
	float vecs[FAKE_BATCH * FAKE_DIMS];
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		if (e->refuse && strstr(items[i].text, e->refuse)) {
			refused(ctx, &items[i], "too long for the model");
		} else {
			fake_vector(vecs + k * FAKE_DIMS, items[i].text,
				    items[i].len);
			batch[k++] = &items[i];
		}
		if (k < FAKE_BATCH && i + 1 < n)
			continue;
		if (!k)
			continue;
		if (cancel(ctx)) {
			err->code = REMEM_ECANCELLED;
			return REMEM_ECANCELLED;
		}
		if (e->hook)
			e->hook(e->hook_ctx);
		if (++e->requests == e->fail_at) {
			err->code = REMEM_EREMOTE;
			strcpy(err->message, "HTTP 429: no quota");
			err->action[0] = '\0';
			return REMEM_EREMOTE;
		}
		for (size_t j = 0; j < k && e->count < 512; j++)
			e->asked[e->count++] = strdup(batch[j]->text);
		if (done(ctx, batch, vecs, k, FAKE_DIMS)) {
			err->code = REMEM_ECANCELLED;
			return REMEM_ECANCELLED;
		}
		k = 0;
	}
	return 0;
}

static inline int64_t fake_tokens(struct embedder *e, const char *s, size_t n)
{
	(void)e, (void)s;
	return (int64_t)n;
}

static inline double fake_price(struct embedder *e)
{
	(void)e;
	return 0.5;
}

static inline int fake_probe(struct embedder *e, int64_t *took,
			     struct remem_err *err)
{
	*took = 0;
	if (++e->requests == e->fail_at) {
		err->code = REMEM_EREMOTE;
		strcpy(err->message, "connection refused");
		err->action[0] = '\0';
		return REMEM_EREMOTE;
	}
	e->info.dims = FAKE_DIMS;
	e->info.fingerprint = "fake|m|8";
	return 0;
}

static inline int fake_expect(struct embedder *e, int dims,
			      struct remem_err *err)
{
	e->expected = dims;
	if (dims == FAKE_DIMS) {
		e->info.dims = dims;
		return 0;
	}
	err->code = REMEM_EREMOTE;
	strcpy(err->message, "the provider gives another number");
	err->action[0] = '\0';
	return REMEM_EREMOTE;
}

static const struct index_embed_ops fake_ops = {
	fake_info, fake_off, fake_documents, fake_tokens, fake_price,
	fake_probe, fake_expect, NULL
};

static inline void fake_init(struct embedder *e)
{
	memset(e, 0, sizeof(*e));
	e->info.provider = "fake";
	e->info.model = "m";
	e->info.dims = FAKE_DIMS;
	e->info.fingerprint = "fake|m|8";
	e->info.document_prefix = "";
	e->info.query_prefix = "";
}

static inline void fake_forget(struct embedder *e)
{
	for (int i = 0; i < e->count; i++)
		free(e->asked[i]);
	e->count = e->requests = 0;
}

/* ---- an index --------------------------------------------------------- */

struct ix {
	struct ws ws;
	char dir[600]; /* of the index */
	struct index_opts o;
	struct index_report r;
	struct arena a; /* of the report and of what is asked */
	struct embedder e;
	struct remem_err err;
};

static inline void ix_begin(struct ix *x)
{
	struct note_opts note = NOTE_OPTS_DEFAULT;

	memset(x, 0, sizeof(*x));
	ws_begin(&x->ws);
	snprintf(x->dir, sizeof(x->dir), "%s/index", x->ws.tmp.dir);
	x->o.dir = x->dir;
	x->o.backend = "sqlite";
	x->o.source = &x->ws.o;
	x->o.note = note;
	fake_init(&x->e);
	x->o.embed_ops = &fake_ops;
}

static inline void ix_end(struct ix *x)
{
	fake_forget(&x->e);
	arena_release(&x->a);
	ws_end(&x->ws);
}

static inline int ix_try(struct ix *x)
{
	memset(&x->err, 0, sizeof(x->err));
	return index_run(&x->r, &x->a, &x->o, &x->err);
}

static inline void ix_run(struct ix *x)
{
	if (ix_try(x))
		fail_msg("%s", x->err.message);
}

static inline struct store *ix_open(struct ix *x)
{
	struct store_opts so = { x->dir, STORE_READ, 0, TERM_VERSION,
				 NOTE_VERSION, false };
	struct store *s;

	if (store_backend("sqlite")->open(&s, &so, &x->err))
		fail_msg("%s", x->err.message);
	return s;
}

static inline bool ix_file(struct ix *x, const char *path,
			   struct store_file *out)
{
	struct store *s = ix_open(x);
	bool found;

	if (s->ops->file_find(s, &x->a, path, out, &found, &x->err))
		fail_msg("%s", x->err.message);
	s->ops->close(s);
	return found;
}

/* How many chunks hold the (folded) term. */
static inline int ix_hits(struct ix *x, const char *term)
{
	struct store_term t = { .text = term, .weight = 1 };
	struct store *s = ix_open(x);
	struct store_scored out[50];
	int n = 0;

	if (s->ops->text_pool(s, &t, 1, NULL, 50, out, &n, &x->err))
		fail_msg("%s", x->err.message);
	s->ops->close(s);
	return n;
}

struct ix_dump {
	struct buf *b;
	struct store *s;
	struct arena *a;
};

static inline int ix_dump_file(void *ctx, const struct store_file *f)
{
	struct ix_dump *d = ctx;
	char hex[SHA256_BYTES * 2 + 1];

	hex_encode(hex, f->hash, SHA256_BYTES);
	buf_addf(d->b, "%s %d '%s' %d %d %d %s %d '%s' '%s' %d %d %d\n",
		 f->path, f->skipped, f->reason ? f->reason : "", f->curated,
		 (int)f->size, f->date, hex, f->lines,
		 f->title ? f->title : "", f->tags ? f->tags : "", f->chunks,
		 f->passages, (int)f->warnings);
	return 0;
}

static inline void ix_dump_chunk(struct buf *b, const struct store_chunk *c,
				 bool vectors)
{
	buf_addf(b, "  chunk %d %d-%d '%s'\n", c->ord, c->line_first,
		 c->line_last, c->heading_path);
	for (int i = 0; i < c->passage_count; i++) {
		const struct store_passage *p = &c->passages[i];

		buf_addf(b, "    %d-%d %s %d '%.*s'\n", p->line_first,
			 p->line_last, p->heading ? p->heading : "",
			 vectors ? p->slot != STORE_NO_SLOT : 0, (int)p->len,
			 c->text + p->start);
	}
}

/* All that an index says, without ids and stamps: equal indexes, equal text.
 * The caller frees it. */
static inline char *ix_dump(struct ix *x)
{
	struct buf b = BUF_INIT(0);
	struct store *s = ix_open(x);
	struct ix_dump d = { &b, s, &x->a };
	const char *text, *line;
	int fp = 0, dims;

	assert_int_equal(s->ops->files_each(s, ix_dump_file, &d, &x->err), 0);
	s->ops->fingerprint_find(s, "fake|m|8", &fp, &dims, &x->err);
	text = arena_strdup(&x->a, buf_str(&b));
	for (line = text; *line; line += strcspn(line, "\n") + 1) {
		char *path = arena_strndup(&x->a, line, strcspn(line, " "));
		struct store_file f;
		struct store_chunk *c;
		int64_t *ids;
		bool found;
		int n = 0;

		assert_int_equal(s->ops->file_find(s, &x->a, path, &f, &found,
						   &x->err), 0);
		if (!found || !f.chunks)
			continue;
		assert_int_equal(s->ops->file_chunks(s, &x->a, f.id, &ids, &n,
						     &x->err), 0);
		c = ARENA_ARRAY(&x->a, struct store_chunk, (size_t)n);
		assert_int_equal(s->ops->chunks_get(s, &x->a, fp, ids, n, c,
						    &x->err), 0);
		buf_addf(&b, "%s:\n", path);
		for (int i = 0; i < n; i++)
			ix_dump_chunk(&b, &c[i], fp != 0);
	}
	s->ops->close(s);
	return buf_detach(&b);
}

#endif
