/*
 * Amazon Bedrock: POST /model/M/invoke in the form of the model's family. The
 * key is "ACCESS:SECRET", "ACCESS:SECRET:TOKEN" (signed), or one word, a key
 * of Bedrock itself (sent as it is). The region stands in the address.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/sigv4.h"
#include "embed/post.h"
#include "embed/reply.h"

#define REGION "us-east-1"
#define BASE "https://bedrock-runtime." REGION ".amazonaws.com"
#define MODEL "amazon.titan-embed-text-v2:0"
#define KEY "AWS_BEARER_TOKEN_BEDROCK"

struct bedrock;

struct family {
	const char *word; /* in the model's name */
	int max_items, max_input_tokens;
	const char *dims_field; /* NULL: a fixed number */
	void (*put)(struct json *j, const struct bedrock *b,
		    const struct embed_request *r);
	struct reply_shape shape;
};

struct bedrock {
	struct arena a; /* first: it ends with it */
	const struct family *family;
	const char *url, *host, *path;
	const char *const *headers;
	const char *access_key, *secret, *token, *region; /* secret: signs */
	const char *query_type, *document_type;
	int dims;
};

static void put_titan(struct json *j, const struct bedrock *b,
		      const struct embed_request *r)
{
	(void)b;
	json_key(j, "inputText");
	post_text(j, r->texts[0], r->lens[0]);
}

static const char *either(const char *set, const char *own)
{
	return set && set[0] ? set : own;
}

static void put_cohere(struct json *j, const struct bedrock *b,
		       const struct embed_request *r)
{
	json_key(j, "texts");
	post_texts(j, r);
	json_kstr(j, "input_type", r->kind == EMBED_QUERY ?
			  either(b->query_type, "search_query") :
			  either(b->document_type, "search_document"));
	json_key(j, "embedding_types");
	json_arr(j);
	json_put_str(j, "float");
	json_arr_end(j);
}

/* The first whose word stands in the name; the last is any other. */
static const struct family families[] = {
	{ "cohere.embed-v4", 96, 128000, "output_dimension", put_cohere,
	  { .list = "embeddings", .inner = "float" } },
	{ "cohere.embed", 96, 512, NULL, put_cohere,
	  { .list = "embeddings", .inner = "float" } },
	{ "titan-embed-text-v2", 1, 8192, "dimensions", put_titan,
	  { .one = "embedding" } },
	{ "titan-embed", 1, 8192, NULL, put_titan, { .one = "embedding" } },
};

static int find_family(const struct family **out, const char *model,
		       struct remem_err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(families); i++) {
		*out = &families[i];
		if (strstr(model, families[i].word))
			return 0;
	}
	fail(err, REMEM_ENOTSUP, "bedrock's model '%s' is none of the known "
	     "families (Titan, Cohere)", model);
	fail_action(err, "remem config set memorySearch.model " MODEL);
	return REMEM_ENOTSUP;
}

static void split_key(struct bedrock *b, const char *key)
{
	char *s = arena_strdup(&b->a, key ? key : ""), *colon;

	if (!s || !(colon = strchr(s, ':')))
		return;
	*colon = '\0';
	b->access_key = s;
	b->secret = colon + 1;
	colon = strchr(colon + 1, ':');
	if (!colon)
		return;
	*colon = '\0';
	b->token = colon + 1;
}

/* The region of https://bedrock-runtime.REGION.amazonaws.com. */
static const char *find_region(struct arena *a, const char *host)
{
	static const char before[] = "bedrock-runtime";
	const char *s = strstr(host, before), *dot;

	if (!s || !(s = strchr(s, '.')) || !(dot = strchr(s + 1, '.')))
		return REGION;
	return arena_strndup(a, s + 1, (size_t)(dot - s - 1));
}

/* Colons and slashes of a name are written as clients of AWS do. */
static const char *make_path(struct arena *a, const char *model)
{
	struct buf b = BUF_INIT(0);
	const char *path;

	buf_adds(&b, "/model/");
	for (; *model; model++) {
		if (*model == ':' || *model == '/')
			buf_addf(&b, "%%%02X", (unsigned)*model);
		else
			buf_addc(&b, *model);
	}
	buf_adds(&b, "/invoke");
	path = arena_strndup(a, buf_str(&b), b.failed ? 0 : b.len);
	if (b.failed)
		a->failed = true;
	buf_release(&b);
	return path;
}

