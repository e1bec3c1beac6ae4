/* Tests of work beside the caller's. */
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/resource.h>

#include "base/aside.h"

struct seen {
	int own, child;
	pthread_t thread;
};

static void *look(void *ctx)
{
	*(int *)ctx = getpriority(PRIO_PROCESS, 0);
	return NULL;
}

static void work(void *ctx)
{
	struct seen *s = ctx;
	pthread_t t;

	s->thread = pthread_self();
	look(&s->own);
	assert_int_equal(pthread_create(&t, NULL, look, &s->child), 0);
	pthread_join(t, NULL);
}

static void test_aside__behind_is_only_the_work(void **state)
{
	int before = getpriority(PRIO_PROCESS, 0);
	int low = before + 10 > 19 ? 19 : before + 10;
	struct seen s = { 99, 99, pthread_self() };

	(void)state;
	aside_behind(work, &s);
	assert_false(pthread_equal(s.thread, pthread_self()));
#ifdef __linux__
	assert_int_equal(s.own, low);
	assert_int_equal(s.child, low);
#else
	(void)low;
#endif
	assert_int_equal(getpriority(PRIO_PROCESS, 0), before);
}
