/* Some paths brought in step: as a whole run would have done it. */
#define _GNU_SOURCE
#include "index/index.h"
#include "index_help.h"

static struct ix x;

static void setup(void)
{
	ix_begin(&x);
	ws_put(&x.ws, "MEMORY.md", "# Memory\n\n- likes green tea\n- 喜欢绿茶\n");
	ws_put(&x.ws, "memory/2026-03-01.md", "## Deploy\n\n- wombat\n");
	ws_put(&x.ws, "memory/项目/支付.md", "# 错误\n\n超时改为三十秒\n");
	ix_run(&x);
}

static void teardown(void)
{
	ix_end(&x);
}

static void paths(const char *const *p, size_t n)
{
	memset(&x.err, 0, sizeof(x.err));
	if (index_paths(&x.r, &x.a, &x.o, p, n, &x.err))
		fail_msg("%s", x.err.message);
}

static void one(const char *path)
{
	paths(&path, 1);
}

static void two(const char *a, const char *b)
{
	const char *const p[] = { a, b };

	paths(p, 2);
}

static const char *meta(const char *key)
{
	struct store *s = ix_open(&x);
	const char *v = s->ops->meta_get(s, &x.a, key);

	s->ops->close(s);
	return v ? v : "";
}

/* The index is what a whole run makes of the files, and a whole run sees that
 * without comparing file by file: nothing is written. */
static void check_in_step(void)
{
	const char *when = meta("indexed_at_ms");
	char *had = ix_dump(&x), *now;
	struct index_opts o = x.o;

	ix_run(&x);
	assert_int_equal(x.r.added + x.r.changed + x.r.renamed + x.r.removed,
			 0);
	assert_string_equal(meta("indexed_at_ms"), when);
	o.force = true;
	assert_int_equal(index_run(&x.r, &x.a, &o, &x.err), 0);
	now = ix_dump(&x);
	assert_string_equal(had, now);
	free(had);
	free(now);
}

static void test_index_paths__a_changed_and_a_new_file(void **state)
{
	(void)state;
	setup();
	ws_put(&x.ws, "memory/2026-03-01.md", "- platypus\n");
	ws_put(&x.ws, "memory/项目/新.md", "针鼹\n");
	two("memory/2026-03-01.md", "memory/项目/新.md");
	assert_int_equal(x.r.changed, 1);
	assert_int_equal(x.r.added, 1);
	assert_true(x.r.complete);
	assert_int_equal(ix_hits(&x, "wombat"), 0);
	assert_int_equal(ix_hits(&x, "针鼹"), 1);
	check_in_step();
	teardown();
}

static void test_index_paths__other_changes_wait(void **state)
{
	(void)state;
	setup();
	ws_put(&x.ws, "memory/2026-03-01.md", "- platypus\n");
	ws_put(&x.ws, "memory/other.md", "echidna\n");
	one("memory/2026-03-01.md");
	assert_int_equal(ix_hits(&x, "platypus"), 1);
	assert_int_equal(ix_hits(&x, "echidna"), 0);
	ix_run(&x);
	assert_int_equal(x.r.added, 1);
	check_in_step();
	teardown();
}

static void test_index_paths__nothing_changed_writes_nothing(void **state)
{
	const char *when;

	(void)state;
	setup();
	when = meta("indexed_at_ms");
	two("memory/2026-03-01.md", "memory/never-was.md");
	assert_true(x.r.complete);
	assert_int_equal(x.r.indexed, 3);
	assert_string_equal(meta("indexed_at_ms"), when);
	teardown();
}

static void test_index_paths__a_rename_embeds_nothing(void **state)
{
	(void)state;
	setup();
	x.o.embedder = &x.e;
	ix_run(&x);
	fake_forget(&x.e);
	assert_int_equal(rename(ws_path(&x.ws, "memory/2026-03-01.md"),
				ws_path(&x.ws, "memory/moved.md")), 0);
	two("memory/2026-03-01.md", "memory/moved.md");
	assert_int_equal(x.r.renamed, 1);
	assert_int_equal(x.e.count, 0);
	assert_int_equal(ix_hits(&x, "wombat"), 1);
	check_in_step();
	teardown();
}

static void test_index_paths__folders_go_and_come(void **state)
{
	(void)state;
	setup();
	assert_int_equal(rename(ws_path(&x.ws, "memory/项目"),
				ws_path(&x.ws, "memory/p")), 0);
	two("memory/项目/", "memory/p");
	assert_int_equal(x.r.renamed, 1);
	check_in_step();
	/* Below a folder that is gone, and by an absolute path. */
	ws_remove(&x.ws, "memory/p/支付.md");
	assert_int_equal(rmdir(ws_path(&x.ws, "memory/p")), 0);
	one(ws_path(&x.ws, "memory/p/支付.md"));
	assert_int_equal(x.r.removed, 1);
	check_in_step();
	teardown();
}

