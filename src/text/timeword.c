/*
 * Time words. A scanner tries each rule at each place where a word may begin
 * and takes the longest. Weeks begin on Monday. A month without a year is the
 * latest one that has begun.
 */
#include "text/timeword.h"

#include <string.h>

#include "base/attr.h"
#include "base/clock.h"

#define RECENT_DAYS 14 /* "recently", 最近 */
#define COUNT_MAX 500 /* "n units ago": more is no time word */

enum unit { UNIT_NONE, UNIT_DAY, UNIT_WEEK, UNIT_MONTH, UNIT_YEAR };

/* A place in the text; rules advance it as they read. */
struct scan {
	const char *s;
	size_t len, at;
	int32_t today;
};

struct range {
	int32_t from, to;
	bool is_date;
};

/* ---- calendar --------------------------------------------------------- */

static struct range days(int32_t from, int32_t to)
{
	return (struct range){ from, to, false };
}

static struct range month_of(int year, int month)
{
	int next = month == 12 ? 1 : month + 1;
	int32_t end = date_from_ymd(year + (month == 12), next, 1);

	if (end == DATE_NONE)
		return days(DATE_NONE, DATE_NONE);
	return days(date_from_ymd(year, month, 1), end - 1);
}

static struct range year_of(int year)
{
	return days(date_from_ymd(year, 1, 1), date_from_ymd(year, 12, 31));
}

static int32_t monday_of(int32_t day)
{
	/* day 0 was a Thursday */
	return day - (((day + 3) % 7) + 7) % 7;
}

/* The unit that lies n before the current one (after it for n < 0). */
static struct range unit_back(enum unit unit, int n, int32_t today)
{
	int y, m, d, months;

	date_to_ymd(today, &y, &m, &d);
	switch (unit) {
	case UNIT_WEEK:
		return days(monday_of(today) - 7 * n,
			    monday_of(today) - 7 * n + 6);
	case UNIT_MONTH:
		months = y * 12 + m - 1 - n;
		return month_of(months / 12, months % 12 + 1);
	case UNIT_YEAR:
		return year_of(y - n);
	default:
		return days(today - n, today - n);
	}
}

/* "n units ago": a day exactly, a week with three days to either side. */
static struct range ago(enum unit unit, int n, int32_t today)
{
	if (unit == UNIT_WEEK)
		return days(today - 7 * n - 3, today - 7 * n + 3);
	return unit_back(unit, n, today);
}

/* "the last n units" */
static struct range last_n(enum unit unit, int n, int32_t today)
{
	static const int32_t length[] = { 1, 1, 7, 30, 365 };

	return days(today - n * length[unit], today);
}

static int year_of_month(int month, int32_t today)
{
	int y, m, d;

	date_to_ymd(today, &y, &m, &d);
	return month <= m ? y : y - 1;
}

static bool named_day(struct range *r, int year, int month, int day,
		      int32_t today)
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

static bool is_letter(char c)
{
	return (unsigned char)(c - 'a') < 26;
}

static bool is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

/* Reads lit; a word of letters must end there. */
static bool read(struct scan *p, const char *lit)
{
	size_t n = strlen(lit), end = p->at + n;

	if (n > p->len - p->at || memcmp(p->s + p->at, lit, n))
		return false;
	if (is_letter(lit[n - 1]) && end < p->len &&
	    (is_letter(p->s[end]) || is_digit(p->s[end])))
		return false;
	p->at = end;
	return true;
}

static void read_blanks(struct scan *p)
{
	while (p->at < p->len && (p->s[p->at] == ' ' || p->s[p->at] == ','))
		p->at++;
}

/* Reads one of a list; its index from 1, 0 if none is there. */
static int read_one(struct scan *p, const char *const *list, int count)
{
	for (int i = 0; i < count; i++)
		if (read(p, list[i]))
			return i + 1;
	return 0;
}

/* Up to four digits; 0 if there are none, or more. */
static int read_digits(struct scan *p)
{
	size_t at = p->at;
	int n = 0;

	while (at < p->len && is_digit(p->s[at]) && at - p->at < 5)
		n = n * 10 + (p->s[at++] - '0');
	if (at - p->at > 4 || at == p->at)
		return 0;
	p->at = at;
	return n;
}

