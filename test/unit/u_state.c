/* The durable side: ids of folders, the ledger. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "store/state.h"

struct place {
	char dir[512], state[600], a[600], b[600];
};

static void place_make(struct place *p)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(p->dir, sizeof(p->dir), "%s/u_state-XXXXXX",
		 tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(p->dir));
	snprintf(p->state, sizeof(p->state), "%s/state", p->dir);
	snprintf(p->a, sizeof(p->a), "%s/笔记 a", p->dir);
	snprintf(p->b, sizeof(p->b), "%s/b\nline", p->dir);
	assert_int_equal(mkdir(p->a, 0700), 0);
}

static void place_remove(struct place *p)
{
	assert_int_equal(dir_remove(p->dir, NULL), 0);
}

static int find(struct place *p, char uuid[UUID_CHARS], const char *path,
		bool create)
{
	struct remem_err err;

	return state_find(uuid, p->state, path, create, &err);
}

static void test_state__a_folder_keeps_its_id(void **state)
{
	char x[UUID_CHARS], y[UUID_CHARS];
	struct place p;

	(void)state;
	place_make(&p);
	assert_int_equal(find(&p, x, p.a, false), REMEM_ENOTFOUND);
	assert_false(file_exists(p.state));
	assert_int_equal(find(&p, x, p.a, true), 0);
	assert_int_equal(strlen(x), 36);
	assert_int_equal(x[14], '4');
	assert_int_equal(find(&p, y, p.a, true), 0);
	assert_string_equal(x, y);
	assert_int_equal(find(&p, y, p.a, false), 0);
	assert_string_equal(x, y);
	place_remove(&p);
}

static void test_state__a_moved_folder_is_recognised(void **state)
{
	char x[UUID_CHARS], y[UUID_CHARS];
	struct arena a = ARENA_INIT;
	struct remem_err err;
	uint64_t dev, inode;
	struct state *s;
	const char *path;
	struct place p;

	(void)state;
	place_make(&p);
	assert_int_equal(find(&p, x, p.a, true), 0);
	assert_int_equal(rename(p.a, p.b), 0);
	assert_int_equal(find(&p, y, p.b, false), 0);
	assert_string_equal(x, y);
	assert_int_equal(find(&p, y, p.b, true), 0);
	assert_string_equal(x, y);
	assert_int_equal(state_open(&s, p.state, x, true, &err), 0);
	assert_int_equal(state_workspace(s, &a, &path, &dev, &inode, &err), 0);
	assert_string_equal(path, p.b);
	state_close(s);
	/* The old place, taken by another folder, is another workspace. */
	assert_int_equal(mkdir(p.a, 0700), 0);
	assert_int_equal(find(&p, y, p.a, true), 0);
	assert_string_not_equal(x, y);
	arena_release(&a);
	place_remove(&p);
}

static void test_state__a_copy_gets_its_own_id(void **state)
{
	char x[UUID_CHARS], y[UUID_CHARS];
	struct place p;

	(void)state;
	place_make(&p);
	assert_int_equal(find(&p, x, p.a, true), 0);
	assert_int_equal(mkdir(p.b, 0700), 0);
	assert_int_equal(find(&p, y, p.b, true), 0);
	assert_string_not_equal(x, y);
	place_remove(&p);
}

static void test_state__a_broken_record_is_replaced(void **state)
{
	char x[UUID_CHARS], cmd[2048];
	struct place p;

	(void)state;
	place_make(&p);
	assert_int_equal(find(&p, x, p.a, true), 0);
	snprintf(cmd, sizeof(cmd), "for f in '%s'/by-path/*; do "
		 "echo nonsense > \"$f\"; done", p.state);
	assert_int_equal(system(cmd), 0);
	assert_int_equal(find(&p, x, p.a, false), REMEM_ENOTFOUND);
	assert_int_equal(find(&p, x, p.a, true), 0);
	assert_int_equal(find(&p, x, p.a, false), 0);
	place_remove(&p);
}

static int add_tokens(void *ctx, const struct ledger_row *row)
{
	*(int64_t *)ctx += row->tokens;
	return 0;
}

