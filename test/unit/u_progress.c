/* Progress: throttling, rate, time left, stopping. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/progress.h"

struct seen {
	int calls, answer;
	const char *phase;
	int64_t done, total;
	double rate, left_s;
};

static int receive(void *ctx, const char *phase, int64_t done, int64_t total,
		   double rate, double left_s)
{
	struct seen *s = ctx;

	s->calls++;
	s->phase = phase;
	s->done = done;
	s->total = total;
	s->rate = rate;
	s->left_s = left_s;
	return s->answer;
}

static void test_progress__no_receiver_is_fine(void **state)
{
	struct progress p;

	(void)state;
	progress_init(&p, NULL, NULL);
	progress_phase(&p, "scan", 10);
	assert_int_equal(progress_step(&p, 10), 0);
	assert_int_equal(p.done, 10);
}

static void test_progress__first_and_last_step_are_reported(void **state)
{
	struct seen s = { 0 };
	struct progress p;

	(void)state;
	progress_init(&p, receive, &s);
	progress_phase(&p, "向量", 1000000);
	for (int i = 0; i < 1000; i++)
		progress_step(&p, 1);
	assert_true(s.calls >= 1 && s.calls < 100);
	progress_step(&p, 1000000 - 1000);
	assert_int_equal(s.done, 1000000);
	assert_int_equal(s.total, 1000000);
	assert_string_equal(s.phase, "向量");
	assert_true(s.left_s == 0);
}

static void test_progress__ten_reports_a_second(void **state)
{
	struct seen s = { 0 };
	struct progress p;

	(void)state;
	progress_init(&p, receive, &s);
	progress_phase(&p, "text", 0);
	progress_step(&p, 1);
	assert_int_equal(s.calls, 1);
	assert_true(s.left_s == -1);
	p.last_ns -= 100000000;
	progress_step(&p, 1);
	assert_int_equal(s.calls, 2);
	assert_int_equal(s.done, 2);
}

static void test_progress__rate_and_time_left(void **state)
{
	struct seen s = { 0 };
	struct progress p;

	(void)state;
	progress_init(&p, receive, &s);
	progress_phase(&p, "text", 300);
	p.started_ns -= 10000000000; /* ten seconds ago */
	progress_step(&p, 100);
	assert_true(s.rate > 9 && s.rate < 10.1);
	assert_true(s.left_s > 19.9 && s.left_s < 22);
}

static void test_progress__stop_is_remembered(void **state)
{
	struct seen s = { 0 };
	struct progress p;

	(void)state;
	s.answer = 1;
	progress_init(&p, receive, &s);
	progress_phase(&p, "text", 10);
	assert_int_not_equal(progress_step(&p, 1), 0);
	assert_int_not_equal(progress_step(&p, 1), 0);
	progress_phase(&p, "vectors", 10);
	assert_int_not_equal(progress_step(&p, 1), 0);
	assert_int_equal(s.calls, 1);
}
