/* Numbers, units and days of time words; see timeread.h. */
#include "text/timeread.h"

#include <string.h>

#include "base/attr.h"
#include "base/clock.h"

/* ---- calendar --------------------------------------------------------- */

struct range time_days(int32_t from, int32_t to)
{
	return (struct range){ from, to, false };
}

static struct range month_of(int year, int month)
{
	int next = month == 12 ? 1 : month + 1;
	int32_t end = date_from_ymd(year + (month == 12), next, 1);

	if (end == DATE_NONE)
		return time_days(DATE_NONE, DATE_NONE);
	return time_days(date_from_ymd(year, month, 1), end - 1);
}

struct range time_year(int year)
{
	return time_days(date_from_ymd(year, 1, 1),
			 date_from_ymd(year, 12, 31));
}

int32_t time_monday(int32_t day)
{
	/* day 0 was a Thursday */
	return day - (((day + 3) % 7) + 7) % 7;
}

/* The unit that lies n before the current one (after it for n < 0). */
struct range time_unit_back(enum unit unit, int n, int32_t today)
{
	int y, m, d, months;

	date_to_ymd(today, &y, &m, &d);
	switch (unit) {
	case UNIT_WEEK:
		return time_days(time_monday(today) - 7 * n,
				 time_monday(today) - 7 * n + 6);
	case UNIT_MONTH:
		months = y * 12 + m - 1 - n;
		return month_of(months / 12, months % 12 + 1);
	case UNIT_YEAR:
		return time_year(y - n);
	default:
		return time_days(today - n, today - n);
	}
}

/* "n units ago": a day exactly, a week with three days to either side. */
struct range time_ago(enum unit unit, int n, int32_t today)
{
	if (unit == UNIT_WEEK)
		return time_days(today - 7 * n - 3, today - 7 * n + 3);
	return time_unit_back(unit, n, today);
}

/* "the last n units" */
struct range time_last(enum unit unit, int n, int32_t today)
{
	static const int32_t length[] = { 1, 1, 7, 30, 365 };

	return time_days(today - n * length[unit], today);
}

static int year_of_month(int month, int32_t today)
{
	int y, m, d;

	date_to_ymd(today, &y, &m, &d);
	return month <= m ? y : y - 1;
}

bool time_named(struct range *r, int year, int month, int day, int32_t today)
{
	if (month < 1 || month > 12)
		return false;
	if (!year)
		year = year_of_month(month, today);
	if (!day) {
		*r = month_of(year, month);
		return true;
	}
	r->from = r->to = date_from_ymd(year, month, day);
	r->is_date = true;
	return r->from != DATE_NONE;
}

/* ---- reading ---------------------------------------------------------- */

bool time_is_letter(char c)
{
	return (unsigned char)(c - 'a') < 26;
}

bool time_is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

/* Reads lit; a word of letters must end there. */
bool time_read(struct scan *p, const char *lit)
{
	size_t n = strlen(lit), end = p->at + n;

	if (n > p->len - p->at || memcmp(p->s + p->at, lit, n))
		return false;
	if (time_is_letter(lit[n - 1]) && end < p->len &&
	    (time_is_letter(p->s[end]) || time_is_digit(p->s[end])))
		return false;
	p->at = end;
	return true;
}

void time_read_blanks(struct scan *p)
{
	while (p->at < p->len && (p->s[p->at] == ' ' || p->s[p->at] == ','))
		p->at++;
}

/* Reads one of a list; its index from 1, 0 if none is there. */
int time_read_one(struct scan *p, const char *const *list, int count)
{
	for (int i = 0; i < count; i++)
		if (time_read(p, list[i]))
			return i + 1;
	return 0;
}

/* Up to four digits; 0 if there are none, or more. */
int time_read_digits(struct scan *p)
{
	size_t at = p->at;
	int n = 0;

	while (at < p->len && time_is_digit(p->s[at]) && at - p->at < 5)
		n = n * 10 + (p->s[at++] - '0');
	if (at - p->at > 4 || at == p->at)
		return 0;
	p->at = at;
	return n;
}

/* 一 to 九十九, 两, or digits. */
int time_read_han_number(struct scan *p)
{
	static const char *const digit[] = { "一", "二", "三", "四", "五",
					     "六", "七", "八", "九", "两" };
	int n = time_read_digits(p), unit;

	if (n)
		return n;
	n = time_read_one(p, digit, ARRAY_LEN(digit));
	if (n == 10)
		return 2;
	if (!time_read(p, "十"))
		return n;
	unit = time_read_one(p, digit, 9);
	return (n ? n : 1) * 10 + unit;
}

int time_read_english_number(struct scan *p)
{
	static const char *const words[] = {
		"one",	       "two",	"three", "four", "five",   "six",
		"seven",       "eight", "nine",	 "ten",	 "eleven", "twelve",
		"a couple of", "a few", "few",	 "an",	 "a"
	};
	static const int value[] = { 0, 1,  2,	3,  4, 5, 6, 7, 8,
				     9, 10, 11, 12, 2, 3, 3, 1, 1 };
	int n = time_read_digits(p);

	return n ? n : value[time_read_one(p, words, ARRAY_LEN(words))];
}

enum unit time_read_english_unit(struct scan *p)
{
	static const char *const words[] = {
		"day",	 "days",   "week", "weeks",
		"month", "months", "year", "years"
	};
	int i = time_read_one(p, words, ARRAY_LEN(words));

	return (enum unit)((i + 1) / 2);
}

enum unit time_read_han_unit(struct scan *p)
{
	static const char *const words[] = { "天",   "日", "个星期", "个礼拜",
					     "星期", "周", "个月",   "年" };
	static const enum unit unit[] = { UNIT_NONE, UNIT_DAY,	 UNIT_DAY,
					  UNIT_WEEK, UNIT_WEEK,	 UNIT_WEEK,
					  UNIT_WEEK, UNIT_MONTH, UNIT_YEAR };

	return unit[time_read_one(p, words, ARRAY_LEN(words))];
}
