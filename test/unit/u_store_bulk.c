/* Postings of a first index, which are gathered and written without FTS5,
 * against those that FTS5 writes of the same notes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <sqlite3.h>

#include "base/buf.h"
#include "base/hash.h"
#include "store/sqlite_segment.h"
#include "store/sqlite_store.h"
#include "store_box.h"
#include "text/fts.h"

static uint64_t seed;

static unsigned below(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

/* Words of all lengths and rarities, some of them several times. */
static void add_word(struct buf *out)
{
	unsigned w = below(3) ? below(60) : below(40000);

	switch (below(6)) {
	case 0:
		buf_addf(out, "词%u网%u ", w, w % 7);
		break;
	case 1:
		buf_addf(out, "a.rather_long.name_%u_of_things ", w);
		break;
	case 2:
		buf_addf(out, "%c%c ", 'a' + (char)(w % 26),
			 'a' + (char)(w / 26 % 26));
		break;
	case 3:
		buf_adds(out, "每个 every ");
		break;
	default:
		buf_addf(out, "word%u ", w);
	}
}

static void note_text(struct buf *out)
{
	buf_reset(out);
	buf_addf(out, "# heading %u\n\n", below(9));
	for (unsigned i = 0, n = 1 + below(12); i < n; i++) {
		buf_adds(out, "- ");
		for (unsigned k = 0, m = 1 + below(40); k < m; k++)
			add_word(out);
		buf_addc(out, '\n');
	}
}

static void put_notes(struct box *b, int from, int to)
{
	struct buf text = BUF_INIT(0);
	char path[32];

	begin(b);
	for (int i = from; i < to; i++) {
		snprintf(path, sizeof(path), "%05d.md", i);
		note_text(&text);
		put(b, path, buf_str(&text));
	}
	commit(b);
	arena_reset(&b->a);
	buf_release(&text);
}

static sqlite3 *open_db(struct box *b)
{
	char path[600];
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/gen-000001/index.sqlite", b->dir);
	assert_int_equal(sqlite3_open(path, &db), 0);
	assert_int_equal(fts_register(db, NULL, &b->err), 0);
	return db;
}

static void exec(sqlite3 *db, const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL))
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
}

/* Hash of every term with each of its rows, as FTS5 reads them; and FTS5 has
 * nothing to say against it. */
static uint64_t all_postings(struct box *b, int64_t *count)
{
	sqlite3 *db = open_db(b);
	uint64_t sum = 0;
	sqlite3_stmt *st;

	*count = 0;
	exec(db, "INSERT INTO postings(postings) VALUES('integrity-check')");
	exec(db, "CREATE VIRTUAL TABLE temp.v USING "
		 "fts5vocab('main', 'postings', 'instance')");
	assert_int_equal(sqlite3_prepare_v2(db, "SELECT term, doc FROM temp.v",
					    -1, &st, NULL), 0);
	for (; sqlite3_step(st) == SQLITE_ROW; ++*count) {
		int64_t row = sqlite3_column_int64(st, 1);

		sum = hash64(sqlite3_column_blob(st, 0),
			     (size_t)sqlite3_column_bytes(st, 0), sum);
		sum = hash64(&row, sizeof(row), sum);
	}
	assert_int_equal(sqlite3_finalize(st), 0);
	exec(db, "DROP TABLE temp.v");
	sqlite3_close(db);
	return sum;
}

static struct structure segments(struct box *b)
{
	sqlite3 *db = open_db(b);
	struct structure s;
	sqlite3_stmt *st;

	assert_int_equal(sqlite3_prepare_v2(db, "SELECT block FROM "
			 "postings_data WHERE id = 10", -1, &st, NULL), 0);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	assert_true(structure_decode(&s, sqlite3_column_blob(st, 0),
				     (size_t)sqlite3_column_bytes(st, 0)));
	sqlite3_finalize(st);
	sqlite3_close(db);
	return s;
}

/* The second knows of a run before, so that FTS5 writes. */
static void box_pair(struct box *pair[2])
{
	for (int i = 0; i < 2; i++)
		pair[i] = box_new(store_backend("sqlite"));
	begin(pair[1]);
	must(pair[1], pair[1]->o->meta_set(pair[1]->s, "indexed_at_ms", "1",
					   &pair[1]->err));
	commit(pair[1]);
}

static void put_both(struct box *pair[2], int from, int to)
{
	for (int i = 0; i < 2; i++) {
		seed = (uint64_t)from + 1;
		put_notes(pair[i], from, to);
	}
}

static void same(struct box *pair[2])
{
	int64_t n[2];
	uint64_t sum[2];

	for (int i = 0; i < 2; i++)
		sum[i] = all_postings(pair[i], &n[i]);
	assert_int_equal(n[0], n[1]);
	assert_true(n[0] > 0);
	assert_true(sum[0] == sum[1]);
}

static void maintain(struct box *b)
{
	must(b, b->o->maintain(b->s, 0, &b->err));
}

static void pair_free(struct box *pair[2])
{
	for (int i = 0; i < 2; i++)
		box_free(pair[i]);
}

static void test_store_bulk__rows_are_those_of_fts5(void **state)
{
	struct box *pair[2];

	(void)state;
	box_pair(pair);
	/* Enough commits that levels are merged, of one note and of many. */
	for (int i = 0; i < 40; i++)
		put_both(pair, 100 * i, 100 * i + (i % 3 ? 1 : 40));
	assert_int_equal(segments(pair[0]).level[0].count, 40 % 16);
	assert_int_equal(segments(pair[0]).level[1].count, 2);
	same(pair);
	for (int i = 0; i < 2; i++)
		maintain(pair[i]);
	assert_int_equal(segments(pair[0]).count, 1);
	same(pair);
	pair_free(pair);
}

