/*
 * Cursor's program for the terminal: chats/<MD5 of the folder>/<session>/
 * store.db, a table blobs(id, data) that holds, among other things, the
 * messages as JSON in the order of their rows. One file is one talk; it is
 * read whole when it has changed. A citation's line is the row.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "source/cursor.h"
#include "source/talkdb.h"

#define RAW_MAX_BYTES (512u << 20)

struct store {
	struct talkdb d;
	sqlite3_stmt *next;
	int64_t row;
};

static bool is_known(sqlite3 *db)
{
	return talkdb_has(db, "blobs", "id data") &&
	       talkdb_has(db, "meta", "key");
}

static bool is_store(const char *path)
{
	return talkdb_is(path, is_known);
}

/* ".../<folder>/<session>/store.db": the session. */
static const char *session_of(struct transcript *t)
{
	const char *end = strrchr(t->path, '/'), *p = end;

	while (p && p > t->path && p[-1] != '/')
		p--;
	return p && p < end ? arena_strndup(&t->a, p, (size_t)(end - p)) :
			      "store";
}

static int store_open(struct transcript *t, struct remem_err *err)
{
	struct store *s = mem_zalloc(sizeof(*s));
	int rc;

	if (!s)
		return fail_nomem(err);
	t->self = s;
	if ((rc = talkdb_begin(&s->d, t->path, is_known, err)))
		return rc;
	t->info.session = session_of(t);
	t->info.rewritten = t->from.line > 0;
	memset(&t->from, 0, sizeof(t->from));
	/* What is no JSON object is left to SQLite to pass over. */
	return talkdb_prepare(&s->next, s->d.db, "SELECT rowid, data FROM blobs "
			      "WHERE rowid > ?1 AND substr(data, 1, 1) IN "
			      "(x'7b', '{') ORDER BY rowid LIMIT 1", err);
}

static void store_close(struct transcript *t)
{
	struct store *s = t->self;

	if (!s)
		return;
	sqlite3_finalize(s->next);
	talkdb_release(&s->d);
	mem_free(s);
}

static void result(struct transcript *t, yyjson_val *b)
{
	t->next.tool = json_str(b, "toolName", NULL);
	if (!t->next.tool)
		t->next.tool = transcript_tool_of(t, json_str(b, "toolCallId",
							      NULL));
	transcript_push_json(t, TRANSCRIPT_TOOL, TRANSCRIPT_RESULT,
			     yyjson_obj_get(b, "result"));
	t->next.tool = NULL;
}

static void block(struct transcript *t, yyjson_val *b, bool user)
{
	const char *type = json_str(b, "type", "");
	yyjson_val *text = yyjson_obj_get(b, "text");

	if (!strcmp(type, "tool-result")) {
		result(t, b);
	} else if (!strcmp(type, "tool-call")) {
		t->next.tool = json_str(b, "toolName", NULL);
		transcript_called(t, json_str(b, "toolCallId", NULL),
				  t->next.tool);
		transcript_push_json(t, TRANSCRIPT_ASSISTANT, TRANSCRIPT_CALL,
				     yyjson_obj_get(b, "args"));
		t->next.tool = NULL;
	} else if (yyjson_is_str(text) && !strcmp(type, "reasoning")) {
		transcript_push(t, TRANSCRIPT_ASSISTANT, TRANSCRIPT_THINKING,
				yyjson_get_str(text), yyjson_get_len(text));
	} else if (yyjson_is_str(text) && !strcmp(type, "text")) {
		(user ? cursor_user_text : cursor_assistant_text)(
			t, yyjson_get_str(text), yyjson_get_len(text));
	}
}

