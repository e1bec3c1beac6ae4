#define _GNU_SOURCE
#include "index/index.h"
#include "index_help.h"

#include <sys/wait.h>
#include <time.h>

static struct ix x;

static void setup(void)
{
	ix_begin(&x);
	ws_put(&x.ws, "MEMORY.md", "# Memory\n\n- likes green tea\n- 喜欢绿茶\n");
	ws_put(&x.ws, "memory/2026-03-01.md",
	       "# 2026-03-01\n\n## Deploy\n\n- wombat was released\n");
	ws_put(&x.ws, "memory/项目/支付.md",
	       "---\ntitle: 支付网关\ntags: [Pay, 网关]\ndate: 2025-12-24\n---\n"
	       "\n# 错误\n\n超时改为三十秒\n");
}

static void teardown(void)
{
	ix_end(&x);
}

/* ---- text ------------------------------------------------------------- */

static void test_index__a_first_run_takes_in_everything(void **state)
{
	struct store_file f;
	char text[16];

	(void)state;
	setup();
	ix_run(&x);
	assert_int_equal(x.r.added, 3);
	assert_int_equal(x.r.indexed, 3);
	assert_int_equal(x.r.skipped, 0);
	assert_true(x.r.complete);
	assert_true(x.r.chunks >= 3 && x.r.passages >= 4);
	assert_int_equal(ix_hits(&x, "wombat"), 1);
	assert_int_equal(ix_hits(&x, "绿茶"), 1);
	assert_true(ix_file(&x, "memory/项目/支付.md", &f));
	assert_string_equal(f.title, "支付网关");
	assert_string_equal(f.tags, ",pay,网关,");
	date_format(text, f.date);
	assert_string_equal(text, "2025-12-24");
	assert_true(ix_file(&x, "memory/2026-03-01.md", &f));
	date_format(text, f.date);
	assert_string_equal(text, "2026-03-01");
	assert_true(ix_file(&x, "MEMORY.md", &f));
	assert_true(f.curated && f.date == DATE_NONE);
	teardown();
}

static int64_t newest_write(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int64_t newest = 0;

	assert_non_null(d);
	while ((e = readdir(d))) {
		char path[2048];
		struct stat st;
		int64_t t;

		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		assert_int_equal(stat(path, &st), 0);
		t = S_ISDIR(st.st_mode) ? newest_write(path) :
		    strstr(path, "-shm") ? 0 :
		    (int64_t)st.st_mtim.tv_sec * 1000000000 +
			    st.st_mtim.tv_nsec;
		newest = t > newest ? t : newest;
	}
	closedir(d);
	return newest;
}

static void test_index__nothing_changed_writes_nothing(void **state)
{
	int64_t before;

	(void)state;
	setup();
	ix_run(&x);
	before = newest_write(x.dir);
	ix_run(&x);
	assert_int_equal(x.r.unchanged, 3);
	assert_int_equal(x.r.added + x.r.changed + x.r.removed + x.r.renamed,
			 0);
	assert_true(x.r.complete);
	assert_true(newest_write(x.dir) == before);
	teardown();
}

static void test_index__only_what_changed_is_read(void **state)
{
	(void)state;
	setup();
	ix_run(&x);
	ws_put(&x.ws, "memory/2026-03-01.md", "# 2026-03-01\n\n- platypus\n");
	ws_put(&x.ws, "memory/new.md", "echidna 针鼹\n");
	ix_run(&x);
	assert_int_equal(x.r.changed, 1);
	assert_int_equal(x.r.added, 1);
	assert_int_equal(x.r.unchanged, 2);
	assert_int_equal(ix_hits(&x, "wombat"), 0);
	assert_int_equal(ix_hits(&x, "platypus"), 1);
	assert_int_equal(ix_hits(&x, "针鼹"), 1);
	teardown();
}

static void test_index__same_size_and_time_is_still_noticed(void **state)
{
	struct stat st;
	struct timespec t[2];

	(void)state;
	setup();
	ws_put(&x.ws, "memory/a.md", "aaaa\n");
	ix_run(&x);
	assert_int_equal(stat(ws_path(&x.ws, "memory/a.md"), &st), 0);
	ws_put(&x.ws, "memory/a.md", "bbbb\n");
	t[0] = t[1] = st.st_mtim;
	assert_int_equal(utimensat(AT_FDCWD, ws_path(&x.ws, "memory/a.md"), t,
				   0), 0);
	ix_run(&x);
	assert_int_equal(x.r.changed, 1);
	assert_int_equal(ix_hits(&x, "bbbb"), 1);
	teardown();
}

