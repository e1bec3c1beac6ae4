/*
 * Anthropic: POST {base}/v1/messages. What the system says stands beside the
 * messages. JSON is had by a tool that the model must call: its input is the
 * answer. Tokens that a cache took or gave are counted beside the others.
 */
#include <string.h>

#include "chat/form.h"

#define BASE "https://api.anthropic.com"
#define VERSION "anthropic-version: 2023-06-01"
#define TOOL "answer"

struct anthropic {
	struct chat_form f;
	bool plain; /* the model cannot be made to call a tool */
};

static int anthropic_open(void **self, const struct chat_config *c,
			  struct remem_err *err)
{
	static const char *const tails[] = { "/v1/messages", "/v1", NULL };
	struct anthropic *o;
	const char *base;
	int rc = chat_form_open(self, sizeof(*o), c, BASE, "x-api-key",
				"ANTHROPIC_API_KEY", err);

	if (rc)
		return rc;
	o = *self;
	base = http_bare(&o->f.a, o->f.base, tails);
	if (base)
		o->f.url = http_endpoint(&o->f.a, base, "/v1/messages");
	return chat_form_done(self, err);
}

static void put_messages(struct json *j, const struct chat_request *r)
{
	if (chat_has_system(r)) {
		json_key(j, "system");
		chat_put_system(j, r);
	}
	chat_put_messages(j, r, false);
}

static void put_tool(struct json *j, const struct chat_request *r)
{
	json_key(j, "tools");
	json_arr(j);
	json_obj(j);
	json_kstr(j, "name", TOOL);
	json_kstr(j, "description", "Gives the answer.");
	json_key(j, "input_schema");
	chat_put_schema(j, r, false);
	json_end(j);
	json_arr_end(j);
	json_key(j, "tool_choice");
	json_obj(j);
	json_kstr(j, "type", "tool");
	json_kstr(j, "name", TOOL);
	json_end(j);
}

static int anthropic_build(void *self, const struct chat_request *r,
			   struct http_request *http, struct buf *body,
			   struct remem_err *err)
{
	struct anthropic *o = self;
	struct json j;

	json_begin(&j, body);
	json_obj(&j);
	json_kstr(&j, "model", o->f.model);
	json_kint(&j, "max_tokens", chat_answer_tokens(r));
	put_messages(&j, r);
	if (r->json && !o->plain)
		put_tool(&j, r);
	json_end(&j);
	http->more[0] = VERSION;
	return chat_form_send(&o->f, r, http, body, err);
}

static void count(struct chat_reply *reply, yyjson_val *usage)
{
	reply->answer_tokens = chat_count(usage, "output_tokens");
	reply->tokens = chat_count(usage, "input_tokens") +
			chat_count(usage, "cache_creation_input_tokens") +
			chat_count(usage, "cache_read_input_tokens") +
			reply->answer_tokens;
}

/* The input of the tool, else the texts. */
static void take_blocks(struct buf *out, yyjson_val *blocks)
{
	size_t i, n;
	yyjson_val *block;
	struct json j;

	yyjson_arr_foreach(blocks, i, n, block) {
		if (strcmp(json_str(block, "type", ""), "tool_use"))
			continue;
		json_begin(&j, out);
		json_put_val(&j, yyjson_obj_get(block, "input"));
		return;
	}
	chat_take_parts(out, blocks);
}

static int anthropic_parse(yyjson_val *root, struct chat_reply *reply,
			   struct buf *out, struct remem_err *err)
{
	yyjson_val *content = yyjson_obj_get(root, "content");
	const char *end = json_str(root, "stop_reason", "");

	count(reply, yyjson_obj_get(root, "usage"));
	reply->cut = !strcmp(end, "max_tokens") ||
		     !strcmp(end, "model_context_window_exceeded");
	if (!strcmp(end, "refusal"))
		return chat_refusal(reply, err, "the model refused to answer");
	if (!yyjson_is_arr(content))
		return fail(err, REMEM_EREMOTE, "the provider's reply has no "
			    "message ('content')");
	take_blocks(out, content);
	return buf_check(out, err);
}

static bool anthropic_simplify(void *self)
{
	struct anthropic *o = self;

	if (o->plain || !o->f.json)
		return false;
	return o->plain = true;
}

const struct chat_provider chat_anthropic = {
	.name = "anthropic",
	.open = anthropic_open,
	.close = arena_free_owner,
	.build = anthropic_build,
	.parse = anthropic_parse,
	.simplify = anthropic_simplify,
};
