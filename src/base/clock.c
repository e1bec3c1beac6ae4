/*
 * Time. The calendar arithmetic counts in 400-year eras that begin on the
 * first of March, so that the leap day is the last of its year.
 */
#include "base/clock.h"

#include <stdatomic.h>
#include <time.h>

#define ERA_DAYS 146097
#define EPOCH_SHIFT 719468 /* days from 0000-03-01 to 1970-01-01 */
#define YEAR_MIN 0
#define YEAR_MAX 9999 /* four digits are what files and users write */

static _Atomic int64_t fixed_ms = -1;

void clock_set(int64_t now_ms)
{
	atomic_store(&fixed_ms, now_ms < 0 ? -1 : now_ms);
}

int64_t clock_now_ms(void)
{
	int64_t fixed = atomic_load(&fixed_ms);
	struct timespec t;

	if (fixed >= 0)
		return fixed;
	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t clock_mono_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int32_t clock_local_day(int64_t ms)
{
	time_t s = (time_t)(ms / 1000 - (ms % 1000 < 0));
	struct tm tm;

	if (!localtime_r(&s, &tm))
		return DATE_NONE;
	return date_from_ymd(tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
}

static int month_days(int year, int month)
{
	static const signed char days[] = { 31, 28, 31, 30, 31, 30,
					    31, 31, 30, 31, 30, 31 };
	int leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return days[month - 1] + (month == 2 && leap);
}

int32_t date_from_ymd(int year, int month, int day)
{
	int y, era, yoe, doy, doe;

	if (year < YEAR_MIN || year > YEAR_MAX || month < 1 || month > 12 ||
	    day < 1 || day > month_days(year, month))
		return DATE_NONE;
	y = year - (month <= 2);
	era = (y >= 0 ? y : y - 399) / 400;
	yoe = y - era * 400;
	doy = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
	return (int32_t)(era * ERA_DAYS + doe - EPOCH_SHIFT);
}

void date_to_ymd(int32_t date, int *year, int *month, int *day)
{
	int64_t z = (int64_t)date + EPOCH_SHIFT;
	int64_t era = (z >= 0 ? z : z - (ERA_DAYS - 1)) / ERA_DAYS;
	int doe = (int)(z - era * ERA_DAYS);
	int yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	int mp = (5 * doy + 2) / 153;

	*day = doy - (153 * mp + 2) / 5 + 1;
	*month = mp + (mp < 10 ? 3 : -9);
	*year = (int)(yoe + era * 400) + (*month <= 2);
}

/* n decimal digits at s, or -1. */
static int digits(const char *s, int n)
{
	int v = 0;

	for (int i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9')
			return -1;
		v = v * 10 + (s[i] - '0');
	}
	return v;
}

bool date_parse(int32_t *out, const char *s, size_t len)
{
	int32_t d;

	if (len != 10 || s[4] != '-' || s[7] != '-')
		return false;
	d = date_from_ymd(digits(s, 4), digits(s + 5, 2), digits(s + 8, 2));
	if (d == DATE_NONE)
		return false;
	*out = d;
	return true;
}

static char *put_digits(char *to, int v, int n)
{
	for (int i = n; i-- > 0; v /= 10)
		to[i] = (char)('0' + v % 10);
	return to + n;
}

void date_format(char out[16], int32_t date)
{
	int y = -1, m, d;

	if (date != DATE_NONE)
		date_to_ymd(date, &y, &m, &d);
	if (y < YEAR_MIN || y > YEAR_MAX) {
		out[0] = '\0';
		return;
	}
	out = put_digits(out, y, 4);
	*out++ = '-';
	out = put_digits(out, m, 2);
	*out++ = '-';
	out = put_digits(out, d, 2);
	*out = '\0';
}
