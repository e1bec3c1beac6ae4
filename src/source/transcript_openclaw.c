/*
 * OpenClaw's talks as JSON lines (before 2026.9, archives of today, and pi):
 * a first record of the session, then entries that form a tree by id and
 * parentId. The current talk is the way from the last entry up to the root.
 * The same records stand in its SQLite store, which calls
 * openclaw_record() too.
 */
#include "source/openclaw.h"

#include <ctype.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"

static int knows(yyjson_val *v)
{
	const char *type = json_str(v, "type", "");

	if (!strcmp(type, "session") && yyjson_obj_get(v, "id") &&
	    yyjson_obj_get(v, "timestamp"))
		return TRANSCRIPT_SURE;
	if (!strcmp(type, "message") &&
	    yyjson_is_obj(yyjson_obj_get(v, "message")))
		return TRANSCRIPT_LIKELY;
	return 0;
}

/* ---- what the gateway puts around what people write -------------------- */

static bool begins(const char *s, size_t len, const char *with)
{
	size_t n = strlen(with);

	return len >= n && !memcmp(s, with, n);
}

/* "Name (untrusted metadata):" and a block of JSON: length with the blank
 * lines behind it; 0 if s does not begin so. */
static size_t metadata(const char *s, size_t len)
{
	const char *nl = memchr(s, '\n', len), *end = s + len, *close;
	static const char mark[] = "(untrusted metadata):";
	size_t head = nl ? (size_t)(nl - s) : 0;

	if (head < sizeof(mark) - 1 || head > 120 ||
	    memcmp(nl - (sizeof(mark) - 1), mark, sizeof(mark) - 1) ||
	    !begins(nl + 1, (size_t)(end - nl - 1), "```json"))
		return 0;
	for (close = nl + 8; close + 4 <= end; close++)
		if (!memcmp(close, "\n```", 4))
			break;
	if (close + 4 > end)
		return 0;
	for (close += 4; close < end && isspace((unsigned char)*close);)
		close++;
	return (size_t)(close - s);
}

/* "[Channel sender 2026-02-12 15:30 …] " */
static size_t envelope(const char *s, size_t len)
{
	const char *close = len && *s == '[' ?
		memchr(s, ']', len < 240 ? len : 240) : NULL;
	int32_t day;

	for (const char *p = s + 1; close && p + 16 <= close; p++) {
		if (!date_parse(&day, p, 10) || (p[10] != ' ' && p[10] != 'T') ||
		    p[13] != ':')
			continue;
		for (close++; close < s + len && *close == ' ';)
			close++;
		return (size_t)(close - s);
	}
	return 0;
}

/* Prompts that no person typed. */
static bool is_automatic(const char *s, size_t len)
{
	static const char *const fronts[] = {
		"[cron:", "System: [", "Read HEARTBEAT.md",
		"Pre-compaction memory flush", "<relevant-memories>",
	};

	for (size_t i = 0; i < ARRAY_LEN(fronts); i++)
		if (begins(s, len, fronts[i]))
			return true;
	return false;
}

static void user_text(struct transcript *t, const char *s, size_t len)
{
	enum transcript_role role = TRANSCRIPT_USER;
	size_t n;

	while ((n = metadata(s, len)) || (n = envelope(s, len))) {
		s += n;
		len -= n;
	}
	if (is_automatic(s, len))
		role = TRANSCRIPT_SYSTEM;
	transcript_push(t, role, TRANSCRIPT_TEXT, s, len);
}

/* What an assistant says when it has nothing to say. */
static bool is_silence(const char *s, size_t len)
{
	static const char *const words[] = { "NO_REPLY", "HEARTBEAT_OK",
					     "ANNOUNCE_SKIP", "REPLY_SKIP" };

	while (len && isspace((unsigned char)*s)) {
		s++;
		len--;
	}
	while (len && isspace((unsigned char)s[len - 1]))
		len--;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (len == strlen(words[i]) && !memcmp(s, words[i], len))
			return true;
	return false;
}

/* ---- records ---------------------------------------------------------- */

static void assistant_text(struct transcript *t, const char *s, size_t len)
{
	transcript_push(t, is_silence(s, len) ? TRANSCRIPT_SYSTEM :
			TRANSCRIPT_ASSISTANT, TRANSCRIPT_TEXT, s, len);
}

static void block(struct transcript *t, yyjson_val *b)
{
	const char *type = json_str(b, "type", "");
	yyjson_val *v;

	if (!strcmp(type, "text")) {
		v = yyjson_obj_get(b, "text");
		if (yyjson_is_str(v))
			assistant_text(t, yyjson_get_str(v),
				       yyjson_get_len(v));
	} else if (!strcmp(type, "thinking")) {
		v = yyjson_obj_get(b, "thinking");
		if (yyjson_is_str(v))
			transcript_push(t, TRANSCRIPT_ASSISTANT,
					TRANSCRIPT_THINKING, yyjson_get_str(v),
					yyjson_get_len(v));
	} else if (!strcmp(type, "toolCall")) {
		t->next.tool = json_str(b, "name", NULL);
		transcript_called(t, json_str(b, "id", NULL), t->next.tool);
		v = yyjson_obj_get(b, "arguments");
		transcript_push_json(t, TRANSCRIPT_ASSISTANT, TRANSCRIPT_CALL,
				     v ? v : yyjson_obj_get(b, "input"));
		t->next.tool = NULL;
	}
}

