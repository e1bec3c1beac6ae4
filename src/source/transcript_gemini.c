/*
 * Gemini CLI: tmp/<project>/chats/session-<time>-<id>.jsonl, a log with
 * updates: a record of the same id replaces the earlier one, {"$set"} changes
 * what the first record says (with "messages": all of them), {"$rewindTo"}
 * takes back all from that record on. It is always read whole. Before that a
 * chat was one JSON object with its messages in a list.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "source/transcript_format.h"

#define REPLACED_WITHIN 4096 /* records back: updates are of the last few */

static int knows(yyjson_val *v)
{
	const char *type = json_str(v, "type", "");

	if (yyjson_obj_get(v, "sessionId") && yyjson_obj_get(v, "projectHash"))
		return TRANSCRIPT_SURE;
	if (yyjson_obj_get(v, "$set") || yyjson_obj_get(v, "$rewindTo") ||
	    (!strcmp(type, "gemini") && yyjson_obj_get(v, "id")))
		return TRANSCRIPT_SURE;
	return 0;
}

static const char *parts(struct transcript *t, yyjson_val *v, size_t *len)
{
	return transcript_text(t, v, NULL, len);
}

static void tools(struct transcript *t, yyjson_val *list)
{
	yyjson_arr_iter it;
	yyjson_val *c;

	if (!yyjson_is_arr(list))
		return;
	it = yyjson_arr_iter_with(list);
	while ((c = yyjson_arr_iter_next(&it))) {
		yyjson_val *result = yyjson_obj_get(c, "result");

		t->next.tool = json_str(c, "name", NULL);
		transcript_push_json(t, TRANSCRIPT_ASSISTANT, TRANSCRIPT_CALL,
				     yyjson_obj_get(c, "args"));
		if (!result)
			continue;
		transcript_push_json(t, TRANSCRIPT_TOOL, TRANSCRIPT_RESULT,
				     result);
	}
	t->next.tool = NULL;
}

static void thoughts(struct transcript *t, yyjson_val *list)
{
	yyjson_arr_iter it;
	yyjson_val *c;

	if (!yyjson_is_arr(list))
		return;
	it = yyjson_arr_iter_with(list);
	while ((c = yyjson_arr_iter_next(&it))) {
		const char *s = json_str(c, "description", "");

		transcript_push(t, TRANSCRIPT_ASSISTANT, TRANSCRIPT_THINKING, s,
				strlen(s));
	}
}

static void message(struct transcript *t, yyjson_val *v)
{
	const char *type = json_str(v, "type", ""), *text;
	yyjson_val *shown = yyjson_obj_get(v, "displayContent");
	yyjson_val *tokens = yyjson_obj_get(v, "tokens");
	size_t len;

	t->next.id = json_str(v, "id", NULL);
	t->next.time_ms = transcript_time(yyjson_obj_get(v, "timestamp"));
	if (!strcmp(type, "user")) {
		text = parts(t, shown ? shown : yyjson_obj_get(v, "content"),
			     &len);
		transcript_push(t, TRANSCRIPT_USER, TRANSCRIPT_TEXT, text, len);
	} else if (!strcmp(type, "gemini")) {
		thoughts(t, yyjson_obj_get(v, "thoughts"));
		/* The calls come before the words that use what they gave. */
		tools(t, yyjson_obj_get(v, "toolCalls"));
		text = parts(t, yyjson_obj_get(v, "content"), &len);
		transcript_push(t, TRANSCRIPT_ASSISTANT, TRANSCRIPT_TEXT, text,
				len);
		if (json_int(tokens, "total", 0) > 0) {
			t->info.context_tokens = json_int(tokens, "total", 0);
			t->info.output_tokens = json_int(tokens, "output", 0);
		}
	} else if (*type) {
		text = parts(t, yyjson_obj_get(v, "content"), &len);
		transcript_push(t, TRANSCRIPT_SYSTEM, TRANSCRIPT_TEXT, text,
				len);
	}
}

static void all_messages(struct transcript *t, yyjson_val *list, bool number)
{
	yyjson_arr_iter it;
	yyjson_val *m;
	int64_t n = 0;

	if (!yyjson_is_arr(list))
		return;
	it = yyjson_arr_iter_with(list);
	while ((m = yyjson_arr_iter_next(&it))) {
		n++;
		if (number)
			t->next.line = n;
		message(t, m);
	}
}

