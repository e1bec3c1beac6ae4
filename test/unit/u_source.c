#define _GNU_SOURCE
#include "workspace.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/alloc.h"
#include "source/names.h"

static struct ws w;
static struct arena a;
static struct source_list l;

static int setup(void)
{
	ws_begin(&w);
	arena_init(&a, 0);
	memset(&l, 0, sizeof(l));
	return 0;
}

static void teardown(void)
{
	source_list_release(&l);
	arena_release(&a);
	ws_end(&w);
}

static void walk(void)
{
	struct remem_err err = { 0 };

	source_list_release(&l);
	if (source_walk(&l, &a, &w.o, &err))
		fail_msg("%s", err.message);
	for (size_t i = 1; i < l.count; i++)
		assert_true(strcmp(l.files[i - 1].path, l.files[i].path) < 0);
}

static struct source_file *find(const char *path)
{
	for (size_t i = 0; i < l.count; i++)
		if (!strcmp(l.files[i].path, path))
			return &l.files[i];
	return NULL;
}

static void expect_note(const char *path)
{
	struct source_file *f = find(path);

	if (!f)
		fail_msg("'%s' is not listed", path);
	if (f->skip)
		fail_msg("'%s' is skipped: %s", path, f->skip);
	assert_true(f->inode != 0);
}

static void expect_skip(const char *path, const char *word)
{
	struct source_file *f = find(path);

	if (!f)
		fail_msg("'%s' is not listed", path);
	if (!f->skip || !strstr(f->skip, word))
		fail_msg("'%s': '%s' instead of '%s'", path,
			 f->skip ? f->skip : "to be indexed", word);
}

static int note_count(void)
{
	int n = 0;

	for (size_t i = 0; i < l.count; i++)
		n += !l.files[i].skip;
	return n;
}

static void test_source__lists_what_a_workspace_holds(void **state)
{
	(void)state;
	setup();
	ws_put(&w, "MEMORY.md", "m");
	ws_put(&w, "USER.md", "u");
	ws_put(&w, "DREAMS.md", "d");
	ws_put(&w, "AGENTS.md", "not ours");
	ws_put(&w, "memory/2026-03-01.md", "x");
	ws_put(&w, "memory/a/b/c/d/e.md", "deep");
	ws_put(&w, "memory/中文目录/甲.md", "甲");
	ws_put(&w, "memory/english/b.MD", "b");
	ws_put(&w, "memory/picture.png", "not here");
	ws_put(&w, "memory/a.txt", "no note");
	walk();
	assert_int_equal(l.count, 7);
	assert_int_equal(note_count(), 7);
	expect_note("memory/a/b/c/d/e.md");
	expect_note("memory/中文目录/甲.md");
	expect_note("memory/english/b.MD");
	assert_true(find("MEMORY.md")->curated && find("USER.md")->curated);
	assert_false(find("DREAMS.md")->curated);
	assert_int_equal(find("MEMORY.md")->size, 1);
	assert_string_equal(find("memory/a/b/c/d/e.md")->rel,
			    "memory/a/b/c/d/e.md");
	teardown();
}

static void test_source__an_empty_workspace_is_no_failure(void **state)
{
	(void)state;
	setup();
	walk();
	assert_int_equal(l.count, 0);
	teardown();
}

static void test_source__a_workspace_that_is_gone_is_said(void **state)
{
	struct remem_err err;

	(void)state;
	setup();
	assert_int_equal(rmdir(w.dir), 0);
	assert_int_equal(source_walk(&l, &a, &w.o, &err), REMEM_ENOTFOUND);
	assert_int_equal(l.root_count, 0);
	teardown();
}

