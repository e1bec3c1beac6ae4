/*
 * OpenCode: one SQLite file, opencode.db, with the tables session, message and
 * part, whose contents are JSON in data. Parts are written again while an
 * answer comes in, so that a talk which has changed is read whole. A
 * citation's line is the message's place in its session.
 */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/path.h"
#include "source/talkdb.h"
#include "source/transcript_format.h"

#define RAW_MAX_BYTES (512u << 20)

struct store {
	struct talkdb d;
	sqlite3_stmt *messages, *parts;
	int64_t line;
};

static bool is_known(sqlite3 *db)
{
	return talkdb_has(db, "session", "id directory time_updated") &&
	       talkdb_has(db, "message", "id session_id time_created data") &&
	       talkdb_has(db, "part", "id message_id session_id data");
}

static bool is_store(const char *path)
{
	return !strcmp(path_base(path), "opencode.db") ||
	       talkdb_is(path, is_known);
}

static int talks(struct transcript_talk **out, size_t *count, struct arena *a,
		 const char *path, struct remem_err *err)
{
	size_t cap = 0;
	sqlite3_stmt *st;
	sqlite3 *db;
	int rc = talkdb_open(&db, path, is_known, err);

	if (rc)
		return rc;
	rc = talkdb_prepare(&st, db, "SELECT s.id, s.time_updated, "
			    "(SELECT count(*) || '.' || max(rowid) FROM message "
			    "WHERE session_id = s.id), "
			    "(SELECT sum(length(data)) FROM part "
			    "WHERE session_id = s.id) "
			    "FROM session s ORDER BY s.id", err);
	while (!rc && (rc = talkdb_step(st, err)) == 1) {
		struct transcript_talk *t;

		rc = 0;
		*out = arena_grow(a, *out, &cap, *count + 1, sizeof(*t));
		if (!*out)
			break;
		t = &(*out)[(*count)++];
		t->skip = NULL;
		t->session = talkdb_text(a, st, 0);
		t->stamp = arena_printf(a, "%" PRId64 ":%s:%" PRId64,
					(int64_t)sqlite3_column_int64(st, 1),
					sqlite3_column_text(st, 2) ?
					(const char *)sqlite3_column_text(st, 2) :
					"",
					(int64_t)sqlite3_column_int64(st, 3));
		if (!t->session)
			(*count)--;
	}
	sqlite3_finalize(st);
	sqlite3_close(db);
	return !rc && a->failed ? fail_nomem(err) : rc;
}

/* ---- one talk --------------------------------------------------------- */

static int read_session(struct transcript *t, struct store *s,
			struct remem_err *err)
{
	struct transcript_info *i = &t->info;
	sqlite3_stmt *st;
	int rc = talkdb_prepare(&st, s->d.db, t->wanted_session ?
		"SELECT id, directory, title, parent_id FROM session "
		"WHERE id = ?1" :
		"SELECT id, directory, title, parent_id FROM session "
		"ORDER BY time_updated DESC LIMIT 1", err);

	if (rc)
		return rc;
	if (t->wanted_session)
		sqlite3_bind_text(st, 1, t->wanted_session, -1, SQLITE_STATIC);
	rc = talkdb_step(st, err);
	if (rc == 1) {
		i->session = talkdb_text(&t->a, st, 0);
		i->cwd = talkdb_text(&t->a, st, 1);
		i->title = talkdb_text(&t->a, st, 2);
		i->parent = talkdb_text(&t->a, st, 3);
		/* Asked by another agent. */
		i->automatic = i->parent != NULL;
	}
	sqlite3_finalize(st);
	if (rc == 1 && i->session)
		return 0;
	return rc < 0 ? rc : fail(err, REMEM_ENOTFOUND,
				  "there is no talk '%s' in '%s'",
				  t->wanted_session ? t->wanted_session : "",
				  t->path);
}

static int store_open(struct transcript *t, struct remem_err *err)
{
	struct store *s = mem_zalloc(sizeof(*s));
	int rc;

	if (!s)
		return fail_nomem(err);
	t->self = s;
	if ((rc = talkdb_begin(&s->d, t->path, is_known, err)) ||
	    (rc = read_session(t, s, err)))
		return rc;
	t->info.rewritten = t->from.line > 0;
	memset(&t->from, 0, sizeof(t->from));
	if ((rc = talkdb_prepare(&s->messages, s->d.db, "SELECT id, data, "
				 "time_created FROM message "
				 "WHERE session_id = ?1 "
				 "ORDER BY time_created, id", err)) ||
	    (rc = talkdb_prepare(&s->parts, s->d.db, "SELECT data FROM part "
				 "WHERE message_id = ?1 ORDER BY id", err)))
		return rc;
	sqlite3_bind_text(s->messages, 1, t->info.session, -1, SQLITE_STATIC);
	return 0;
}

static void store_close(struct transcript *t)
{
	struct store *s = t->self;

	if (!s)
		return;
	sqlite3_finalize(s->messages);
	sqlite3_finalize(s->parts);
	talkdb_release(&s->d);
	mem_free(s);
}

static yyjson_val *parse(struct transcript *t, struct store *s,
			 sqlite3_stmt *st, int column)
{
	const char *text = (const char *)sqlite3_column_text(st, column);
	const char *reason;
	yyjson_val *v;

	if (talkdb_take(&s->d, text, (size_t)sqlite3_column_bytes(st, column),
			NULL))
		return NULL;
	v = talkdb_object(&s->d, &reason);
	if (!v)
		transcript_bad(t, s->line, reason);
	return v;
}

