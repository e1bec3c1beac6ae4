/* The members that hosts name differently, read into one struct. */
#include "hosts/event.h"

#include <string.h>

#include "base/json.h"

#define SESSION_CHARS 128

/* The first of the names that is there; those of one meaning differ between
 * hosts and between their versions. Ends with NULL. */
static yyjson_val *first_of(yyjson_val *o, const char *const *names)
{
	for (; *names; names++) {
		yyjson_val *v = yyjson_obj_get(o, *names);

		if (yyjson_is_arr(v))
			v = yyjson_arr_get_first(v);
		if (yyjson_is_str(v) && yyjson_get_len(v))
			return v;
	}
	return NULL;
}

static const char *take(struct arena *a, yyjson_val *v)
{
	/* A NUL cannot be part of a path or a name. */
	return v && strlen(yyjson_get_str(v)) == yyjson_get_len(v) ?
		       arena_strdup(a, yyjson_get_str(v)) : NULL;
}

/* Ids become parts of names: only what is harmless there. */
static const char *take_session(struct arena *a, yyjson_val *v)
{
	const char *s = v ? yyjson_get_str(v) : "";
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz"
			     "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-:");

	return n && n <= SESSION_CHARS && n == yyjson_get_len(v) ?
		       arena_strdup(a, s) : NULL;
}

static void read_object(struct event *e, struct arena *a, yyjson_val *o)
{
	static const char *const session[] = { "session_id", "conversation_id",
		"conversationId", "sessionId", "sessionKey", NULL };
	static const char *const cwd[] = { "cwd", "workspace_roots",
		"workspacePaths", "workspaceDir", NULL };
	static const char *const transcript[] = { "transcript_path",
		"transcriptPath", "sessionFile", NULL };
	static const char *const prompt[] = { "prompt", "user_prompt",
		"userPrompt", NULL };
	static const char *const reason[] = { "reason", "source", "trigger",
		"status", NULL };
	static const char *const tool[] = { "tool_name", "toolName", NULL };
	yyjson_val *v = first_of(o, prompt);

	e->session = take_session(a, first_of(o, session));
	e->cwd = take(a, first_of(o, cwd));
	e->transcript = take(a, first_of(o, transcript));
	e->reason = take(a, first_of(o, reason));
	e->tool = take(a, first_of(o, tool));
	if (v) {
		e->prompt_len = yyjson_get_len(v);
		e->prompt = arena_strndup(a, yyjson_get_str(v), e->prompt_len);
	}
}

int event_read(struct event *out, struct arena *a, const char *json,
	       size_t len, struct remem_err *err)
{
	yyjson_doc *doc;
	int rc = 0;

	memset(out, 0, sizeof(*out));
	while (len && strchr(" \t\r\n", json[0])) {
		json++;
		len--;
	}
	if (!len)
		return 0;
	if ((rc = json_read(&doc, json, len, false, "the event", err)))
		return rc;
	if (yyjson_is_obj(yyjson_doc_get_root(doc)))
		read_object(out, a, yyjson_doc_get_root(doc));
	else
		rc = fail(err, REMEM_EFORMAT, "the event is no JSON object");
	yyjson_doc_free(doc);
	return a->failed ? fail_nomem(err) : rc;
}
