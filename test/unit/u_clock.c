/* Clock and calendar. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

static void test_clock__can_be_fixed_and_freed(void **state)
{
	(void)state;
	clock_set(1764460800000);
	assert_int_equal(clock_now_ms(), 1764460800000);
	clock_set(0);
	assert_int_equal(clock_now_ms(), 0);
	clock_set(-1);
	assert_true(clock_now_ms() > 1600000000000);
}

static void test_clock__monotonic_does_not_go_back(void **state)
{
	int64_t a = clock_mono_ns(), b;

	(void)state;
	clock_set(5);
	b = clock_mono_ns();
	clock_set(-1);
	assert_true(b >= a && a > 0);
}

static void test_clock__local_day_follows_the_zone(void **state)
{
	int64_t ms = 1764460800000; /* 2025-11-30 00:00 UTC */

	(void)state;
	setenv("TZ", "UTC0", 1);
	tzset();
	assert_int_equal(clock_local_day(ms), date_from_ymd(2025, 11, 30));
	assert_int_equal(clock_local_day(ms - 1), date_from_ymd(2025, 11, 29));
	assert_int_equal(clock_local_day(-1), -1);
	setenv("TZ", "CST-8", 1); /* Beijing */
	tzset();
	assert_int_equal(clock_local_day(ms - 1), date_from_ymd(2025, 11, 30));
	setenv("TZ", "EST5", 1);
	tzset();
	assert_int_equal(clock_local_day(ms), date_from_ymd(2025, 11, 29));
	unsetenv("TZ");
	tzset();
}

static void test_clock__known_days(void **state)
{
	(void)state;
	assert_int_equal(date_from_ymd(1970, 1, 1), 0);
	assert_int_equal(date_from_ymd(1969, 12, 31), -1);
	assert_int_equal(date_from_ymd(2000, 3, 1), 11017);
	assert_int_equal(date_from_ymd(2026, 11, 30), 20787);
}

static void test_clock__every_day_of_ten_thousand_years(void **state)
{
	int32_t first = date_from_ymd(0, 1, 1);
	int32_t last = date_from_ymd(9999, 12, 31);
	int py = -1, pm = 12, pd = 31;

	(void)state;
	assert_int_equal(last - first + 1, 3652425);
	for (int32_t d = first; d <= last; d++) {
		int y, m, day;

		date_to_ymd(d, &y, &m, &day);
		if (date_from_ymd(y, m, day) != d)
			fail_msg("day %d", d);
		if (day != pd + 1 &&
		    !(day == 1 && (m == pm + 1 || (m == 1 && y == py + 1))))
			fail_msg("%d-%d-%d does not follow", y, m, day);
		py = y, pm = m, pd = day;
	}
}

static void test_clock__no_such_day(void **state)
{
	(void)state;
	assert_int_equal(date_from_ymd(2025, 2, 29), DATE_NONE);
	assert_int_equal(date_from_ymd(1900, 2, 29), DATE_NONE);
	assert_int_not_equal(date_from_ymd(2000, 2, 29), DATE_NONE);
	assert_int_equal(date_from_ymd(2025, 0, 1), DATE_NONE);
	assert_int_equal(date_from_ymd(2025, 13, 1), DATE_NONE);
	assert_int_equal(date_from_ymd(2025, 4, 31), DATE_NONE);
	assert_int_equal(date_from_ymd(2025, 4, 0), DATE_NONE);
	assert_int_equal(date_from_ymd(-1, 4, 1), DATE_NONE);
	assert_int_equal(date_from_ymd(10000, 1, 1), DATE_NONE);
}

static void test_clock__parse_takes_exactly_ten_bytes(void **state)
{
	static const char *const bad[] = {
		"2025-02-30", "2025-2-03", "2025/02/03", "2025-02-0x",
		"20a5-02-03", "2025-02-031", "", "+025-02-03", " 025-02-03",
		"二〇二五年",
	};
	int32_t d = 7;

	(void)state;
	assert_true(date_parse(&d, "2024-02-29", 10));
	assert_int_equal(d, date_from_ymd(2024, 2, 29));
	assert_true(date_parse(&d, "2026-11-28.md", 10));
	d = 7;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(date_parse(&d, bad[i], strlen(bad[i])));
	assert_int_equal(d, 7);
}

static void test_clock__format_writes_what_parse_reads(void **state)
{
	char out[16];
	int32_t d;

	(void)state;
	date_format(out, date_from_ymd(824, 1, 9));
	assert_string_equal(out, "0824-01-09");
	assert_true(date_parse(&d, out, 10));
	date_format(out, DATE_NONE);
	assert_string_equal(out, "");
	date_format(out, INT32_MAX);
	assert_string_equal(out, "");
	date_format(out, INT32_MIN + 1);
	assert_string_equal(out, "");
}