static void test_index_paths__without_an_index_everything(void **state)
{
	(void)state;
	ix_begin(&x);
	ws_put(&x.ws, "MEMORY.md", "- quokka\n");
	ws_put(&x.ws, "memory/a.md", "numbat\n");
	one("memory/a.md");
	assert_int_equal(x.r.added, 2);
	assert_int_equal(ix_hits(&x, "quokka"), 1);
	check_in_step();
	teardown();
}

static void test_index_paths__a_new_ignore_file_counts_for_its_folder(
	void **state)
{
	(void)state;
	setup();
	ws_put(&x.ws, "memory/项目/.gitignore", "支*\n");
	one("memory/项目/.gitignore");
	assert_int_equal(x.r.removed, 1);
	check_in_step();
	ws_put(&x.ws, ".gitignore", "2026*\n");
	one(".gitignore");
	assert_int_equal(x.r.removed, 1);
	check_in_step();
	teardown();
}

static void test_index_paths__rules_on_the_way_count(void **state)
{
	(void)state;
	setup();
	ws_put(&x.ws, "memory/.hidden/a.md", "numbat\n");
	ws_put(&x.ws, "memory/node_modules/a.md", "numbat\n");
	ws_put(&x.ws, "memory/.git/a.md", "numbat\n");
	ws_put(&x.ws, "other/a.md", "numbat\n");
	ws_put(&x.ws, "../outside.md", "numbat\n");
	one("memory/.hidden/a.md");
	two("memory/node_modules/a.md", "memory/.git/a.md");
	two("other/a.md", "memory/../../outside.md");
	assert_int_equal(ix_hits(&x, "numbat"), 0);
	check_in_step();
	teardown();
}

static void test_index_paths__two_names_of_one_file_are_one(void **state)
{
	(void)state;
	setup();
	assert_int_equal(link(ws_path(&x.ws, "memory/2026-03-01.md"),
			      ws_path(&x.ws, "memory/1-first.md")), 0);
	one("memory/1-first.md");
	assert_int_equal(ix_hits(&x, "wombat"), 1);
	check_in_step();
	/* The one it went by goes: now it goes by the other. */
	ws_remove(&x.ws, "memory/1-first.md");
	one("memory/1-first.md");
	assert_int_equal(ix_hits(&x, "wombat"), 1);
	check_in_step();
	teardown();
}

static void test_index_paths__links_and_both_memories(void **state)
{
	struct store_file f;

	(void)state;
	setup();
	ws_link(&x.ws, "2026-03-01.md", "memory/link.md");
	ws_put(&x.ws, "memory.md", "numbat\n");
	two("memory/link.md", "memory.md");
	assert_true(ix_file(&x, "memory/link.md", &f) && f.skipped);
	assert_true(ix_file(&x, "memory.md", &f) && f.reason);
	check_in_step();
	ws_remove(&x.ws, "MEMORY.md");
	one("MEMORY.md");
	assert_true(ix_file(&x, "memory.md", &f));
	assert_null(f.reason);
	check_in_step();
	teardown();
}

static void test_index_paths__extra_paths(void **state)
{
	const struct source_extra extra[] = { { "../notes", NULL },
					      { "../one.txt", NULL } };
	struct store_file f;

	(void)state;
	setup();
	x.ws.o.extra = extra;
	x.ws.o.extra_count = 2;
	ws_put(&x.ws, "../one.txt", "bilby\n");
	assert_int_equal(mkdir(ws_path(&x.ws, "../notes"), 0755), 0);
	ix_run(&x);
	assert_true(ix_file(&x, "../notes/", &f)); /* no note in it */
	ws_put(&x.ws, "../notes/a.md", "dunnart\n");
	ws_put(&x.ws, "../one.txt", "bandicoot\n");
	two("../notes/a.md", "../one.txt");
	assert_int_equal(ix_hits(&x, "dunnart"), 1);
	assert_int_equal(ix_hits(&x, "bandicoot"), 1);
	assert_false(ix_file(&x, "../notes/", &f));
	check_in_step();
	ws_remove(&x.ws, "../notes/a.md");
	one("../notes/a.md");
	assert_true(ix_file(&x, "../notes/", &f));
	check_in_step();
	teardown();
}

static void test_index_paths__a_file_too_large_costs_no_comparison(void **state)
{
	struct store_file f;

	(void)state;
	setup();
	x.ws.o.max_file_bytes = 100;
	ws_put(&x.ws, "memory/large.md",
	       "wombat wombat wombat wombat wombat wombat wombat wombat wombat "
	       "wombat wombat wombat wombat wombat wombat wombat wombat wombat ");
	one("memory/large.md");
	assert_true(ix_file(&x, "memory/large.md", &f) && f.skipped);
	assert_false(x.r.complete);
	check_in_step();
	teardown();
}

