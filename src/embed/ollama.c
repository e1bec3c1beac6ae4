/*
 * Ollama on this machine, or where baseUrl says: POST /api/embed. Texts are not
 * cut by the server unseen (truncate: false): one that is too long is refused,
 * and shortened by us. It puts no prefixes before texts, so those of known
 * models are ours; they come from the models' own descriptions.
 */
#include <string.h>

#include "base/alloc.h"
#include "embed/post.h"
#include "embed/reply.h"

#define BASE "http://127.0.0.1:11434"
#define MODEL "nomic-embed-text"

struct ollama {
	struct arena a; /* first: it ends with it */
	const char *url, *model;
	const char *const *headers;
	int dims;
};

static const struct {
	const char *model, *query, *document;
} prefixes[] = {
	{ "nomic-embed-text", "search_query: ", "search_document: " },
	{ "mxbai-embed-large",
	  "Represent this sentence for searching relevant passages: ", "" },
	{ "snowflake-arctic-embed2", "query: ", "" },
	{ "embeddinggemma", "task: search result | query: ",
	  "title: none | text: " },
	{ "qwen3-embedding",
	  "Instruct: Given a question, find the notes that answer it\nQuery: ",
	  "" },
};

/* A model's tag (":latest", ":0.6b") and its owner do not change them. */
static void find_prefixes(struct embed_info *info, const char *model)
{
	const char *slash = strrchr(model, '/');
	const char *name = slash ? slash + 1 : model;
	size_t n = strcspn(name, ":");

	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
		if (strlen(prefixes[i].model) != n ||
		    memcmp(prefixes[i].model, name, n) != 0)
			continue;
		info->query_prefix = prefixes[i].query;
		info->document_prefix = prefixes[i].document;
	}
}

/* An address made for another interface of it is led to the right one. */
static const char *make_url(struct arena *a, const char *base)
{
	static const char *const others[] = { "/v1/embeddings",
					      "/api/embeddings", "/v1", "/api",
					      NULL };

	base = http_bare(a, base, others);
	return base ? http_endpoint(a, base, "/api/embed") : NULL;
}

static int ollama_open(void **self, struct embed_info *info,
		       const struct embed_config *c, struct remem_err *err)
{
	const char *base, *model;
	struct ollama *o;
	int rc;

	if ((rc = post_base(&base, c, BASE, err)) ||
	    (rc = post_model(&model, c, MODEL, err)))
		return rc;
	o = mem_zalloc(sizeof(*o));
	if (!o)
		return fail_nomem(err);
	o->url = make_url(&o->a, base);
	o->headers = post_headers(&o->a, NULL, c);
	o->model = model;
	o->dims = c->dims;
	if (o->a.failed) {
		arena_free_owner(o);
		return fail_nomem(err);
	}
	info->model = model;
	info->dims = c->dims;
	info->calibration = 0.5;
	find_prefixes(info, model);
	*self = o;
	return 0;
}

static int ollama_build(void *self, const struct embed_request *r,
			struct http_request *http, struct buf *body,
			struct remem_err *err)
{
	const struct ollama *o = self;
	struct json j;

	json_begin(&j, body);
	json_obj(&j);
	json_kstr(&j, "model", o->model);
	json_key(&j, "input");
	post_texts(&j, r);
	json_kbool(&j, "truncate", false);
	if (o->dims > 0)
		json_kint(&j, "dimensions", o->dims);
	json_end(&j);
	return post_done(http, o->url, o->headers, body, r->n, err);
}

static int ollama_parse(void *self, const struct embed_request *r,
			const struct http_reply *http, struct embed_reply *out,
			struct remem_err *err)
{
	static const struct reply_shape shape = { .list = "embeddings" };

	(void)self;
	return reply_read(out, &shape, r->n, buf_str(&http->body),
			  http->body.len, err);
}

static bool ollama_simplify(void *self)
{
	struct ollama *o = self;

	if (!o->dims)
		return false;
	o->dims = 0;
	return true;
}

const struct embed_provider provider_ollama = {
	.name = "ollama",
	.remote = true,
	.max_items = 64, /* it has no bound, and embeds one after the other */
	.max_tokens = 8000,
	.max_input_tokens = 8192,
	.open = ollama_open,
	.close = arena_free_owner,
	.build = ollama_build,
	.parse = ollama_parse,
	.simplify = ollama_simplify,
};
