/* OpenCode's store and that of Cursor's terminal program, made here. */
#include "base_tmp.h"

#include <sqlite3.h>
#include <unistd.h>

#include "source/sessions.h"
#include "source/transcript.h"

static struct tmp tmp;
static sqlite3 *db;

static void sql(const char *text)
{
	char *why = NULL;

	if (sqlite3_exec(db, text, NULL, NULL, &why))
		fail_msg("%s: %s", text, why);
}

static void setup(void)
{
	tmp_begin(&tmp);
	assert_int_equal(sqlite3_open(tmp_path(&tmp, "opencode.db"), &db), 0);
	sql("CREATE TABLE session(id TEXT PRIMARY KEY, project_id TEXT, "
	    "parent_id TEXT, directory TEXT, title TEXT, version TEXT, "
	    "time_created INTEGER, time_updated INTEGER);"
	    "CREATE TABLE message(id TEXT PRIMARY KEY, session_id TEXT, "
	    "time_created INTEGER, time_updated INTEGER, data TEXT);"
	    "CREATE TABLE part(id TEXT PRIMARY KEY, message_id TEXT, "
	    "session_id TEXT, time_created INTEGER, time_updated INTEGER, "
	    "data TEXT)");
	sql("INSERT INTO session VALUES('ses_1', 'p', NULL, '/home/ada/kiln', "
	    "'Glazes', '1.0', 1795000000000, 1795000009000)");
	sql("INSERT INTO message VALUES('msg_1', 'ses_1', 1795000000000, 0, "
	    "'{\"role\":\"user\"}'), ('msg_2', 'ses_1', 1795000005000, 0, "
	    "'{\"role\":\"assistant\",\"tokens\":{\"input\":90,\"output\":10,"
	    "\"cache\":{\"read\":5,\"write\":0}}}')");
	sql("INSERT INTO part VALUES('prt_1', 'msg_1', 'ses_1', 0, 0, "
	    "'{\"type\":\"text\",\"text\":\"Which glaze runs?\"}'), "
	    "('prt_2', 'msg_1', 'ses_1', 0, 0, '{\"type\":\"text\","
	    "\"synthetic\":true,\"text\":\"a file\"}'), "
	    "('prt_3', 'msg_2', 'ses_1', 0, 0, '{\"type\":\"tool\","
	    "\"tool\":\"read\",\"state\":{\"input\":{},\"output\":\"list\"}}'), "
	    "('prt_4', 'msg_2', 'ses_1', 0, 0, '{\"type\":\"text\","
	    "\"text\":\"青瓷釉会流动。\"}')");
}

static void teardown(void)
{
	sqlite3_close(db);
	tmp_end(&tmp);
}

static void test_opencode__messages_with_their_parts(void **state)
{
	const struct transcript_message *m;
	struct transcript *t;
	char raw[400];
	int fd;

	(void)state;
	setup();
	assert_int_equal(transcript_open(&t, tmp_path(&tmp, "opencode.db"),
					 NULL, NULL), 0);
	assert_string_equal(transcript_info(t)->cwd, "/home/ada/kiln");
	assert_int_equal(transcript_next(t, &m, NULL), 0);
	assert_string_equal(m->text, "Which glaze runs?");
	assert_int_equal(m->line, 1);
	assert_int_equal(m->time_ms, 1795000000000);
	assert_int_equal(transcript_next(t, &m, NULL), 0);
	assert_string_equal(m->text, "青瓷釉会流动。");
	assert_true(m->tainted);
	assert_int_equal(m->line, 2);
	assert_int_equal(transcript_next(t, &m, NULL), 0);
	assert_null(m);
	assert_int_equal(transcript_info(t)->context_tokens, 105);
	assert_int_equal(transcript_raw(&fd, t, NULL), 0);
	memset(raw, 0, sizeof(raw));
	assert_true(read(fd, raw, sizeof(raw) - 1) > 0);
	assert_memory_equal(raw, "[{\"type\":\"text\",\"text\":\"Which", 28);
	close(fd);
	transcript_close(t);
	teardown();
}

