/*
 * OpenClaw's store since 2026.9: one SQLite file an agent, whose table
 * transcript_events holds the records of the JSON lines by session and seq,
 * as text or as a zstd frame. What is current stands in
 * session_transcript_active_events; without it the tree of parents says so. A
 * rewrite changes the generation of the session. A mark is (generation, how
 * many current records, the last seq): where that still holds, only what came
 * after is read. A citation's line is the seq.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/path.h"
#include "base/zstd.h"
#include "source/openclaw.h"
#include "source/talkdb.h"

#define EVENT_MAX_BYTES (4u << 20) /* OpenClaw's own bound */
#define RAW_MAX_BYTES (512u << 20)

struct store {
	struct talkdb d;
	sqlite3_stmt *next; /* the record behind a seq */
	bool active; /* this session has a current path */
	char generation[80];
	int64_t done, last; /* current records read, seq of the last */
};

static bool is_known(sqlite3 *db)
{
	return talkdb_has(db, "transcript_events", "session_id seq event_json");
}

/* What is talked in it is not to be kept. */
static bool is_incognito(const char *path)
{
	return !strncmp(path_base(path), "incognito-", 10);
}

static bool is_store(const char *path)
{
	return !strcmp(path_base(path), "openclaw-agent.sqlite") ||
	       (!is_incognito(path) && talkdb_is(path, is_known));
}

static int refuse_incognito(const char *path, struct remem_err *err)
{
	return is_incognito(path) ? fail(err, REMEM_EPERM,
					 "'%s' is not to be read", path) : 0;
}

static bool has_active(sqlite3 *db)
{
	return talkdb_has(db, "session_transcript_active_events",
			  "session_id event_seq");
}

/* One value of a session; def where there is none. */
static int64_t number(sqlite3 *db, const char *sql, const char *session,
		      int64_t seq, int64_t def)
{
	sqlite3_stmt *st;

	if (talkdb_prepare(&st, db, sql, NULL))
		return def;
	sqlite3_bind_text(st, 1, session, -1, SQLITE_STATIC);
	if (sqlite3_bind_parameter_count(st) > 1)
		sqlite3_bind_int64(st, 2, seq);
	if (talkdb_step(st, NULL) == 1 &&
	    sqlite3_column_type(st, 0) != SQLITE_NULL)
		def = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return def;
}

#define ACTIVE "session_transcript_active_events WHERE session_id = ?1"

static int64_t active_count(sqlite3 *db, const char *session, int64_t seq)
{
	return has_active(db) ? number(db, "SELECT count(*) FROM " ACTIVE
				       " AND event_seq <= ?2", session, seq,
				       0) : 0;
}

static void generation_of(char out[80], sqlite3 *db, const char *session)
{
	sqlite3_stmt *st;

	out[0] = 0;
	if (!talkdb_has(db, "transcript_rewrite_watermarks",
			"session_id generation") ||
	    talkdb_prepare(&st, db, "SELECT generation FROM "
			   "transcript_rewrite_watermarks "
			   "WHERE session_id = ?1", NULL))
		return;
	sqlite3_bind_text(st, 1, session, -1, SQLITE_STATIC);
	if (talkdb_step(st, NULL) == 1)
		snprintf(out, 80, "%.79s", (const char *)
			 (sqlite3_column_text(st, 0) ?
			  sqlite3_column_text(st, 0) :
			  (const unsigned char *)""));
	sqlite3_finalize(st);
	for (char *p = out; *p; p++)
		if (*p == '\t' || *p == '\n')
			*p = '_';
}

static bool is_forgotten(sqlite3 *db, const char *session)
{
	return talkdb_has(db, "memory_session_tombstones", "session_id") &&
	       number(db, "SELECT 1 FROM memory_session_tombstones "
		      "WHERE session_id = ?1", session, 0, 0);
}

/* ---- the talks -------------------------------------------------------- */

struct talk_list {
	struct transcript_talk *talks;
	size_t count, cap;
	struct arena *a;
};

static void add_talk(struct talk_list *l, const char *session,
		     const char *stamp, const char *skip)
{
	l->talks = arena_grow(l->a, l->talks, &l->cap, l->count + 1,
			      sizeof(*l->talks));
	if (l->talks)
		l->talks[l->count++] = (struct transcript_talk){ session,
								 stamp, skip };
}

static const char *stamp_of(struct arena *a, sqlite3 *db, const char *session)
{
	char generation[80];
	int64_t last = number(db, "SELECT max(seq) FROM transcript_events "
			      "WHERE session_id = ?1", session, 0, -1);

	generation_of(generation, db, session);
	return arena_printf(a, "%s:%" PRId64 ":%" PRId64, generation, last,
			    active_count(db, session, INT64_MAX));
}

