/* What a watch tells of changes below the roots. */
#include "workspace.h"

#include <errno.h>
#include <sys/resource.h>

#include "source/watch.h"

struct watched {
	struct ws ws;
	struct arena a;
	struct watch *w;
	struct watch_batch b;
};

static void walk(struct watched *x)
{
	struct source_list l;
	struct remem_err err;

	if (source_walk(&l, &x->a, &x->ws.o, &err))
		fail_msg("%s", err.message);
	source_list_release(&l);
}

static void begin(struct watched *x)
{
	memset(x, 0, sizeof(*x));
	ws_begin(&x->ws);
	ws_put(&x->ws, "MEMORY.md", "# M\n");
	ws_put(&x->ws, "memory/x.md", "- x\n");
	assert_int_equal(watch_new(&x->w, NULL), 0);
	x->ws.o.watch = x->w;
	walk(x);
}

static void end(struct watched *x)
{
	watch_free(x->w);
	arena_release(&x->a);
	ws_end(&x->ws);
}

/* All paths of the next batch with blanks between them, "!" for a rescan. */
static const char *told(struct watched *x)
{
	struct buf b = BUF_INIT(0);
	const char *out;

	assert_int_equal(watch_take(x->w, &x->b, NULL), 0);
	for (size_t i = 0; i < x->b.count; i++)
		buf_addf(&b, "%s%s", i ? " " : "", x->b.paths[i].path);
	if (x->b.rescan)
		buf_adds(&b, "!");
	out = arena_strdup(&x->a, buf_str(&b));
	buf_release(&b);
	return out;
}

static void move(struct watched *x, const char *from, const char *to)
{
	assert_int_equal(rename(ws_path(&x->ws, from), ws_path(&x->ws, to)), 0);
}

static void test_watch__nothing_is_told_of_a_walk(void **state)
{
	struct watched x;

	(void)state;
	begin(&x);
	assert_int_equal(watch_folders(x.w), 2);
	assert_int_equal(watch_poll_ms(x.w), -1);
	assert_null(watch_problem(x.w));
	assert_true(watch_is_quiet(x.w));
	assert_string_equal(told(&x), "");
	walk(&x);
	assert_true(watch_is_quiet(x.w));
	assert_int_equal(watch_folders(x.w), 2);
	end(&x);
}

static void test_watch__what_is_no_note_is_not_told(void **state)
{
	static const char *const names[] = {
		"memory/x.md.tmp", "memory/x.md~", "memory/.#x.md",
		"memory/4913", "memory/.x.md.swp", "memory/image.png",
		"memory/log.txt", "notes.md", "README.md", "src.c",
	};
	struct watched x;

	(void)state;
	begin(&x);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		ws_put(&x.ws, names[i], "y\n");
		assert_string_equal(told(&x), "");
		ws_remove(&x.ws, names[i]);
		assert_string_equal(told(&x), "");
	}
	end(&x);
}

/* The old file is moved aside and a new one written in its place. */
static void save_like_vim(struct watched *x)
{
	ws_put(&x->ws, "memory/4913", "");
	ws_remove(&x->ws, "memory/4913");
	move(x, "memory/x.md", "memory/x.md~");
	ws_put(&x->ws, "memory/x.md", "- vim\n");
	ws_remove(&x->ws, "memory/x.md~");
}

static void save_with_copy(struct watched *x)
{
	ws_put(&x->ws, "memory/x.md~", "- x\n");
	ws_put(&x->ws, "memory/x.md", "- copy\n");
}

static void save_in_place(struct watched *x)
{
	ws_put(&x->ws, "memory/x.md", "- in place\n");
}

static void save_by_rename(struct watched *x)
{
	ws_put(&x->ws, "memory/.x.md.tmp", "- renamed\n");
	move(x, "memory/.x.md.tmp", "memory/x.md");
}