static void test_index__a_touched_file_is_only_hashed(void **state)
{
	struct store_file before, after;

	(void)state;
	setup();
	ix_run(&x);
	assert_true(ix_file(&x, "memory/2026-03-01.md", &before));
	assert_int_equal(utimensat(AT_FDCWD,
				   ws_path(&x.ws, "memory/2026-03-01.md"),
				   NULL, 0), 0);
	ix_run(&x);
	assert_int_equal(x.r.unchanged, 3);
	assert_int_equal(x.r.changed, 0);
	assert_true(ix_file(&x, "memory/2026-03-01.md", &after));
	assert_int_equal(before.id, after.id);
	assert_true(after.mtime_ns > before.mtime_ns);
	teardown();
}

static void test_index__a_renamed_file_keeps_its_rows(void **state)
{
	struct store_file before, after;
	char text[16];

	(void)state;
	setup();
	ix_run(&x);
	assert_true(ix_file(&x, "memory/2026-03-01.md", &before));
	assert_int_equal(dir_make(ws_path(&x.ws, "memory/归档"), 0755, NULL), 0);
	assert_int_equal(rename(ws_path(&x.ws, "memory/2026-03-01.md"),
				ws_path(&x.ws, "memory/归档/2026-03-02.md")),
			 0);
	ix_run(&x);
	assert_int_equal(x.r.renamed, 1);
	assert_int_equal(x.r.added + x.r.changed + x.r.removed, 0);
	assert_false(ix_file(&x, "memory/2026-03-01.md", &after));
	assert_true(ix_file(&x, "memory/归档/2026-03-02.md", &after));
	assert_int_equal(before.id, after.id);
	date_format(text, after.date);
	assert_string_equal(text, "2026-03-02");
	assert_int_equal(ix_hits(&x, "wombat"), 1);
	teardown();
}

static void test_index__a_curated_file_renamed_is_cut_anew(void **state)
{
	struct store_file f;

	(void)state;
	setup();
	ix_run(&x);
	assert_int_equal(rename(ws_path(&x.ws, "MEMORY.md"),
				ws_path(&x.ws, "memory/old-memory.md")), 0);
	ix_run(&x);
	assert_int_equal(x.r.added, 1);
	assert_int_equal(x.r.removed, 1);
	assert_true(ix_file(&x, "memory/old-memory.md", &f));
	assert_false(f.curated);
	teardown();
}

static void test_index__deleted_files_go(void **state)
{
	struct store_file f;

	(void)state;
	setup();
	ix_run(&x);
	ws_remove(&x.ws, "memory/2026-03-01.md");
	ix_run(&x);
	assert_int_equal(x.r.removed, 1);
	assert_int_equal(x.r.indexed, 2);
	assert_false(ix_file(&x, "memory/2026-03-01.md", &f));
	assert_int_equal(ix_hits(&x, "wombat"), 0);
	teardown();
}

static void test_index__a_workspace_that_is_gone_removes_nothing(void **state)
{
	char away[600];

	(void)state;
	setup();
	ix_run(&x);
	snprintf(away, sizeof(away), "%s.away", x.ws.dir);
	assert_int_equal(rename(x.ws.dir, away), 0);
	assert_int_equal(ix_try(&x), REMEM_ENOTFOUND);
	assert_int_equal(ix_hits(&x, "wombat"), 1);
	assert_int_equal(rename(away, x.ws.dir), 0);
	teardown();
}

static void test_index__a_closed_folder_keeps_its_rows(void **state)
{
	const char *closed;

	(void)state;
	setup();
	ws_put(&x.ws, "memory/closed/a.md", "numbat\n");
	ix_run(&x);
	closed = ws_path(&x.ws, "memory/closed");
	assert_int_equal(chmod(closed, 0), 0);
	assert_int_equal(chmod(x.dir, 0777), 0);
	if (getuid() == 0) {
		/* The index must stay writable for the other user. */
		char cmd[700];

		snprintf(cmd, sizeof(cmd), "chown -R 65534 '%s'", x.dir);
		assert_int_equal(system(cmd), 0);
	}
	ws_be_user(true);
	ix_run(&x);
	ws_be_user(false);
	assert_int_equal(x.r.kept, 1);
	assert_int_equal(x.r.removed, 0);
	assert_false(x.r.complete);
	assert_string_equal(x.r.skips[0].path, "memory/closed/");
	assert_int_equal(ix_hits(&x, "numbat"), 1);
	assert_int_equal(chmod(ws_path(&x.ws, "memory/closed"), 0755), 0);
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "numbat"), 1);
	assert_true(x.r.complete);
	teardown();
}