/* 一 to 九十九, 两, or digits. */
static int read_han_number(struct scan *p)
{
	static const char *const digit[] = { "一", "二", "三", "四", "五",
		"六", "七", "八", "九", "两" };
	int n = read_digits(p), unit;

	if (n)
		return n;
	n = read_one(p, digit, ARRAY_LEN(digit));
	if (n == 10)
		return 2;
	if (!read(p, "十"))
		return n;
	unit = read_one(p, digit, 9);
	return (n ? n : 1) * 10 + unit;
}

static int read_english_number(struct scan *p)
{
	static const char *const words[] = { "one", "two", "three", "four",
		"five", "six", "seven", "eight", "nine", "ten", "eleven",
		"twelve", "a couple of", "a few", "few", "an", "a" };
	static const int value[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
		2, 3, 3, 1, 1 };
	int n = read_digits(p);

	return n ? n : value[read_one(p, words, ARRAY_LEN(words))];
}

static enum unit read_english_unit(struct scan *p)
{
	static const char *const words[] = { "day", "days", "week", "weeks",
		"month", "months", "year", "years" };
	int i = read_one(p, words, ARRAY_LEN(words));

	return (enum unit)((i + 1) / 2);
}

static enum unit read_han_unit(struct scan *p)
{
	static const char *const words[] = { "天", "日", "个星期", "个礼拜",
		"星期", "周", "个月", "年" };
	static const enum unit unit[] = { UNIT_NONE, UNIT_DAY, UNIT_DAY,
		UNIT_WEEK, UNIT_WEEK, UNIT_WEEK, UNIT_WEEK, UNIT_MONTH,
		UNIT_YEAR };

	return unit[read_one(p, words, ARRAY_LEN(words))];
}

/* ---- fixed words ------------------------------------------------------ */

struct fixed {
	const char *word;
	enum unit unit;
	int8_t back;
};

/* Longer before shorter where one begins with the other. */
static const struct fixed fixed[] = {
	{ "the day before yesterday", UNIT_DAY, 2 },
	{ "day before yesterday", UNIT_DAY, 2 },
	{ "yesterday", UNIT_DAY, 1 }, { "last night", UNIT_DAY, 1 },
	{ "today", UNIT_DAY, 0 }, { "tonight", UNIT_DAY, 0 },
	{ "this morning", UNIT_DAY, 0 }, { "this afternoon", UNIT_DAY, 0 },
	{ "this evening", UNIT_DAY, 0 }, { "tomorrow", UNIT_DAY, -1 },
	{ "大前天", UNIT_DAY, 3 }, { "前天", UNIT_DAY, 2 },
	{ "前日", UNIT_DAY, 2 }, { "昨天", UNIT_DAY, 1 },
	{ "昨日", UNIT_DAY, 1 }, { "昨晚", UNIT_DAY, 1 },
	{ "昨夜", UNIT_DAY, 1 }, { "今天", UNIT_DAY, 0 },
	{ "今日", UNIT_DAY, 0 }, { "今早", UNIT_DAY, 0 },
	{ "今晚", UNIT_DAY, 0 }, { "明天", UNIT_DAY, -1 },
	{ "明日", UNIT_DAY, -1 }, { "后天", UNIT_DAY, -2 },
	{ "上上周", UNIT_WEEK, 2 }, { "上上个星期", UNIT_WEEK, 2 },
	{ "上周", UNIT_WEEK, 1 }, { "上个星期", UNIT_WEEK, 1 },
	{ "上星期", UNIT_WEEK, 1 }, { "上个礼拜", UNIT_WEEK, 1 },
	{ "上礼拜", UNIT_WEEK, 1 }, { "先周", UNIT_WEEK, 1 },
	{ "本周", UNIT_WEEK, 0 }, { "这周", UNIT_WEEK, 0 },
	{ "这个星期", UNIT_WEEK, 0 }, { "这星期", UNIT_WEEK, 0 },
	{ "这个礼拜", UNIT_WEEK, 0 }, { "今周", UNIT_WEEK, 0 },
	{ "下周", UNIT_WEEK, -1 }, { "下个星期", UNIT_WEEK, -1 },
	{ "下星期", UNIT_WEEK, -1 }, { "来周", UNIT_WEEK, -1 },
	{ "上上个月", UNIT_MONTH, 2 }, { "上个月", UNIT_MONTH, 1 },
	{ "上月", UNIT_MONTH, 1 }, { "先月", UNIT_MONTH, 1 },
	{ "本月", UNIT_MONTH, 0 }, { "这个月", UNIT_MONTH, 0 },
	{ "今月", UNIT_MONTH, 0 }, { "下个月", UNIT_MONTH, -1 },
	{ "下月", UNIT_MONTH, -1 }, { "前年", UNIT_YEAR, 2 },
	{ "去年", UNIT_YEAR, 1 }, { "昨年", UNIT_YEAR, 1 },
	{ "今年", UNIT_YEAR, 0 }, { "明年", UNIT_YEAR, -1 },
	{ "어제", UNIT_DAY, 1 }, { "오늘", UNIT_DAY, 0 },
	{ "그제", UNIT_DAY, 2 }, { "지난주", UNIT_WEEK, 1 },
	{ "지난 주", UNIT_WEEK, 1 }, { "이번 주", UNIT_WEEK, 0 },
	{ "지난달", UNIT_MONTH, 1 }, { "지난 달", UNIT_MONTH, 1 },
	{ "작년", UNIT_YEAR, 1 }, { "올해", UNIT_YEAR, 0 },
};

