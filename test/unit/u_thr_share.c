/* Work in parts with a helper. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "base/share.h"

#define MOST 1000

static unsigned char seen[MOST];

static void mark(void *ctx, size_t from, size_t to, bool helping)
{
	size_t *calls = ctx;

	(void)helping;
	/* Each number is one thread's alone: no lock. */
	for (size_t i = from; i < to; i++)
		seen[i]++;
	__atomic_add_fetch(calls, 1, __ATOMIC_RELAXED);
}

static void check(size_t count)
{
	for (size_t i = 0; i < MOST; i++)
		assert_int_equal(seen[i], i < count);
	memset(seen, 0, sizeof(seen));
}

static void *help(void *ctx)
{
	share_help(ctx);
	return NULL;
}

static void test_thr_share__each_number_is_done_once(void **state)
{
	static const size_t counts[] = { 0, 1, 63, 64, 65, 640, 999, 1000 };
	pthread_t t[2];
	struct share s;
	size_t calls = 0;

	(void)state;
	share_init(&s);
	for (int helpers = 0; helpers <= 2; helpers++) {
		s.over = false;
		for (int i = 0; i < helpers; i++)
			assert_int_equal(pthread_create(&t[i], NULL, help, &s),
					 0);
		for (int round = 0; round < 50; round++) {
			size_t n = counts[round % 8];

			share_run(&s, mark, &calls, n);
			check(n);
		}
		share_over(&s);
		for (int i = 0; i < helpers; i++)
			pthread_join(t[i], NULL);
	}
	assert_true(calls > 0);
	share_release(&s);
}

static void test_thr_share__a_helper_that_comes_late_ends(void **state)
{
	struct share s;

	(void)state;
	share_init(&s);
	share_over(&s);
	share_help(&s);
	share_release(&s);
}

static void test_thr_share__without_one_all_is_done_here(void **state)
{
	size_t calls = 0;

	(void)state;
	share_run(NULL, mark, &calls, 100);
	check(100);
	assert_int_equal(calls, 1);
	share_run(NULL, mark, &calls, 0);
	check(0);
	assert_int_equal(calls, 1);
}