static void facts(struct transcript *t, yyjson_val *v)
{
	struct transcript_info *i = &t->info;

	transcript_set(t, &i->session, yyjson_obj_get(v, "sessionId"));
	transcript_set(t, &i->title, yyjson_obj_get(v, "summary"));
	transcript_set(t, &i->cwd_hash, yyjson_obj_get(v, "projectHash"));
	if (!strcmp(json_str(v, "kind", ""), "subagent"))
		i->automatic = true;
	if (!i->started_ms)
		i->started_ms = transcript_time(yyjson_obj_get(v, "startTime"));
}

static void line(struct transcript *t, yyjson_val *v)
{
	yyjson_val *set = yyjson_obj_get(v, "$set");

	if (set) {
		facts(t, set);
		all_messages(t, yyjson_obj_get(set, "messages"), false);
	} else if (yyjson_obj_get(v, "sessionId")) {
		facts(t, v);
		all_messages(t, yyjson_obj_get(v, "messages"), false);
	} else {
		message(t, v);
	}
}

static void whole(struct transcript *t, yyjson_val *root)
{
	facts(t, root);
	all_messages(t, yyjson_obj_get(root, "messages"), true);
}

/* ---- updates ---------------------------------------------------------- */

static void kill_from(struct transcript *t, size_t first)
{
	for (size_t i = first; i < t->id_count; i++)
		transcript_kill(t, t->id_lines[i]);
	t->id_count = first;
}

static size_t find_id(const struct transcript *t, uint64_t id)
{
	size_t least = t->id_count > REPLACED_WITHIN ?
		t->id_count - REPLACED_WITHIN : 0;

	for (size_t i = t->id_count; i-- > least;)
		if (t->ids[i] == id)
			return i;
	return t->id_count;
}

static void survey(struct transcript *t, yyjson_val *v)
{
	const char *back = json_str(v, "$rewindTo", NULL);
	const char *id = json_str(v, "id", NULL);
	yyjson_val *set = yyjson_obj_get(v, "$set");

	if (back) {
		kill_from(t, find_id(t, hash64(back, strlen(back), 0)));
	} else if (set && yyjson_is_arr(yyjson_obj_get(set, "messages"))) {
		kill_from(t, 0);
	} else if (id) {
		size_t at = find_id(t, hash64(id, strlen(id), 0));

		if (at < t->id_count)
			transcript_kill(t, t->id_lines[at]);
		if (at < t->id_count)
			t->ids[at] = 0;
		transcript_survey_tree(t, v, "id", "");
	}
}

static int resolve(struct transcript *t, struct remem_err *err)
{
	return transcript_sort_dead(t, err);
}

static bool held_in(const struct transcript_info *i, const char *path,
		    const char *project)
{
	unsigned char sum[SHA256_BYTES];
	char hex[2 * SHA256_BYTES + 1];

	(void)path;
	sha256_of(sum, project, strlen(project));
	hex_encode(hex, sum, SHA256_BYTES);
	return i->cwd_hash && !strcmp(i->cwd_hash, hex);
}

/* "<project>/chats/session-….jsonl", before that ".json". */
static const char *place_name(struct arena *a, const char *rel,
			      const char *agent)
{
	const char *slash = strchr(rel, '/'), *file, *dot;

	(void)agent;
	if (!slash || strncmp(slash, "/chats/session-", 15))
		return NULL;
	file = slash + 7;
	dot = strrchr(file, '.');
	if (strchr(file, '/') || !dot ||
	    (strcmp(dot, ".jsonl") && strcmp(dot, ".json")))
		return NULL;
	return arena_printf(a, "gemini/%.*s/%.*s", (int)(slash - rel), rel,
			    (int)(dot - file), file);
}

static const struct transcript_place places[] = {
	{ "GEMINI_CLI_HOME", ".gemini/tmp", ".gemini/tmp", 3, place_name },
	{ 0 },
};

const struct transcript_format transcript_gemini = {
	.name = "gemini",
	.host = "gemini",
	.places = places,
	.updates = true,
	.knows = knows,
	.line = line,
	.survey = survey,
	.resolve = resolve,
	.whole = whole,
	.held_in = held_in,
};
