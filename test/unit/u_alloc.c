/* Allocation: zeroing, overflow, growth, injected failures. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/alloc.h"

static bool is_zero(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i])
			return false;
	}
	return true;
}

static void test_alloc__size_zero_gives_memory(void **state)
{
	void *p = mem_alloc(0), *q = mem_zalloc(0);

	(void)state;
	assert_non_null(p);
	assert_non_null(q);
	p = mem_realloc(p, 0);
	assert_non_null(p);
	mem_free(p);
	mem_free(q);
	mem_free(NULL);
}

static void test_alloc__zalloc_and_zarray_are_zero(void **state)
{
	char *p = mem_zalloc(1000), *q = mem_zarray(10, 100);

	(void)state;
	assert_true(is_zero(p, 1000));
	assert_true(is_zero(q, 1000));
	mem_free(p);
	mem_free(q);
}

static void test_alloc__arrays_that_overflow_are_refused(void **state)
{
	(void)state;
	assert_null(mem_array(SIZE_MAX / 2, 3));
	assert_null(mem_zarray(SIZE_MAX, 2));
	assert_null(mem_rearray(NULL, SIZE_MAX / 8 + 1, 8));
}

static void test_alloc__size_arithmetic_tells_overflow(void **state)
{
	size_t n;

	(void)state;
	assert_false(size_add(&n, SIZE_MAX - 1, 1));
	assert_int_equal(n, SIZE_MAX);
	assert_true(size_add(&n, SIZE_MAX, 1));
	assert_false(size_mul(&n, SIZE_MAX, 1));
	assert_false(size_mul(&n, SIZE_MAX, 0));
	assert_false(size_mul(&n, 0, SIZE_MAX));
	assert_true(size_mul(&n, SIZE_MAX / 2 + 1, 2));
}

static void test_alloc__aligned_memory_is_aligned_and_zero(void **state)
{
	(void)state;
	for (size_t align = 16; align <= 4096; align *= 2) {
		char *p = mem_zalloc_aligned(align, align + 1);

		assert_non_null(p);
		assert_int_equal((uintptr_t)p % align, 0);
		assert_true(is_zero(p, align + 1));
		mem_free_aligned(p);
		p = mem_zalloc_aligned(align, 0);
		assert_non_null(p);
		mem_free_aligned(p);
	}
	assert_null(mem_zalloc_aligned(64, SIZE_MAX - 10));
	mem_free_aligned(NULL);
}

static void test_alloc__copies_end_with_nul(void **state)
{
	char *s = mem_strdup("记忆"), *t = mem_memdup0("a\0b", 3);
	char *empty = mem_memdup0(NULL, 0);

	(void)state;
	assert_string_equal(s, "记忆");
	assert_memory_equal(t, "a\0b\0", 4);
	assert_string_equal(empty, "");
	assert_null(mem_memdup0("x", SIZE_MAX));
	mem_free(s);
	mem_free(t);
	mem_free(empty);
}

static void test_alloc__grow_doubles_and_keeps_contents(void **state)
{
	int *p = NULL;
	size_t cap = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		assert_true(mem_grow(&p, &cap, (size_t)i + 1, sizeof(*p)));
		p[i] = i;
	}
	assert_int_equal(cap, 1024);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(p[i], i);
	mem_free(p);
}

static void test_alloc__failed_grow_leaves_all_as_it_was(void **state)
{
	int *p = NULL, *before;
	size_t cap = 0;

	(void)state;
	assert_true(mem_grow(&p, &cap, 1, sizeof(*p)));
	before = p;
	assert_false(mem_grow(&p, &cap, SIZE_MAX, sizeof(*p)));
	assert_false(mem_grow(&p, &cap, SIZE_MAX / 2, sizeof(*p)));
	alloc_fail_at(1);
	assert_false(mem_grow(&p, &cap, 9, sizeof(*p)));
	alloc_fail_at(0);
	assert_ptr_equal(p, before);
	assert_int_equal(cap, 8);
	mem_free(p);
}

static void test_alloc__the_nth_fails_once(void **state)
{
	void *p[4];

	(void)state;
	alloc_fail_at(3);
	for (int i = 0; i < 4; i++)
		p[i] = mem_alloc(1);
	assert_int_equal(alloc_count(), 4);
	alloc_fail_at(0);
	assert_non_null(p[0]);
	assert_non_null(p[1]);
	assert_null(p[2]);
	assert_non_null(p[3]);
	for (int i = 0; i < 4; i++)
		mem_free(p[i]);
}

static void test_alloc__every_kind_can_be_made_to_fail(void **state)
{
	(void)state;
	alloc_fail_at(1);
	assert_null(mem_alloc(1));
	alloc_fail_at(1);
	assert_null(mem_zalloc(1));
	alloc_fail_at(1);
	assert_null(mem_realloc(NULL, 1));
	alloc_fail_at(1);
	assert_null(mem_array(1, 1));
	alloc_fail_at(1);
	assert_null(mem_zarray(1, 1));
	alloc_fail_at(1);
	assert_null(mem_zalloc_aligned(16, 1));
	alloc_fail_at(1);
	assert_null(mem_strdup("x"));
	alloc_fail_at(0);
}