static void test_source__any_name_is_listed_by_its_bytes(void **state)
{
	static const char *const names[] = { "{.md", "a\nb.md", "\xff\xfe.md",
					     "😀.md", "[x](y).md", "-rf.md",
					     " .md", "é.md", "e\xCC\x81.md" };
	char name[300], path[320];

	(void)state;
	setup();
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(path, sizeof(path), "memory/%s", names[i]);
		ws_put(&w, path, "x");
	}
	memset(name, 'n', 255);
	strcpy(name + 252, ".md");
	snprintf(path, sizeof(path), "memory/%s", name);
	ws_put(&w, path, "long");
	walk();
	assert_int_equal(note_count(), (int)ARRAY_LEN(names) + 1);
	expect_note("memory/\xff\xfe.md");
	expect_note(path);
	teardown();
}

static void test_source__only_regular_files_are_read(void **state)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int s = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)state;
	setup();
	ws_put(&w, "memory/a.md", "x");
	assert_int_equal(mkfifo(ws_path(&w, "memory/pipe.md"), 0644), 0);
	assert_int_equal(mkfifo(ws_path(&w, "MEMORY.md"), 0644), 0);
	assert_int_equal(mkdir(ws_path(&w, "memory/folder.md"), 0755), 0);
	assert_true(strlen(w.tmp.dir) + 6 < sizeof(sa.sun_path));
	strcat(strcpy(sa.sun_path, w.tmp.dir), "/s.md");
	assert_int_equal(bind(s, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(rename(sa.sun_path, ws_path(&w, "memory/s.md")), 0);
	walk();
	assert_int_equal(note_count(), 1);
	expect_skip("memory/pipe.md", "regular");
	expect_skip("MEMORY.md", "regular");
	expect_skip("memory/s.md", "regular");
	close(s);
	teardown();
}

static void test_source__two_spellings_of_memory_are_two_notes(void **state)
{
	(void)state;
	setup();
	ws_put(&w, "MEMORY.md", "long-term");
	ws_put(&w, "memory.md", "old diary");
	walk();
	assert_int_equal(note_count(), 2);
	assert_true(find("MEMORY.md")->curated);
	assert_false(find("memory.md")->curated);
	assert_non_null(find("memory.md")->warning);
	assert_null(find("MEMORY.md")->warning);
	ws_remove(&w, "MEMORY.md");
	walk();
	assert_null(find("memory.md")->warning);
	teardown();
}

static void test_source__one_inode_is_one_file(void **state)
{
	(void)state;
	setup();
	ws_put(&w, "MEMORY.md", "x");
	ws_put(&w, "memory/b.md", "y");
	assert_int_equal(link(ws_path(&w, "MEMORY.md"),
			      ws_path(&w, "memory.md")), 0);
	assert_int_equal(link(ws_path(&w, "MEMORY.md"),
			      ws_path(&w, "memory/a.md")), 0);
	assert_int_equal(link(ws_path(&w, "memory/b.md"),
			      ws_path(&w, "memory/c.md")), 0);
	walk();
	assert_int_equal(note_count(), 2);
	expect_note("MEMORY.md");
	expect_note("memory/b.md");
	teardown();
}

static void test_source__inner_links_are_listed_not_followed(void **state)
{
	(void)state;
	setup();
	ws_put(&w, "../outside/note.md", "secret");
	ws_put(&w, "memory/real.md", "x");
	ws_link(&w, "../../outside/note.md", "memory/shared.md");
	ws_link(&w, "../../outside", "memory/folder");
	ws_link(&w, "nowhere", "memory/dangling.md");
	ws_link(&w, "/etc/hostname", "memory/no-note");
	ws_link(&w, "../outside/note.md", "USER.md");
	walk();
	assert_int_equal(note_count(), 1);
	expect_skip("memory/shared.md", "extraPaths");
	expect_skip("memory/folder/", "extraPaths");
	expect_skip("memory/dangling.md", "symbolic link");
	expect_skip("USER.md", "symbolic link");
	assert_null(find("memory/no-note"));
	teardown();
}

static void test_source__memory_as_a_link_can_be_declared(void **state)
{
	struct source_extra x = { "memory", NULL };

	(void)state;
	setup();
	ws_put(&w, "../shared/2026-06-06.md", "x");
	ws_link(&w, "../shared", "memory");
	walk();
	expect_skip("memory/", "extraPaths");
	w.o.extra = &x;
	w.o.extra_count = 1;
	walk();
	assert_int_equal(l.count, 1);
	expect_note("memory/2026-06-06.md");
	teardown();
}

static void test_source__links_are_followed_by_option(void **state)
{
	(void)state;
	setup();
	ws_put(&w, "../outside/n.md", "x");
	ws_put(&w, "../single.md", "y");
	ws_put(&w, "memory/sub/a.md", "a");
	ws_put(&w, "memory/z/real.md", "r");
	ws_link(&w, "../../outside", "memory/out");
	ws_link(&w, "..", "memory/sub/loop");
	ws_link(&w, "../..", "memory/sub/workspace");
	ws_link(&w, ".", "memory/sub/self");
	ws_link(&w, "../../single.md", "memory/one.md");
	ws_link(&w, "z/real.md", "memory/again.md");
	ws_link(&w, "nowhere", "memory/dangling.md");
	w.o.follow_links = true;
	walk();
	assert_int_equal(note_count(), 4);
	expect_note("memory/out/n.md");
	expect_note("memory/one.md");
	expect_note("memory/z/real.md");
	expect_skip("memory/dangling.md", "nowhere");
	teardown();
}

static void test_source__hidden_things_are_skipped_and_listed(void **state)
{
	static const char *const allow[] = { ".aidocs", NULL };

	(void)state;
	setup();
	ws_put(&w, "memory/.aidocs/a.md", "x");
	ws_put(&w, "memory/.git/x.md", "never");
	ws_put(&w, "memory/.hidden.md", "x");
	ws_put(&w, "memory/.DS_Store", "x");
	walk();
	assert_int_equal(l.count, 2);
	expect_skip("memory/.aidocs/", "hidden");
	expect_skip("memory/.hidden.md", "hidden");
	w.o.allow_hidden = allow;
	walk();
	expect_note("memory/.aidocs/a.md");
	assert_null(find("memory/.git/"));
	teardown();
}

static void test_source__folders_of_tools_are_not_entered(void **state)
{
	(void)state;
	setup();
	ws_put(&w, "memory/node_modules/a/readme.md", "x");
	ws_put(&w, "memory/p/.venv/b.md", "x");
	ws_put(&w, "memory/p/__pycache__/c.md", "x");
	ws_put(&w, "memory/p/mine.md", "x");
	walk();
	assert_int_equal(note_count(), 1);
	expect_skip("memory/node_modules/", "tool");
	expect_skip("memory/p/.venv/", "tool");
	teardown();
}

static void test_source__ignore_files_count_inside_roots(void **state)
{
	(void)state;
	setup();
	ws_put(&w, ".gitignore", "memory/\n*.tmp.md\n/memory/private/\n");
	ws_put(&w, "memory/.gitignore", "草稿*\nlogs/\n");
	ws_put(&w, "memory/.rememignore", "!草稿-要.md\n");
	ws_put(&w, "memory/a.md", "x");
	ws_put(&w, "memory/b.tmp.md", "x");
	ws_put(&w, "memory/草稿一.md", "x");
	ws_put(&w, "memory/草稿-要.md", "x");
	ws_put(&w, "memory/private/p.md", "x");
	ws_put(&w, "memory/deep/logs/l.md", "x");
	ws_put(&w, "memory/deep/ok.md", "x");
	walk();
	assert_int_equal(note_count(), 3);
	expect_note("memory/a.md");
	expect_note("memory/草稿-要.md");
	expect_note("memory/deep/ok.md");
	expect_skip("memory/b.tmp.md", "ignored by .gitignore");
	expect_skip("memory/草稿一.md", "memory/.gitignore");
	expect_skip("memory/private/", "ignored");
	expect_skip("memory/deep/logs/", "memory/.gitignore");
	teardown();
}

static void test_source__an_ignore_file_that_does_not_count_is_said(void **state)
{
	(void)state;
	setup();
	ws_put(&w, "memory/a.md", "x");
	ws_link(&w, "/etc/passwd", "memory/.gitignore");
	assert_int_equal(mkdir(ws_path(&w, "memory/sub"), 0755), 0);
	ws_put(&w, "memory/sub/b.md", "x");
	ws_put(&w, "big", "");
	assert_int_equal(truncate(ws_path(&w, "big"), 1 << 20), 0);
	assert_int_equal(rename(ws_path(&w, "big"),
				ws_path(&w, "memory/sub/.ignore")), 0);
	walk();
	assert_int_equal(note_count(), 2);
	expect_skip("memory/sub/.ignore", "do not count");
	expect_skip("memory/.gitignore", "do not count");
	teardown();
}

static void test_source__files_of_editors_are_no_notes(void **state)
{
	static const char *const never[] = {
		"x.md.tmp", "x.md~", ".#x.md", "4913", "x (conflict).md.swp"
	};
	char path[64];

	(void)state;
	setup();
	for (size_t i = 0; i < ARRAY_LEN(never); i++) {
		snprintf(path, sizeof(path), "memory/%s", never[i]);
		ws_put(&w, path, "x");
	}
	ws_put(&w, "memory/x.sync-conflict-20260101-120000-ABCDEFG.md", "x");
	ws_put(&w, "memory/x (Li's conflicted copy 2026-01-01).md", "x");
	ws_put(&w, "memory/2026-01-01 (conflict with 王).md", "a note");
	walk();
	assert_int_equal(l.count, 3);
	assert_int_equal(note_count(), 1);
	expect_note("memory/2026-01-01 (conflict with 王).md");
	teardown();
}

static void test_source__extra_paths_of_all_kinds(void **state)
{
	const struct source_extra x[] = {
		{ "../vault", NULL },	   { "../single.txt", NULL },
		{ "../docs", "**/*.txt" }, { "../linked", NULL },
		{ "../missing", NULL },	   { "../empty", NULL },
		{ "notes", NULL },	   { "../gone/deeper", NULL }
	};

	(void)state;
	setup();
	ws_put(&w, "MEMORY.md", "m");
	ws_put(&w, "notes/in.md", "inside");
	ws_put(&w, "../vault/a.md", "a");
	ws_put(&w, "../vault/pic.png", "p");
	ws_put(&w, "../vault/song.FLAC", "p");
	ws_put(&w, "../single.txt", "s");
	ws_put(&w, "../docs/x/y.txt", "y");
	ws_put(&w, "../docs/z.md", "not matched");
	ws_put(&w, "../target/l.md", "l");
	ws_put(&w, "../empty/none.txt", "l");
	ws_link(&w, "target", "../linked");
	w.o.extra = x;
	w.o.extra_count = (int)ARRAY_LEN(x);
	walk();
	expect_note("../vault/a.md");
	expect_note("../single.txt");
	expect_note("../docs/x/y.txt");
	expect_note("../linked/l.md");
	expect_note("notes/in.md");
	expect_skip("../vault/pic.png", "images");
	expect_skip("../vault/song.FLAC", "audio");
	expect_skip("../missing/", "not there");
	expect_skip("../empty/", "no note");
	assert_null(find("../docs/z.md"));
	assert_int_equal(note_count(), 6);
	assert_string_equal(find("../vault/a.md")->rel, "a.md");
	/* Its folder is there, so it was deleted; the other's is not. */
	assert_false(l.roots[5].incomplete);
	assert_true(l.roots[8].incomplete);
	assert_int_equal(l.unread_count, 1);
	teardown();
}

static void test_source__overlapping_roots_give_each_file_once(void **state)
{
	const struct source_extra x[] = { { ".", NULL }, { "memory/sub", NULL },
					  { "memory", "**/*.md" } };

	(void)state;
	setup();
	ws_put(&w, "MEMORY.md", "m");
	ws_put(&w, "AGENTS.md", "a");
	ws_put(&w, "memory/sub/a.md", "a");
	ws_put(&w, "memory/sub/.x/a.md", "a");
	w.o.extra = x;
	w.o.extra_count = 3;
	walk();
	assert_int_equal(note_count(), 3);
	expect_note("AGENTS.md");
	assert_true(find("MEMORY.md")->curated);
	assert_int_equal(find("memory/sub/a.md")->root, 0);
	teardown();
}

static void test_source__a_closed_folder_keeps_its_rows(void **state)
{
	(void)state;
	setup();
	ws_put(&w, "memory/open.md", "x");
	ws_put(&w, "memory/closed/c.md", "x");
	assert_int_equal(chmod(ws_path(&w, "memory/closed"), 0), 0);
	ws_be_user(true);
	walk();
	ws_be_user(false);
	assert_int_equal(note_count(), 1);
	expect_skip("memory/closed/", "permission denied");
	assert_true(find("memory/closed/")->failed);
	assert_int_equal(l.unread_count, 1);
	assert_string_equal(l.unread[0], "memory/closed/");
	assert_true(l.roots[0].incomplete);
	assert_non_null(l.roots[0].problem);
	assert_int_equal(chmod(ws_path(&w, "memory/closed"), 0755), 0);
	teardown();
}

static void test_source__large_files_are_listed_with_the_limit(void **state)
{
	(void)state;
	setup();
	ws_put(&w, "memory/big.md", "0123456789");
	ws_put(&w, "MEMORY.md", "0123456789");
	w.o.max_file_bytes = 9;
	walk();
	expect_skip("memory/big.md", "10 bytes");
	expect_skip("MEMORY.md", "9 that");
	assert_true(find("memory/big.md")->failed);
	teardown();
}

static void test_source__depth_is_bounded_and_said(void **state)
{
	char path[2048] = "memory";

	(void)state;
	setup();
	for (int i = 0; i < 140; i++)
		strcat(path, "/d");
	strcat(path, "/x.md");
	ws_put(&w, path, "deep");
	ws_put(&w, "memory/a.md", "x");
	walk();
	assert_int_equal(note_count(), 1);
	assert_int_equal(l.unread_count, 1);
	teardown();
}

/* ---- reading ---------------------------------------------------------- */

static void test_source__reads_and_renews_stamps(void **state)
{
	struct buf b = BUF_INIT(0);
	struct remem_err err = { 0 };

	(void)state;
	setup();
	ws_put(&w, "memory/甲.md", "一");
	walk();
	ws_put(&w, "memory/甲.md", "一二三");
	assert_int_equal(source_read(&b, &l, find("memory/甲.md"), false, &err),
			 0);
	assert_string_equal(buf_str(&b), "一二三");
	assert_int_equal(find("memory/甲.md")->size, 9);
	ws_remove(&w, "memory/甲.md");
	assert_int_equal(source_read(&b, &l, find("memory/甲.md"), false, &err),
			 REMEM_ENOTFOUND);
	assert_true(find("memory/甲.md")->gone);
	ws_put(&w, "../secret.md", "secret");
	ws_link(&w, "../../secret.md", "memory/甲.md");
	buf_reset(&b);
	assert_int_equal(source_read(&b, &l, find("memory/甲.md"), false, &err),
			 REMEM_EPERM);
	assert_int_equal(b.len, 0);
	assert_int_equal(source_read(&b, &l, find("memory/甲.md"), true, &err),
			 0);
	buf_release(&b);
	teardown();
}

static int open_path(const char *path, const char *shown)
{
	struct remem_err err = { 0 };
	const char *got = NULL;
	int fd, rc = source_open_path(&fd, &a, &w.o, path, &got, &err);

	if (rc) {
		assert_int_equal(fd, -1);
		assert_true(err.message[0] != '\0');
		return rc;
	}
	close(fd);
	if (shown)
		assert_string_equal(got, shown);
	return 0;
}

static void test_source__opens_only_beneath_roots(void **state)
{
	const struct source_extra x[] = { { "../vault", NULL },
					  { "../one.txt", NULL } };

	(void)state;
	setup();
	ws_put(&w, "MEMORY.md", "m");
	ws_put(&w, "remem.yaml", "no note");
	ws_put(&w, "memory/a.md", "a");
	ws_put(&w, "memory/.git/x.md", "a");
	ws_put(&w, "../secret.md", "s");
	ws_put(&w, "../vault/v.md", "v");
	ws_put(&w, "../one.txt", "1");
	ws_put(&w, "../two.txt", "2");
	ws_link(&w, "../../secret.md", "memory/link.md");
	w.o.extra = x;
	w.o.extra_count = 2;
	assert_int_equal(open_path("MEMORY.md", "MEMORY.md"), 0);
	assert_int_equal(open_path("./memory//a.md", "memory/a.md"), 0);
	assert_int_equal(open_path("memory/../MEMORY.md", "MEMORY.md"), 0);
	assert_int_equal(open_path(ws_path(&w, "memory/a.md"), "memory/a.md"),
			 0);
	assert_int_equal(open_path("../vault/v.md", "../vault/v.md"), 0);
	assert_int_equal(open_path("../one.txt", "../one.txt"), 0);
	assert_int_equal(open_path("../two.txt", NULL), REMEM_EPERM);
	assert_int_equal(open_path("../secret.md", NULL), REMEM_EPERM);
	assert_int_equal(open_path("memory/../../secret.md", NULL),
			 REMEM_EPERM);
	assert_int_equal(open_path("../vault/../secret.md", NULL),
			 REMEM_EPERM);
	assert_int_equal(open_path("/etc/passwd", NULL), REMEM_EPERM);
	assert_int_equal(open_path("/../etc/passwd", NULL), REMEM_EPERM);
	assert_int_equal(open_path("memory/link.md", NULL), REMEM_EPERM);
	assert_int_equal(open_path("memory/.git/x.md", NULL), REMEM_EPERM);
	assert_int_equal(open_path("remem.yaml", NULL), REMEM_EPERM);
	assert_int_equal(open_path("", NULL), REMEM_EPERM);
	assert_int_equal(open_path("..", NULL), REMEM_EPERM);
	assert_int_equal(open_path("memory", NULL), REMEM_EPERM);
	assert_int_equal(open_path("memory/none.md", NULL), REMEM_ENOTFOUND);
	teardown();
}

/* ---- finding ---------------------------------------------------------- */

static void test_source__finds_the_nearest_workspace(void **state)
{
	const char *got;
	struct remem_err err;
	char home[1024], cwd[1024];

	(void)state;
	setup();
	snprintf(home, sizeof(home), "%s/../home", w.dir);
	snprintf(cwd, sizeof(cwd), "%s/a/b", w.dir);
	assert_int_equal(dir_make(cwd, 0755, NULL), 0);
	assert_int_equal(dir_make(home, 0755, NULL), 0);
	assert_int_equal(source_find_workspace(&got, &a, NULL, cwd, home,
					       &err), REMEM_ENOTFOUND);
	assert_true(err.action[0] != '\0');
	ws_put(&w, "../home/.remem/MEMORY.md", "h");
	assert_int_equal(source_find_workspace(&got, &a, NULL, cwd, home,
					       &err), 0);
	assert_non_null(strstr(got, "home/.remem"));
	ws_put(&w, "../home/.openclaw/workspace/x", "h");
	assert_int_equal(source_find_workspace(&got, &a, NULL, cwd, home,
					       &err), 0);
	assert_non_null(strstr(got, ".openclaw/workspace"));
	ws_put(&w, "MEMORY.md", "m");
	assert_int_equal(source_find_workspace(&got, &a, NULL, cwd, home,
					       &err), 0);
	assert_string_equal(got, w.dir);
	ws_put(&w, "a/remem.yaml", "");
	assert_int_equal(source_find_workspace(&got, &a, NULL, cwd, home,
					       &err), 0);
	assert_string_equal(got, ws_path(&w, "a"));
	assert_int_equal(source_find_workspace(&got, &a, "..", cwd, home,
					       &err), 0);
	assert_string_equal(got, ws_path(&w, "a"));
	assert_int_equal(source_find_workspace(&got, &a, "none", cwd, home,
					       &err), REMEM_ENOTFOUND);
	assert_int_equal(source_find_workspace(&got, &a, ws_path(&w,
				"MEMORY.md"), cwd, home, &err), REMEM_EINVAL);
	teardown();
}

static void test_source__survives_each_failed_allocation(void **state)
{
	const struct source_extra x[] = { { "../vault", NULL },
					  { "../one.txt", NULL } };
	long n = 0;
	int rc;

	(void)state;
	setup();
	ws_put(&w, "MEMORY.md", "m");
	ws_put(&w, "memory/.gitignore", "*.x\n");
	ws_put(&w, "memory/b/c.md", "x");
	ws_put(&w, "memory/.h/c.md", "x");
	ws_put(&w, "../vault/v.md", "v");
	ws_put(&w, "../one.txt", "1");
	ws_link(&w, "../../vault", "memory/link");
	w.o.extra = x;
	w.o.extra_count = 2;
	w.o.follow_links = true;
	do {
		struct remem_err err = { 0 };
		struct arena own = ARENA_INIT;
		struct source_list got;

		alloc_fail_at(++n);
		rc = source_walk(&got, &own, &w.o, &err);
		alloc_fail_at(0);
		if (rc) {
			assert_int_equal(rc, REMEM_ENOMEM);
			assert_int_equal(got.root_count, 0);
		}
		source_list_release(&got);
		arena_release(&own);
		assert_true(n < 1000);
	} while (rc);
	assert_true(n > 5);
	teardown();
}

/* Folders are held open until their notes are looked at: not more than there
 * are descriptors for. */
static void test_source__few_descriptors_are_enough(void **state)
{
	struct rlimit was, few;
	char path[64];
	int next;

	(void)state;
	setup();
	for (int i = 0; i < 40; i++) {
		snprintf(path, sizeof(path), "memory/%02d/日志.md", i);
		ws_put(&w, path, "x");
	}
	walk();
	assert_int_equal(l.count, 40);
	source_list_release(&l);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	next = dup(0);
	close(next);
	few = was;
	for (int more = 2; more <= 5; more++) {
		few.rlim_cur = (rlim_t)(next + more);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		walk();
		source_list_release(&l);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
		assert_int_equal(dup(0), next);
		close(next);
	}
	few.rlim_cur = (rlim_t)(next + 4);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	walk();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	assert_int_equal(l.count, 40);
	for (int i = 0; i < 40; i++) {
		snprintf(path, sizeof(path), "memory/%02d/日志.md", i);
		expect_note(path);
	}
	teardown();
}

static void test_source__no_descriptor_is_lost(void **state)
{
	int before, after;

	(void)state;
	setup();
	before = dup(0);
	close(before);
	ws_put(&w, "memory/b/c.md", "x");
	walk();
	open_path("memory/b/c.md", NULL);
	open_path("memory/none.md", NULL);
	source_list_release(&l);
	after = dup(0);
	close(after);
	assert_int_equal(before, after);
	teardown();
}
