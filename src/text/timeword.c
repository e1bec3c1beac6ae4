/*
 * Time words. A scanner tries each rule at each place where a word may begin
 * and takes the longest. What rules read with and count with is in
 * timeread.h.
 */
#include "text/timeword.h"

#include <string.h>

#include "base/attr.h"
#include "base/clock.h"
#include "text/timeread.h"

#define RECENT_DAYS 14 /* "recently", 最近 */
#define COUNT_MAX 500 /* "n units ago": more is no time word */

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
	{ "yesterday", UNIT_DAY, 1 },
	{ "last night", UNIT_DAY, 1 },
	{ "today", UNIT_DAY, 0 },
	{ "tonight", UNIT_DAY, 0 },
	{ "this morning", UNIT_DAY, 0 },
	{ "this afternoon", UNIT_DAY, 0 },
	{ "this evening", UNIT_DAY, 0 },
	{ "tomorrow", UNIT_DAY, -1 },
	{ "大前天", UNIT_DAY, 3 },
	{ "前天", UNIT_DAY, 2 },
	{ "前日", UNIT_DAY, 2 },
	{ "昨天", UNIT_DAY, 1 },
	{ "昨日", UNIT_DAY, 1 },
	{ "昨晚", UNIT_DAY, 1 },
	{ "昨夜", UNIT_DAY, 1 },
	{ "今天", UNIT_DAY, 0 },
	{ "今日", UNIT_DAY, 0 },
	{ "今早", UNIT_DAY, 0 },
	{ "今晚", UNIT_DAY, 0 },
	{ "明天", UNIT_DAY, -1 },
	{ "明日", UNIT_DAY, -1 },
	{ "后天", UNIT_DAY, -2 },
	{ "上上周", UNIT_WEEK, 2 },
	{ "上上个星期", UNIT_WEEK, 2 },
	{ "上周", UNIT_WEEK, 1 },
	{ "上个星期", UNIT_WEEK, 1 },
	{ "上星期", UNIT_WEEK, 1 },
	{ "上个礼拜", UNIT_WEEK, 1 },
	{ "上礼拜", UNIT_WEEK, 1 },
	{ "先周", UNIT_WEEK, 1 },
	{ "本周", UNIT_WEEK, 0 },
	{ "这周", UNIT_WEEK, 0 },
	{ "这个星期", UNIT_WEEK, 0 },
	{ "这星期", UNIT_WEEK, 0 },
	{ "这个礼拜", UNIT_WEEK, 0 },
	{ "今周", UNIT_WEEK, 0 },
	{ "下周", UNIT_WEEK, -1 },
	{ "下个星期", UNIT_WEEK, -1 },
	{ "下星期", UNIT_WEEK, -1 },
	{ "来周", UNIT_WEEK, -1 },
	{ "上上个月", UNIT_MONTH, 2 },
	{ "上个月", UNIT_MONTH, 1 },
	{ "上月", UNIT_MONTH, 1 },
	{ "先月", UNIT_MONTH, 1 },
	{ "本月", UNIT_MONTH, 0 },
	{ "这个月", UNIT_MONTH, 0 },
	{ "今月", UNIT_MONTH, 0 },
	{ "下个月", UNIT_MONTH, -1 },
	{ "下月", UNIT_MONTH, -1 },
	{ "前年", UNIT_YEAR, 2 },
	{ "去年", UNIT_YEAR, 1 },
	{ "昨年", UNIT_YEAR, 1 },
	{ "今年", UNIT_YEAR, 0 },
	{ "明年", UNIT_YEAR, -1 },
	{ "어제", UNIT_DAY, 1 },
	{ "오늘", UNIT_DAY, 0 },
	{ "그제", UNIT_DAY, 2 },
	{ "지난주", UNIT_WEEK, 1 },
	{ "지난 주", UNIT_WEEK, 1 },
	{ "이번 주", UNIT_WEEK, 0 },
	{ "지난달", UNIT_MONTH, 1 },
	{ "지난 달", UNIT_MONTH, 1 },
	{ "작년", UNIT_YEAR, 1 },
	{ "올해", UNIT_YEAR, 0 },
};

static const char *const recent[] = { "recently", "lately", "these days",
				      "最近",	  "近期",   "近来",
				      "最近几天", "최근" };

/* The day of the week behind 上周, 本周, 下周: 一 to 日. */
static int read_han_weekday(struct scan *p)
{
	static const char *const day[] = { "一", "二", "三", "四", "五",
					   "六", "日", "天", "末" };
	int i = time_read_one(p, day, ARRAY_LEN(day));

	return i == 8 ? 7 : i;
}

