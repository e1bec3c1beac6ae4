/*
 * Google's Gemini: POST {base}/models/MODEL:generateContent. What its models
 * think counts as a part of the answer and against its limit, so there is room
 * for that beside the answer.
 */
#include <string.h>

#include "chat/form.h"

#define BASE "https://generativelanguage.googleapis.com/v1beta"
#define THOUGHT_TOKENS 8192 /* thinking cannot be switched off with each model */

static int gemini_open(void **self, const struct chat_config *c,
		       struct remem_err *err)
{
	static const char *const tails[] = { "/openai", NULL };
	struct chat_form *g;
	const char *base, *model;
	int rc = chat_form_open(self, sizeof(*g), c, BASE, "x-goog-api-key",
				"GEMINI_API_KEY", err);

	if (rc)
		return rc;
	g = *self;
	model = g->model;
	if (!strncmp(model, "models/", 7))
		model += 7;
	base = http_bare(&g->a, g->base, tails);
	model = arena_printf(&g->a, "/models/%s:generateContent", model);
	if (base && model)
		g->url = http_endpoint(&g->a, base, model);
	return chat_form_done(self, err);
}

static void put_parts(struct json *j)
{
	json_key(j, "parts");
	json_arr(j);
	json_obj(j);
	json_key(j, "text");
}

static void end_parts(struct json *j)
{
	json_end(j);
	json_arr_end(j);
}

static void put_messages(struct json *j, const struct chat_request *r)
{
	if (chat_has_system(r)) {
		json_key(j, "systemInstruction");
		json_obj(j);
		put_parts(j);
		chat_put_system(j, r);
		end_parts(j);
		json_end(j);
	}
	json_key(j, "contents");
	json_arr(j);
	for (size_t i = 0; i < r->n; i++) {
		const struct chat_message *m = &r->messages[i];

		if (chat_is_system(m))
			continue;
		json_obj(j);
		json_kstr(j, "role", strcmp(m->role, "assistant") ? m->role :
								    "model");
		put_parts(j);
		json_put_strn(j, m->text, m->len);
		end_parts(j);
		json_end(j);
	}
	json_arr_end(j);
}

static int gemini_build(void *self, const struct chat_request *r,
			struct http_request *http, struct buf *body,
			struct remem_err *err)
{
	struct chat_form *g = self;
	struct json j;

	json_begin(&j, body);
	json_obj(&j);
	put_messages(&j, r);
	json_key(&j, "generationConfig");
	json_obj(&j);
	json_kint(&j, "maxOutputTokens",
		  chat_answer_tokens(r) + THOUGHT_TOKENS);
	if (r->json && !g->plain)
		json_kstr(&j, "responseMimeType", "application/json");
	/* An object without members is no schema to it. */
	if (r->json && r->fields && !g->free_form) {
		json_key(&j, "responseSchema");
		chat_put_schema(&j, r, true);
	}
	json_end(&j);
	json_end(&j);
	return chat_form_send(g, r, http, body, err);
}

static bool is_one_of(const char *s, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(s, *list))
			return true;
	return false;
}

/* A reason of theirs as it may stand in a message. */
static const char *word(const char *reason)
{
	size_t n = strspn(reason, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");

	return n && n < 40 && !reason[n] ? reason : "no reason known";
}

static int gemini_parse(yyjson_val *root, struct chat_reply *reply,
			struct buf *out, struct remem_err *err)
{
	static const char *const good[] = { "STOP", "MAX_TOKENS", "",
					    "FINISH_REASON_UNSPECIFIED", NULL };
	yyjson_val *usage = yyjson_obj_get(root, "usageMetadata");
	yyjson_val *one = yyjson_arr_get_first(
		yyjson_obj_get(root, "candidates"));
	const char *end = json_str(one, "finishReason", "");
	const char *blocked = json_str(yyjson_obj_get(root, "promptFeedback"),
				       "blockReason", "");

	reply->tokens = chat_count(usage, "totalTokenCount");
	reply->answer_tokens = reply->tokens -
			       chat_count(usage, "promptTokenCount");
	if (reply->answer_tokens < 0) /* there was no total */
		reply->answer_tokens = 0;
	reply->cut = !strcmp(end, "MAX_TOKENS");
	if (blocked[0])
		return chat_refusal(reply, err, "the provider refused the "
				    "prompt (%s)", word(blocked));
	if (!yyjson_is_obj(one))
		return fail(err, REMEM_EREMOTE, "the provider's reply has no "
			    "message ('candidates')");
	if (!is_one_of(end, good))
		return chat_refusal(reply, err, "the provider's filter held "
				    "the answer back (%s)", word(end));
	chat_take_parts(out, yyjson_obj_get(yyjson_obj_get(one, "content"),
					    "parts"));
	return buf_check(out, err);
}

const struct chat_provider chat_gemini = {
	.name = "gemini",
	.thought_tokens = THOUGHT_TOKENS,
	.open = gemini_open,
	.close = arena_free_owner,
	.build = gemini_build,
	.parse = gemini_parse,
	.simplify = chat_form_simplify,
};
