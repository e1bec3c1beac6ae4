/* Arena: alignment, zeroing, limit, remembered failure. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"

static void test_arena__memory_is_aligned_and_zero(void **state)
{
	struct arena a = ARENA_INIT;

	(void)state;
	for (size_t n = 0; n < 300; n++) {
		char *p = arena_alloc(&a, n);

		assert_non_null(p);
		assert_int_equal((uintptr_t)p % 16, 0);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(p[i], 0);
		memset(p, 'x', n);
	}
	arena_release(&a);
}

static void test_arena__large_requests_get_their_own_block(void **state)
{
	struct arena a = ARENA_INIT;
	char *p, *q;

	(void)state;
	p = arena_alloc(&a, 5000000);
	q = arena_alloc(&a, 10);
	assert_non_null(p);
	assert_non_null(q);
	p[4999999] = 1;
	assert_int_equal(q[0], 0);
	arena_release(&a);
}

static void test_arena__limit_makes_it_fail_for_good(void **state)
{
	struct arena a;

	(void)state;
	arena_init(&a, 1000);
	assert_non_null(arena_alloc(&a, 900));
	assert_null(arena_alloc(&a, 200));
	assert_true(a.failed);
	assert_null(arena_alloc(&a, 1));
	assert_null(arena_strdup(&a, "x"));
	assert_null(arena_printf(&a, "%d", 1));
	assert_true(a.used <= 1000);
	arena_reset(&a);
	assert_false(a.failed);
	assert_non_null(arena_alloc(&a, 900));
	arena_release(&a);
}

static void test_arena__overflow_fails(void **state)
{
	struct arena a = ARENA_INIT;
	size_t cap = 0;

	(void)state;
	assert_null(arena_array(&a, SIZE_MAX / 2, 3));
	assert_true(a.failed);
	arena_reset(&a);
	assert_null(arena_alloc(&a, SIZE_MAX));
	arena_reset(&a);
	assert_null(arena_strndup(&a, "x", SIZE_MAX));
	arena_reset(&a);
	assert_null(arena_grow(&a, NULL, &cap, SIZE_MAX, 1));
	assert_int_equal(cap, 0);
	arena_release(&a);
}

static void test_arena__strings_are_copied(void **state)
{
	struct arena a = ARENA_INIT;
	char *s = arena_strndup(&a, "昨天的事", 6);
	char *f = arena_printf(&a, "%s#L%d", "记忆.md", 15);
	char *e = arena_strndup(&a, NULL, 0);

	(void)state;
	assert_string_equal(s, "昨天");
	assert_string_equal(f, "记忆.md#L15");
	assert_string_equal(e, "");
	arena_release(&a);
}

static void test_arena__grow_keeps_contents(void **state)
{
	struct arena a = ARENA_INIT;
	size_t cap = 0;
	int *p = NULL;

	(void)state;
	for (int i = 0; i < 500; i++) {
		p = arena_grow(&a, p, &cap, (size_t)i + 1, sizeof(*p));
		assert_non_null(p);
		p[i] = i;
	}
	for (int i = 0; i < 500; i++)
		assert_int_equal(p[i], i);
	assert_true(cap >= 500);
	arena_release(&a);
}

static void test_arena__reset_keeps_one_block(void **state)
{
	struct arena a = ARENA_INIT;

	(void)state;
	for (int i = 0; i < 100; i++)
		arena_alloc(&a, 1000);
	arena_reset(&a);
	assert_int_equal(a.used, 0);
	alloc_fail_at(1);
	assert_non_null(arena_alloc(&a, 1000));
	alloc_fail_at(0);
	arena_release(&a);
	arena_release(&a);
	arena_release(NULL);
}

static void test_arena__each_failed_allocation_is_survived(void **state)
{
	bool done = false;

	(void)state;
	for (long n = 1; !done; n++) {
		struct arena a = ARENA_INIT;
		size_t cap = 0;
		int *p = NULL;

		alloc_fail_at(n);
		for (int i = 0; i < 50; i++) {
			arena_alloc(&a, 3000);
			arena_strdup(&a, "文");
			p = arena_grow(&a, p, &cap, (size_t)i * 9, sizeof(*p));
		}
		alloc_fail_at(0);
		done = !a.failed;
		arena_release(&a);
		assert_true(n < 100);
	}
}