static void test_index__a_closed_file_keeps_its_rows(void **state)
{
	struct store_file f;

	(void)state;
	setup();
	ws_put(&x.ws, "memory/closed.md", "numbat\n");
	ws_put(&x.ws, "memory/closed-new.md", "quokka\n");
	assert_int_equal(chmod(ws_path(&x.ws, "memory/closed-new.md"), 0), 0);
	assert_int_equal(mkdir(x.dir, 0777), 0);
	assert_int_equal(chmod(x.dir, 0777), 0);
	ws_be_user(true);
	ix_run(&x);
	assert_true(ix_file(&x, "memory/closed-new.md", &f));
	assert_true(f.skipped && strstr(f.reason, "denied"));
	ws_be_user(false);
	assert_int_equal(chmod(ws_path(&x.ws, "memory/closed.md"), 0), 0);
	ws_be_user(true);
	ix_run(&x);
	assert_int_equal(ix_hits(&x, "numbat"), 1);
	ws_be_user(false);
	assert_false(x.r.complete);
	assert_int_equal(x.r.skip_count, 2);
	assert_int_equal(chmod(ws_path(&x.ws, "memory/closed.md"), 0644), 0);
	assert_int_equal(chmod(ws_path(&x.ws, "memory/closed-new.md"), 0644),
			 0);
	ws_be_user(true);
	ix_run(&x);
	assert_true(x.r.complete);
	assert_int_equal(ix_hits(&x, "quokka"), 1);
	assert_true(ix_file(&x, "memory/closed.md", &f));
	assert_null(f.reason);
	ws_be_user(false);
	teardown();
}

static void test_index__what_is_skipped_is_listed_with_its_reason(void **state)
{
	struct store_file f;

	(void)state;
	setup();
	ws_put(&x.ws, "memory/.hidden/a.md", "a\n");
	ws_link(&x.ws, "2026-03-01.md", "memory/link.md");
	ws_put(&x.ws, "memory/big.md", "0123456789\n");
	x.ws.o.max_file_bytes = 10;
	ws_put(&x.ws, "MEMORY.md", "tiny\n");
	ix_run(&x);
	assert_true(ix_file(&x, "memory/link.md", &f));
	assert_true(f.skipped && strstr(f.reason, "symbolic link"));
	assert_true(ix_file(&x, "memory/.hidden/", &f));
	assert_true(ix_file(&x, "memory/big.md", &f));
	assert_true(f.skipped && strstr(f.reason, "maxFileBytes"));
	assert_int_equal(x.r.indexed, 1);
	assert_int_equal(x.r.skipped, 5);
	assert_int_equal(x.r.skip_count, 5);
	assert_false(x.r.complete);
	x.ws.o.max_file_bytes = 0;
	ix_run(&x);
	assert_int_equal(x.r.indexed, 4);
	assert_true(x.r.complete);
	teardown();
}

static void test_index__both_spellings_of_memory_are_named(void **state)
{
	struct store_file f;

	(void)state;
	setup();
	ws_put(&x.ws, "memory.md", "old diary\n");
	ix_run(&x);
	assert_true(ix_file(&x, "memory.md", &f));
	assert_false(f.skipped);
	assert_non_null(f.reason);
	ws_remove(&x.ws, "MEMORY.md");
	ix_run(&x);
	assert_true(ix_file(&x, "memory.md", &f));
	assert_null(f.reason);
	teardown();
}

static void test_index__odd_contents_are_taken_in(void **state)
{
	static const char *const odd[] = {
		"", "\xEF\xBB\xBF", "   \n\n", "---\ntitle: x\n---\n", "```\n",
		"\xff\xfe", "a\xff\xfe" "b quoll\n", "---\n- a\n- b\n---\nbilby\n",
		"---\ntype: null\n---\n", "\r\n\r\n# A\r\nkoala\r\n"
	};
	char name[64];

	(void)state;
	setup();
	for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
		snprintf(name, sizeof(name), "memory/odd-%zu.md", i);
		ws_put(&x.ws, name, odd[i]);
	}
	ix_run(&x);
	assert_int_equal(x.r.indexed, 3 + (int)ARRAY_LEN(odd));
	assert_int_equal(ix_hits(&x, "quoll"), 1);
	assert_int_equal(ix_hits(&x, "bilby"), 1);
	assert_int_equal(ix_hits(&x, "koala"), 1);
	ix_run(&x);
	assert_int_equal(x.r.unchanged, 3 + (int)ARRAY_LEN(odd));
	teardown();
}

/* ---- meanwhile -------------------------------------------------------- */

