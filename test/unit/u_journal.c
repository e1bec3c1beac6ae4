/* The chain: whole, broken anywhere, compacted, of another version. */
#include "memory_box.h"

#include <sqlite3.h>

static void add_some(struct box *b, int n)
{
	for (int i = 0; i < n; i++)
		assert_int_equal(journal_add(NULL, &b->m, NULL, "recall",
					     "memory/x.md", NULL, NULL, i,
					     REMEM_ORIGIN_AGENT,
					     "{\"query\":\"h\"}", &b->err),
				 0);
}

/* As somebody would who opens the file with another program. */
static void tamper(struct box *b, const char *sql)
{
	char path[700];
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/%s/state.sqlite", b->state_dir,
		 BOX_UUID);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void verify(struct box *b, int64_t broken)
{
	struct journal_state js;

	assert_int_equal(state_journal_verify(b->m.state, &js, &b->err), 0);
	if (js.broken != broken)
		fail_msg("record %lld: %s", (long long)js.broken, js.why);
	assert_int_equal(js.why[0] != 0, broken != 0);
}

static void test_journal__names_the_first_broken_record(void **state)
{
	static const struct {
		const char *sql;
		int64_t broken;
	} cases[] = {
		{ "UPDATE journal SET origin = 'owner' WHERE id = 7", 7 },
		{ "UPDATE journal SET bytes = bytes + 1 WHERE id = 1", 1 },
		{ "UPDATE journal SET time = 1 WHERE id IN (9, 4)", 4 },
		{ "UPDATE journal SET detail = '{}' WHERE id = 20", 20 },
		{ "UPDATE journal SET hash = zeroblob(32) WHERE id = 3", 3 },
		{ "UPDATE journal SET prev = zeroblob(32) WHERE id = 5", 5 },
		{ "UPDATE journal SET path = NULL WHERE id = 6", 6 },
		{ "UPDATE journal SET before = x'00' || before, after = "
		  "zeroblob(32) WHERE id = 8", 8 },
		{ "DELETE FROM journal WHERE id = 10", 10 },
		{ "DELETE FROM journal WHERE id >= 15", 15 }, /* cut off */
		{ "DELETE FROM journal WHERE id <= 5", 1 },
		{ "DELETE FROM journal", 1 },
		{ "DELETE FROM journal_head", 20 },
		{ "INSERT INTO journal SELECT 21, time, actor, session, op, "
		  "path, before, after, bytes, origin, detail, prev, hash "
		  "FROM journal WHERE id = 20", 21 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct box b;

		box_begin(&b);
		add_some(&b, 20);
		verify(&b, 0);
		tamper(&b, cases[i].sql);
		verify(&b, cases[i].broken);
		box_end(&b);
	}
}

static void test_journal__compaction_keeps_the_chain(void **state)
{
	struct journal_state js;
	struct box b;
	int64_t n;

	(void)state;
	box_begin(&b);
	add_some(&b, 20);
	assert_int_equal(state_journal_compact(b.m.state, 12, BOX_NOW, &n,
					       &b.err), 0);
	assert_int_equal(n, 12);
	verify(&b, 0);
	add_some(&b, 5);
	verify(&b, 0);
	assert_int_equal(state_journal_compact(b.m.state, 1000, BOX_NOW, &n,
					       &b.err), 0);
	verify(&b, 0);
	assert_int_equal(state_journal_verify(b.m.state, &js, &b.err), 0);
	assert_int_equal(js.records, 2); /* the newest, and the note of it */
	tamper(&b, "UPDATE journal_base SET hash = zeroblob(32)");
	verify(&b, js.first);
	/* What is broken is not hidden by taking it away. */
	assert_int_equal(state_journal_compact(b.m.state, js.first, BOX_NOW,
					       &n, &b.err), REMEM_ECORRUPT);
	box_end(&b);
}

static void test_journal__a_state_of_the_first_version_is_brought_on(void **state)
{
	struct append_done d;
	struct state *old;
	struct box b;

	(void)state;
	box_begin(&b);
	assert_int_equal(state_meta_set(b.m.state, "k", "v", &b.err), 0);
	box_close(&b);
	tamper(&b, "DROP TABLE journal; DROP TABLE journal_head; "
	       "DROP TABLE journal_base; DROP TABLE note; DROP TABLE line; "
	       "DROP TABLE pending; DROP TABLE preimage; "
	       "DROP TABLE tombstone; DROP TABLE rate; "
	       "DROP TABLE given; DROP TABLE review; "
	       "DROP TABLE batch_job; DROP TABLE batch_line; "
	       "DROP TABLE hold; ALTER TABLE ledger DROP COLUMN agent; "
	       "ALTER TABLE ledger DROP COLUMN answer; "
	       "PRAGMA user_version = 1");
	/* A reader takes it as it is. */
	assert_int_equal(state_open(&old, b.state_dir, BOX_UUID, true,
				    &b.err), 0);
	assert_string_equal(state_meta_get(old, &b.a, "k"), "v");
	state_close(old);
	box_open(&b);
	assert_int_equal(box_append(&b, &d, NULL, "- x"), 0);
	assert_int_equal(d.journal, 1);
	assert_string_equal(state_meta_get(b.m.state, &b.a, "k"), "v");
	box_end(&b);
}

static void test_journal__a_newer_or_damaged_state_is_refused(void **state)
{
	struct state *s;
	char path[700];
	struct box b;
	FILE *f;

	(void)state;
	box_begin(&b);
	add_some(&b, 3);
	box_close(&b);
	tamper(&b, "PRAGMA user_version = 99");
	assert_int_equal(state_open(&s, b.state_dir, BOX_UUID, false, &b.err),
			 REMEM_EVERSION);
	assert_true(b.err.action[0]);
	snprintf(path, sizeof(path), "%s/%s/state.sqlite", b.state_dir,
		 BOX_UUID);
	assert_non_null(f = fopen(path, "r+"));
	assert_int_equal(fwrite("garbage garbage", 1, 15, f), 15);
	fclose(f);
	memset(&b.err, 0, sizeof(b.err));
	assert_int_equal(state_open(&s, b.state_dir, BOX_UUID, false, &b.err),
			 REMEM_ECORRUPT);
	assert_true(b.err.action[0]);
	ws_end(&b.ws);
	arena_release(&b.a);
}

static void test_journal__the_state_is_private(void **state)
{
	struct stat st;
	char path[700];
	struct box b;

	(void)state;
	box_begin(&b);
	snprintf(path, sizeof(path), "%s/%s/state.sqlite", b.state_dir,
		 BOX_UUID);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 077, 0);
	box_end(&b);
}