static void message(struct transcript *t, yyjson_val *m)
{
	const char *role = json_str(m, "role", "");
	yyjson_val *content = yyjson_obj_get(m, "content"), *b;
	bool user = !strcmp(role, "user");
	yyjson_arr_iter it;

	t->next.id = json_str(m, "id", NULL);
	t->next.time_ms = transcript_time(yyjson_obj_get(m, "createdAt"));
	if (!strcmp(role, "system")) {
		size_t len;
		const char *s = transcript_text(t, content, NULL, &len);

		transcript_push(t, TRANSCRIPT_SYSTEM, TRANSCRIPT_TEXT, s, len);
		return;
	}
	if (!*role)
		return;
	if (yyjson_is_str(content))
		(user ? cursor_user_text : cursor_assistant_text)(
			t, yyjson_get_str(content), yyjson_get_len(content));
	if (!yyjson_is_arr(content))
		return;
	it = yyjson_arr_iter_with(content);
	while ((b = yyjson_arr_iter_next(&it)))
		block(t, b, user);
}

/* 1: a row, taken; 0: the end. */
static int next_row(struct store *s, struct remem_err *err)
{
	int rc;

	sqlite3_bind_int64(s->next, 1, s->row);
	rc = talkdb_step(s->next, err);
	if (rc != 1)
		return rc;
	s->row = sqlite3_column_int64(s->next, 0);
	rc = talkdb_take(&s->d, sqlite3_column_blob(s->next, 1),
			 (size_t)sqlite3_column_bytes(s->next, 1), err);
	sqlite3_reset(s->next);
	return rc ? rc : 1;
}

static int fill(struct transcript *t, bool *more, struct remem_err *err)
{
	struct store *s = t->self;
	const char *reason;
	yyjson_val *v;
	int rc = next_row(s, err);

	*more = rc == 1;
	if (rc != 1)
		return rc;
	memset(&t->next, 0, sizeof(t->next));
	t->next.line = t->info.lines = s->row;
	v = talkdb_object(&s->d, &reason);
	if (v)
		message(t, v);
	else
		transcript_bad(t, s->row, reason);
	return 0;
}

static int mark(struct transcript *t, struct transcript_mark *out,
		struct remem_err *err)
{
	struct store *s = t->self;

	(void)err;
	out->line = out->offset = s->row;
	return 0;
}

/* Line n is row n, empty where it is no JSON. */
static int raw(int *fd, struct transcript *t, struct remem_err *err)
{
	struct buf out = BUF_INIT(RAW_MAX_BYTES);
	struct store *s = t->self;
	int64_t line = 1;
	int rc;

	s->row = 0;
	while ((rc = next_row(s, err)) == 1) {
		for (; line < s->row && !out.failed; line++)
			buf_addc(&out, '\n');
		talkdb_put_flat(&out, s->d.record.ptr, s->d.record.len);
		buf_addc(&out, '\n');
		line++;
	}
	if (!rc && !(rc = buf_check(&out, err)))
		rc = transcript_give_raw(fd, &out, err);
	buf_release(&out);
	return rc;
}

static bool held_in(const struct transcript_info *i, const char *path,
		    const char *project)
{
	static const char above[] = "/chats/";
	const char *p = strstr(path, above);
	char hex[MD5_HEX];

	(void)i;
	md5_hex(hex, project, strlen(project));
	return p && !strncmp(p + sizeof(above) - 1, hex, MD5_HEX - 1);
}

/* "<folder>/<session>/store.db" */
static const char *place_name(struct arena *a, const char *rel,
			      const char *agent)
{
	const char *slash = strchr(rel, '/');
	const char *next = slash ? strchr(slash + 1, '/') : NULL;

	(void)agent;
	if (!next || strcmp(next, "/store.db"))
		return NULL;
	return arena_printf(a, "cursor/%.*s", (int)(next - rel), rel);
}

static const struct transcript_place places[] = {
	{ NULL, NULL, ".cursor/chats", 3, place_name },
	{ 0 },
};

const struct transcript_format transcript_cursor_cli = {
	.name = "cursor-cli",
	.host = "cursor",
	.places = places,
	.store = true,
	.single = true,
	.is_store = is_store,
	.open = store_open,
	.fill = fill,
	.mark = mark,
	.raw = raw,
	.held_in = held_in,
	.close = store_close,
};