/* What was forgotten has no events, perhaps, but files of its name. */
static int add_forgotten(struct talk_list *l, sqlite3 *db,
			 struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc;

	if (!talkdb_has(db, "memory_session_tombstones", "session_id"))
		return 0;
	if ((rc = talkdb_prepare(&st, db, "SELECT session_id FROM "
				 "memory_session_tombstones", err)))
		return rc;
	while ((rc = talkdb_step(st, err)) == 1) {
		const char *s = talkdb_text(l->a, st, 0);

		if (s)
			add_talk(l, s, "", "it was to be forgotten");
	}
	sqlite3_finalize(st);
	return rc;
}

/* From one session to the next by the key: events are many. */
static int talks(struct transcript_talk **out, size_t *count, struct arena *a,
		 const char *path, struct remem_err *err)
{
	struct talk_list l = { .a = a };
	const char *session = "";
	sqlite3_stmt *st = NULL;
	sqlite3 *db;
	int rc = refuse_incognito(path, err);

	if (rc || (rc = talkdb_open(&db, path, is_known, err)))
		return rc;
	rc = talkdb_prepare(&st, db, "SELECT session_id FROM transcript_events "
			    "WHERE session_id > ?1 ORDER BY session_id LIMIT 1",
			    err);
	while (!rc) {
		sqlite3_bind_text(st, 1, session, -1, SQLITE_STATIC);
		rc = talkdb_step(st, err);
		if (rc != 1)
			break;
		session = talkdb_text(a, st, 0);
		sqlite3_reset(st);
		rc = session ? 0 : fail_nomem(err);
		if (!rc && !is_forgotten(db, session))
			add_talk(&l, session, stamp_of(a, db, session), NULL);
	}
	sqlite3_finalize(st);
	if (!rc)
		rc = add_forgotten(&l, db, err);
	sqlite3_close(db);
	*out = l.talks;
	*count = l.count;
	return !rc && a->failed ? fail_nomem(err) : rc;
}

/* ---- one talk --------------------------------------------------------- */

static bool is_one_of(const char *s, const char *const *words)
{
	for (; s && *words; words++)
		if (!strcmp(s, *words))
			return true;
	return false;
}

static void read_kind(struct transcript *t, sqlite3 *db, const char *sql)
{
	static const char *const shared[] = { "group", "channel", NULL };
	static const char *const automatic[] = { "cron", "plugin", "internal",
						 "spawn", NULL };
	struct transcript_info *i = &t->info;
	sqlite3_stmt *st;

	if (talkdb_prepare(&st, db, sql, NULL))
		return;
	sqlite3_bind_text(st, 1, t->info.session, -1, SQLITE_STATIC);
	if (talkdb_step(st, NULL) == 1) {
		const char *key = (const char *)sqlite3_column_text(st, 2);

		i->shared |= is_one_of((const char *)sqlite3_column_text(st, 0),
				       shared);
		i->shared |= is_one_of((const char *)sqlite3_column_text(st, 1),
				       shared);
		i->automatic |= key && (strstr(key, "cron:") ||
					strstr(key, "hook:") ||
					strstr(key, "heartbeat"));
		/* Mail and the like is no one's talk but has others' words. */
		i->shared |= sqlite3_column_type(st, 3) != SQLITE_NULL;
		i->automatic |= is_one_of(
			(const char *)sqlite3_column_text(st, 4), automatic);
		if (!i->started_ms)
			i->started_ms = sqlite3_column_int64(st, 5);
	}
	sqlite3_finalize(st);
}

static void read_facts(struct transcript *t, sqlite3 *db)
{
	if (!talkdb_has(db, "session_windows", "session_id session_key "
			"session_scope chat_type started_at "
			"hook_external_content_source"))
		return;
	if (talkdb_has(db, "session_nodes", "session_key created_via"))
		read_kind(t, db, "SELECT w.session_scope, w.chat_type, "
			  "w.session_key, w.hook_external_content_source, "
			  "n.created_via, w.started_at FROM session_windows w "
			  "LEFT JOIN session_nodes n "
			  "ON n.session_key = w.session_key "
			  "WHERE w.session_id = ?1");
	else
		read_kind(t, db, "SELECT session_scope, chat_type, "
			  "session_key, hook_external_content_source, NULL, "
			  "started_at FROM session_windows "
			  "WHERE session_id = ?1");
}

