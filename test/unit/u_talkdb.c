/* OpenClaw's SQLite store: made here with its tables and invented talks. */
#define _GNU_SOURCE
#include "index/index.h"
#include "index_help.h"

#include <sqlite3.h>
#include <unistd.h>

#include "base/zstd.h"
#include "source/sessions.h"
#include "source/transcript.h"

static struct ix x;
static struct session_opts so;
static char path[1200];
static sqlite3 *db;

static const char *const tables[] = {
	"PRAGMA journal_mode = WAL",
	"CREATE TABLE schema_meta(meta_key TEXT PRIMARY KEY, role TEXT, "
	"schema_version INTEGER, agent_id TEXT, app_version TEXT, "
	"created_at INTEGER, updated_at INTEGER)",
	"CREATE TABLE transcript_events(session_id TEXT, seq INTEGER, "
	"event_json TEXT, event_zstd BLOB, event_utf8_bytes INTEGER, "
	"navigation_json TEXT, created_at INTEGER, PRIMARY KEY(session_id, seq))",
	"CREATE TABLE transcript_event_identities(session_id TEXT, "
	"event_id TEXT, seq INTEGER, event_type TEXT, parent_id TEXT, "
	"message_idempotency_key TEXT, created_at INTEGER)",
	"CREATE TABLE session_transcript_active_events(session_id TEXT, "
	"active_position INTEGER, event_seq INTEGER, message_position INTEGER, "
	"context_eligible INTEGER)",
	"CREATE TABLE transcript_rewrite_watermarks(session_id TEXT PRIMARY KEY, "
	"generation TEXT, updated_at INTEGER)",
	"CREATE TABLE memory_session_tombstones(session_id TEXT PRIMARY KEY, "
	"agent_id TEXT, reason TEXT, created_at INTEGER)",
	"CREATE TABLE session_windows(session_id TEXT PRIMARY KEY, "
	"session_key TEXT, previous_session_id TEXT, reason TEXT, "
	"session_scope TEXT, chat_type TEXT, channel TEXT, "
	"hook_external_content_source TEXT, spawned_by TEXT, "
	"started_at INTEGER, ended_at INTEGER, status TEXT)",
	"CREATE TABLE session_nodes(session_key TEXT PRIMARY KEY, "
	"current_session_id TEXT, created_via TEXT, created_actor_type TEXT)",
};

static void sql(const char *fmt, ...)
{
	char text[4096], *why = NULL;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (sqlite3_exec(db, text, NULL, NULL, &why))
		fail_msg("%s: %s", text, why);
}

/* A zstd frame of one raw block. */
static size_t frame(unsigned char *out, const char *s, size_t n)
{
	static const unsigned char magic[4] = { 0x28, 0xb5, 0x2f, 0xfd };

	memcpy(out, magic, 4);
	out[4] = 0xa0; /* one segment, size in 4 bytes */
	for (int i = 0; i < 4; i++)
		out[5 + i] = (unsigned char)(n >> (8 * i));
	for (int i = 0; i < 3; i++)
		out[9 + i] = (unsigned char)((n << 3 | 1) >> (8 * i));
	memcpy(out + 12, s, n);
	return n + 12;
}

/* Record seq of a session, and what it says of itself. */
static void event(const char *session, int seq, const char *id,
		  const char *parent, const char *role, const char *text,
		  bool zstd, bool active)
{
	char json[1024];
	unsigned char blob[1100];
	sqlite3_stmt *st;
	int n = snprintf(json, sizeof(json), "{\"type\":\"message\",\"id\":"
			 "\"%s\",\"parentId\":\"%s\",\"timestamp\":"
			 "\"2026-11-29T08:00:00Z\",\"message\":{\"role\":"
			 "\"%s\",\"content\":\"%s\"}}", id, parent, role, text);

	assert_int_equal(sqlite3_prepare_v2(db, "INSERT INTO transcript_events "
		"VALUES(?, ?, ?, ?, ?, NULL, 1795939200000)", -1, &st, NULL),
		0);
	sqlite3_bind_text(st, 1, session, -1, SQLITE_STATIC);
	sqlite3_bind_int(st, 2, seq);
	if (zstd)
		sqlite3_bind_blob(st, 4, blob,
				  (int)frame(blob, json, (size_t)n),
				  SQLITE_STATIC);
	else
		sqlite3_bind_text(st, 3, json, n, SQLITE_STATIC);
	sqlite3_bind_int(st, 5, n);
	assert_int_equal(sqlite3_step(st), SQLITE_DONE);
	sqlite3_finalize(st);
	sql("INSERT INTO transcript_event_identities VALUES('%s', '%s', %d, "
	    "'message', '%s', NULL, 0)", session, id, seq, parent);
	if (active)
		sql("INSERT INTO session_transcript_active_events "
		    "VALUES('%s', %d, %d, %d, 1)", session, seq, seq, seq);
}