static void fill_address(struct bedrock *b, const char *base,
			 const char *model)
{
	const char *path = make_path(&b->a, model), *at;

	b->url = path ? http_endpoint(&b->a, base, path) : NULL;
	if (!b->url)
		return;
	at = strstr(b->url, "://") + 3;
	b->host = arena_strndup(&b->a, at, strcspn(at, "/?"));
	b->path = at + strcspn(at, "/?");
	b->region = find_region(&b->a, b->host ? b->host : "");
}

static void fill(struct bedrock *b, struct embed_info *info,
		 const struct embed_config *c, const char *base,
		 const char *model)
{
	struct embed_config keyless = *c;

	fill_address(b, base, model);
	split_key(b, c->api_key);
	if (b->secret)
		keyless.api_key = NULL;
	b->headers = post_headers(&b->a, NULL, &keyless);
	b->query_type = c->query_input_type;
	b->document_type = c->document_input_type;
	b->dims = b->family->dims_field ? c->dims : 0;
	info->model = model;
	info->dims = c->dims;
	info->max_items = b->family->max_items;
	info->max_input_tokens = b->family->max_input_tokens;
	info->calibration = 0.5;
}

static int bedrock_open(void **self, struct embed_info *info,
			const struct embed_config *c, struct remem_err *err)
{
	const struct family *family;
	const char *base, *model;
	struct bedrock *b;
	int rc;

	if ((rc = post_base(&base, c, BASE, err)) ||
	    (rc = post_model(&model, c, MODEL, err)) ||
	    (rc = find_family(&family, model, err)) ||
	    (rc = post_need_key(c, KEY, err)))
		return rc;
	b = mem_zalloc(sizeof(*b));
	if (!b)
		return fail_nomem(err);
	b->family = family;
	fill(b, info, c, base, model);
	if (b->a.failed) {
		arena_free_owner(b);
		return fail_nomem(err);
	}
	*self = b;
	return 0;
}

/* The headers stand behind the body, in the same buffer. */
static int sign(const struct bedrock *b, struct http_request *http,
		struct buf *body, struct remem_err *err)
{
	const size_t len = body->len;
	struct sigv4 s = { b->access_key, b->secret, b->token, b->region,
			   "bedrock", "POST", b->host, b->path, NULL, len,
			   clock_now_ms() / 1000 };
	struct buf room = BUF_INIT(0);
	char date[SIGV4_DATE];
	size_t at[3];
	int rc;

	s.body = buf_str(body);
	sigv4_sign(&room, date, &s);
	buf_addc(body, '\0');
	at[0] = body->len;
	buf_addf(body, "Authorization: %s", buf_str(&room));
	buf_addc(body, '\0');
	at[1] = body->len;
	buf_addf(body, "X-Amz-Date: %s", date);
	buf_addc(body, '\0');
	at[2] = body->len;
	if (b->token)
		buf_addf(body, "X-Amz-Security-Token: %s", b->token);
	if (!(rc = buf_check(&room, err)))
		rc = buf_check(body, err);
	buf_release(&room);
	if (rc)
		return rc;
	http->body = buf_str(body);
	http->body_len = len;
	for (int i = 0; i < (b->token ? 3 : 2); i++)
		http->more[i] = http->body + at[i];
	return 0;
}

static int bedrock_build(void *self, const struct embed_request *r,
			 struct http_request *http, struct buf *body,
			 struct remem_err *err)
{
	const struct bedrock *b = self;
	struct json j;
	int rc;

	json_begin(&j, body);
	json_obj(&j);
	b->family->put(&j, b, r);
	if (b->dims > 0)
		json_kint(&j, b->family->dims_field, b->dims);
	json_end(&j);
	rc = post_done(http, b->url, b->headers, body, r->n, err);
	return !rc && b->secret ? sign(b, http, body, err) : rc;
}

static int bedrock_parse(void *self, const struct embed_request *r,
			 const struct http_reply *http, struct embed_reply *out,
			 struct remem_err *err)
{
	const struct bedrock *b = self;

	return reply_read(out, &b->family->shape, r->n, buf_str(&http->body),
			  http->body.len, err);
}

const struct embed_provider provider_bedrock = {
	.name = "bedrock",
	.remote = true,
	.key_env = KEY,
	.max_items = 96,
	.max_tokens = 8000,
	.max_input_tokens = 8192,
	.open = bedrock_open,
	.close = arena_free_owner,
	.build = bedrock_build,
	.parse = bedrock_parse,
};
