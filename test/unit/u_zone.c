/* Days in zones by name, against the system's own conversion. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

static const char *const zones[] = {
	"Asia/Shanghai",    "Asia/Kathmandu",	   "America/Los_Angeles",
	"Europe/Berlin",    "Australia/Lord_Howe", "Africa/Casablanca",
	"America/Santiago", "Europe/Dublin",	   "Pacific/Kiritimati",
	"Asia/Jakarta",	    "UTC",
};

static void compare(const char *zone, int64_t s)
{
	time_t t = (time_t)s;
	struct tm tm;
	int east;

	assert_non_null(localtime_r(&t, &tm));
	assert_true(zone_offset(&east, zone, s * 1000));
	if (east != (int)tm.tm_gmtoff)
		fail_msg("%s at %lld: %d, not %ld", zone, (long long)s, east,
			 tm.tm_gmtoff);
}

static void test_zone__agrees_with_the_system(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(zones) / sizeof(*zones); i++) {
		setenv("TZ", zones[i], 1);
		tzset();
		/* Every 7 hours and a bit, from 1960 to 2090. */
		for (int64_t s = -315619200; s < 3786912000ll; s += 25411)
			compare(zones[i], s);
	}
	unsetenv("TZ");
	tzset();
}

static void day_is(const char *zone, int64_t ms, const char *want)
{
	char day[16];

	date_format(day, clock_zone_day(zone, ms));
	assert_string_equal(day, want);
}

static void test_zone__the_day_is_the_users(void **state)
{
	(void)state;
	/* 2026-04-11T19:53Z, 2026-03-15T01:17Z, 2026-04-09T00:44Z, 17:30Z */
	day_is("Asia/Shanghai", 1775937180000ll, "2026-04-12");
	day_is("America/Los_Angeles", 1773537420000ll, "2026-03-14");
	day_is("Asia/Jakarta", 1775695440000ll, "2026-04-09");
	day_is("Asia/Jakarta", 1775755800000ll, "2026-04-10");
	/* The last and the first moment of a day, on a night of change. */
	day_is("Europe/Berlin", 1774738799900ll, "2026-03-28");
	day_is("Europe/Berlin", 1774738800100ll, "2026-03-29");
	day_is("America/Los_Angeles", 1793516399900ll, "2026-10-31");
	day_is("America/Los_Angeles", 1793516400100ll, "2026-11-01");
}

static void test_zone__times_are_written_as_the_system_writes_them(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(zones) / sizeof(*zones); i++) {
		setenv("TZ", zones[i], 1);
		tzset();
		for (int64_t s = 1700000000; s < 1800000000; s += 7654321) {
			char want[40], got[40];
			time_t t = (time_t)s;
			struct tm tm;

			localtime_r(&t, &tm);
			strftime(want, sizeof(want), "%F %H:%M (%z)", &tm);
			clock_zone_format(got, sizeof(got), "%F %H:%M (%z)",
					  i % 2 ? "" : zones[i], s * 1000);
			assert_string_equal(got, want);
		}
	}
	unsetenv("TZ");
	tzset();
}

static void test_zone__other_names_are_no_zones(void **state)
{
	static const char *const bad[] = { "", "Nowhere/At_All", "../passwd",
					   "/etc/passwd", "Asia", "tzdata.zi",
					   "Asia/../UTC" };
	int east;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(zone_offset(&east, bad[i], 0));
}
