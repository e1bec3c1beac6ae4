/*
 * Google's Gemini: models/M:embedContent for one text, :batchEmbedContents for
 * up to 100. Questions and notes are told apart by taskType; the models from
 * gemini-embedding-2 on know prefixes instead.
 */
#include <nettle/base64.h>
#include <string.h>

#include "base/alloc.h"
#include "embed/batch.h"
#include "embed/gemini.h"
#include "embed/post.h"
#include "embed/reply.h"

#define BASE "https://generativelanguage.googleapis.com/v1beta"
#define MODEL "gemini-embedding-001"
#define KEY "GEMINI_API_KEY"

struct gemini {
	struct arena a; /* first: it ends with it */
	const char *one_url, *batch_url;
	const char *model; /* with models/ */
	const char *const *headers;
	const char *query_type, *document_type; /* NULL: not sent */
	int dims;
};

/* Names as other interfaces write them. */
static const char *bare_model(const char *model)
{
	static const char *const before[] = { "google/", "models/" };

	for (size_t i = 0; i < ARRAY_LEN(before); i++)
		if (!strncmp(model, before[i], strlen(before[i])))
			model += strlen(before[i]);
	return model;
}

/* The address of the other interface, which has /openai behind, will do. */
static const char *bare_base(struct arena *a, const char *base)
{
	static const char *const tails[] = { "/openai", NULL };

	return http_bare(a, base, tails);
}

bool gemini_takes_prefixes(const char *model)
{
	return !strncmp(model, "gemini-embedding-2", 18);
}

static void fill(struct gemini *g, struct embed_info *info,
		 const struct embed_config *c, const char *base,
		 const char *model)
{
	bool prefixes = gemini_takes_prefixes(model);

	base = bare_base(&g->a, base);
	g->model = arena_printf(&g->a, "models/%s", model);
	g->one_url = arena_printf(&g->a, "%s/models/%s:embedContent",
				  base ? base : "", model);
	g->batch_url = arena_printf(&g->a, "%s/models/%s:batchEmbedContents",
				    base ? base : "", model);
	g->headers = post_headers(&g->a, "x-goog-api-key", c);
	g->dims = c->dims;
	g->query_type = c->query_input_type;
	g->document_type = c->document_input_type;
	if (!g->query_type && !prefixes)
		g->query_type = "RETRIEVAL_QUERY";
	if (!g->document_type && !prefixes)
		g->document_type = "RETRIEVAL_DOCUMENT";
	info->model = model;
	info->dims = c->dims;
	info->max_input_tokens = prefixes ? 8192 : 2048;
	info->calibration = 0.5;
	if (!prefixes)
		return;
	info->query_prefix = "task: search result | query: ";
	info->document_prefix = "title: none | text: ";
}

static int gemini_open(void **self, struct embed_info *info,
		       const struct embed_config *c, struct remem_err *err)
{
	const char *base, *model;
	struct gemini *g;
	int rc;

	if ((rc = post_base(&base, c, BASE, err)) ||
	    (rc = post_model(&model, c, MODEL, err)) ||
	    (!http_is_loopback(base) && (rc = post_need_key(c, KEY, err))))
		return rc;
	g = mem_zalloc(sizeof(*g));
	if (!g)
		return fail_nomem(err);
	fill(g, info, c, base, bare_model(model));
	if (g->a.failed) {
		arena_free_owner(g);
		return fail_nomem(err);
	}
	*self = g;
	return 0;
}

static void put_media(struct json *j, const struct embed_media *m)
{
	struct buf text = BUF_INIT(0);
	size_t n = BASE64_ENCODE_RAW_LENGTH(m->len);
	char *to = buf_reserve(&text, n);

	if (to) {
		base64_encode_raw(to, m->len, m->data);
		text.len = n;
	}
	json_obj(j);
	json_key(j, "inlineData");
	json_obj(j);
	json_kstr(j, "mimeType", m->type);
	json_key(j, "data");
	json_put_strn(j, text.len ? text.ptr : "", text.len);
	json_end(j);
	json_end(j);
	if (text.failed)
		j->out->failed = text.failed;
	buf_release(&text);
}

/* As documented for gemini-embedding-2. */
static const char *const *gemini_media(const char *model)
{
	static const char *const types[] = { "image/png", "image/jpeg",
					     "audio/mpeg", "audio/wav", NULL };

	return gemini_takes_prefixes(bare_model(model)) ? types : NULL;
}

void gemini_put_text(struct json *j, const struct gemini_text *t)
{
	json_obj(j);
	json_kstr(j, "model", t->model);
	json_key(j, "content");
	json_obj(j);
	json_key(j, "parts");
	json_arr(j);
	json_obj(j);
	json_key(j, "text");
	post_text(j, t->text, t->len);
	json_end(j);
	if (t->media)
		put_media(j, t->media);
	json_arr_end(j);
	json_end(j);
	if (t->type && t->type[0])
		json_kstr(j, "taskType", t->type);
	if (t->dims > 0)
		json_kint(j, "outputDimensionality", t->dims);
	json_end(j);
}

static void put_request(struct json *j, const struct gemini *g,
			const struct embed_request *r, size_t i)
{
	gemini_put_text(j, &(struct gemini_text){
		.model = g->model,
		.type = r->kind == EMBED_QUERY ? g->query_type :
						 g->document_type,
		.dims = g->dims,
		.text = r->texts[i],
		.len = r->lens[i],
		.media = r->media,
	});
}

static int gemini_build(void *self, const struct embed_request *r,
			struct http_request *http, struct buf *body,
			struct remem_err *err)
{
	const struct gemini *g = self;
	struct json j;

	json_begin(&j, body);
	if (r->n == 1) {
		put_request(&j, g, r, 0);
		return post_done(http, g->one_url, g->headers, body, 1, err);
	}
	json_obj(&j);
	json_key(&j, "requests");
	json_arr(&j);
	for (size_t i = 0; i < r->n; i++)
		put_request(&j, g, r, i);
	json_arr_end(&j);
	json_end(&j);
	return post_done(http, g->batch_url, g->headers, body, r->n, err);
}

static int gemini_parse(void *self, const struct embed_request *r,
			const struct http_reply *http, struct embed_reply *out,
			struct remem_err *err)
{
	static const struct reply_shape shape = { .list = "embeddings",
						  .vector = "values",
						  .one = "embedding" };

	(void)self;
	return reply_read(out, &shape, r->n, buf_str(&http->body),
			  http->body.len, err);
}

static bool gemini_simplify(void *self)
{
	struct gemini *g = self;

	if (!g->dims)
		return false;
	g->dims = 0;
	return true;
}

const struct embed_provider provider_gemini = {
	.name = "gemini",
	.remote = true,
	.key_env = KEY,
	.in_auto = true,
	.max_items = 100,
	.max_tokens = 8000,
	.max_input_tokens = 2048,
	.open = gemini_open,
	.close = arena_free_owner,
	.build = gemini_build,
	.parse = gemini_parse,
	.simplify = gemini_simplify,
	.media = gemini_media,
	.batch = &batch_gemini,
};
