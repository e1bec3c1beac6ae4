/*
 * A run killed at each of its write steps: the index opens and answers as it
 * did before, and the next run ends where an undisturbed one would have.
 */
#define _GNU_SOURCE
#include "index/index.h"
#include "index_help.h"

#include <signal.h>
#include <sys/wait.h>

#define MAX_STEPS 400

static struct ix x;

static void first_notes(void)
{
	ws_put(&x.ws, "MEMORY.md", "# Memory\n\n- likes green tea\n- 喜欢绿茶\n");
	ws_put(&x.ws, "USER.md", "# User\n\n- name is 李雷\n");
	ws_put(&x.ws, "memory/2026-03-01.md",
	       "# 2026-03-01\n\n## Deploy\n\n- wombat was released\n");
	ws_put(&x.ws, "memory/move.md", "# Move\n\nthis one is renamed\n");
	ws_put(&x.ws, "memory/gone.md", "# Gone\n\nthis one is deleted\n");
	ws_put(&x.ws, "memory/项目/支付.md",
	       "---\ntitle: 支付网关\n---\n\n# 错误\n\n超时改为三十秒\n");
}

static void later_notes(void)
{
	ws_put(&x.ws, "memory/2026-03-01.md",
	       "# 2026-03-01\n\n## Deploy\n\n- wombat was released\n"
	       "- and withdrawn 又撤回\n");
	ws_put(&x.ws, "memory/2026-03-02.md", "# 2026-03-02\n\n- a new day\n");
	if (file_exists(ws_path(&x.ws, "memory/gone.md"))) {
		ws_remove(&x.ws, "memory/gone.md");
		assert_int_equal(rename(ws_path(&x.ws, "memory/move.md"),
					ws_path(&x.ws, "memory/moved.md")), 0);
	}
}

static void wipe(void)
{
	assert_int_equal(dir_remove(x.dir, NULL), 0);
	arena_release(&x.a);
	arena_init(&x.a, 0);
	fake_forget(&x.e);
}

static void earlier_notes(void)
{
	if (file_exists(ws_path(&x.ws, "memory/moved.md"))) {
		ws_remove(&x.ws, "memory/moved.md");
		ws_remove(&x.ws, "memory/2026-03-02.md");
	}
	first_notes();
}

/* True when the run was killed at step n, false when it ended before. */
static bool killed_at(long n)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		file_fault_at(n);
		_exit(ix_try(&x) ? 3 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status)) {
		assert_int_equal(WTERMSIG(status), SIGKILL);
		return true;
	}
	assert_int_equal(WEXITSTATUS(status), 0);
	return false;
}

static char *undisturbed(void (*before)(void), void (*after)(void), bool force)
{
	char *dump;

	wipe();
	before();
	x.o.force = false;
	if (after) {
		ix_run(&x);
		after();
	}
	x.o.force = force;
	ix_run(&x);
	x.o.force = false;
	dump = ix_dump(&x);
	assert_non_null(dump);
	return dump;
}

static void expect_same(const char *want, long n)
{
	char *got = ix_dump(&x);

	if (strcmp(want, got))
		fail_msg("killed at step %ld:\n%s\ninstead of\n%s", n, got,
			 want);
	mem_free(got);
}

static bool is_published(void)
{
	char path[700];

	snprintf(path, sizeof(path), "%s/current", x.dir);
	return file_exists(path);
}

static int generations(void)
{
	DIR *d = opendir(x.dir);
	struct dirent *e;
	int n = 0;

	assert_non_null(d);
	while ((e = readdir(d)))
		n += !strncmp(e->d_name, "gen-", 4);
	closedir(d);
	return n;
}

static void test_index_kill__a_first_run(void **state)
{
	char *want;
	long n = 0;

	(void)state;
	ix_begin(&x);
	x.o.embedder = &x.e;
	want = undisturbed(first_notes, NULL, false);
	for (;;) {
		wipe();
		if (!killed_at(++n))
			break;
		assert_true(n < MAX_STEPS);
		if (is_published())
			ix_hits(&x, "wombat"); /* it opens */
		ix_run(&x);
		assert_true(x.r.complete);
		assert_int_equal(generations(), 1);
		expect_same(want, n);
	}
	assert_true(n > 10);
	mem_free(want);
	ix_end(&x);
}

static void test_index_kill__a_run_with_all_kinds_of_changes(void **state)
{
	char *want;
	long n = 0;

	(void)state;
	ix_begin(&x);
	x.o.embedder = &x.e;
	want = undisturbed(first_notes, later_notes, false);
	for (;;) {
		wipe();
		earlier_notes();
		ix_run(&x);
		later_notes();
		if (!killed_at(++n))
			break;
		assert_true(n < MAX_STEPS);
		assert_int_equal(ix_hits(&x, "绿茶"), 1);
		assert_int_equal(ix_hits(&x, "wombat"), 1);
		assert_true(ix_hits(&x, "renamed") >= 1);
		ix_run(&x);
		assert_true(x.r.complete);
		expect_same(want, n);
	}
	assert_true(n > 10);
	mem_free(want);
	ix_end(&x);
}

static void test_index_kill__a_rebuild(void **state)
{
	char *want;
	long n = 0;

	(void)state;
	ix_begin(&x);
	x.o.embedder = &x.e;
	want = undisturbed(first_notes, first_notes, true);
	for (;;) {
		wipe();
		ix_run(&x);
		fake_forget(&x.e);
		x.o.force = true;
		if (!killed_at(++n))
			break;
		assert_true(n < MAX_STEPS);
		assert_int_equal(ix_hits(&x, "wombat"), 1);
		x.o.force = false;
		ix_run(&x);
		assert_true(x.r.complete);
		assert_int_equal(x.e.count, 0);
		assert_int_equal(generations(), 1);
		expect_same(want, n);
	}
	x.o.force = false;
	assert_true(n > 10);
	mem_free(want);
	ix_end(&x);
}

/* What was paid for before the kill is not paid for again. */
static void test_index_kill__vectors_are_kept(void **state)
{
	char text[4096] = "";
	int spent, again;
	long n = 0;

	(void)state;
	ix_begin(&x);
	x.o.embedder = &x.e;
	for (int i = 0; i < 30; i++)
		sprintf(text + strlen(text), "- 第 %d 条 of the list\n", i);
	ws_put(&x.ws, "memory/list.md", text);
	ix_run(&x);
	spent = x.e.count;
	wipe();
	/* Somewhere in the middle of the vectors. */
	while (killed_at(++n) && n < MAX_STEPS) {
		ix_run(&x);
		again = x.e.count;
		assert_true(again <= spent);
		wipe();
	}
	ix_end(&x);
}