static int delete_later(void *ctx, const char *phase, int64_t done,
			int64_t total, double rate, double left)
{
	(void)total, (void)rate, (void)left, (void)done;
	if (!strcmp(phase, "text") && !*(int *)ctx) {
		*(int *)ctx = 1;
		ws_remove(&x.ws, "memory/2026-03-01.md");
		ws_put(&x.ws, "memory/zz-late.md", "late arrival\n");
	}
	return 0;
}

static void test_index__what_happens_meanwhile_is_in(void **state)
{
	struct store_file f;
	int fired = 0;

	(void)state;
	setup();
	for (int i = 0; i < 10; i++) {
		char name[32];

		snprintf(name, sizeof(name), "memory/n%d.md", i);
		ws_put(&x.ws, name, "one of many\n");
	}
	x.o.progress = delete_later;
	x.o.progress_ctx = &fired;
	ix_run(&x);
	assert_int_equal(fired, 1);
	assert_false(ix_file(&x, "memory/2026-03-01.md", &f));
	assert_int_equal(ix_hits(&x, "arrival"), 1);
	assert_true(x.r.complete);
	teardown();
}

static int stop_at_once(void *ctx, const char *phase, int64_t done,
			int64_t total, double rate, double left)
{
	(void)ctx, (void)phase, (void)total, (void)rate, (void)left;
	(void)done;
	return 1;
}

static void test_index__a_stopped_run_goes_on_next_time(void **state)
{
	(void)state;
	setup();
	x.o.progress = stop_at_once;
	assert_int_equal(ix_try(&x), REMEM_ECANCELLED);
	x.o.progress = NULL;
	ix_run(&x);
	assert_int_equal(x.r.indexed, 3);
	assert_true(x.r.added <= 3 && x.r.added + x.r.unchanged == 3);
	teardown();
}

static void test_index__one_writes_at_a_time(void **state)
{
	struct store_opts so = { x.dir, STORE_WRITE, 0, TERM_VERSION,
				 NOTE_VERSION, false };
	struct store *s;

	(void)state;
	setup();
	ix_run(&x);
	ws_put(&x.ws, "memory/新.md", "new\n");
	assert_int_equal(store_backend("sqlite")->open(&s, &so, &x.err), 0);
	assert_int_equal(ix_try(&x), REMEM_EBUSY);
	assert_true(x.err.message[0] != '\0');
	x.o.wait_ms = 10;
	assert_int_equal(ix_try(&x), REMEM_EBUSY);
	s->ops->close(s);
	ix_run(&x);
	assert_false(x.r.shared);
	assert_int_equal(x.r.added, 1);
	teardown();
}

static int ready[2];

static void hold_lock(void *ctx)
{
	struct timespec t = { 0, 50000000 };

	(void)ctx;
	assert_int_equal(write(ready[1], "x", 1), 1);
	nanosleep(&t, NULL);
}