static void head(const char *session)
{
	sql("INSERT INTO transcript_events VALUES('%s', 0, '{\"type\":"
	    "\"session\",\"id\":\"%s\",\"cwd\":\"/home/ada\",\"timestamp\":"
	    "\"2026-11-29T08:00:00Z\"}', NULL, 0, NULL, 0)", session, session);
}

static void setup(void)
{
	static char home[700];

	ix_begin(&x);
	setenv("TZ", "UTC", 1);
	ws_put(&x.ws, "MEMORY.md", "# Memory\n");
	snprintf(home, sizeof(home), "%s/home", x.ws.tmp.dir);
	memset(&so, 0, sizeof(so));
	so.home = home;
	so.want = TRANSCRIPT_WANT_TEXT;
	x.ws.o.sessions = &so;
	snprintf(path, sizeof(path), "%s/.openclaw/agents/main/agent", home);
	assert_int_equal(dir_make(path, 0700, NULL), 0);
	strcat(path, "/openclaw-agent.sqlite");
	assert_int_equal(sqlite3_open(path, &db), 0);
	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		sql("%s", tables[i]);
	sql("INSERT INTO schema_meta VALUES('schema', 'agent', 99, 'main', "
	    "'2027.1.1', 0, 0)");
}

static void teardown(void)
{
	sqlite3_close(db);
	ix_end(&x);
}

static const char *all(const char *session, struct transcript_mark *m,
		       bool *rewritten)
{
	static struct buf b = BUF_INIT(0);
	struct transcript_opts o = { .session = session,
				     .from = m && m->line ? m : NULL };
	const struct transcript_message *msg;
	struct transcript *t;

	buf_reset(&b);
	if (transcript_open(&t, path, &o, &x.err))
		fail_msg("%s", x.err.message);
	while (!transcript_next(t, &msg, NULL) && msg)
		buf_addf(&b, "%lld:%s|", (long long)msg->line, msg->text);
	if (rewritten)
		*rewritten = transcript_info(t)->rewritten;
	if (m)
		assert_int_equal(transcript_mark(t, m, NULL), 0);
	transcript_close(t);
	return buf_str(&b);
}

/* ---- reading ---------------------------------------------------------- */

static void test_talkdb__plain_and_compressed_on_the_living_path(void **state)
{
	struct transcript_mark m = { 0 };
	bool rewritten;

	(void)state;
	setup();
	head("s1");
	event("s1", 1, "a", "", "user", "the wombat", false, true);
	event("s1", 2, "b", "a", "assistant", "a dead end", false, false);
	event("s1", 3, "c", "a", "assistant", "sleeps", true, true);
	assert_string_equal(all("s1", &m, NULL), "1:the wombat|3:sleeps|");
	event("s1", 4, "d", "c", "user", "考拉呢", true, true);
	assert_string_equal(all("s1", &m, &rewritten), "4:考拉呢|");
	assert_false(rewritten);
	sql("INSERT INTO transcript_rewrite_watermarks VALUES('s1', 'g2', 1)");
	assert_string_equal(all("s1", &m, &rewritten),
			    "1:the wombat|3:sleeps|4:考拉呢|");
	assert_true(rewritten);
	/* Back to the first branch. */
	sql("DELETE FROM session_transcript_active_events WHERE event_seq > 1");
	event("s1", 5, "e", "a", "user", "again", false, true);
	assert_string_equal(all("s1", &m, &rewritten), "1:the wombat|5:again|");
	assert_true(rewritten);
	teardown();
}

static void test_talkdb__without_a_path_the_tree_says(void **state)
{
	(void)state;
	setup();
	head("s1");
	event("s1", 1, "a", "", "user", "one", false, false);
	event("s1", 2, "b", "a", "user", "left", false, false);
	event("s1", 3, "c", "a", "user", "right", false, false);
	sql("DROP TABLE session_transcript_active_events");
	assert_string_equal(all(NULL, NULL, NULL), "1:one|3:right|");
	teardown();
}

static void test_talkdb__bad_records_are_counted(void **state)
{
	struct transcript *t;
	const struct transcript_message *m;

	(void)state;
	setup();
	event("s1", 1, "a", "", "user", "one", false, true);
	event("s1", 2, "b", "a", "user", "two", true, true);
	event("s1", 3, "c", "b", "user", "three", false, true);
	sql("UPDATE transcript_events SET event_zstd = x'28b52ffd' WHERE "
	    "seq = 2");
	assert_int_equal(transcript_open(&t, path, NULL, NULL), 0);
	while (!transcript_next(t, &m, NULL) && m)
		assert_int_not_equal(m->line, 2);
	assert_int_equal(transcript_info(t)->bad_lines, 1);
	assert_int_equal(transcript_info(t)->bad_line, 2);
	assert_int_equal(transcript_info(t)->messages, 2);
	transcript_close(t);
	teardown();
}