static const char *const recent[] = { "recently", "lately", "these days",
	"最近", "近期", "近来", "最近几天", "최근" };

/* The day of the week behind 上周, 本周, 下周: 一 to 日. */
static int read_han_weekday(struct scan *p)
{
	static const char *const day[] = { "一", "二", "三", "四", "五", "六",
		"日", "天", "末" };
	int i = read_one(p, day, ARRAY_LEN(day));

	return i == 8 ? 7 : i;
}

static bool read_fixed(struct scan *p, struct range *r)
{
	for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
		int n;

		if (!read(p, fixed[i].word))
			continue;
		*r = unit_back(fixed[i].unit, fixed[i].back, p->today);
		if (fixed[i].unit == UNIT_WEEK &&
		    (n = read_han_weekday(p)) > 0) {
			r->from += n == 9 ? 5 : n - 1;
			r->to = n == 9 ? r->to : r->from;
		} else if (fixed[i].unit == UNIT_YEAR &&
			   (n = read_han_number(p)) > 0 && read(p, "月")) {
			int y, m, d;

			date_to_ymd(r->from, &y, &m, &d);
			return named_day(r, y, n, 0, p->today);
		}
		return true;
	}
	return false;
}

/* ---- Chinese ---------------------------------------------------------- */

/* 最近三天, 过去两周, 近7天 */
static bool read_han_last(struct scan *p, struct range *r)
{
	static const char *const heads[] = { "最近", "过去", "近" };
	enum unit unit;
	int n;

	if (!read_one(p, heads, ARRAY_LEN(heads)))
		return false;
	n = read(p, "几") ? 5 : read_han_number(p);
	if (!n || n > COUNT_MAX || (unit = read_han_unit(p)) == UNIT_NONE)
		return false;
	*r = last_n(unit, n, p->today);
	return true;
}

/* 三天前, 2周之前, 3个月以前 */
static bool read_han_ago(struct scan *p, struct range *r)
{
	static const char *const tails[] = { "之前", "以前", "前" };
	int n = read_han_number(p);
	enum unit unit;

	if (!n || n > COUNT_MAX || (unit = read_han_unit(p)) == UNIT_NONE ||
	    !read_one(p, tails, ARRAY_LEN(tails)))
		return false;
	*r = ago(unit, n, p->today);
	return true;
}