/* In place, and its own folder of settings beside. */
static void save_like_obsidian(struct watched *x)
{
	FILE *f = fopen(ws_path(&x->ws, "memory/x.md"), "r+");

	assert_non_null(f);
	assert_int_equal(ftruncate(fileno(f), 0), 0);
	assert_true(fputs("- obsidian\n", f) >= 0);
	assert_int_equal(fflush(f), 0);
	assert_true(fputs("- more\n", f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void test_watch__five_ways_of_saving_tell_one_path(void **state)
{
	static void (*const ways[])(struct watched *x) = {
		save_like_vim, save_with_copy, save_in_place, save_by_rename,
		save_like_obsidian,
	};
	struct watched x;

	(void)state;
	begin(&x);
	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		ways[i](&x);
		assert_false(watch_is_quiet(x.w));
		assert_string_equal(told(&x), "memory/x.md");
		assert_string_equal(x.b.paths[0].full,
				    ws_path(&x.ws, "memory/x.md"));
		assert_true(watch_is_quiet(x.w));
	}
	end(&x);
}

static void test_watch__writing_is_told_before_the_end(void **state)
{
	struct watched x;
	FILE *f;

	(void)state;
	begin(&x);
	f = fopen(ws_path(&x.ws, "memory/x.md"), "a");
	assert_non_null(f);
	assert_true(fputs("- line\n", f) >= 0);
	assert_int_equal(fflush(f), 0);
	assert_string_equal(told(&x), "memory/x.md");
	assert_int_equal(fclose(f), 0);
	end(&x);
}

static void test_watch__notes_of_the_workspace_by_name(void **state)
{
	struct watched x;

	(void)state;
	begin(&x);
	ws_put(&x.ws, "USER.md", "- 我住在柏林\n");
	ws_put(&x.ws, "MEMORY.md", "- y\n");
	assert_string_equal(told(&x), "MEMORY.md USER.md");
	ws_remove(&x.ws, "USER.md");
	assert_string_equal(told(&x), "USER.md");
	end(&x);
}

static void test_watch__a_new_folder_asks_for_a_walk(void **state)
{
	struct watched x;

	(void)state;
	begin(&x);
	ws_put(&x.ws, "memory/a/b/deep.md", "- d\n");
	assert_string_equal(told(&x), "!");
	walk(&x);
	assert_int_equal(watch_folders(x.w), 4);
	ws_put(&x.ws, "memory/a/b/deep.md", "- e\n");
	assert_string_equal(told(&x), "memory/a/b/deep.md");
	/* Moved, its notes are told under the new name. */
	move(&x, "memory/a", "memory/c");
	assert_string_equal(told(&x), "!");
	walk(&x);
	ws_put(&x.ws, "memory/c/b/deep.md", "- f\n");
	assert_string_equal(told(&x), "memory/c/b/deep.md");
	/* Moved away it is not ours any more. */
	move(&x, "memory/c", "../c");
	assert_string_equal(told(&x), "!");
	walk(&x);
	assert_int_equal(watch_folders(x.w), 2);
	ws_put(&x.ws, "../c/b/deep.md", "- g\n");
	assert_string_equal(told(&x), "");
	end(&x);
}

static void test_watch__what_is_not_walked_is_not_watched(void **state)
{
	struct watched x;

	(void)state;
	begin(&x);
	ws_put(&x.ws, "memory/.gitignore", "private/\n");
	ws_put(&x.ws, "memory/private/a.md", "- a\n");
	ws_put(&x.ws, "memory/node_modules/b.md", "- b\n");
	ws_put(&x.ws, "memory/.git/c.md", "- c\n");
	ws_put(&x.ws, "memory/.obsidian/d.md", "- d\n");
	walk(&x);
	assert_int_equal(watch_folders(x.w), 2);
	told(&x);
	ws_put(&x.ws, "memory/private/a.md", "- b\n");
	assert_string_equal(told(&x), "");
	/* Another rule, another walk. */
	ws_put(&x.ws, "memory/.gitignore", "\n");
	assert_string_equal(told(&x), "!");
	walk(&x);
	assert_int_equal(watch_folders(x.w), 3);
	ws_put(&x.ws, "memory/private/a.md", "- c\n");
	assert_string_equal(told(&x), "memory/private/a.md");
	end(&x);
}

static void test_watch__extra_files_and_patterns(void **state)
{
	struct source_extra extra[] = {
		{ "todo.md", NULL }, { "papers", "*.txt" },
	};
	struct watched x;

	(void)state;
	begin(&x);
	ws_put(&x.ws, "todo.md", "- t\n");
	ws_put(&x.ws, "papers/a.txt", "a\n");
	x.ws.o.extra = extra;
	x.ws.o.extra_count = 2;
	walk(&x);
	told(&x);
	ws_put(&x.ws, "todo.md", "- u\n");
	ws_put(&x.ws, "other.md", "- u\n");
	ws_put(&x.ws, "papers/a.txt", "b\n");
	ws_put(&x.ws, "papers/a.md", "b\n");
	ws_put(&x.ws, "MEMORY.md", "- v\n");
	assert_string_equal(told(&x), "MEMORY.md papers/a.txt todo.md");
	end(&x);
}

static void test_watch__a_root_that_is_gone_is_looked_for(void **state)
{
	struct source_extra extra = { "../disk/notes", NULL };
	struct watched x;
	int first;

	(void)state;
	begin(&x);
	x.ws.o.extra = &extra;
	x.ws.o.extra_count = 1;
	walk(&x);
	first = watch_poll_ms(x.w);
	assert_true(first > 0);
	assert_non_null(watch_problem(x.w));
	walk(&x);
	assert_true(watch_poll_ms(x.w) > first);
	for (int i = 0; i < 20; i++)
		walk(&x);
	assert_true(watch_poll_ms(x.w) <= 60000);
	ws_put(&x.ws, "../disk/notes/a.md", "- a\n");
	walk(&x);
	assert_int_equal(watch_poll_ms(x.w), -1);
	assert_null(watch_problem(x.w));
	ws_put(&x.ws, "../disk/notes/a.md", "- b\n");
	assert_string_equal(told(&x), "../disk/notes/a.md");
	/* And away again. */
	move(&x, "../disk/notes", "../disk/other");
	assert_string_equal(told(&x), "!");
	walk(&x);
	assert_true(watch_poll_ms(x.w) > 0);
	end(&x);
}

static void test_watch__the_workspace_may_be_replaced(void **state)
{
	struct watched x;
	struct source_list l;

	(void)state;
	begin(&x);
	move(&x, "../ws", "../away");
	assert_string_equal(told(&x), "!");
	assert_int_equal(source_walk(&l, &x.a, &x.ws.o, NULL),
			 REMEM_ENOTFOUND);
	source_list_release(&l);
	ws_put(&x.ws, "memory/new.md", "- n\n");
	walk(&x);
	told(&x);
	ws_put(&x.ws, "memory/new.md", "- o\n");
	assert_string_equal(told(&x), "memory/new.md");
	/* The old folder is not ours. */
	ws_put(&x.ws, "../away/memory/x.md", "- p\n");
	assert_string_equal(told(&x), "");
	end(&x);
}

static void test_watch__many_paths_are_a_rescan(void **state)
{
	struct watched x;
	char name[64];

	(void)state;
	begin(&x);
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "memory/n%d.md", i);
		ws_put(&x.ws, name, "- n\n");
	}
	told(&x);
	assert_true(x.b.rescan);
	end(&x);
}