static void test_talkdb__kinds_of_talk(void **state)
{
	const struct transcript_message *m;
	struct transcript_opts o = { .session = "g" };
	struct transcript *t;

	(void)state;
	setup();
	event("g", 1, "a", "", "user", "someone in a group", false, true);
	event("c", 1, "a", "", "user", "every morning", false, true);
	sql("INSERT INTO session_windows VALUES('g', 'agent:main:x:group:7', "
	    "NULL, NULL, 'group', 'group', 'x', NULL, NULL, 5, NULL, 'open')");
	sql("INSERT INTO session_windows VALUES('c', 'cron:job', NULL, NULL, "
	    "'conversation', 'direct', NULL, NULL, NULL, 5, NULL, 'open')");
	assert_int_equal(transcript_open(&t, path, &o, NULL), 0);
	assert_int_equal(transcript_next(t, &m, NULL), 0);
	assert_true(m && m->shared);
	assert_int_equal(m->origin, TRANSCRIPT_UNTRUSTED);
	transcript_close(t);
	assert_string_equal(all("c", NULL, NULL), "");
	teardown();
}

/* ---- in the index ----------------------------------------------------- */

static void test_talkdb__the_index_follows_a_store_in_use(void **state)
{
	struct store_file f;

	(void)state;
	setup();
	head("s1");
	event("s1", 1, "a", "", "user", "the wombat", true, true);
	event("s2", 1, "a", "", "user", "the zebra", false, true);
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "wombat"), 1);
	assert_true(ix_file(&x, "openclaw/main/s1", &f));
	/* Its owner is in the middle of writing. */
	sql("BEGIN IMMEDIATE");
	event("s1", 2, "b", "a", "assistant", "the koala", true, true);
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "koala"), 0);
	sql("COMMIT");
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "koala"), 1);
	assert_int_equal(x.r.changed, 1);
	sql("INSERT INTO memory_session_tombstones VALUES('s2', 'main', "
	    "'asked', 1)");
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "zebra"), 0);
	assert_int_equal(ix_hits(&x, "wombat"), 1);
	teardown();
}

static void test_talkdb__a_talk_in_both_forms_is_in_once(void **state)
{
	char old[1300];
	FILE *f;

	(void)state;
	setup();
	event("s1", 1, "a", "", "user", "the wombat in the store", false, true);
	sql("INSERT INTO memory_session_tombstones VALUES('s3', 'main', "
	    "'asked', 1)");
	for (int i = 1; i <= 3; i += 2) {
		snprintf(old, sizeof(old), "%s/.openclaw/agents/main/sessions",
			 so.home);
		assert_int_equal(dir_make(old, 0700, NULL), 0);
		snprintf(old + strlen(old), 32, "/s%d.jsonl", i);
		f = fopen(old, "w");
		assert_non_null(f);
		fprintf(f, "{\"type\":\"message\",\"id\":\"a\",\"message\":{"
			"\"role\":\"user\",\"content\":\"the wombat in lines\"}"
			"}\n");
		assert_int_equal(fclose(f), 0);
	}
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "wombat"), 1);
	assert_int_equal(ix_hits(&x, "store"), 1);
	teardown();
}

static void test_talkdb__unknown_tables_are_listed_and_nothing_is_lost(
	void **state)
{
	(void)state;
	setup();
	event("s1", 1, "a", "", "user", "the wombat", false, true);
	ix_run(&x);
	sql("ALTER TABLE transcript_events RENAME TO transcript_events_2");
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "wombat"), 1);
	assert_int_equal(x.r.skip_count, 1);
	assert_non_null(strstr(x.r.skips[0].reason, "no talks in a form"));
	sql("ALTER TABLE transcript_events_2 RENAME TO transcript_events");
	event("s1", 2, "b", "a", "user", "the koala", false, true);
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "koala"), 1);
	teardown();
}

static void test_talkdb__a_locked_store_waits_for_the_next_time(void **state)
{
	(void)state;
	setup();
	event("s1", 1, "a", "", "user", "the wombat", false, true);
	ix_run(&x);
	event("s1", 2, "b", "a", "user", "the koala", false, true);
	sql("PRAGMA journal_mode = DELETE");
	sql("BEGIN EXCLUSIVE");
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "wombat"), 1);
	assert_false(x.r.complete);
	sql("COMMIT");
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "koala"), 1);
	teardown();
}