static void test_opencode__a_changed_talk_has_another_stamp(void **state)
{
	struct arena a = ARENA_INIT;
	struct transcript_talk *one, *two;
	size_t n;

	(void)state;
	setup();
	assert_int_equal(transcript_talks(&one, &n, &a,
					  tmp_path(&tmp, "opencode.db"),
					  "opencode", NULL), 0);
	assert_int_equal(n, 1);
	assert_string_equal(one->session, "ses_1");
	sql("UPDATE part SET data = '{\"type\":\"text\",\"text\":\"longer\"}' "
	    "WHERE id = 'prt_4'");
	assert_int_equal(transcript_talks(&two, &n, &a,
					  tmp_path(&tmp, "opencode.db"),
					  "opencode", NULL), 0);
	assert_string_not_equal(one->stamp, two->stamp);
	sql("DROP TABLE part");
	assert_int_equal(transcript_talks(&two, &n, &a,
					  tmp_path(&tmp, "opencode.db"),
					  "opencode", NULL), REMEM_EVERSION);
	arena_release(&a);
	teardown();
}

static void test_cursor_cli__messages_in_the_order_of_rows(void **state)
{
	static const char dir[] = ".cursor/chats/"
		"cb42133c633c70a2f7cf37fee8f7f57d/u1";
	struct transcript *t;
	const struct transcript_message *m;
	char path[600], line[200] = "";
	int fd;

	(void)state;
	tmp_begin(&tmp);
	snprintf(path, sizeof(path), "%s/%s", tmp.dir, dir);
	assert_int_equal(dir_make(path, 0700, NULL), 0);
	strcat(path, "/store.db");
	assert_int_equal(sqlite3_open(path, &db), 0);
	sql("CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT);"
	    "CREATE TABLE blobs(id TEXT PRIMARY KEY, data BLOB);"
	    "INSERT INTO blobs VALUES('a', CAST('{\"role\":\"system\","
	    "\"content\":\"rules\"}' AS BLOB)), ('b', x'0a0b0c'), "
	    "('c', CAST('{\"role\":\"user\",\"content\":[{\"type\":\"text\","
	    "\"text\":\"<user_query>Where is the quay?</user_query>\"}]}' "
	    "AS BLOB)), ('d', CAST('{\"role\":\"tool\",\"content\":[{\"type\":"
	    "\"tool-result\",\"toolName\":\"Grep\",\"result\":\"x\"}]}' "
	    "AS BLOB)), ('e', CAST('{\"role\":\"assistant\",\"content\":[{"
	    "\"type\":\"text\",\"text\":\"在港口东边。\"}]}' AS BLOB))");
	assert_int_equal(transcript_open(&t, path, NULL, NULL), 0);
	assert_string_equal(transcript_info(t)->format, "cursor-cli");
	assert_string_equal(transcript_info(t)->session, "u1");
	assert_int_equal(transcript_next(t, &m, NULL), 0);
	assert_string_equal(m->text, "Where is the quay?");
	assert_int_equal(m->line, 3);
	assert_int_equal(transcript_next(t, &m, NULL), 0);
	assert_string_equal(m->text, "在港口东边。");
	assert_true(m->tainted);
	assert_int_equal(transcript_next(t, &m, NULL), 0);
	assert_null(m);
	/* The folder's name is the MD5 of where it was held. */
	assert_true(session_in_scope(&(struct session_opts){
		.project = "/home/ada" }, &(struct session_file){
		.path = path }, transcript_info(t)));
	assert_false(session_in_scope(&(struct session_opts){
		.project = "/home/eve" }, &(struct session_file){
		.path = path }, transcript_info(t)));
	assert_int_equal(transcript_raw(&fd, t, NULL), 0);
	assert_true(read(fd, line, sizeof(line) - 1) > 0);
	assert_memory_equal(line, "{\"role\":\"system\",\"content\":\"rules\"}"
			    "\n\n{\"role\":\"user\"", 51);
	close(fd);
	transcript_close(t);
	teardown();
}