/* Files that cannot be read are tried by each run, at the cost of one open. */
static void test_index_paths__unreadable_files_are_tried_again(void **state)
{
	const char *when;
	struct store_file f;

	(void)state;
	setup();
	ws_put(&x.ws, "memory/closed.md", "numbat\n");
	ws_put(&x.ws, "memory/new.md", "quokka\n");
	one("memory/closed.md");
	assert_int_equal(chmod(ws_path(&x.ws, "memory/closed.md"), 0), 0);
	assert_int_equal(chmod(ws_path(&x.ws, "memory/new.md"), 0), 0);
	if (getuid() == 0) {
		char cmd[700];

		snprintf(cmd, sizeof(cmd), "chown -R 65534 '%s'", x.dir);
		assert_int_equal(system(cmd), 0);
	}
	ws_be_user(true);
	two("memory/closed.md", "memory/new.md");
	assert_int_equal(x.r.skip_count, 2);
	assert_int_equal(ix_hits(&x, "numbat"), 1);
	when = meta("indexed_at_ms");
	ix_run(&x);
	assert_string_equal(meta("indexed_at_ms"), when);
	assert_false(x.r.complete);
	assert_int_equal(x.r.skip_count, 2);
	assert_int_equal(x.r.unchanged, 3);
	ws_be_user(false);
	/* Its stamps are as they were; who runs may read it now. */
	ix_run(&x);
	assert_true(x.r.complete || getuid());
	if (getuid() == 0) {
		assert_true(ix_file(&x, "memory/new.md", &f) && !f.skipped);
		check_in_step();
	}
	teardown();
}

static void test_index_paths__who_writes_holds_the_lock(void **state)
{
	struct store_opts so = { NULL, STORE_WRITE, 0, TERM_VERSION,
				 NOTE_VERSION, false };
	const char *p = "memory/2026-03-01.md";
	struct store *s;

	(void)state;
	setup();
	so.dir = x.dir;
	ws_put(&x.ws, p, "- platypus\n");
	assert_int_equal(store_backend("sqlite")->open(&s, &so, &x.err), 0);
	assert_int_equal(index_paths(&x.r, &x.a, &x.o, &p, 1, &x.err),
			 REMEM_EBUSY);
	s->ops->close(s);
	one(p);
	assert_int_equal(ix_hits(&x, "platypus"), 1);
	teardown();
}

/* ---- anything at all -------------------------------------------------- */

static unsigned dice;

static unsigned roll(unsigned n)
{
	dice = dice * 1103515245 + 12345;
	return (dice >> 16) % n;
}

static const char *any_path(char out[64])
{
	static const char *const folders[] = { "memory/", "memory/a/",
		"memory/a/b/", "memory/.h/", "memory/c 二/", "" };
	static const char *const names[] = { "x.md", "y.md", ".gitignore",
		"MEMORY.md", "memory.md", "z.txt", ".i.md" };

	snprintf(out, 64, "%s%s", folders[roll(6)], names[roll(7)]);
	return out;
}

/* Does something to one or two paths; how many. */
static size_t any_change(char p[2][64])
{
	char text[64];

	any_path(p[0]);
	any_path(p[1]);
	snprintf(text, sizeof(text), "- word%u 词%u\n", roll(9), roll(9));
	switch (roll(5)) {
	case 0:
	case 1:
		if (strstr(p[0], ".gitignore"))
			strcpy(text, roll(2) ? "x.md\n" : "b/\n!y.md\n");
		ws_put(&x.ws, p[0], text);
		return 1;
	case 2:
		unlink(ws_path(&x.ws, p[0]));
		return 1;
	case 3:
		if (strstr(p[0], ".gitignore") || strstr(p[1], ".gitignore"))
			return 0;
		rename(ws_path(&x.ws, p[0]), ws_path(&x.ws, p[1]));
		return 2;
	default:
		strcpy(p[0], "memory/a");
		strcpy(p[1], roll(2) ? "memory/.h" : "memory/a2");
		rename(ws_path(&x.ws, p[roll(2)]), ws_path(&x.ws, p[0]));
		rename(ws_path(&x.ws, p[0]), ws_path(&x.ws, p[1]));
		return 2;
	}
}

static void test_index_paths__any_changes_end_as_a_whole_run(void **state)
{
	(void)state;
	setup();
	dice = 7;
	for (int i = 0; i < 150; i++) {
		char p[2][64];
		const char *const given[] = { p[0], p[1] };
		size_t n = any_change(p);
		struct source_list l;
		struct store *s;
		int64_t dirty;

		paths(given, n);
		s = ix_open(&x);
		assert_int_equal(index_dirty(&dirty, &l, &x.a, s, &x.ws.o,
					     &x.err), 0);
		if (dirty)
			fail_msg("step %d: '%s' '%s'", i, p[0], p[1]);
		source_list_release(&l);
		s->ops->close(s);
		if (i % 25 == 24)
			check_in_step();
		arena_reset(&x.a);
	}
	teardown();
}
