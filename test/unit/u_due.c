/* When a conversation is flushed: the formula, number by number, and once. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "memory/due.h"

static struct due_opts opts(int64_t window, int64_t total)
{
	return (struct due_opts){ .window = window,
				  .reserve = DUE_RESERVE_TOKENS,
				  .soft = DUE_SOFT_TOKENS,
				  .force_bytes = DUE_FORCE_BYTES,
				  .total = total };
}

static void test_due__fires_exactly_where_the_formula_says(void **state)
{
	static const struct {
		int64_t window, reserve, soft, flush_at, compact_at;
	} rows[] = {
		{ 8192, 2048, 3072, 3072, 6144 },
		{ 32768, 8192, 4000, 20576, 24576 },
		{ 131072, 20000, 4000, 107072, 111072 },
		{ 200000, 20000, 4000, 176000, 180000 },
		{ 1000000, 20000, 4000, 976000, 980000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		for (int64_t d = -1; d <= 1; d++) {
			struct due_opts o =
				opts(rows[i].window, rows[i].flush_at + d);
			struct due due;

			due_compute(&due, &o);
			assert_int_equal(due.reserve, rows[i].reserve);
			assert_int_equal(due.soft, rows[i].soft);
			assert_int_equal(due.flush_at, rows[i].flush_at);
			assert_int_equal(due.compact_at, rows[i].compact_at);
			assert_int_equal(due.by_tokens, d >= 0);
			assert_false(due.by_bytes);
		}
	}
}

static void test_due__odd_rows_neither_wrap_nor_fire(void **state)
{
	static const struct {
		int64_t window, reserve, soft, total, pending;
		bool fires;
	} rows[] = {
		{ 0, 20000, 4000, 999999, 0, false }, /* window not known */
		{ -5, 20000, 4000, 999999, 0, false },
		{ 20000, 20000, 4000, 11000, 0, true }, /* reserve = window */
		{ 20000, 20000, 4000, 10999, 0, false },
		{ 4, 20000, 4000, 1, 0, false },
		{ 4, 20000, 4000, 2, 0, true },
		{ 1, 1, 1, 1, 0, true },
		{ 200000, 0, 0, 199999, 0, false },
		{ 200000, 0, 0, 200000, 0, true },
		{ 200000, -1, -1, 200000, 0, true },
		{ 200000, 20000, 500000, 89999, 0, false },
		{ 200000, 20000, 500000, 90000, 0, true },
		/* one jump of 20,000 tokens */
		{ 200000, 20000, 4000, 160000, 15999, false },
		{ 200000, 20000, 4000, 160000, 20000, true },
		{ INT64_MAX, INT64_MAX, INT64_MAX, 1, 0, false },
		{ 200000, 20000, 4000, INT64_MAX, INT64_MAX, true },
		{ 200000, 20000, 4000, -1, -1, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct due_opts o = opts(rows[i].window, rows[i].total);
		struct due due;

		o.reserve = rows[i].reserve;
		o.soft = rows[i].soft;
		o.pending = rows[i].pending;
		due_compute(&due, &o);
		assert_int_equal(due.by_tokens, rows[i].fires);
		assert_true(due.flush_at >= 0 && due.projected >= 0);
	}
}

static void test_due__a_stale_total_gives_way_to_the_transcript(void **state)
{
	struct due_opts o = opts(200000, 190000);
	struct due due;

	(void)state;
	o.stale = true;
	o.usage = 100000;
	o.after = 500;
	due_compute(&due, &o);
	assert_int_equal(due.projected, 100500);
	assert_false(due.by_tokens);
	o.usage = 170000;
	o.after = 5900;
	o.last_output = 100;
	due_compute(&due, &o);
	assert_int_equal(due.projected, 176000);
	assert_true(due.by_tokens);
	/* A fresh one that is larger counts. */
	o.stale = false;
	due_compute(&due, &o);
	assert_int_equal(due.projected, 190100);
	/* Where the provider compacts is where it will be compacted. */
	o.floor = 185000;
	due_compute(&due, &o);
	assert_int_equal(due.compact_at, 185000);
	assert_int_equal(due.flush_at, 176000);
}

