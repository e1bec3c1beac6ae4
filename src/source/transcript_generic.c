/*
 * JSON lines that any program can write, described in doc/transcripts.md: one
 * message a line with a role and its text, and at will a first line that says
 * whose talk it is. Many programs write something like it, so that several
 * names are taken for each member.
 */
#include <string.h>

#include "base/json.h"
#include "source/transcript_format.h"

static yyjson_val *first_of(yyjson_val *v, const char *const *keys)
{
	yyjson_val *found = NULL;

	for (; *keys && !found; keys++)
		found = yyjson_obj_get(v, *keys);
	return found;
}

static const char *const role_keys[] = { "role", "speaker", "author", NULL };
static const char *const text_keys[] = { "content", "text", "message", NULL };
static const char *const time_keys[] = { "timestamp", "time", "ts",
					 "created_at", "createdAt", NULL };
static const char *const session_keys[] = { "session", "session_id",
					    "sessionId", "conversation", NULL };
static const char *const cwd_keys[] = { "cwd", "project", "workspace", NULL };
static const char *const tool_keys[] = { "tool", "tool_name", "name", NULL };

static bool role_of(const char *name, enum transcript_role *role)
{
	static const struct {
		const char *name;
		enum transcript_role role;
	} names[] = {
		{ "user", TRANSCRIPT_USER },
		{ "human", TRANSCRIPT_USER },
		{ "assistant", TRANSCRIPT_ASSISTANT },
		{ "model", TRANSCRIPT_ASSISTANT },
		{ "ai", TRANSCRIPT_ASSISTANT },
		{ "tool", TRANSCRIPT_TOOL },
		{ "function", TRANSCRIPT_TOOL },
		{ "system", TRANSCRIPT_SYSTEM },
		{ "developer", TRANSCRIPT_SYSTEM },
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (strcmp(name, names[i].name))
			continue;
		*role = names[i].role;
		return true;
	}
	return false;
}

static enum transcript_kind kind_of(const char *name, enum transcript_role role)
{
	if (!strcmp(name, "thinking") || !strcmp(name, "reasoning"))
		return TRANSCRIPT_THINKING;
	if (!strcmp(name, "tool_call"))
		return TRANSCRIPT_CALL;
	if (!strcmp(name, "compaction") || !strcmp(name, "summary"))
		return TRANSCRIPT_COMPACTION;
	return role == TRANSCRIPT_TOOL ? TRANSCRIPT_RESULT : TRANSCRIPT_TEXT;
}

/* A message may stand in a member of that name. */
static yyjson_val *inner(yyjson_val *v)
{
	yyjson_val *m = yyjson_obj_get(v, "message");

	return yyjson_is_obj(m) ? m : v;
}

static int knows(yyjson_val *v)
{
	const char *role = yyjson_get_str(first_of(inner(v), role_keys));
	enum transcript_role r;

	if (role && role_of(role, &r) && first_of(inner(v), text_keys))
		return TRANSCRIPT_MAYBE;
	return 0;
}

static void facts(struct transcript *t, yyjson_val *v)
{
	struct transcript_info *i = &t->info;

	transcript_set(t, &i->session, first_of(v, session_keys));
	transcript_set(t, &i->cwd, first_of(v, cwd_keys));
	transcript_set(t, &i->agent, yyjson_obj_get(v, "agent"));
	transcript_set(t, &i->title, yyjson_obj_get(v, "title"));
	i->shared |= json_bool(v, "shared", false);
}

static void line(struct transcript *t, yyjson_val *v)
{
	yyjson_val *m = inner(v);
	const char *name = yyjson_get_str(first_of(m, role_keys));
	enum transcript_role role;
	enum transcript_kind kind;
	const char *text;
	size_t len;

	facts(t, v);
	if (!strcmp(json_str(v, "type", ""), "session"))
		transcript_set(t, &t->info.session, yyjson_obj_get(v, "id"));
	if (!name || !role_of(name, &role))
		return;
	kind = kind_of(json_str(m, "kind", ""), role);
	t->next.id = json_str(v, "id", NULL);
	t->next.time_ms = transcript_time(first_of(v, time_keys));
	if (!t->next.time_ms)
		t->next.time_ms = transcript_time(first_of(m, time_keys));
	if (role == TRANSCRIPT_TOOL || kind == TRANSCRIPT_CALL)
		t->next.tool = yyjson_get_str(first_of(m, tool_keys));
	text = transcript_text(t, first_of(m, text_keys), NULL, &len);
	transcript_push(t, role, kind, text, len);
}

const struct transcript_format transcript_generic = {
	.name = "jsonl",
	.host = "sessions",
	.knows = knows,
	.line = line,
};
