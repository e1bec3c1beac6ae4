/* A walk whose stats another thread helps with. */
#define _GNU_SOURCE
#include "workspace.h"

#include <pthread.h>
#include <sys/resource.h>

#include "base/share.h"

#define NOTES 700 /* more than one part in each of the folders */

static struct ws w;

/* Names that are alike at the front, that begin one another, and that differ
 * behind what is compared as numbers; in no order. */
static void put_notes(void)
{
	static const char *const forms[] = {
		"memory/2026-03-%02d-x%d.md", "memory/2026-03-%02d%d.md",
		"memory/日志-%02d-%d.md", "memory/sub/a note of the %02d day %d.md",
		"memory/2026-03-%02d-x%d.md.md",
		"memory/many/%02d/%d.md", /* small folders */
	};
	char path[96];

	for (int i = 0; i < NOTES; i++) {
		int k = i * 389 % NOTES;

		snprintf(path, sizeof(path), forms[k % 6], k % 31, k);
		ws_put(&w, path, "- note\n");
	}
}

static void *help(void *ctx)
{
	share_help(ctx);
	return NULL;
}

static void same_lists(const struct source_list *x, const struct source_list *y)
{
	assert_int_equal(x->count, y->count);
	for (size_t i = 0; i < x->count; i++) {
		const struct source_file *a = &x->files[i], *b = &y->files[i];

		assert_string_equal(a->path, b->path);
		assert_true(a->inode && a->inode == b->inode);
		assert_true(a->dev == b->dev && a->size == b->size);
		assert_true(a->mtime_ns == b->mtime_ns &&
			    a->ctime_ns == b->ctime_ns);
		assert_true(!a->skip == !b->skip);
	}
}

static void test_thr_walk__a_helper_changes_nothing(void **state)
{
	struct source_list alone, shared;
	struct arena a = ARENA_INIT;
	struct remem_err err;
	struct share s;
	pthread_t t;

	(void)state;
	ws_begin(&w);
	put_notes();
	assert_int_equal(source_walk(&alone, &a, &w.o, &err), 0);
	assert_int_equal(alone.count, NOTES);
	for (size_t i = 1; i < alone.count; i++)
		assert_true(strcmp(alone.files[i - 1].path,
				   alone.files[i].path) < 0);
	share_init(&s);
	w.o.share = &s;
	assert_int_equal(pthread_create(&t, NULL, help, &s), 0);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(source_walk(&shared, &a, &w.o, &err), 0);
		same_lists(&alone, &shared);
		source_list_release(&shared);
	}
	share_over(&s);
	pthread_join(t, NULL);
	share_release(&s);
	source_list_release(&alone);
	arena_release(&a);
	ws_end(&w);
}

/* So many descriptors may be opened from now on. */
static void allow(struct rlimit *before, unsigned count)
{
	struct rlimit few;
	int next = dup(0);

	assert_true(next >= 0);
	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, before), 0);
	few = *before;
	few.rlim_cur = (rlim_t)next + count;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
}

static void test_thr_walk__few_descriptors_are_enough(void **state)
{
	struct source_list alone, shared;
	struct arena a = ARENA_INIT;
	struct remem_err err;
	struct rlimit before;
	struct share s;

	(void)state;
	ws_begin(&w);
	put_notes();
	ws_put(&w, "memory/many/.gitignore", "*0.md\n");
	ws_put(&w, "memory/many/09/.gitignore", "*9.md\n");
	assert_int_equal(source_walk(&alone, &a, &w.o, &err), 0);
	share_init(&s);
	w.o.share = &s;
	for (unsigned n = 6; n < 24; n++) {
		allow(&before, n);
		assert_int_equal(source_walk(&shared, &a, &w.o, &err), 0);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
		assert_int_equal(shared.unread_count, 0);
		assert_int_equal(shared.count, alone.count);
		for (size_t i = 0; i < alone.count; i++) {
			assert_string_equal(shared.files[i].path,
					    alone.files[i].path);
			assert_true(!shared.files[i].skip ==
				    !alone.files[i].skip);
		}
		source_list_release(&shared);
	}
	share_release(&s);
	source_list_release(&alone);
	arena_release(&a);
	ws_end(&w);
}