/* The session with the newest record, where none was named. */
static const char *newest(struct transcript *t, sqlite3 *db)
{
	const char *s = NULL;
	sqlite3_stmt *st;

	if (talkdb_prepare(&st, db, "SELECT session_id FROM transcript_events "
			   "ORDER BY created_at DESC, seq DESC LIMIT 1", NULL))
		return NULL;
	if (talkdb_step(st, NULL) == 1)
		s = talkdb_text(&t->a, st, 0);
	sqlite3_finalize(st);
	return s;
}

/* Without a table of what is current: all that is not on the way from the
 * last record to the root is dead. */
static int resolve(struct transcript *t, struct store *s,
		   struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc;

	if (!talkdb_has(s->d.db, "transcript_event_identities",
			"session_id event_id seq parent_id"))
		return 0;
	if ((rc = talkdb_prepare(&st, s->d.db, "SELECT event_id, parent_id, seq "
				 "FROM transcript_event_identities "
				 "WHERE session_id = ?1 ORDER BY seq", err)))
		return rc;
	sqlite3_bind_text(st, 1, t->info.session, -1, SQLITE_STATIC);
	while ((rc = talkdb_step(st, err)) == 1) {
		const char *id = (const char *)sqlite3_column_text(st, 0);
		const char *parent = (const char *)sqlite3_column_text(st, 1);

		transcript_tree_add(t, id ? id : "", parent ? parent : "",
				    sqlite3_column_int64(st, 2));
	}
	sqlite3_finalize(st);
	return rc ? rc : transcript_resolve_tree(t, err);
}

static bool mark_holds(const struct transcript *t, const struct store *s)
{
	const struct transcript_mark *m = &t->from;

	return s->active && !strcmp(m->generation, s->generation) &&
	       active_count(s->d.db, t->info.session, m->line) == m->offset &&
	       number(s->d.db, "SELECT 1 FROM " ACTIVE " AND event_seq = ?2",
		      t->info.session, m->line, 0) == 1;
}

static int begin(struct transcript *t, struct store *s, struct remem_err *err)
{
	int rc;

	s->active = active_count(s->d.db, t->info.session, INT64_MAX) > 0;
	generation_of(s->generation, s->d.db, t->info.session);
	if (t->from.line && mark_holds(t, s)) {
		s->done = t->from.offset;
		s->last = t->from.line;
		t->tainted = t->from.tainted;
	} else {
		t->info.rewritten = t->from.line > 0;
		memset(&t->from, 0, sizeof(t->from));
		s->last = -1;
		if (!s->active && (rc = resolve(t, s, err)))
			return rc;
	}
	return talkdb_prepare(&s->next, s->d.db, s->active ?
		"SELECT e.seq, e.event_json, e.event_zstd, e.created_at "
		"FROM session_transcript_active_events a "
		"JOIN transcript_events e ON e.session_id = a.session_id "
		"AND e.seq = a.event_seq WHERE a.session_id = ?1 "
		"AND a.event_seq > ?2 ORDER BY a.event_seq LIMIT 1" :
		"SELECT seq, event_json, event_zstd, created_at "
		"FROM transcript_events WHERE session_id = ?1 AND seq > ?2 "
		"ORDER BY seq LIMIT 1", err);
}

/* The record in the columns from `column` on, with room for the parser. */
static int take_event(struct store *s, sqlite3_stmt *st, int column,
		      struct remem_err *err)
{
	const void *p = sqlite3_column_blob(st, column);
	size_t n = (size_t)sqlite3_column_bytes(st, column);
	int rc;

	if (p)
		return talkdb_take(&s->d, p, n, err);
	buf_reset(&s->d.record);
	p = sqlite3_column_blob(st, column + 1);
	n = (size_t)sqlite3_column_bytes(st, column + 1);
	rc = p ? zstd_read(&s->d.record, p, n, EVENT_MAX_BYTES, err) : 0;
	buf_reserve(&s->d.record, TALKDB_ROOM);
	return rc ? rc : buf_check(&s->d.record, err);
}

static void read_event(struct transcript *t, struct store *s, int64_t seq,
		       int64_t created)
{
	const char *reason;
	yyjson_val *v = talkdb_object(&s->d, &reason);

	if (!v) {
		transcript_bad(t, seq, reason);
		return;
	}
	memset(&t->next, 0, sizeof(t->next));
	t->next.line = seq;
	t->next.time_ms = created;
	openclaw_record(t, v);
}

static int first_record(struct transcript *t, struct store *s,
			struct remem_err *err)
{
	unsigned want = t->want;
	sqlite3_stmt *st;
	int rc;