/* 3月, 3月5日, 三月五号, 2026年, 2026年3月, 2026年3月5日 */
static bool read_han_date(struct scan *p, struct range *r)
{
	int n = read_han_number(p), year = 0, day;
	size_t end;

	if (!n)
		return false;
	if (read(p, "年")) {
		if (n < 1900 || n > 2200)
			return false;
		year = n;
		end = p->at;
		n = read_han_number(p);
		if (!n || !read(p, "月")) {
			p->at = end;
			*r = year_of(year);
			r->is_date = true;
			return true;
		}
	} else if (!read(p, "月")) {
		return false;
	}
	read(p, "份");
	end = p->at;
	day = read_han_number(p);
	if (!day || !(read(p, "日") || read(p, "号"))) {
		day = 0;
		p->at = end;
	}
	return named_day(r, year, n, day, p->today);
}

/* ---- English ---------------------------------------------------------- */

static const char *const months[] = { "january", "february", "march", "april",
	"may", "june", "july", "august", "september", "october", "november",
	"december" };
static const char *const short_months[] = { "jan", "feb", "mar", "apr", "may",
	"jun", "jul", "aug", "sep", "oct", "nov", "dec" };
static const char *const weekdays[] = { "monday", "tuesday", "wednesday",
	"thursday", "friday", "saturday", "sunday" };

static int read_month(struct scan *p, bool shorts)
{
	int m = read_one(p, months, 12);

	if (!m && shorts && (m = read_one(p, short_months, 12)))
		read(p, ".");
	return m;
}

/* 1 to 31 with 1st, 2nd, … ; 0 and nothing read if there is none. */
static int read_day(struct scan *p)
{
	static const char *const ends[] = { "st", "nd", "rd", "th" };
	struct scan q = *p;
	int n = read_digits(&q);

	if (n < 1 || n > 31)
		return 0;
	read_one(&q, ends, 4);
	if (q.at < q.len && (is_letter(q.s[q.at]) || q.s[q.at] == ':' ||
			     q.s[q.at] == '-' || q.s[q.at] == '/'))
		return 0;
	*p = q;
	return n;
}

static int read_year(struct scan *p)
{
	struct scan q = *p;
	int n;

	read_blanks(&q);
	n = read_digits(&q);
	if (n < 1900 || n > 2200 ||
	    (q.at < q.len && (is_letter(q.s[q.at]) || q.s[q.at] == '-')))
		return 0;
	*p = q;
	return n;
}

/* "this week", "last march", "last 3 days", "past two weeks" */
static bool read_relative(struct scan *p, struct range *r)
{
	static const char *const words[] = { "this", "last", "past",
		"previous", "next", "the last", "the past" };
	static const int8_t back[] = { 0, 0, 1, 1, 1, -1, 1, 1 };
	int i = read_one(p, words, ARRAY_LEN(words)), n;
	int shift = back[i];
	enum unit unit;

	if (!i)
		return false;
	read_blanks(p);
	if (read(p, "weekend")) {
		*r = unit_back(UNIT_WEEK, shift, p->today);
		r->from += 5;
		return true;
	}
	if ((unit = read_english_unit(p)) != UNIT_NONE) {
		*r = unit == UNIT_DAY ? last_n(unit, 1, p->today) :
			unit_back(unit, shift, p->today);
		return true;
	}
	if ((n = read_one(p, weekdays, 7))) {
		int32_t day = monday_of(p->today) + n - 1;

		if (shift > 0 && day >= p->today)
			day -= 7;
		else if (shift < 0)
			day += 7;
		*r = days(day, day);
		return true;
	}
	if ((n = read_month(p, false)))
		return named_day(r, 0, n, 0, p->today);
	n = read_english_number(p);
	read_blanks(p);
	if (!n || n > COUNT_MAX || shift <= 0 ||
	    (unit = read_english_unit(p)) == UNIT_NONE)
		return false;
	*r = last_n(unit, n, p->today);
	return true;
}

/* "3 days ago", "a week ago" */
static bool read_ago(struct scan *p, struct range *r)
{
	int n = read_english_number(p);
	enum unit unit;

	if (!n || n > COUNT_MAX)
		return false;
	read_blanks(p);
	if ((unit = read_english_unit(p)) == UNIT_NONE)
		return false;
	read_blanks(p);
	if (!read(p, "ago"))
		return false;
	*r = ago(unit, n, p->today);
	return true;
}

