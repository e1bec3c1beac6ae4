/*
 * Anything that answers POST {base}/chat/completions in OpenAI's form: OpenAI,
 * vLLM, llama.cpp, Ollama, LM Studio, DashScope, DeepSeek, Zhipu and many
 * more. No temperature is sent: some models refuse every value but their own.
 */
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/json.h"
#include "chat/provider.h"

#define REPLY_MAX ((size_t)4 << 20) /* an answer has some thousand tokens */
#define ANSWER_TOKENS 2048

struct openai {
	struct arena a;
	const char *url, *model;
	const char *const *headers;
	bool plain; /* the server does not know response_format */
	bool renamed; /* ... but max_completion_tokens instead of max_tokens */
	bool unbounded; /* ... and neither of them */
};

static int check_settings(const struct chat_config *c, struct remem_err *err)
{
	const char *setting = NULL;

	if (!c->base_url || !c->base_url[0])
		setting = "chat.baseUrl";
	else if (!c->model || !c->model[0])
		setting = "chat.model";
	if (setting) {
		fail(err, REMEM_EINVAL,
		     "the chat provider openai-compatible needs '%s'", setting);
		fail_action(err, "remem config set %s VALUE", setting);
		return REMEM_EINVAL;
	}
	if (!strncasecmp(c->base_url, "http://", 7) ||
	    !strncasecmp(c->base_url, "https://", 8))
		return 0;
	fail(err, REMEM_EINVAL, "'chat.baseUrl' is no http or https address");
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

static int openai_open(void **self, const struct chat_config *c,
		       struct remem_err *err)
{
	struct openai *o;
	int rc = check_settings(c, err);

	if (rc)
		return rc;
	o = mem_zalloc(sizeof(*o));
	if (!o)
		return fail_nomem(err);
	o->url = http_endpoint(&o->a, c->base_url, "/chat/completions");
	o->headers = http_json_headers(&o->a, c->api_key, c->headers);
	o->model = c->model;
	if (o->a.failed) {
		openai_close(o);
		return fail_nomem(err);
	}
	*self = o;
	return 0;
}

static void put_messages(struct json *j, const struct chat_request *r)
{
	json_key(j, "messages");
	json_arr(j);
	for (size_t i = 0; i < r->n; i++) {
		json_obj(j);
		json_kstr(j, "role", r->messages[i].role);
		json_key(j, "content");
		json_put_strn(j, r->messages[i].text, r->messages[i].len);
		json_end(j);
	}
	json_arr_end(j);
}

static int openai_build(void *self, const struct chat_request *r,
			struct http_request *http, struct buf *body,
			struct remem_err *err)
{
	const struct openai *o = self;
	struct json j;

	json_begin(&j, body);
	json_obj(&j);
	json_kstr(&j, "model", o->model);
	put_messages(&j, r);
	if (!o->unbounded)
		json_kint(&j, o->renamed ? "max_completion_tokens" :
					   "max_tokens",
			  r->max_tokens > 0 ? r->max_tokens : ANSWER_TOKENS);
	if (r->json && !o->plain) {
		json_key(&j, "response_format");
		json_obj(&j);
		json_kstr(&j, "type", "json_object");
		json_end(&j);
	}
	json_end(&j);
	http->url = o->url;
	http->headers = o->headers;
	http->body = buf_str(body);
	http->body_len = body->len;
	http->max_reply = REPLY_MAX;
	return buf_check(body, err);
}

/* A text, or a list of parts of which the texts count. */
static void take_content(struct buf *out, yyjson_val *v)
{
	size_t i, n;
	yyjson_val *part;

	if (yyjson_is_str(v)) {
		buf_add(out, yyjson_get_str(v), yyjson_get_len(v));
		return;
	}
	if (!yyjson_is_arr(v))
		return;
	yyjson_arr_foreach(v, i, n, part)
		buf_adds(out, json_str(part, "text", ""));
}

static int take_choice(yyjson_val *root, struct chat_reply *reply,
		       struct buf *out, struct remem_err *err)
{
	yyjson_val *choice = yyjson_arr_get_first(
		yyjson_obj_get(root, "choices"));
	yyjson_val *message = yyjson_obj_get(choice, "message");
	yyjson_val *usage = yyjson_obj_get(root, "usage");
	const char *end = json_str(choice, "finish_reason", "");

	reply->tokens = json_int(usage, "total_tokens", 0);
	reply->cut = !strcmp(end, "length");
	if (!yyjson_is_obj(message))
		return fail(err, REMEM_EREMOTE, "the provider's reply has no "
			    "message ('choices')");
	if (!strcmp(end, "content_filter"))
		return fail(err, REMEM_EREMOTE,
			    "the provider's filter held the answer back");
	if (json_str(message, "refusal", "")[0])
		return fail(err, REMEM_EREMOTE, "the model refused to answer");
	take_content(out, yyjson_obj_get(message, "content"));
	return buf_check(out, err);
}

static int openai_parse(void *self, const struct http_reply *http,
			struct chat_reply *reply, struct buf *out,
			struct remem_err *err)
{
	const char *s = buf_str(&http->body);
	yyjson_doc *doc = NULL;
	int rc;

	(void)self;
	if (!http->body.len)
		return fail(err, REMEM_EREMOTE, "the provider answered nothing");
	rc = json_read(&doc, s, http->body.len, false, "reply", NULL);
	if (rc == REMEM_ENOMEM)
		return fail_nomem(err);
	if (rc)
		return fail(err, REMEM_EREMOTE, "the provider answered %s",
			    s[strspn(s, " \r\n\t")] == '<' ?
				    "with a web page instead of an answer" :
				    "with something that is not JSON");
	rc = take_choice(yyjson_doc_get_root(doc), reply, out, err);
	yyjson_doc_free(doc);
	return rc;
}

static bool openai_simplify(void *self)
{
	struct openai *o = self;

	if (!o->renamed)
		return o->renamed = true;
	if (!o->plain)
		return o->plain = true;
	if (!o->unbounded)
		return o->unbounded = true;
	return false;
}

const struct chat_provider chat_openai_compatible = {
	.name = "openai-compatible",
	.open = openai_open,
	.close = openai_close,
	.build = openai_build,
	.parse = openai_parse,
	.simplify = openai_simplify,
};