static void usage(struct transcript *t, yyjson_val *u)
{
	int64_t in = json_int(u, "input", 0) + json_int(u, "cacheRead", 0) +
		     json_int(u, "cacheWrite", 0);
	int64_t out = json_int(u, "output", 0);

	if (in + out <= 0)
		return;
	t->info.context_tokens = in + out;
	t->info.output_tokens = out;
}

static void message(struct transcript *t, yyjson_val *m)
{
	const char *role = json_str(m, "role", ""), *text;
	yyjson_val *content = yyjson_obj_get(m, "content"), *b;
	size_t len;

	if (!strcmp(role, "assistant")) {
		yyjson_arr_iter it;

		usage(t, yyjson_obj_get(m, "usage"));
		if (yyjson_is_str(content))
			assistant_text(t, yyjson_get_str(content),
				       yyjson_get_len(content));
		if (!yyjson_is_arr(content))
			return;
		it = yyjson_arr_iter_with(content);
		while ((b = yyjson_arr_iter_next(&it)))
			block(t, b);
		return;
	}
	text = transcript_text(t, content, NULL, &len);
	if (!strcmp(role, "user")) {
		user_text(t, text, len);
	} else if (!strcmp(role, "toolResult")) {
		t->next.tool = json_str(m, "toolName", NULL);
		if (!t->next.tool)
			t->next.tool = transcript_tool_of(
				t, json_str(m, "toolCallId", NULL));
		transcript_push(t, TRANSCRIPT_TOOL, TRANSCRIPT_RESULT, text,
				len);
	} else if (!strcmp(role, "bashExecution")) {
		text = json_str(m, "output", "");
		t->next.tool = "bash";
		transcript_push(t, TRANSCRIPT_TOOL, TRANSCRIPT_RESULT, text,
				strlen(text));
	} else {
		transcript_push(t, TRANSCRIPT_SYSTEM, TRANSCRIPT_TEXT, text,
				len);
	}
}

static void session(struct transcript *t, yyjson_val *v)
{
	struct transcript_info *i = &t->info;

	transcript_set(t, &i->session, yyjson_obj_get(v, "id"));
	transcript_set(t, &i->cwd, yyjson_obj_get(v, "cwd"));
	transcript_set(t, &i->parent, yyjson_obj_get(v, "parentSession"));
	if (!i->started_ms)
		i->started_ms = transcript_time(yyjson_obj_get(v, "timestamp"));
}

void openclaw_record(struct transcript *t, yyjson_val *v)
{
	const char *type = json_str(v, "type", ""), *text;
	yyjson_val *m = yyjson_obj_get(v, "message");
	int64_t at = transcript_time(yyjson_obj_get(v, "timestamp"));
	size_t len;

	/* The session's own id is no entry of the tree. */
	if (strcmp(type, "session"))
		t->next.id = json_str(v, "id", NULL);
	if (!at)
		at = transcript_time(yyjson_obj_get(m, "timestamp"));
	if (at)
		t->next.time_ms = at;
	if (!strcmp(type, "session")) {
		session(t, v);
	} else if (!strcmp(type, "message")) {
		message(t, m);
	} else if (!strcmp(type, "compaction") ||
		   !strcmp(type, "branch_summary")) {
		yyjson_val *s = yyjson_obj_get(v, "summary");

		if (type[0] == 'c')
			transcript_push(t, TRANSCRIPT_SYSTEM,
					TRANSCRIPT_COMPACTION,
					yyjson_is_str(s) ? yyjson_get_str(s) :
					"", yyjson_get_len(s));
		else if (yyjson_is_str(s))
			transcript_push(t, TRANSCRIPT_SYSTEM, TRANSCRIPT_TEXT,
					yyjson_get_str(s), yyjson_get_len(s));
	} else if (!strcmp(type, "custom_message")) {
		text = transcript_text(t, yyjson_obj_get(v, "content"), NULL,
				       &len);
		transcript_push(t, TRANSCRIPT_SYSTEM, TRANSCRIPT_TEXT, text,
				len);
	}
}

static void survey(struct transcript *t, yyjson_val *v)
{
	if (strcmp(json_str(v, "type", ""), "session"))
		transcript_survey_tree(t, v, "id", "parentId");
}

/*
 * "<agent>/sessions/<session>.jsonl" and, for talks that were reset,
 * "….jsonl.reset.<time>". What was deleted is never read, checkpoints are
 * copies.
 */
static const char *place_name(struct arena *a, const char *rel,
			      const char *agent)
{
	static const char middle[] = "/sessions/";
	size_t n = strlen(agent);
	const char *file, *ext;

	if (strncmp(rel, agent, n) ||
	    strncmp(rel + n, middle, sizeof(middle) - 1))
		return NULL;
	file = rel + n + sizeof(middle) - 1;
	ext = strstr(file, ".jsonl");
	if (strchr(file, '/') || !ext || strstr(file, ".checkpoint.") ||
	    (ext[6] && strncmp(ext + 6, ".reset.", 7)))
		return NULL;
	return arena_printf(a, "openclaw/%s/%.*s%s", agent, (int)(ext - file),
			    file, ext + 6);
}

static const struct transcript_place places[] = {
	{ "OPENCLAW_STATE_DIR", "agents", ".openclaw/agents", 3, place_name },
	{ 0 },
};

const struct transcript_format transcript_openclaw = {
	.name = "openclaw",
	.host = "openclaw",
	.places = places,
	.knows = knows,
	.line = openclaw_record,
	.survey = survey,
	.resolve = transcript_resolve_tree,
};