/* "march 5", "march 5th, 2026", "march 2026" */
static bool read_month_first(struct scan *p, struct range *r)
{
	int month = read_month(p, true), day, year;

	if (!month)
		return false;
	read_blanks(p);
	day = read_day(p);
	year = read_year(p);
	return (day || year) && named_day(r, year, month, day, p->today);
}

/* "5 march 2026", "the 5th of march" */
static bool read_day_first(struct scan *p, struct range *r)
{
	int day = read_day(p), month;

	if (!day)
		return false;
	read_blanks(p);
	if (read(p, "of"))
		read_blanks(p);
	month = read_month(p, true);
	return month && named_day(r, read_year(p), month, day, p->today);
}

/* "in march", "since 2025", "on monday"; and long names of months alone */
static bool read_with_word(struct scan *p, struct range *r)
{
	static const char *const words[] = { "in", "since", "during", "until",
		"on", "by", "of" };
	int word = read_one(p, words, ARRAY_LEN(words)), n;

	if (word)
		read_blanks(p);
	if (word == 5) {
		n = read_one(p, weekdays, 7);
		if (!n)
			return false;
		r->from = monday_of(p->today) + n - 1;
		r->from -= r->from > p->today ? 7 : 0;
		r->to = r->from;
		return true;
	}
	n = read_month(p, word != 0);
	if (n && (word || (n != 3 && n != 5 && n != 8)))
		return named_day(r, 0, n, 0, p->today);
	if (n || !word || !(n = read_year(p)))
		return false;
	*r = year_of(n);
	r->is_date = true;
	return true;
}

/* 2026-03-01, 2026/3/1, 2026.3.1, 2026-03 */
static bool read_iso(struct scan *p, struct range *r)
{
	int year = read_digits(p), month, day;
	char sign = p->at < p->len ? p->s[p->at] : '\0';

	if (year < 1900 || year > 2200 ||
	    (sign != '-' && sign != '/' && sign != '.'))
		return false;
	p->at++;
	month = read_digits(p);
	if (p->at < p->len && p->s[p->at] == sign) {
		p->at++;
		day = read_digits(p);
		return month && day && named_day(r, year, month, day,
						 p->today);
	}
	if (sign == '.' || !month || !named_day(r, year, month, 0, p->today))
		return false;
	r->is_date = true;
	return true;
}

static bool read_recent(struct scan *p, struct range *r)
{
	if (!read_one(p, recent, ARRAY_LEN(recent)))
		return false;
	*r = days(p->today - RECENT_DAYS, p->today);
	return true;
}

/* ---- all of them ------------------------------------------------------ */

typedef bool (*rule_fn)(struct scan *, struct range *);

static const rule_fn rules[] = {
	read_fixed, read_han_last, read_han_ago, read_han_date, read_recent,
	read_relative, read_ago, read_month_first, read_day_first,
	read_with_word, read_iso,
};

static bool is_alnum(char c)
{
	return is_letter(c) || is_digit(c);
}

/* Inside of a word, a number or a name (DEC-0054) nothing begins. */
static bool may_begin(const char *s, size_t at)
{
	unsigned char now = (unsigned char)s[at];

	if ((now & 0xc0) == 0x80)
		return false;
	if (at == 0 || now >= 0x80)
		return true;
	if (is_alnum(s[at - 1]))
		return false;
	return !s[at - 1] || !strchr("_-/.:#@+", s[at - 1]) || at == 1 ||
	       !is_alnum(s[at - 2]);
}

int time_scan(struct time_span *out, int max, const char *s, size_t len,
	      int32_t today)
{
	int count = 0;
	size_t at = 0;

	while (at < len && count < max) {
		struct time_span best = { at, at, 0, 0, false };

		for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
			struct scan p = { s, len, at, today };
			struct range r = { 0, 0, false };

			if (!may_begin(s, at) || !rules[i](&p, &r) ||
			    p.at <= best.end || r.from == DATE_NONE ||
			    r.to == DATE_NONE)
				continue;
			best = (struct time_span){ at, p.at, r.from, r.to,
						   r.is_date };
		}
		if (best.end > at) {
			out[count++] = best;
			at = best.end;
		} else {
			at++;
		}
	}
	return count;
}
