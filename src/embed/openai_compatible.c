/*
 * Anything that answers POST {base}/embeddings in OpenAI's form: vLLM, TEI,
 * llama.cpp, DashScope, SiliconFlow, Zhipu, DeepInfra and many more. Vectors
 * are asked for in base64, a quarter of the bytes of numbers; a server that
 * answers numbers, or does not know the field, does as well.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/json.h"
#include "embed/openai_reply.h"
#include "embed/provider.h"

#define REPLY_BASE ((size_t)1 << 20)
#define REPLY_ITEM ((size_t)512 << 10) /* 16,384 numbers of 30 bytes */
#define REPLY_MAX ((size_t)256 << 20)

struct openai {
	struct arena a;
	const char *url, *model;
	const char *const *headers;
	const char *query_type, *document_type;
	int dims; /* asked for, 0: not */
	bool base64;
};

static int check_settings(const struct embed_config *c, struct remem_err *err)
{
	const char *setting = NULL;

	if (!c->base_url || !c->base_url[0])
		setting = "memorySearch.remote.baseUrl";
	else if (!c->model || !c->model[0])
		setting = "memorySearch.model";
	if (setting) {
		fail(err, REMEM_EINVAL, "the provider openai-compatible needs "
		     "'%s'", setting);
		fail_action(err, "remem config set %s VALUE", setting);
		return REMEM_EINVAL;
	}
	if (!strncasecmp(c->base_url, "http://", 7) ||
	    !strncasecmp(c->base_url, "https://", 8))
		return 0;
	fail(err, REMEM_EINVAL,
	     "'memorySearch.remote.baseUrl' is no http or https address");
	fail_action(err, "an example: https://api.openai.com/v1");
	return REMEM_EINVAL;
}

static void openai_close(void *self)
{
	struct openai *o = self;

	if (!o)
		return;
	arena_release(&o->a);
	mem_free(o);
}

static int openai_open(void **self, struct embed_info *info,
		       const struct embed_config *c, struct remem_err *err)
{
	struct openai *o;
	int rc = check_settings(c, err);

	if (rc)
		return rc;
	o = mem_zalloc(sizeof(*o));
	if (!o)
		return fail_nomem(err);
	o->url = http_endpoint(&o->a, c->base_url, "/embeddings");
	o->headers = http_json_headers(&o->a, c->api_key, c->headers);
	o->model = c->model;
	o->query_type = c->query_input_type;
	o->document_type = c->document_input_type;
	o->dims = c->dims;
	o->base64 = true;
	if (o->a.failed) {
		openai_close(o);
		return fail_nomem(err);
	}
	info->model = c->model;
	info->dims = c->dims;
	info->calibration = 0.5;
	*self = o;
	return 0;
}

/* NUL is legal in JSON and refused by databases behind some servers. */
static void put_text(struct json *j, struct buf *room, const char *s,
		     size_t len)
{
	if (!memchr(s, '\0', len)) {
		json_put_strn(j, s, len);
		return;
	}
	buf_reset(room);
	buf_add(room, s, len);
	for (size_t i = 0; i < room->len; i++)
		if (!room->ptr[i])
			room->ptr[i] = ' ';
	json_put_strn(j, buf_str(room), room->len);
}

static int openai_build(void *self, const struct embed_request *r,
			struct http_request *http, struct buf *body,
			struct remem_err *err)
{
	const struct openai *o = self;
	const char *type = r->kind == EMBED_QUERY ? o->query_type :
						    o->document_type;
	struct buf room = BUF_INIT(0);
	struct json j;
	int rc;

	json_begin(&j, body);
	json_obj(&j);
	json_kstr(&j, "model", o->model);
	json_key(&j, "input");
	json_arr(&j);
	for (size_t i = 0; i < r->n; i++)
		put_text(&j, &room, r->texts[i], r->lens[i]);
	json_arr_end(&j);
	if (o->base64)
		json_kstr(&j, "encoding_format", "base64");
	if (o->dims > 0)
		json_kint(&j, "dimensions", o->dims);
	if (type && type[0])
		json_kstr(&j, "input_type", type);
	json_end(&j);
	if (!(rc = buf_check(&room, err)))
		rc = buf_check(body, err);
	buf_release(&room);
	http->url = o->url;
	http->headers = o->headers;
	http->body = buf_str(body);
	http->body_len = body->len;
	http->max_reply = r->n < REPLY_MAX / REPLY_ITEM ?
		REPLY_BASE + r->n * REPLY_ITEM : REPLY_MAX;
	return rc;
}

static int openai_parse(void *self, const struct embed_request *r,
			const struct http_reply *http, struct embed_reply *out,
			struct remem_err *err)
{
	(void)self;
	return openai_reply(out, r->n, buf_str(&http->body), http->body.len,
			    err);
}

/* Floats are what every server knows; after that, its own dimensions, which
 * must then be those that were asked for. */
static bool openai_simplify(void *self)
{
	struct openai *o = self;

	if (o->base64) {
		o->base64 = false;
		return true;
	}
	if (!o->dims)
		return false;
	o->dims = 0;
	return true;
}

const struct embed_provider provider_openai_compatible = {
	.name = "openai-compatible",
	.remote = true,
	.max_items = 2048, /* OpenAI's; smaller ones are learned */
	.max_tokens = 8000,
	.max_input_tokens = 8192,
	.open = openai_open,
	.close = openai_close,
	.build = openai_build,
	.parse = openai_parse,
	.simplify = openai_simplify,
};