/* A term of every chunk, and more terms than are gathered at once. */
static void test_store_bulk__long_lists_and_many_terms(void **state)
{
	struct box *pair[2];

	(void)state;
	box_pair(pair);
	put_both(pair, 0, 6000);
	assert_true(segments(pair[0]).count > 1);
	same(pair);
	maintain(pair[0]);
	same(pair);
	pair_free(pair);
}

/* From then on FTS5 writes: what was gathered is there for it to find. */
static void test_store_bulk__what_is_taken_back_leaves_nothing(void **state)
{
	struct box *pair[2];
	int64_t n;

	(void)state;
	box_pair(pair);
	put_both(pair, 0, 200);
	for (int i = 0; i < 2; i++) {
		struct box *b = pair[i];

		seed = 77;
		begin(b);
		put(b, "new.md", "这是 a new one, gathered");
		put(b, "00007.md", "another text at once");
		for (int64_t id = 10; id < 60; id++)
			must(b, b->o->file_remove(b->s, id, &b->err));
		put(b, "newer.md", "and one for FTS5");
		commit(b);
	}
	same(pair);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(find(pair[i], "gathered"), 1);
		assert_int_equal(find(pair[i], "another"), 1);
		begin(pair[i]);
		for (int64_t id = 1; id <= 202; id++)
			if (id < 10 || id >= 60)
				must(pair[i], pair[i]->o->file_remove(
					pair[i]->s, id, &pair[i]->err));
		commit(pair[i]);
		maintain(pair[i]);
		all_postings(pair[i], &n);
		assert_int_equal(n, 0);
		no_problems(pair[i]);
	}
	pair_free(pair);
}

static void test_store_bulk__a_rollback_forgets_what_is_gathered(void **state)
{
	struct box *pair[2];

	(void)state;
	box_pair(pair);
	put_both(pair, 0, 20);
	begin(pair[0]);
	put(pair[0], "x.md", "never there");
	pair[0]->o->rollback(pair[0]->s);
	put_both(pair, 20, 50);
	same(pair);
	assert_int_equal(find(pair[0], "never"), 0);
	maintain(pair[0]);
	same(pair);
	pair_free(pair);
}

/* A run that was killed: what it committed stays, the next goes on. */
static void test_store_bulk__the_next_run_goes_on(void **state)
{
	struct box *pair[2];

	(void)state;
	box_pair(pair);
	for (int i = 0; i < 20; i++) {
		put_both(pair, 10 * i, 10 * i + 7);
		box_reopen(pair[0], STORE_WRITE);
	}
	assert_in_range(segments(pair[0]).count, 1, 17);
	same(pair);
	maintain(pair[0]);
	same(pair);
	pair_free(pair);
}

/* Inside the transaction MATCH is asked, and finds all. */
static void test_store_bulk__a_look_before_the_commit_finds_all(void **state)
{
	struct box *pair[2];

	(void)state;
	box_pair(pair);
	for (int i = 0; i < 2; i++) {
		begin(pair[i]);
		put(pair[i], "a.md", "one thing 数据库");
		assert_int_equal(find(pair[i], "thing"), 1);
		put(pair[i], "b.md", "another thing");
		assert_int_equal(find(pair[i], "thing"), 2);
		commit(pair[i]);
		assert_int_equal(find(pair[i], "数据"), 1);
		no_problems(pair[i]);
	}
	same(pair);
	pair_free(pair);
}

/* What FTS5 has read there must not be believed behind a rollback. */
static void test_store_bulk__a_look_and_a_rollback(void **state)
{
	struct box *pair[2];

	(void)state;
	box_pair(pair);
	put_both(pair, 0, 20);
	for (int i = 0; i < 2; i++) {
		begin(pair[i]);
		put(pair[i], "x.md", "never there");
		assert_int_equal(find(pair[i], "never"), 1);
		pair[i]->o->rollback(pair[i]->s);
	}
	put_both(pair, 20, 50);
	same(pair);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(find(pair[i], "never"), 0);
		maintain(pair[i]);
		no_problems(pair[i]);
	}
	same(pair);
	pair_free(pair);
}

/* A SQLite that protects FTS5's tables goes on doing so. */
static void test_store_bulk__protected_tables_are_left_to_fts5(void **state)
{
	struct box *pair[2];
	sqlite3 *db;
	int on = 0;

	(void)state;
	box_pair(pair);
	db = sq_of(pair[0]->s)->db;
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, &on);
	assert_true(on);
	put_both(pair, 0, 30);
	assert_null(sq_of(pair[0]->s)->bulk);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, -1, &on);
	assert_true(on);
	same(pair);
	pair_free(pair);
}

static void test_store_bulk__varints_are_sqlites(void **state)
{
	unsigned char b[9];
	uint64_t back;

	(void)state;
	for (int bit = 0; bit < 64; bit++)
		for (int less = 0; less < 2; less++) {
			uint64_t v = ((uint64_t)1 << bit) - (uint64_t)less;
			size_t n = varint_put(b, v);

			assert_int_equal(varint_get(b, 0, n, &back), n);
			assert_true(back == v);
			assert_int_equal(varint_get(b, 0, n - 1, &back), 0);
		}
	assert_int_equal(varint_put(b, UINT64_MAX), 9);
	assert_int_equal(varint_get(b, 0, 9, &back), 9);
	assert_true(back == UINT64_MAX);
}