static bool read_fixed(struct scan *p, struct range *r)
{
	for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
		int n;

		if (!time_read(p, fixed[i].word))
			continue;
		*r = time_unit_back(fixed[i].unit, fixed[i].back, p->today);
		if (fixed[i].unit == UNIT_WEEK &&
		    (n = read_han_weekday(p)) > 0) {
			r->from += n == 9 ? 5 : n - 1;
			r->to = n == 9 ? r->to : r->from;
		} else if (fixed[i].unit == UNIT_YEAR &&
			   (n = time_read_han_number(p)) > 0 &&
			   time_read(p, "月")) {
			int y, m, d;

			date_to_ymd(r->from, &y, &m, &d);
			return time_named(r, y, n, 0, p->today);
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

	if (!time_read_one(p, heads, ARRAY_LEN(heads)))
		return false;
	n = time_read(p, "几") ? 5 : time_read_han_number(p);
	if (!n || n > COUNT_MAX || (unit = time_read_han_unit(p)) == UNIT_NONE)
		return false;
	*r = time_last(unit, n, p->today);
	return true;
}

/* 三天前, 2周之前, 3个月以前 */
static bool read_han_ago(struct scan *p, struct range *r)
{
	static const char *const tails[] = { "之前", "以前", "前" };
	int n = time_read_han_number(p);
	enum unit unit;

	if (!n || n > COUNT_MAX ||
	    (unit = time_read_han_unit(p)) == UNIT_NONE ||
	    !time_read_one(p, tails, ARRAY_LEN(tails)))
		return false;
	*r = time_ago(unit, n, p->today);
	return true;
}

/* 3月, 3月5日, 三月五号, 2026年, 2026年3月, 2026年3月5日 */
static bool read_han_date(struct scan *p, struct range *r)
{
	int n = time_read_han_number(p), year = 0, day;
	size_t end;

	if (!n)
		return false;
	if (time_read(p, "年")) {
		if (n < 1900 || n > 2200)
			return false;
		year = n;
		end = p->at;
		n = time_read_han_number(p);
		if (!n || !time_read(p, "月")) {
			p->at = end;
			*r = time_year(year);
			r->is_date = true;
			return true;
		}
	} else if (!time_read(p, "月")) {
		return false;
	}
	time_read(p, "份");
	end = p->at;
	day = time_read_han_number(p);
	if (!day || !(time_read(p, "日") || time_read(p, "号"))) {
		day = 0;
		p->at = end;
	}
	return time_named(r, year, n, day, p->today);
}

/* ---- English ---------------------------------------------------------- */

static const char *const months[] = { "january", "february", "march",
				      "april",	 "may",	     "june",
				      "july",	 "august",   "september",
				      "october", "november", "december" };
static const char *const short_months[] = { "jan", "feb", "mar", "apr",
					    "may", "jun", "jul", "aug",
					    "sep", "oct", "nov", "dec" };
static const char *const weekdays[] = { "monday",   "tuesday", "wednesday",
					"thursday", "friday",  "saturday",
					"sunday" };

static int read_month(struct scan *p, bool shorts)
{
	int m = time_read_one(p, months, 12);

	if (!m && shorts && (m = time_read_one(p, short_months, 12)))
		time_read(p, ".");
	return m;
}

/* 1 to 31 with 1st, 2nd, … ; 0 and nothing read if there is none. */
static int read_day(struct scan *p)
{
	static const char *const ends[] = { "st", "nd", "rd", "th" };
	struct scan q = *p;
	int n = time_read_digits(&q);

	if (n < 1 || n > 31)
		return 0;
	time_read_one(&q, ends, 4);
	if (q.at < q.len && (time_is_letter(q.s[q.at]) || q.s[q.at] == ':' ||
			     q.s[q.at] == '-' || q.s[q.at] == '/'))
		return 0;
	*p = q;
	return n;
}

static int read_year(struct scan *p)
{
	struct scan q = *p;
	int n;

	time_read_blanks(&q);
	n = time_read_digits(&q);
	if (n < 1900 || n > 2200 ||
	    (q.at < q.len && (time_is_letter(q.s[q.at]) || q.s[q.at] == '-')))
		return 0;
	*p = q;
	return n;
}

/* "this week", "last march", "last 3 days", "past two weeks" */
static bool read_relative(struct scan *p, struct range *r)
{
	static const char *const words[] = { "this",	 "last", "past",
					     "previous", "next", "the last",
					     "the past" };
	static const int8_t back[] = { 0, 0, 1, 1, 1, -1, 1, 1 };
	int i = time_read_one(p, words, ARRAY_LEN(words)), n;
	int shift = back[i];
	enum unit unit;

	if (!i)
		return false;
	time_read_blanks(p);
	if (time_read(p, "weekend")) {
		*r = time_unit_back(UNIT_WEEK, shift, p->today);
		r->from += 5;
		return true;
	}
	if ((unit = time_read_english_unit(p)) != UNIT_NONE) {
		*r = unit == UNIT_DAY ? time_last(unit, 1, p->today)
				      : time_unit_back(unit, shift, p->today);
		return true;
	}
	if ((n = time_read_one(p, weekdays, 7))) {
		int32_t day = time_monday(p->today) + n - 1;

		if (shift > 0 && day >= p->today)
			day -= 7;
		else if (shift < 0)
			day += 7;
		*r = time_days(day, day);
		return true;
	}
	if ((n = read_month(p, false)))
		return time_named(r, 0, n, 0, p->today);
	n = time_read_english_number(p);
	time_read_blanks(p);
	if (!n || n > COUNT_MAX || shift <= 0 ||
	    (unit = time_read_english_unit(p)) == UNIT_NONE)
		return false;
	*r = time_last(unit, n, p->today);
	return true;
}

/* "3 days ago", "a week ago" */
static bool read_ago(struct scan *p, struct range *r)
{
	int n = time_read_english_number(p);
	enum unit unit;

	if (!n || n > COUNT_MAX)
		return false;
	time_read_blanks(p);
	if ((unit = time_read_english_unit(p)) == UNIT_NONE)
		return false;
	time_read_blanks(p);
	if (!time_read(p, "ago"))
		return false;
	*r = time_ago(unit, n, p->today);
	return true;
}

/* "march 5", "march 5th, 2026", "march 2026" */
static bool read_month_first(struct scan *p, struct range *r)
{
	int month = read_month(p, true), day, year;

	if (!month)
		return false;
	time_read_blanks(p);
	day = read_day(p);
	year = read_year(p);
	return (day || year) && time_named(r, year, month, day, p->today);
}

/* "5 march 2026", "the 5th of march" */
static bool read_day_first(struct scan *p, struct range *r)
{
	int day = read_day(p), month;

	if (!day)
		return false;
	time_read_blanks(p);
	if (time_read(p, "of"))
		time_read_blanks(p);
	month = read_month(p, true);
	return month && time_named(r, read_year(p), month, day, p->today);
}

/* "in march", "since 2025", "on monday"; and long names of months alone */
static bool read_with_word(struct scan *p, struct range *r)
{
	static const char *const words[] = { "in", "since", "during", "until",
					     "on", "by",    "of" };
	int word = time_read_one(p, words, ARRAY_LEN(words)), n;

	if (word)
		time_read_blanks(p);
	if (word == 5) {
		n = time_read_one(p, weekdays, 7);
		if (!n)
			return false;
		r->from = time_monday(p->today) + n - 1;
		r->from -= r->from > p->today ? 7 : 0;
		r->to = r->from;
		return true;
	}
	n = read_month(p, word != 0);
	if (n && (word || (n != 3 && n != 5 && n != 8)))
		return time_named(r, 0, n, 0, p->today);
	if (n || !word || !(n = read_year(p)))
		return false;
	*r = time_year(n);
	r->is_date = true;
	return true;
}

/* 2026-03-01, 2026/3/1, 2026.3.1, 2026-03 */
static bool read_iso(struct scan *p, struct range *r)
{
	int year = time_read_digits(p), month, day;
	char sign = p->at < p->len ? p->s[p->at] : '\0';

	if (year < 1900 || year > 2200 ||
	    (sign != '-' && sign != '/' && sign != '.'))
		return false;
	p->at++;
	month = time_read_digits(p);
	if (p->at < p->len && p->s[p->at] == sign) {
		p->at++;
		day = time_read_digits(p);
		return month && day &&
		       time_named(r, year, month, day, p->today);
	}
	if (sign == '.' || !month || !time_named(r, year, month, 0, p->today))
		return false;
	r->is_date = true;
	return true;
}

static bool read_recent(struct scan *p, struct range *r)
{
	if (!time_read_one(p, recent, ARRAY_LEN(recent)))
		return false;
	*r = time_days(p->today - RECENT_DAYS, p->today);
	return true;
}

/* ---- all of them ------------------------------------------------------ */

typedef bool (*rule_fn)(struct scan *, struct range *);

static const rule_fn rules[] = {
	read_fixed,	read_han_last,	read_han_ago, read_han_date,
	read_recent,	read_relative,	read_ago,     read_month_first,
	read_day_first, read_with_word, read_iso,
};

static bool is_alnum(char c)
{
	return time_is_letter(c) || time_is_digit(c);
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
