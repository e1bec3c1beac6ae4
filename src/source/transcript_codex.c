/*
 * Codex CLI: sessions/YYYY/MM/DD/rollout-<time>-<session>.jsonl, each line
 * {timestamp, type, payload}. The talk stands in it twice, as items for the
 * model (response_item) and as events for the screen (event_msg): only the
 * items are read.
 */
#include <string.h>

#include "base/json.h"
#include "source/transcript_format.h"

static int knows(yyjson_val *v)
{
	static const char *const types[] = { "session_meta", "response_item",
					     "event_msg", "turn_context" };
	const char *type = json_str(v, "type", "");

	if (!yyjson_is_obj(yyjson_obj_get(v, "payload")))
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (!strcmp(type, types[i]))
			return TRANSCRIPT_SURE;
	return 0;
}

/* What the program puts before the user's words. */
static bool is_scaffold(const char *s, size_t len)
{
	static const char *const fronts[] = {
		"<environment_context>", "<user_instructions>",
		"<permissions instructions>", "# AGENTS.md instructions",
		"<turn_aborted>", "<user_shell_command>", "<skill>",
		"<collaboration_mode>", "<INSTRUCTIONS>",
	};

	while (len && strchr(" \n\t\r", *s) && *s) {
		s++;
		len--;
	}
	for (size_t i = 0; i < ARRAY_LEN(fronts); i++) {
		size_t n = strlen(fronts[i]);

		if (len >= n && !memcmp(s, fronts[i], n))
			return true;
	}
	return false;
}

static void message(struct transcript *t, yyjson_val *p)
{
	const char *role = json_str(p, "role", ""), *text;
	enum transcript_role r = TRANSCRIPT_SYSTEM;
	size_t len;

	text = transcript_text(t, yyjson_obj_get(p, "content"), NULL, &len);
	if (!strcmp(role, "assistant"))
		r = TRANSCRIPT_ASSISTANT;
	else if (!strcmp(role, "user") && !is_scaffold(text, len))
		r = TRANSCRIPT_USER;
	transcript_push(t, r, TRANSCRIPT_TEXT, text, len);
}

static void call(struct transcript *t, yyjson_val *p, const char *args)
{
	t->next.tool = json_str(p, "name", "shell");
	transcript_called(t, json_str(p, "call_id", NULL), t->next.tool);
	transcript_push_json(t, TRANSCRIPT_ASSISTANT, TRANSCRIPT_CALL,
			     yyjson_obj_get(p, args));
}

static void output(struct transcript *t, yyjson_val *p)
{
	yyjson_val *v = yyjson_obj_get(p, "output");
	yyjson_val *inner = yyjson_obj_get(v, "content");

	t->next.tool = transcript_tool_of(t, json_str(p, "call_id", NULL));
	transcript_push_json(t, TRANSCRIPT_TOOL, TRANSCRIPT_RESULT,
			     yyjson_is_str(inner) ? inner : v);
}

static void reasoning(struct transcript *t, yyjson_val *p)
{
	size_t len;
	const char *s = transcript_text(t, yyjson_obj_get(p, "summary"),
					"summary_text", &len);

	transcript_push(t, TRANSCRIPT_ASSISTANT, TRANSCRIPT_THINKING, s, len);
}

static void item(struct transcript *t, yyjson_val *p)
{
	const char *type = json_str(p, "type", "");

	t->next.id = json_str(p, "id", NULL);
	if (!strcmp(type, "message")) {
		message(t, p);
	} else if (!strcmp(type, "reasoning")) {
		reasoning(t, p);
	} else if (!strcmp(type, "function_call")) {
		call(t, p, "arguments");
	} else if (!strcmp(type, "custom_tool_call")) {
		call(t, p, "input");
	} else if (!strcmp(type, "local_shell_call")) {
		call(t, p, "action");
	} else if (!strcmp(type, "function_call_output") ||
		   !strcmp(type, "custom_tool_call_output")) {
		output(t, p);
	} else if (!strcmp(type, "web_search_call")) {
		/* What it found is in the model's words only. */
		t->tainted = true;
	}
}

static void meta(struct transcript *t, yyjson_val *p)
{
	struct transcript_info *i = &t->info;

	if (!i->session)
		transcript_set(t, &i->session, yyjson_obj_get(p, "id"));
	transcript_set(t, &i->cwd, yyjson_obj_get(p, "cwd"));
	transcript_set(t, &i->parent, yyjson_obj_get(p, "parent_thread_id"));
	if (!i->started_ms)
		i->started_ms = transcript_time(yyjson_obj_get(p, "timestamp"));
}

static void event(struct transcript *t, yyjson_val *p)
{
	yyjson_val *u;

	if (strcmp(json_str(p, "type", ""), "token_count"))
		return;
	u = yyjson_obj_get(yyjson_obj_get(p, "info"), "last_token_usage");
	if (json_int(u, "total_tokens", 0) <= 0)
		return;
	t->info.context_tokens = json_int(u, "total_tokens", 0);
	t->info.output_tokens = json_int(u, "output_tokens", 0);
}

static void line(struct transcript *t, yyjson_val *v)
{
	const char *type = json_str(v, "type", "");
	yyjson_val *p = yyjson_obj_get(v, "payload");
	const char *s;

	t->next.time_ms = transcript_time(yyjson_obj_get(v, "timestamp"));
	if (!strcmp(type, "session_meta")) {
		meta(t, p);
	} else if (!strcmp(type, "response_item")) {
		item(t, p);
	} else if (!strcmp(type, "event_msg")) {
		event(t, p);
	} else if (!strcmp(type, "compacted")) {
		s = json_str(p, "message", "");
		transcript_push(t, TRANSCRIPT_SYSTEM, TRANSCRIPT_COMPACTION, s,
				strlen(s));
	}
}

/* "2026/11/28/rollout-2026-11-28T08-00-00-<session>.jsonl" becomes
 * "codex/2026-11-28/<session>". */
static const char *place_name(struct arena *a, const char *rel,
			      const char *agent)
{
	static const char front[] = "rollout-", ext[] = ".jsonl";
	const char *base = strrchr(rel, '/');
	size_t n;

	(void)agent;
	base = base ? base + 1 : rel;
	n = strlen(base);
	if (n < sizeof(front) + sizeof(ext) + 21 ||
	    strncmp(base, front, sizeof(front) - 1) ||
	    strcmp(base + n - (sizeof(ext) - 1), ext) || base[27] != '-')
		return NULL;
	return arena_printf(a, "codex/%.10s/%.*s", base + 8,
			    (int)(n - 28 - (sizeof(ext) - 1)), base + 28);
}

static const struct transcript_place places[] = {
	{ "CODEX_HOME", "sessions", ".codex/sessions", 4, place_name },
	{ "CODEX_HOME", "archived_sessions", ".codex/archived_sessions", 1,
	  place_name },
	{ 0 },
};

const struct transcript_format transcript_codex = {
	.name = "codex",
	.host = "codex",
	.places = places,
	.knows = knows,
	.line = line,
};