static void test_index__who_waited_shares_the_result(void **state)
{
	int status;
	char c;

	(void)state;
	setup();
	assert_int_equal(pipe(ready), 0);
	x.o.embedder = &x.e;
	if (fork() == 0) {
		x.e.hook = hold_lock;
		_exit(ix_try(&x) != 0);
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	x.o.wait_ms = 60000;
	ix_run(&x);
	assert_true(x.r.shared);
	assert_true(x.r.complete);
	assert_int_equal(x.e.requests, 0);
	assert_int_equal(wait(&status) > 0 && status == 0, 1);
	close(ready[0]);
	close(ready[1]);
	teardown();
}

static void test_index__processes_at_once_all_succeed(void **state)
{
	int status, bad = 0;

	(void)state;
	setup();
	x.o.wait_ms = 60000;
	for (int i = 0; i < 4; i++) {
		if (fork() == 0)
			_exit(ix_try(&x) ? 1 : x.r.indexed != 3);
	}
	while (wait(&status) > 0)
		bad += status != 0;
	assert_int_equal(bad, 0);
	ix_run(&x);
	assert_int_equal(x.r.unchanged, 3);
	teardown();
}

/* ---- generations ------------------------------------------------------ */

static void test_index__force_makes_a_new_generation(void **state)
{
	char *before, *after;

	(void)state;
	setup();
	x.o.embedder = &x.e;
	ix_run(&x);
	before = ix_dump(&x);
	fake_forget(&x.e);
	x.o.force = true;
	ix_run(&x);
	assert_true(x.r.forced);
	assert_int_equal(x.r.added, 3);
	after = ix_dump(&x);
	assert_string_equal(before, after);
	assert_int_equal(x.e.requests, 0);
	assert_true(x.r.complete);
	mem_free(before);
	mem_free(after);
	teardown();
}

static void test_index__other_chunks_are_cut_without_embedding(void **state)
{
	(void)state;
	setup();
	x.o.embedder = &x.e;
	ix_run(&x);
	fake_forget(&x.e);
	x.o.note.chunk_tokens = 200;
	x.o.note.overlap_tokens = 20;
	ix_run(&x);
	assert_true(x.r.forced);
	assert_int_equal(x.e.count, 0);
	ix_run(&x);
	assert_false(x.r.forced);
	assert_int_equal(x.r.unchanged, 3);
	teardown();
}

static void test_index__unit_chunk_is_refused(void **state)
{
	(void)state;
	setup();
	x.o.unit_chunk = true;
	assert_int_equal(ix_try(&x), REMEM_ENOTSUP);
	teardown();
}

/* ---- vectors ---------------------------------------------------------- */

static bool was_asked(const char *input)
{
	for (int i = 0; i < x.e.count; i++)
		if (!strcmp(x.e.asked[i], input))
			return true;
	return false;
}

static void test_index__passages_are_embedded_with_telling_headings(void **state)
{
	(void)state;
	setup();
	ws_put(&x.ws, "memory/2026-03-02.md",
	       "# 2026-03-02\n\n- bare words\n\n## 上午\n\n- 上午的事\n");
	x.o.embedder = &x.e;
	ix_run(&x);
	assert_true(x.r.complete);
	assert_int_equal(x.r.vectors_pending, 0);
	assert_int_equal(x.r.vectors_done, x.r.passages);
	assert_true(was_asked("Deploy\n- wombat was released") ||
		    was_asked("Deploy\nwombat was released"));
	assert_true(was_asked("- bare words") || was_asked("bare words"));
	assert_true(was_asked("- 上午的事") || was_asked("上午的事"));
	assert_true(was_asked("错误\n超时改为三十秒"));
	teardown();
}

static void test_index__equal_inputs_are_embedded_once(void **state)
{
	(void)state;
	setup();
	for (int i = 0; i < 6; i++) {
		char name[32];

		snprintf(name, sizeof(name), "memory/e%d.md", i);
		ws_put(&x.ws, name, "the very same words\n");
	}
	x.o.embedder = &x.e;
	ix_run(&x);
	assert_int_equal(x.r.vectors_done, x.r.passages);
	assert_int_equal(x.e.count, x.r.passages - 5);
	teardown();
}

static void test_index__a_rename_embeds_nothing(void **state)
{
	(void)state;
	setup();
	x.o.embedder = &x.e;
	ix_run(&x);
	fake_forget(&x.e);
	assert_int_equal(rename(ws_path(&x.ws, "memory/2026-03-01.md"),
				ws_path(&x.ws, "memory/other.md")), 0);
	assert_int_equal(rename(ws_path(&x.ws, "MEMORY.md"),
				ws_path(&x.ws, "memory/plain.md")), 0);
	ix_run(&x);
	assert_int_equal(x.e.requests, 0);
	assert_true(x.r.complete);
	teardown();
}

static void test_index__a_line_on_top_embeds_one_passage(void **state)
{
	(void)state;
	setup();
	x.o.embedder = &x.e;
	ix_run(&x);
	fake_forget(&x.e);
	ws_put(&x.ws, "MEMORY.md", "# Memory\n\n- one more 又一条\n"
				   "- likes green tea\n- 喜欢绿茶\n");
	ix_run(&x);
	assert_int_equal(x.e.count, 1);
	teardown();
}

static void test_index__a_heading_grown_common_embeds_nothing(void **state)
{
	char name[64], text[64];

	(void)state;
	setup();
	x.o.embedder = &x.e;
	ix_run(&x);
	fake_forget(&x.e);
	for (int i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), "memory/deploy-%d.md", i);
		snprintf(text, sizeof(text), "# Deploy\n\nround %d\n", i);
		ws_put(&x.ws, name, text);
	}
	ix_run(&x);
	assert_int_equal(x.e.count, 6);
	fake_forget(&x.e);
	/* "Deploy" is common now; a new generation decides anew. */
	x.o.force = true;
	ix_run(&x);
	assert_int_equal(x.e.count, 0);
	assert_int_equal(x.r.vectors_pending, 0);
	teardown();
}