static void test_due__bytes_fire_without_any_tokens(void **state)
{
	struct due_opts o = opts(200000, 0);
	struct due due;

	(void)state;
	o.bytes = DUE_FORCE_BYTES - 1;
	due_compute(&due, &o);
	assert_false(due.by_bytes);
	o.bytes++;
	due_compute(&due, &o);
	assert_true(due.by_bytes);
	assert_false(due.by_tokens);
	o.window = 0;
	due_compute(&due, &o);
	assert_true(due.by_bytes);
	o.force_bytes = 0;
	due_compute(&due, &o);
	assert_false(due.by_bytes);
}

static void test_due__one_flush_a_cycle_and_one_warning(void **state)
{
	struct due_record r = DUE_RECORD_INIT;

	(void)state;
	assert_false(due_record_done(&r, 0));
	due_record_success(&r, 0, true);
	assert_true(due_record_done(&r, 0));
	assert_false(due_record_done(&r, 1));
	/* Two failures, then it works. */
	assert_false(due_record_failure(&r, 1));
	assert_false(due_record_failure(&r, 1));
	assert_false(due_record_done(&r, 1));
	due_record_success(&r, 1, false);
	assert_true(due_record_done(&r, 1));
	/* Three failures: given up, said once; the next cycle tries again. */
	assert_false(due_record_failure(&r, 2));
	assert_false(due_record_failure(&r, 2));
	assert_true(due_record_failure(&r, 2));
	assert_true(due_record_done(&r, 2));
	assert_false(due_record_failure(&r, 2));
	assert_false(due_record_done(&r, 3));
	assert_false(due_record_failure(&r, 3));
	assert_int_equal(r.written, 1);
	assert_int_equal(r.nothing, 1);
	assert_int_equal(r.failed, 7);
}

static void test_due__compactions_without_a_flush_are_counted(void **state)
{
	struct due_record r = DUE_RECORD_INIT;

	(void)state;
	due_record_success(&r, 0, true);
	due_record_success(&r, 1, true);
	assert_int_equal(r.missed, 0);
	due_record_success(&r, 4, false); /* nothing before the 3rd, the 4th */
	assert_int_equal(r.missed, 2);
	due_record_failure(&r, 5);
	due_record_success(&r, 5, true); /* it worked in the end */
	due_record_failure(&r, 6);
	due_record_success(&r, 7, true); /* and here it did not */
	assert_int_equal(r.missed, 3);
	due_record_success(&r, 0, true); /* another transcript */
	assert_int_equal(r.missed, 3);
	/* One that was long under way when remem came. */
	r = (struct due_record)DUE_RECORD_INIT;
	due_record_success(&r, 2, true);
	assert_int_equal(r.missed, 2);
}

static void test_due__a_record_of_before_is_read(void **state)
{
	struct due_record r;

	(void)state;
	due_record_parse(&r, "flush1 3 1 0 5 6 7 8 9 1");
	assert_int_equal(r.cycle, 3);
	assert_int_equal(r.failed, 1);
	assert_int_equal(r.missed, 0);
}

static void test_due__a_record_is_kept_as_text(void **state)
{
	static const char *const bad[] = { NULL, "", "flush1", "flush1 1 1 0",
					   "flush9 1 1 0 5 6 7 8 9 1",
					   "\xff\xfe", "flush1 x y z" };
	struct due_record r = { 7, true, 2, 123456, 9000000000, 1796000000123,
				4, 5, 6, 7 }, back;
	char text[DUE_RECORD_BYTES];

	(void)state;
	due_record_format(text, &r);
	due_record_parse(&back, text);
	assert_memory_equal(&back.cycle, &r.cycle, sizeof(r.cycle));
	assert_true(back.done);
	assert_int_equal(back.failures, 2);
	assert_int_equal(back.line, 123456);
	assert_int_equal(back.bytes, 9000000000);
	assert_int_equal(back.at_ms, 1796000000123);
	assert_int_equal(back.failed, 6);
	assert_int_equal(back.missed, 7);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		due_record_parse(&back, bad[i]);
		assert_int_equal(back.cycle, -1);
		assert_false(due_record_done(&back, -1));
		assert_int_equal(back.written, 0);
	}
}