static void test_watch__an_overflow_is_a_rescan(void **state)
{
	struct watched x;
	char name[64];

	(void)state;
	begin(&x);
	/* fs.inotify.max_queued_events is 16,384 unless somebody set it. */
	for (int i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "memory/t%d.tmp", i & 1);
		ws_put(&x.ws, name, "");
	}
	told(&x);
	assert_int_equal(x.b.count, 0);
	assert_true(x.b.rescan);
	assert_true(watch_is_quiet(x.w));
	end(&x);
}

static void test_watch__thousands_of_folders_with_one_handle(void **state)
{
	struct watched x;
	char name[64];
	int before, after;

	(void)state;
	begin(&x);
	before = open("/dev/null", O_RDONLY);
	close(before);
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "memory/d%d/n.md", i);
		ws_put(&x.ws, name, "- n\n");
	}
	walk(&x);
	told(&x);
	assert_int_equal(watch_folders(x.w), 3002);
	after = open("/dev/null", O_RDONLY);
	close(after);
	assert_int_equal(before, after);
	ws_put(&x.ws, "memory/d1234/n.md", "- m\n");
	assert_string_equal(told(&x), "memory/d1234/n.md");
	end(&x);
}

static void test_watch__without_a_handle_it_is_by_the_clock(void **state)
{
	struct rlimit old, none;
	struct watched x;

	(void)state;
	begin(&x);
	watch_free(x.w);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = old;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(watch_new(&x.w, NULL), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	x.ws.o.watch = x.w;
	walk(&x);
	assert_int_equal(watch_fd(x.w), -1);
	assert_true(watch_poll_ms(x.w) > 0 && watch_poll_ms(x.w) < 30000);
	assert_non_null(watch_problem(x.w));
	assert_string_equal(told(&x), "");
	end(&x);
}

static void test_watch__links_that_are_followed(void **state)
{
	struct watched x;

	(void)state;
	begin(&x);
	x.ws.o.follow_links = true;
	walk(&x);
	ws_put(&x.ws, "../far/a.md", "- a\n");
	ws_link(&x.ws, "../../far", "memory/far");
	told(&x);
	assert_true(x.b.rescan);
	walk(&x);
	assert_int_equal(watch_folders(x.w), 3);
	ws_put(&x.ws, "../far/a.md", "- b\n");
	assert_string_equal(told(&x), "memory/far/a.md");
	end(&x);
}