static int64_t today(struct state *s)
{
	struct remem_err err;
	int64_t n = 0;

	assert_int_equal(state_ledger_today(s, add_tokens, &n, &err), 0);
	return n;
}

static void test_state__ledger_counts_the_local_day(void **state)
{
	struct ledger_row row = { .provider = "openai", .model = "模型",
				  .items = 3, .tokens = 100, .status = 200 };
	struct remem_err err;
	struct state *s;
	struct place p;
	int64_t now = 1790000000000;

	(void)state;
	place_make(&p);
	clock_set(now);
	assert_int_equal(state_open(&s, p.state, "x", false, &err), 0);
	assert_int_equal(state_ledger_add(s, &row, &err), 0);
	row.tokens = 7;
	assert_int_equal(state_ledger_add(s, &row, &err), 0);
	row.at_ms = now - 3 * 86400000ll;
	assert_int_equal(state_ledger_add(s, &row, &err), 0);
	assert_int_equal(today(s), 107);
	clock_set(now + 86400000);
	assert_int_equal(today(s), 0);
	clock_set(-1);
	state_close(s);
	place_remove(&p);
}

/* Until its row is there, or until nothing can be on its way any more. */
static void test_state__what_is_set_aside_ends_by_its_row_or_by_itself(
	void **state)
{
	struct ledger_row row = { .provider = "p", .model = "m", .items = 1,
				  .tokens = 30, .status = 200, .agent = "小王",
				  .answer_tokens = 10 };
	struct state_held one = { 100, 0.5 }, two = { 7, 0 }, sum;
	int64_t now = 1790000000000, id, other;
	struct remem_err err;
	struct state *s, *t;
	struct place p;

	(void)state;
	place_make(&p);
	clock_set(now);
	assert_int_equal(state_open(&s, p.state, "x", false, &err), 0);
	assert_int_equal(state_open(&t, p.state, "x", false, &err), 0);
	assert_int_equal(state_hold(s, &id, &one, now + 1000, &err), 0);
	assert_int_equal(state_hold(t, &other, &two, now + 2000, &err), 0);
	assert_int_not_equal(id, other);
	assert_int_equal(state_held(t, &sum, &err), 0);
	assert_int_equal(sum.tokens, 107);
	assert_true(sum.usd > 0.49 && sum.usd < 0.51);
	row.hold = id;
	assert_int_equal(state_ledger_add(s, &row, &err), 0);
	assert_int_equal(state_held(t, &sum, &err), 0);
	assert_int_equal(sum.tokens, 7);
	assert_int_equal(today(t), 30);
	/* The process of the other one was killed. */
	clock_set(now + 2000);
	assert_int_equal(state_held(s, &sum, &err), 0);
	assert_int_equal(sum.tokens, 0);
	assert_int_equal(state_hold_expire(s, &err), 0);
	clock_set(now);
	assert_int_equal(state_held(s, &sum, &err), 0);
	assert_int_equal(sum.tokens, 0);
	clock_set(-1);
	state_close(s);
	state_close(t);
	place_remove(&p);
}

static int see_agent(void *ctx, const struct ledger_row *row)
{
	snprintf(ctx, 64, "%s %d", row->agent ? row->agent : "nobody",
		 (int)row->answer_tokens);
	return 0;
}

