/*
 * Cursor: projects/<folder>/agent-transcripts/<id>/<id>.jsonl, a line a
 * message with its role and blocks, without ids and times. The user's words
 * are wrapped in a tag, among notes of the program.
 */
#include <string.h>

#include "base/json.h"
#include "source/cursor.h"

static int knows(yyjson_val *v)
{
	const char *role = json_str(v, "role", "");
	yyjson_val *m = yyjson_obj_get(v, "message");

	/* Others name the kind of record, or give a time. */
	if ((strcmp(role, "user") && strcmp(role, "assistant")) ||
	    !yyjson_is_arr(yyjson_obj_get(m, "content")) ||
	    yyjson_obj_get(v, "type") || yyjson_obj_get(m, "role"))
		return 0;
	return TRANSCRIPT_LIKELY;
}

static const char *find(const char *s, size_t len, const char *what)
{
	size_t n = strlen(what);

	for (size_t i = 0; i + n <= len; i++)
		if (s[i] == what[0] && !memcmp(s + i, what, n))
			return s + i;
	return NULL;
}

void cursor_user_text(struct transcript *t, const char *s, size_t len)
{
	static const char open[] = "<user_query>", close[] = "</user_query>";
	const char *from = find(s, len, open), *to;

	if (from) {
		from += sizeof(open) - 1;
		len -= (size_t)(from - s);
		to = find(from, len, close);
		transcript_push(t, TRANSCRIPT_USER, TRANSCRIPT_TEXT, from,
				to ? (size_t)(to - from) : len);
		return;
	}
	transcript_push(t, find(s, len, "<user_info>") ? TRANSCRIPT_SYSTEM :
			TRANSCRIPT_USER, TRANSCRIPT_TEXT, s, len);
}

void cursor_assistant_text(struct transcript *t, const char *s, size_t len)
{
	static const char mark[] = "[REDACTED]";
	size_t n = sizeof(mark) - 1;

	while (len >= n && !memcmp(s + len - n, mark, n)) {
		len -= n;
		while (len && strchr(" \n", s[len - 1]))
			len--;
	}
	transcript_push(t, TRANSCRIPT_ASSISTANT, TRANSCRIPT_TEXT, s, len);
}

static void block(struct transcript *t, yyjson_val *b, bool user)
{
	const char *type = json_str(b, "type", "");
	yyjson_val *text = yyjson_obj_get(b, "text");

	if (!strcmp(type, "text") && yyjson_is_str(text)) {
		(user ? cursor_user_text : cursor_assistant_text)(
			t, yyjson_get_str(text), yyjson_get_len(text));
	} else if (!strcmp(type, "tool_use")) {
		t->next.tool = json_str(b, "name", NULL);
		transcript_push_json(t, TRANSCRIPT_ASSISTANT, TRANSCRIPT_CALL,
				     yyjson_obj_get(b, "input"));
		t->next.tool = NULL;
		/* Results are not kept: what follows may come from them. */
		t->tainted = true;
	}
}

static void line(struct transcript *t, yyjson_val *v)
{
	bool user = !strcmp(json_str(v, "role", ""), "user");
	yyjson_val *content = yyjson_obj_get(yyjson_obj_get(v, "message"),
					     "content"), *b;
	yyjson_arr_iter it;

	if (!yyjson_is_arr(content))
		return;
	it = yyjson_arr_iter_with(content);
	while ((b = yyjson_arr_iter_next(&it)))
		block(t, b, user);
}

static const char *place_name(struct arena *a, const char *rel,
			      const char *agent)
{
	static const char middle[] = "/agent-transcripts/";
	const char *at = strstr(rel, middle), *base = strrchr(rel, '/');
	size_t n = strlen(rel);

	(void)agent;
	if (!at || n < 7 || strcmp(rel + n - 6, ".jsonl") ||
	    memchr(rel, '/', (size_t)(at - rel)))
		return NULL;
	return arena_printf(a, "cursor/%.*s/%.*s", (int)(at - rel), rel,
			    (int)(strlen(base + 1) - 6), base + 1);
}

/* The folder's name is the project's path with '/' and '.' as '-'. */
static bool held_in(const struct transcript_info *i, const char *path,
		    const char *project)
{
	const char *p = strstr(path, "/projects/");

	(void)i;
	if (!p)
		return false;
	p += strlen("/projects/");
	for (project += *project == '/'; *project; project++, p++)
		if (*p != (strchr("/.", *project) ? '-' : *project))
			return false;
	return *p == '/' || *p == '-';
}

static const struct transcript_place places[] = {
	{ NULL, NULL, ".cursor/projects", 4, place_name },
	{ 0 },
};

const struct transcript_format transcript_cursor = {
	.name = "cursor",
	.host = "cursor",
	.places = places,
	.knows = knows,
	.line = line,
	.held_in = held_in,
};
