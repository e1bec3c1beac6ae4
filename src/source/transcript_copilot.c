/*
 * Copilot CLI: session-state/<session>.jsonl, newer ones
 * session-state/<session>/events.jsonl. Each line is an event {type, data, id,
 * timestamp, parentId}; those that are talk are user.message and
 * assistant.message. Seen in versions of 2026; what it does not know is passed
 * over.
 */
#include <string.h>

#include "base/json.h"
#include "source/transcript_format.h"

static int knows(yyjson_val *v)
{
	static const char *const types[] = { "session.start", "user.message",
					     "assistant.message",
					     "assistant.turn_start",
					     "tool.execution_start" };
	const char *type = json_str(v, "type", "");

	if (!yyjson_is_obj(yyjson_obj_get(v, "data")))
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (!strcmp(type, types[i]))
			return TRANSCRIPT_SURE;
	return 0;
}

static void text(struct transcript *t, enum transcript_role role, yyjson_val *d)
{
	size_t len;
	const char *s = transcript_text(t, yyjson_obj_get(d, "content"), NULL,
					&len);

	transcript_push(t, role, TRANSCRIPT_TEXT, s, len);
}

static void start(struct transcript *t, yyjson_val *d)
{
	struct transcript_info *i = &t->info;
	yyjson_val *context = yyjson_obj_get(d, "context");

	transcript_set(t, &i->session, yyjson_obj_get(d, "sessionId"));
	transcript_set(t, &i->cwd, yyjson_obj_get(context, "cwd"));
	transcript_set(t, &i->cwd, yyjson_obj_get(d, "cwd"));
	if (!i->started_ms)
		i->started_ms = transcript_time(yyjson_obj_get(d, "startTime"));
}

static void line(struct transcript *t, yyjson_val *v)
{
	const char *type = json_str(v, "type", "");
	yyjson_val *d = yyjson_obj_get(v, "data");

	t->next.id = json_str(v, "id", NULL);
	t->next.time_ms = transcript_time(yyjson_obj_get(v, "timestamp"));
	if (!strcmp(type, "session.start")) {
		start(t, d);
	} else if (!strcmp(type, "user.message")) {
		text(t, TRANSCRIPT_USER, d);
	} else if (!strcmp(type, "assistant.message")) {
		text(t, TRANSCRIPT_ASSISTANT, d);
	} else if (!strcmp(type, "tool.execution_start")) {
		t->next.tool = json_str(d, "toolName", NULL);
		transcript_called(t, json_str(d, "toolCallId", NULL),
				  t->next.tool);
		transcript_push_json(t, TRANSCRIPT_ASSISTANT, TRANSCRIPT_CALL,
				     yyjson_obj_get(d, "arguments"));
	} else if (!strcmp(type, "tool.execution_complete")) {
		yyjson_val *r = yyjson_obj_get(d, "result");
		yyjson_val *content = yyjson_obj_get(r, "content");

		t->next.tool = transcript_tool_of(
			t, json_str(d, "toolCallId", NULL));
		transcript_push_json(t, TRANSCRIPT_TOOL, TRANSCRIPT_RESULT,
				     content ? content : r);
	}
}

static const char *place_name(struct arena *a, const char *rel,
			      const char *agent)
{
	const char *slash = strchr(rel, '/');
	size_t n = strlen(rel);

	(void)agent;
	if (slash && !strcmp(slash, "/events.jsonl"))
		return arena_printf(a, "copilot/%.*s", (int)(slash - rel), rel);
	if (slash || n < 7 || strcmp(rel + n - 6, ".jsonl"))
		return NULL;
	return arena_printf(a, "copilot/%.*s", (int)(n - 6), rel);
}

static const struct transcript_place places[] = {
	{ "COPILOT_HOME", "session-state", ".copilot/session-state", 2,
	  place_name },
	{ 0 },
};

const struct transcript_format transcript_copilot = {
	.name = "copilot",
	.host = "copilot",
	.places = places,
	.knows = knows,
	.line = line,
};
