/*
 * Ollama on this machine, or where baseUrl says: POST /api/chat. Its window is
 * small unless num_ctx says else, and a prompt that does not fit is cut at its
 * front without a word: so num_ctx follows the prompt, and newer servers are
 * told to refuse instead (truncate, shift). Older ones ignore those.
 */
#include <string.h>

#include "chat/form.h"
#include "text/token.h"

#define BASE "http://127.0.0.1:11434"
#define WINDOW_MIN 4096 /* the server's own since 0.6 */
/* Each size loads the model anew: sizes go by steps. */
#define WINDOW_STEP 4096
#define TEMPLATE_TOKENS 32 /* a message, by the model's template */

static int ollama_open(void **self, const struct chat_config *c,
		       struct remem_err *err)
{
	static const char *const tails[] = { "/v1/chat/completions",
					     "/api/chat", "/v1", "/api", NULL };
	struct chat_form *o;
	const char *base;
	int rc = chat_form_open(self, sizeof(*o), c, BASE, NULL, NULL, err);

	if (rc)
		return rc;
	o = *self;
	base = http_bare(&o->a, o->base, tails);
	if (base)
		o->url = http_endpoint(&o->a, base, "/api/chat");
	return chat_form_done(self, err);
}

/* Our estimate may be a quarter too low for a model's own vocabulary. */
static int64_t window(const struct chat_request *r)
{
	int64_t tokens = 0;

	for (size_t i = 0; i < r->n; i++)
		tokens += (int64_t)token_estimate(r->messages[i].text,
						  r->messages[i].len) +
			  TEMPLATE_TOKENS;
	tokens += tokens / 4 + chat_answer_tokens(r);
	tokens = (tokens + WINDOW_STEP - 1) / WINDOW_STEP * WINDOW_STEP;
	return tokens < WINDOW_MIN ? WINDOW_MIN : tokens;
}

static void put_format(struct json *j, const struct chat_form *o,
		       const struct chat_request *r)
{
	if (!r->json || o->plain)
		return;
	json_key(j, "format");
	if (r->fields && !o->free_form)
		chat_put_schema(j, r, false);
	else
		json_put_str(j, "json");
}

static int ollama_build(void *self, const struct chat_request *r,
			struct http_request *http, struct buf *body,
			struct remem_err *err)
{
	struct chat_form *o = self;
	struct json j;

	json_begin(&j, body);
	json_obj(&j);
	json_kstr(&j, "model", o->model);
	chat_put_messages(&j, r, true);
	json_kbool(&j, "stream", false);
	json_kbool(&j, "think", false);
	json_kbool(&j, "truncate", false);
	json_kbool(&j, "shift", false);
	put_format(&j, o, r);
	json_key(&j, "options");
	json_obj(&j);
	json_kint(&j, "num_ctx", window(r));
	json_kint(&j, "num_predict", chat_answer_tokens(r));
	json_end(&j);
	json_end(&j);
	return chat_form_send(o, r, http, body, err);
}

static int ollama_parse(yyjson_val *root, struct chat_reply *reply,
			struct buf *out, struct remem_err *err)
{
	yyjson_val *message = yyjson_obj_get(root, "message");
	yyjson_val *content = yyjson_obj_get(message, "content");

	reply->answer_tokens = chat_count(root, "eval_count");
	reply->tokens = chat_count(root, "prompt_eval_count") +
			reply->answer_tokens;
	reply->cut = !strcmp(json_str(root, "done_reason", ""), "length");
	if (!yyjson_is_str(content))
		return fail(err, REMEM_EREMOTE, "the provider's reply has no "
			    "message ('message')");
	if (!json_bool(root, "done", true))
		return fail(err, REMEM_EREMOTE, "the provider's reply is a "
			    "part of an answer");
	buf_add(out, yyjson_get_str(content), yyjson_get_len(content));
	return buf_check(out, err);
}

const struct chat_provider chat_ollama = {
	.name = "ollama",
	.open = ollama_open,
	.close = arena_free_owner,
	.build = ollama_build,
	.parse = ollama_parse,
	.simplify = chat_form_simplify,
};