	if ((rc = talkdb_prepare(&st, s->d.db, "SELECT event_json, event_zstd "
				 "FROM transcript_events WHERE session_id = ?1 "
				 "ORDER BY seq LIMIT 1", err)))
		return rc;
	sqlite3_bind_text(st, 1, t->info.session, -1, SQLITE_STATIC);
	t->want = 0;
	if (talkdb_step(st, NULL) == 1 && !take_event(s, st, 0, NULL))
		read_event(t, s, 0, 0);
	t->want = want;
	t->info.bad_lines = t->info.compactions = 0;
	t->info.bad_reason = NULL;
	sqlite3_finalize(st);
	return 0;
}

static int store_open(struct transcript *t, struct remem_err *err)
{
	int rc = refuse_incognito(t->path, err);
	struct store *s;

	if (rc)
		return rc;
	if (!(s = mem_zalloc(sizeof(*s))))
		return fail_nomem(err);
	t->self = s;
	if ((rc = talkdb_begin(&s->d, t->path, is_known, err)))
		return rc;
	t->info.session = t->wanted_session ? t->wanted_session :
					      newest(t, s->d.db);
	if (!t->info.session || is_forgotten(s->d.db, t->info.session) ||
	    number(s->d.db, "SELECT count(*) FROM (SELECT 1 FROM "
		   "transcript_events WHERE session_id = ?1 LIMIT 1)",
		   t->info.session, 0, 0) < 1)
		return fail(err, REMEM_ENOTFOUND, "there is no talk '%s' in "
			    "'%s'", t->info.session ? t->info.session : "",
			    t->path);
	read_facts(t, s->d.db);
	if ((rc = begin(t, s, err)))
		return rc;
	/* Where it was held stands in its first record. */
	return first_record(t, s, err);
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

static int fill(struct transcript *t, bool *more, struct remem_err *err)
{
	struct remem_err why = { 0 };
	struct store *s = t->self;
	int64_t seq, created;
	int rc;

	sqlite3_bind_text(s->next, 1, t->info.session, -1, SQLITE_STATIC);
	sqlite3_bind_int64(s->next, 2, s->last);
	rc = talkdb_step(s->next, err);
	*more = rc == 1;
	if (rc != 1)
		return rc;
	seq = sqlite3_column_int64(s->next, 0);
	created = sqlite3_column_int64(s->next, 3);
	rc = take_event(s, s->next, 1, &why);
	sqlite3_reset(s->next);
	s->last = seq;
	s->done++;
	t->info.lines = seq;
	if (rc == REMEM_ENOMEM)
		return fail_nomem(err);
	if (rc)
		transcript_bad(t, seq, why.message);
	else if (s->active || !transcript_is_dead(t, seq))
		read_event(t, s, seq, created);
	return 0;
}

static int mark(struct transcript *t, struct transcript_mark *out,
		struct remem_err *err)
{
	struct store *s = t->self;

	(void)err;
	out->offset = s->done;
	out->line = s->last < 0 ? 0 : s->last;
	memcpy(out->generation, s->generation, sizeof(out->generation));
	return 0;
}

/* Line n is record n, empty where there is none. */
static int raw(int *fd, struct transcript *t, struct remem_err *err)
{
	struct buf out = BUF_INIT(RAW_MAX_BYTES);
	struct store *s = t->self;
	int64_t line = 1, last = -1;
	int rc;

	for (;;) {
		int64_t seq;

		sqlite3_bind_text(s->next, 1, t->info.session, -1,
				  SQLITE_STATIC);
		sqlite3_bind_int64(s->next, 2, last);
		if ((rc = talkdb_step(s->next, err)) != 1)
			break;
		last = seq = sqlite3_column_int64(s->next, 0);
		rc = take_event(s, s->next, 1, NULL);
		sqlite3_reset(s->next);
		if (rc || seq < 1 || transcript_is_dead(t, seq))
			continue;
		for (; line < seq && !out.failed; line++)
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

/* "<agent>/agent/openclaw-agent.sqlite" */
static const char *place_name(struct arena *a, const char *rel,
			      const char *agent)
{
	size_t n = strlen(agent);

	if (strncmp(rel, agent, n) ||
	    strcmp(rel + n, "/agent/openclaw-agent.sqlite"))
		return NULL;
	return arena_printf(a, "openclaw/%s", agent);
}

static const struct transcript_place places[] = {
	{ "OPENCLAW_STATE_DIR", "agents", ".openclaw/agents", 3, place_name },
	{ 0 },
};

const struct transcript_format transcript_openclaw_sqlite = {
	.name = "openclaw-sqlite",
	.host = "openclaw",
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