static void test_index__a_failing_provider_leaves_text(void **state)
{
	int64_t done;

	(void)state;
	setup();
	ws_put(&x.ws, "memory/more.md", "- one\n- two\n- three\n- four\n- five\n");
	x.o.embedder = &x.e;
	x.e.fail_at = 2;
	ix_run(&x);
	assert_non_null(x.r.degraded);
	assert_non_null(strstr(x.r.degraded, "429"));
	assert_false(x.r.complete);
	assert_int_equal(x.r.vectors_done, FAKE_BATCH);
	assert_int_equal(ix_hits(&x, "wombat"), 1);
	done = x.e.count;
	x.e.fail_at = 0;
	ix_run(&x);
	assert_null(x.r.degraded);
	assert_true(x.r.complete);
	assert_int_equal(x.e.count, x.r.passages);
	assert_true(done < x.e.count);
	teardown();
}

static void test_index__a_provider_that_is_off_says_why(void **state)
{
	(void)state;
	setup();
	x.o.embedder = &x.e;
	x.e.off = "no provider is set";
	ix_run(&x);
	assert_string_equal(x.r.degraded, "no provider is set");
	assert_int_equal(x.r.vectors_pending, x.r.passages);
	assert_int_equal(ix_hits(&x, "wombat"), 1);
	teardown();
}

static void test_index__dimensions_are_learned_once(void **state)
{
	(void)state;
	setup();
	x.o.embedder = &x.e;
	x.e.info.dims = 0;
	x.e.info.fingerprint = "";
	x.e.fail_at = 1;
	ix_run(&x);
	assert_non_null(strstr(x.r.degraded, "refused"));
	assert_int_equal(x.e.requests, 1);
	x.e.fail_at = 0;
	ix_run(&x);
	assert_true(x.r.complete);
	teardown();
}

/* A set of n dimensions, as one that an earlier model of that name made. */
static void make_set_of(int n)
{
	struct store_opts so = { x.dir, STORE_WRITE, 1000, TERM_VERSION,
				 NOTE_VERSION, false };
	struct store *s;
	int fp;

	assert_int_equal(store_backend("sqlite")->open(&s, &so, &x.err), 0);
	assert_int_equal(s->ops->fingerprint(s, x.e.info.fingerprint, n, &fp,
					     &x.err), 0);
	s->ops->close(s);
}

static void test_index__another_dimension_is_told_and_not_stored(void **state)
{
	(void)state;
	setup();
	ix_run(&x);
	x.o.embedder = &x.e;
	make_set_of(FAKE_DIMS + 1);
	ws_put(&x.ws, "memory/new.md", "- 另一种维数 of another kind\n");
	ix_run(&x);
	assert_int_equal(x.e.expected, FAKE_DIMS + 1);
	assert_non_null(strstr(x.r.degraded, "another number"));
	assert_false(x.r.complete);
	assert_true(x.r.vectors_pending > 0);
	assert_int_equal(x.e.requests, 0);
	assert_int_equal(ix_hits(&x, "维数"), 1);
	teardown();
}

static void test_index__the_stored_dimension_is_expected(void **state)
{
	(void)state;
	setup();
	x.o.embedder = &x.e;
	ix_run(&x);
	assert_int_equal(x.e.expected, 0);
	ws_put(&x.ws, "memory/new.md", "- 新的一条 one more\n");
	x.e.info.dims = 0; /* as of a remote one in a new process */
	x.e.fail_at = x.e.requests + 2; /* a probe would be one too many */
	ix_run(&x);
	assert_int_equal(x.e.expected, FAKE_DIMS);
	assert_true(x.r.complete);
	teardown();
}

static void test_index__refused_passages_hold_up_nothing(void **state)
{
	(void)state;
	setup();
	x.o.embedder = &x.e;
	x.e.refuse = "wombat";
	ix_run(&x);
	assert_int_equal(x.r.vectors_refused, 1);
	assert_int_equal(x.r.vectors_pending, 0);
	assert_int_equal(x.r.vectors_done, x.r.passages - 1);
	fake_forget(&x.e);
	ix_run(&x);
	assert_int_equal(x.e.requests, 0);
	teardown();
}

static void test_index__text_only_leaves_vectors_for_later(void **state)
{
	(void)state;
	setup();
	x.o.embedder = &x.e;
	x.o.text_only = true;
	ix_run(&x);
	assert_int_equal(x.e.requests, 0);
	assert_int_equal(x.r.vectors_pending, x.r.passages);
	x.o.text_only = false;
	ix_run(&x);
	assert_int_equal(x.r.vectors_pending, 0);
	assert_int_equal(x.r.unchanged, 3);
	teardown();
}

static void spend_time(void *ctx)
{
	struct timespec t = { 0, 3000000 };

	(void)ctx;
	nanosleep(&t, NULL);
}