/* A ledger of before who asked was kept. */
static void test_state__an_older_ledger_is_read_and_gets_its_columns(
	void **state)
{
	struct ledger_row row = { .provider = "p", .model = "m", .tokens = 5,
				  .agent = "work", .answer_tokens = 2 };
	char path[700], said[64];
	struct remem_err err;
	struct state *s;
	struct place p;
	sqlite3 *db;

	(void)state;
	place_make(&p);
	snprintf(path, sizeof(path), "mkdir -p '%s/x'", p.state);
	assert_int_equal(system(path), 0);
	snprintf(path, sizeof(path), "%s/x/state.sqlite", p.state);
	assert_int_equal(sqlite3_open(path, &db), 0);
	assert_int_equal(sqlite3_exec(db,
		"CREATE TABLE ledger(at INT, provider TEXT, model TEXT, "
		"items INT, tokens INT, status INT, took_ms INT);"
		"INSERT INTO ledger VALUES(1, 'p', 'm', 1, 9, 200, 3);"
		"PRAGMA user_version = 5", NULL, NULL, NULL), 0);
	sqlite3_close(db);
	assert_int_equal(state_open(&s, p.state, "x", true, &err), 0);
	assert_int_equal(state_ledger_each(s, 0, see_agent, said, &err), 0);
	assert_string_equal(said, "nobody 0");
	state_close(s);
	assert_int_equal(state_open(&s, p.state, "x", false, &err), 0);
	assert_int_equal(state_ledger_add(s, &row, &err), 0);
	assert_int_equal(state_ledger_each(s, 0, see_agent, said, &err), 0);
	assert_string_equal(said, "work 2");
	state_close(s);
	place_remove(&p);
}

/* How many entries a folder has, "." and ".." included. */
static int entries(const char *path)
{
	struct dirent *e;
	DIR *d = opendir(path);
	int n = 0;

	assert_non_null(d);
	while ((e = readdir(d)))
		n++;
	closedir(d);
	return n;
}

static void expect_read(struct place *p, const char *uuid, const char *want)
{
	struct arena a = ARENA_INIT;
	uint64_t dev, inode;
	struct remem_err err;
	const char *path;
	struct state *s;

	assert_int_equal(state_open(&s, p->state, uuid, true, &err), 0);
	assert_int_equal(state_workspace(s, &a, &path, &dev, &inode, &err), 0);
	assert_string_equal(path, want);
	state_close(s);
	arena_release(&a);
}

static void test_state__a_reader_leaves_no_file(void **state)
{
	static const char odd[] = "50% #备忘?x=1";
	struct remem_err err;
	struct state *s;
	struct place p;
	char dir[900];

	(void)state;
	place_make(&p);
	snprintf(dir, sizeof(dir), "%s/%s", p.state, odd);
	assert_int_equal(state_open(&s, p.state, odd, true, &err),
			 REMEM_ENOTFOUND);
	assert_int_equal(state_open(&s, p.state, odd, false, &err), 0);
	assert_int_equal(state_set_workspace(s, "/笔记", 1, 2, &err), 0);
	state_close(s);
	expect_read(&p, odd, "/笔记");
	assert_int_equal(entries(dir), 3);
	/* While another writes, what it wrote is read. */
	assert_int_equal(state_open(&s, p.state, odd, false, &err), 0);
	assert_int_equal(state_set_workspace(s, "/b", 3, 4, &err), 0);
	expect_read(&p, odd, "/b");
	state_close(s);
	place_remove(&p);
}

static void test_state__meta_is_kept(void **state)
{
	struct arena a = ARENA_INIT;
	struct remem_err err;
	struct state *s;
	struct place p;

	(void)state;
	place_make(&p);
	assert_int_equal(state_open(&s, p.state, "x", true, &err),
			 REMEM_ENOTFOUND);
	assert_int_equal(state_open(&s, p.state, "x", false, &err), 0);
	assert_null(state_meta_get(s, &a, "k"));
	assert_int_equal(state_meta_set(s, "k", "值", &err), 0);
	state_close(s);
	assert_int_equal(state_open(&s, p.state, "x", true, &err), 0);
	assert_string_equal(state_meta_get(s, &a, "k"), "值");
	assert_int_not_equal(state_meta_set(s, "k", NULL, &err), 0);
	state_close(s);
	arena_release(&a);
	place_remove(&p);
}

static void test_state__every_failed_allocation_is_reported(void **state)
{
	struct place p;

	(void)state;
	place_make(&p);
	for (int n = 1; n < 1000; n++) {
		char x[UUID_CHARS];
		int rc;

		alloc_fail_at(n);
		rc = find(&p, x, p.a, true);
		alloc_fail_at(0);
		if (!rc)
			break;
		assert_int_equal(rc, REMEM_ENOMEM);
		assert_true(n < 999);
	}
	place_remove(&p);
}
