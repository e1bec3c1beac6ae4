/* A walk whose stats another thread helps with. */
#define _GNU_SOURCE
#include "workspace.h"

#include <pthread.h>

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