static void tool(struct transcript *t, yyjson_val *p)
{
	yyjson_val *state = yyjson_obj_get(p, "state");
	yyjson_val *output = yyjson_obj_get(state, "output");

	t->next.tool = json_str(p, "tool", NULL);
	transcript_push_json(t, TRANSCRIPT_ASSISTANT, TRANSCRIPT_CALL,
			     yyjson_obj_get(state, "input"));
	if (output)
		transcript_push_json(t, TRANSCRIPT_TOOL, TRANSCRIPT_RESULT,
				     output);
	t->next.tool = NULL;
}

static void part(struct transcript *t, yyjson_val *p, bool user)
{
	const char *type = json_str(p, "type", "");
	yyjson_val *text = yyjson_obj_get(p, "text");

	if (!strcmp(type, "tool")) {
		tool(t, p);
	} else if (!strcmp(type, "compaction")) {
		transcript_push(t, TRANSCRIPT_SYSTEM, TRANSCRIPT_COMPACTION, "",
				0);
	} else if (yyjson_is_str(text) && !strcmp(type, "reasoning")) {
		transcript_push(t, TRANSCRIPT_ASSISTANT, TRANSCRIPT_THINKING,
				yyjson_get_str(text), yyjson_get_len(text));
	} else if (yyjson_is_str(text) && !strcmp(type, "text")) {
		/* Put in by the program, as contents of files. */
		transcript_push(t, json_bool(p, "synthetic", false) ?
				TRANSCRIPT_SYSTEM : user ? TRANSCRIPT_USER :
				TRANSCRIPT_ASSISTANT, TRANSCRIPT_TEXT,
				yyjson_get_str(text), yyjson_get_len(text));
	}
}

static bool take_message(struct transcript *t, yyjson_val *m)
{
	yyjson_val *tokens = yyjson_obj_get(m, "tokens");
	yyjson_val *cache = yyjson_obj_get(tokens, "cache");
	int64_t out = json_int(tokens, "output", 0);
	int64_t all = json_int(tokens, "input", 0) + out +
		      json_int(cache, "read", 0) + json_int(cache, "write", 0);

	if (all > 0) {
		t->info.context_tokens = all;
		t->info.output_tokens = out;
	}
	return !strcmp(json_str(m, "role", ""), "user");
}

static int fill(struct transcript *t, bool *more, struct remem_err *err)
{
	struct store *s = t->self;
	int64_t at;
	bool user;
	int rc = talkdb_step(s->messages, err);

	*more = rc == 1;
	if (rc != 1)
		return rc;
	s->line++;
	user = take_message(t, parse(t, s, s->messages, 1));
	at = sqlite3_column_int64(s->messages, 2);
	sqlite3_bind_text(s->parts, 1,
			  (const char *)sqlite3_column_text(s->messages, 0),
			  -1, SQLITE_TRANSIENT);
	memset(&t->next, 0, sizeof(t->next));
	t->next.line = t->info.lines = s->line;
	t->next.time_ms = at;
	while ((rc = talkdb_step(s->parts, err)) == 1) {
		yyjson_val *p = parse(t, s, s->parts, 0);

		if (p)
			part(t, p, user);
	}
	return rc;
}

static int mark(struct transcript *t, struct transcript_mark *out,
		struct remem_err *err)
{
	struct store *s = t->self;

	(void)err;
	out->line = out->offset = s->line;
	return 0;
}

/* A line a message: the list of its parts as they are. */
static int raw(int *fd, struct transcript *t, struct remem_err *err)
{
	struct buf out = BUF_INIT(RAW_MAX_BYTES);
	struct store *s = t->self;
	int rc;

	sqlite3_reset(s->messages);
	while ((rc = talkdb_step(s->messages, err)) == 1) {
		int n = 0;

		sqlite3_bind_text(s->parts, 1, (const char *)
				  sqlite3_column_text(s->messages, 0), -1,
				  SQLITE_TRANSIENT);
		buf_addc(&out, '[');
		while ((rc = talkdb_step(s->parts, err)) == 1) {
			const char *p = (const char *)
				sqlite3_column_text(s->parts, 0);

			if (n++)
				buf_addc(&out, ',');
			talkdb_put_flat(&out, p ? p : "", p ? strlen(p) : 0);
		}
		buf_adds(&out, "]\n");
		if (rc < 0)
			break;
	}
	if (!rc && !(rc = buf_check(&out, err)))
		rc = transcript_give_raw(fd, &out, err);
	buf_release(&out);
	return rc;
}

static const char *place_name(struct arena *a, const char *rel,
			      const char *agent)
{
	(void)agent;
	return strcmp(rel, "opencode.db") ? NULL : arena_strdup(a, "opencode");
}

static const struct transcript_place places[] = {
	{ "XDG_DATA_HOME", "opencode", ".local/share/opencode", 1, place_name },
	{ 0 },
};

const struct transcript_format transcript_opencode = {
	.name = "opencode",
	.host = "opencode",
	.places = places,
	.store = true,
	.is_store = is_store,
	.talks = talks,
	.open = store_open,
	.fill = fill,
	.mark = mark,
	.raw = raw,
	.close = store_close,
};
