/*
 * Anything that answers POST {base}/chat/completions in OpenAI's form: OpenAI,
 * vLLM, llama.cpp, Ollama, LM Studio, DashScope, DeepSeek, Zhipu and many
 * more. No temperature is sent: some models refuse every value but their own.
 */
#include <string.h>

#include "chat/form.h"

struct openai {
	struct chat_form f;
	bool plain; /* the server does not know response_format */
	bool renamed; /* ... but max_completion_tokens instead of max_tokens */
	bool unbounded; /* ... and neither of them */
};

static int openai_open(void **self, const struct chat_config *c,
		       struct remem_err *err)
{
	struct openai *o;
	int rc = chat_form_open(self, sizeof(*o), c, NULL, NULL, NULL, err);

	if (rc)
		return rc;
	o = *self;
	o->f.url = http_endpoint(&o->f.a, o->f.base, "/chat/completions");
	return chat_form_done(self, err);
}

static int openai_build(void *self, const struct chat_request *r,
			struct http_request *http, struct buf *body,
			struct remem_err *err)
{
	struct openai *o = self;
	struct json j;

	json_begin(&j, body);
	json_obj(&j);
	json_kstr(&j, "model", o->f.model);
	chat_put_messages(&j, r, true);
	if (!o->unbounded)
		json_kint(&j, o->renamed ? "max_completion_tokens" :
					   "max_tokens", chat_answer_tokens(r));
	if (r->json && !o->plain) {
		json_key(&j, "response_format");
		json_obj(&j);
		json_kstr(&j, "type", "json_object");
		json_end(&j);
	}
	json_end(&j);
	return chat_form_send(&o->f, r, http, body, err);
}

static int openai_parse(yyjson_val *root, struct chat_reply *reply,
			struct buf *out, struct remem_err *err)
{
	yyjson_val *choice = yyjson_arr_get_first(
		yyjson_obj_get(root, "choices"));
	yyjson_val *message = yyjson_obj_get(choice, "message");
	yyjson_val *usage = yyjson_obj_get(root, "usage"), *content;
	const char *end = json_str(choice, "finish_reason", "");

	reply->answer_tokens = chat_count(usage, "completion_tokens");
	reply->tokens = chat_count(usage, "total_tokens");
	reply->cut = !strcmp(end, "length");
	if (!yyjson_is_obj(message))
		return fail(err, REMEM_EREMOTE, "the provider's reply has no "
			    "message ('choices')");
	if (!strcmp(end, "content_filter"))
		return chat_refusal(reply, err, "the provider's filter held "
				    "the answer back");
	if (json_str(message, "refusal", "")[0])
		return chat_refusal(reply, err, "the model refused to answer");
	content = yyjson_obj_get(message, "content");
	if (yyjson_is_str(content))
		buf_add(out, yyjson_get_str(content), yyjson_get_len(content));
	chat_take_parts(out, content);
	return buf_check(out, err);
}

static bool openai_simplify(void *self)
{
	struct openai *o = self;

	if (!o->renamed)
		return o->renamed = true;
	if (!o->plain && o->f.json)
		return o->plain = true;
	if (!o->unbounded)
		return o->unbounded = true;
	return false;
}

const struct chat_provider chat_openai_compatible = {
	.name = "openai-compatible",
	.open = openai_open,
	.close = arena_free_owner,
	.build = openai_build,
	.parse = openai_parse,
	.simplify = openai_simplify,
};
