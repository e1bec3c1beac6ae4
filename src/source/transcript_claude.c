/*
 * Claude Code: projects/<folder>/<session>.jsonl. A record has an envelope
 * (uuid, parentUuid, timestamp, sessionId, cwd, isSidechain, isMeta) around a
 * message of the model's API. Results of tools stand on user lines. What
 * sub-agents said (isSidechain) is no part of the talk. Branches are left in:
 * the file keeps no word about which of them the user left behind for good.
 */
#include <string.h>

#include "base/json.h"
#include "source/transcript_format.h"

static int knows(yyjson_val *v)
{
	bool envelope = yyjson_obj_get(v, "sessionId") &&
			yyjson_obj_get(v, "uuid");
	const char *type = json_str(v, "type", "");

	if (envelope && yyjson_obj_get(v, "parentUuid"))
		return TRANSCRIPT_SURE;
	if (!strcmp(type, "summary") && yyjson_obj_get(v, "leafUuid"))
		return TRANSCRIPT_SURE;
	if (!strcmp(type, "file-history-snapshot") ||
	    !strcmp(type, "queue-operation"))
		return TRANSCRIPT_LIKELY;
	return envelope ? TRANSCRIPT_LIKELY : 0;
}

/* Only marks of commands of the program and what they printed. */
static bool is_command(const char *s, size_t len)
{
	static const char *const marks[] = {
		"command-name", "command-message", "command-args",
		"local-command-stdout", "local-command-stderr",
		"local-command-caveat", "bash-input", "bash-stdout",
		"bash-stderr", "system-reminder",
	};
	const char *end = s + len;
	bool some = false;

	while (s < end) {
		const char *close = NULL;
		size_t n = 0;

		if (strchr(" \t\r\n", *s)) {
			s++;
			continue;
		}
		for (size_t i = 0; i < ARRAY_LEN(marks) && !close; i++) {
			char tag[32];

			n = strlen(marks[i]);
			if (*s != '<' || (size_t)(end - s) < n + 2 ||
			    memcmp(s + 1, marks[i], n) || s[n + 1] != '>')
				continue;
			tag[0] = '<';
			tag[1] = '/';
			memcpy(tag + 2, marks[i], n);
			tag[n + 2] = '>';
			tag[n + 3] = 0;
			close = strstr(s, tag);
			n += 3;
		}
		if (!close)
			return false;
		s = close + n;
		some = true;
	}
	return some;
}

static void user_text(struct transcript *t, bool meta, const char *s,
		      size_t len)
{
	/* strstr needs an end: what JSON gave ends with NUL. */
	enum transcript_role role = meta || is_command(s, len) ?
		TRANSCRIPT_SYSTEM : TRANSCRIPT_USER;

	transcript_push(t, role, TRANSCRIPT_TEXT, s, len);
}

static void result(struct transcript *t, yyjson_val *block)
{
	const char *text;
	size_t len;

	t->next.tool = transcript_tool_of(t, json_str(block, "tool_use_id",
						      NULL));
	text = transcript_text(t, yyjson_obj_get(block, "content"), NULL, &len);
	transcript_push(t, TRANSCRIPT_TOOL, TRANSCRIPT_RESULT, text, len);
	t->next.tool = NULL;
}

static void call(struct transcript *t, yyjson_val *block)
{
	const char *name = json_str(block, "name", NULL);

	transcript_called(t, json_str(block, "id", NULL), name);
	t->next.tool = name;
	transcript_push_json(t, TRANSCRIPT_ASSISTANT, TRANSCRIPT_CALL,
			     yyjson_obj_get(block, "input"));
	t->next.tool = NULL;
}

static void block(struct transcript *t, yyjson_val *b, bool user, bool meta)
{
	const char *type = json_str(b, "type", "");
	yyjson_val *text = yyjson_obj_get(b, "text");

	if (!strcmp(type, "text") && text) {
		const char *s = yyjson_get_str(text);
		size_t len = yyjson_get_len(text);

		if (s && user)
			user_text(t, meta, s, len);
		else if (s)
			transcript_push(t, TRANSCRIPT_ASSISTANT,
					TRANSCRIPT_TEXT, s, len);
	} else if (!strcmp(type, "thinking")) {
		yyjson_val *v = yyjson_obj_get(b, "thinking");

		if (yyjson_is_str(v))
			transcript_push(t, TRANSCRIPT_ASSISTANT,
					TRANSCRIPT_THINKING, yyjson_get_str(v),
					yyjson_get_len(v));
	} else if (!strcmp(type, "tool_use")) {
		call(t, b);
	} else if (!strcmp(type, "tool_result")) {
		result(t, b);
	}
}