static void test_index__a_time_budget_ends_embedding(void **state)
{
	char text[2048] = "";

	(void)state;
	setup();
	for (int i = 0; i < 40; i++)
		sprintf(text + strlen(text), "- item number %d\n", i);
	ws_put(&x.ws, "memory/many.md", text);
	x.o.embedder = &x.e;
	x.o.vector_budget_ms = 2;
	x.e.hook = spend_time;
	ix_run(&x);
	assert_true(x.r.vectors_pending > 0);
	assert_null(x.r.degraded);
	assert_false(x.r.complete);
	x.o.vector_budget_ms = 0;
	x.e.hook = NULL;
	ix_run(&x);
	assert_int_equal(x.r.vectors_pending, 0);
	teardown();
}

/* ---- looking only ----------------------------------------------------- */

static void test_index__a_dry_run_counts_and_writes_nothing(void **state)
{
	struct index_report dry;

	(void)state;
	setup();
	x.o.embedder = &x.e;
	x.o.dry_run = true;
	ix_run(&x);
	dry = x.r;
	assert_false(file_exists(x.dir));
	assert_int_equal(x.e.requests, 0);
	assert_int_equal(dry.added, 3);
	assert_true(dry.tokens > 0);
	assert_true(dry.price_usd > 0);
	x.o.dry_run = false;
	ix_run(&x);
	assert_int_equal(dry.chunks, x.r.chunks);
	assert_int_equal(dry.passages, x.r.passages);
	assert_int_equal(dry.vectors_pending, x.r.vectors_done);
	ws_put(&x.ws, "memory/2026-03-01.md", "# 2026-03-01\n\n## Deploy\n\n"
	       "- wombat was released\n- and a platypus\n");
	ws_remove(&x.ws, "memory/项目/支付.md");
	x.o.dry_run = true;
	ix_run(&x);
	assert_int_equal(x.r.changed, 1);
	assert_int_equal(x.r.removed, 1);
	assert_int_equal(x.r.unchanged, 1);
	assert_int_equal(x.r.vectors_cached, 1);
	assert_int_equal(x.r.vectors_pending, 1);
	assert_int_equal(ix_hits(&x, "platypus"), 0);
	teardown();
}

static int64_t dirty(bool with_store)
{
	struct source_list l;
	struct store *s = with_store ? ix_open(&x) : NULL;
	int64_t n;

	assert_int_equal(index_dirty(&n, &l, &x.a, s, &x.ws.o, &x.err), 0);
	source_list_release(&l);
	if (s)
		s->ops->close(s);
	return n;
}

static void test_index__dirty_counts_what_a_run_would_do(void **state)
{
	(void)state;
	setup();
	assert_int_equal(dirty(false), 3);
	ix_run(&x);
	assert_int_equal(dirty(true), 0);
	ws_put(&x.ws, "memory/2026-03-01.md", "changed\n");
	ws_put(&x.ws, "memory/新.md", "new\n");
	ws_remove(&x.ws, "MEMORY.md");
	assert_int_equal(dirty(true), 3);
	ix_run(&x);
	assert_int_equal(dirty(true), 0);
	teardown();
}

/* What a search does: the disk is looked at while the index is read. */
static void test_index__a_look_is_compared_with_what_was_known(void **state)
{
	struct index_known *known;
	struct index_look k;
	struct store *s;
	bool moved;
	int64_t n;

	(void)state;
	setup();
	ix_run(&x);
	s = ix_open(&x);
	known = index_known(s, &x.a);
	assert_int_equal(index_look(&k, &x.a, &x.ws.o, &x.err), 0);
	assert_int_equal(index_compare(&n, &moved, &k, known, &x.a, s,
				       &x.ws.o, &x.err), 0);
	assert_true(n == 0 && !moved);
	index_look_release(&k);
	ws_put(&x.ws, "memory/2026-03-01.md", "- another word\n");
	assert_int_equal(index_look(&k, &x.a, &x.ws.o, &x.err), 0);
	assert_int_equal(index_compare(&n, &moved, &k, known, &x.a, s,
				       &x.ws.o, &x.err), 0);
	assert_true(n == 1 && !moved);
	/* Somebody else indexes it: an answer from before does not have it. */
	ix_run(&x);
	assert_int_equal(index_compare(&n, &moved, &k, known, &x.a, s,
				       &x.ws.o, &x.err), 0);
	assert_true(n == 0 && moved);
	index_look_release(&k);
	s->ops->close(s);
	teardown();
}

static void test_index__input_and_key(void **state)
{
	struct store_passage p = { .len = 6, .heading = "部署",
				   .heading_files = 3 };
	unsigned char k1[SHA256_BYTES], k2[SHA256_BYTES];
	struct arena a = ARENA_INIT;
	size_t len;

	(void)state;
	assert_string_equal(index_input(&a, &p, "发布了", 10, &len),
			    "部署\n发布") ;
	arena_release(&a);
	p.len = 9;
	assert_string_equal(index_input(&a, &p, "发布了", 10, &len),
			    "部署\n发布了");
	assert_int_equal(len, 16);
	p.heading_files = 4;
	assert_string_equal(index_input(&a, &p, "发布了", 79, &len), "发布了");
	assert_string_equal(index_input(&a, &p, "发布了", 80, &len),
			    "部署\n发布了");
	p.heading = "2026-03-01 周一";
	assert_string_equal(index_input(&a, &p, "发布了", 800, &len), "发布了");
	p.heading = NULL;
	assert_string_equal(index_input(&a, &p, "发布了", 800, &len), "发布了");
	index_key(k1, "f", "p", "x", 1);
	index_key(k2, "fp", "", "x", 1);
	assert_memory_not_equal(k1, k2, SHA256_BYTES);
	arena_release(&a);
}

static void test_index__survives_each_failed_allocation(void **state)
{
	long n = 0;
	int rc;

	(void)state;
	setup();
	x.o.embedder = &x.e;
	do {
		assert_int_equal(dir_remove(x.dir, NULL), 0);
		fake_forget(&x.e);
		arena_release(&x.a);
		arena_init(&x.a, 0);
		alloc_fail_at(++n);
		rc = ix_try(&x);
		alloc_fail_at(0);
		if (rc && rc != REMEM_ENOMEM)
			fail_msg("allocation %ld: %d %s", n, rc,
				 x.err.message);
		assert_true(n < 20000);
	} while (rc);
	assert_int_equal(x.r.indexed, 3);
	ix_run(&x);
	assert_true(x.r.complete);
	teardown();
}

static int64_t index_bytes(void)
{
	struct store *s = ix_open(&x);
	struct store_info i;

	assert_int_equal(s->ops->info(s, &i, &x.err), 0);
	s->ops->close(s);
	return i.bytes_database + i.bytes_vectors;
}

static void put_many(int from, int to, bool there)
{
	char path[64], text[2048];

	for (int i = from; i < to; i++) {
		size_t n = 0;

		snprintf(path, sizeof(path), "memory/n%04d.md", i);
		for (int k = 0; k < 20; k++)
			n += (size_t)snprintf(text + n, sizeof(text) - n,
					      "- line%d of note%d says 数据%d "
					      "and value%d\n", k, i, i * k % 97,
					      i * 31 + k * 7);
		if (there)
			ws_put(&x.ws, path, text);
		else
			ws_remove(&x.ws, path);
	}
}

/* With vectors too, though some stay for texts that come back. */
static void test_index__half_of_the_vectors_gone_it_shrinks(void **state)
{
	int64_t before, asked;

	(void)state;
	setup();
	x.o.embedder = &x.e;
	put_many(0, 600, true);
	ix_run(&x);
	assert_int_equal(x.r.vectors_pending, 0);
	before = index_bytes();
	asked = x.e.count;
	put_many(0, 300, false);
	ix_run(&x);
	assert_int_equal(x.r.removed, 300);
	if (index_bytes() * 3 > before * 2)
		fail_msg("%lld of %lld", (long long)index_bytes(),
			 (long long)before);
	assert_int_equal(x.e.count, asked);
	put_many(0, 300, true);
	ix_run(&x);
	assert_in_range(x.r.vectors_cached, 600, 900); /* of 6,000 */
	assert_true(x.r.complete);
	teardown();
}

static void test_index__half_of_the_notes_gone_it_shrinks(void **state)
{
	struct store_sizes z;
	struct store *s;
	int64_t before;

	(void)state;
	setup();
	put_many(0, 600, true);
	ix_run(&x);
	before = index_bytes();
	put_many(0, 300, false);
	ix_run(&x);
	assert_int_equal(x.r.removed, 300);
	if (index_bytes() * 3 > before * 2)
		fail_msg("%lld of %lld", (long long)index_bytes(),
			 (long long)before);
	s = ix_open(&x);
	assert_int_equal(s->ops->sizes(s, &z, &x.err), 0);
	if (z.by_table)
		assert_in_range(z.chunks + z.postings + z.passages + z.keys +
				z.other + z.free, index_bytes() * 9 / 10,
				index_bytes() * 11 / 10);
	s->ops->close(s);
	teardown();
}