static void usage(struct transcript *t, yyjson_val *u)
{
	int64_t in = json_int(u, "input_tokens", 0) +
		     json_int(u, "cache_creation_input_tokens", 0) +
		     json_int(u, "cache_read_input_tokens", 0);
	int64_t out = json_int(u, "output_tokens", 0);

	if (in + out <= 0)
		return;
	t->info.context_tokens = in + out;
	t->info.output_tokens = out;
}

static void summary(struct transcript *t, yyjson_val *content)
{
	size_t len;
	const char *s = transcript_text(t, content, NULL, &len);
	bool counted = t->after_boundary;

	t->after_boundary = false;
	transcript_push(t, TRANSCRIPT_SYSTEM, TRANSCRIPT_COMPACTION, s, len);
	t->info.compactions -= counted;
}

static void message(struct transcript *t, yyjson_val *v, bool user)
{
	yyjson_val *m = yyjson_obj_get(v, "message"), *b;
	yyjson_val *content = yyjson_obj_get(m, "content");
	bool meta = json_bool(v, "isMeta", false);
	yyjson_arr_iter it;

	if (!user)
		usage(t, yyjson_obj_get(m, "usage"));
	if (json_bool(v, "isCompactSummary", false)) {
		summary(t, content);
		return;
	}
	if (yyjson_is_str(content)) {
		const char *s = yyjson_get_str(content);
		size_t len = yyjson_get_len(content);

		if (user)
			user_text(t, meta, s, len);
		else
			transcript_push(t, TRANSCRIPT_ASSISTANT,
					TRANSCRIPT_TEXT, s, len);
		return;
	}
	if (!yyjson_is_arr(content))
		return;
	it = yyjson_arr_iter_with(content);
	while ((b = yyjson_arr_iter_next(&it)))
		block(t, b, user, meta);
}

static void line(struct transcript *t, yyjson_val *v)
{
	const char *type = json_str(v, "type", "");

	if (json_bool(v, "isSidechain", false))
		return;
	transcript_set(t, &t->info.session, yyjson_obj_get(v, "sessionId"));
	transcript_set(t, &t->info.cwd, yyjson_obj_get(v, "cwd"));
	t->next.id = json_str(v, "uuid", NULL);
	t->next.time_ms = transcript_time(yyjson_obj_get(v, "timestamp"));
	if (!strcmp(type, "user")) {
		message(t, v, true);
	} else if (!strcmp(type, "assistant")) {
		message(t, v, false);
	} else if (!strcmp(type, "custom-title")) {
		transcript_set(t, &t->info.title,
			       yyjson_obj_get(v, "customTitle"));
	} else if (!strcmp(type, "summary")) {
		if (!t->info.title)
			transcript_set(t, &t->info.title,
				       yyjson_obj_get(v, "summary"));
	} else if (!strcmp(type, "system") &&
		   !strcmp(json_str(v, "subtype", ""), "compact_boundary")) {
		transcript_push(t, TRANSCRIPT_SYSTEM, TRANSCRIPT_COMPACTION,
				"", 0);
		t->after_boundary = true;
	}
}

/* "<project>/<session>.jsonl"; what lies deeper is of sub-agents. */
static const char *place_name(struct arena *a, const char *rel,
			      const char *agent)
{
	const char *slash = strchr(rel, '/');
	size_t n = strlen(rel);

	(void)agent;
	if (!slash || strchr(slash + 1, '/') || n < 7 ||
	    strcmp(rel + n - 6, ".jsonl") || !strncmp(slash + 1, "agent-", 6))
		return NULL;
	return arena_printf(a, "claude/%.*s", (int)(n - 6), rel);
}

static const struct transcript_place places[] = {
	{ "CLAUDE_CONFIG_DIR", "projects", ".claude/projects", 2, place_name },
	{ 0 },
};

const struct transcript_format transcript_claude = {
	.name = "claude",
	.host = "claude",
	.places = places,
	.knows = knows,
	.line = line,
};
