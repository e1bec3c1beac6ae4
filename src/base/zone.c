/*
 * Time zones by name, without touching the zone of the process: the files of
 * the system's zone database (TZif, RFC 8536) are read here. Times behind the
 * last change in the file follow the rule in its last line (POSIX TZ).
 */
#define _GNU_SOURCE /* tm_gmtoff */
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"

#define FOLDER "/usr/share/zoneinfo/"
#define FILE_BYTES 65536
#define HEAD 44
#define DAY_S 86400

struct block { /* of a file: the 64-bit one */
	const unsigned char *times, *kinds, *types;
	uint32_t time_count, type_count;
	const char *rule; /* "" if there is none */
};

static uint32_t be32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	       (uint32_t)p[2] << 8 | p[3];
}

static int64_t be64(const unsigned char *p)
{
	return (int64_t)((uint64_t)be32(p) << 32 | be32(p + 4));
}

/* Bytes of the data behind a header, or 0 when it is none. */
static size_t data_size(const unsigned char *h, size_t left, size_t width)
{
	uint64_t n;

	if (left < HEAD || memcmp(h, "TZif", 4))
		return 0;
	n = (uint64_t)be32(h + 32) * (width + 1) +
	    (uint64_t)be32(h + 36) * 6 + be32(h + 40) +
	    (uint64_t)be32(h + 28) * (width + 4) + be32(h + 24) +
	    be32(h + 20);
	return n && n <= left - HEAD ? (size_t)n : 0;
}

static bool read_block(struct block *b, const struct buf *file)
{
	const unsigned char *p = (const unsigned char *)buf_str(file);
	size_t left = file->len, n = data_size(p, left, 4);
	const char *line;

	if (!n || p[4] < '2')
		return false;
	p += HEAD + n;
	left -= HEAD + n;
	if (!(n = data_size(p, left, 8)))
		return false;
	b->time_count = be32(p + 32);
	b->type_count = be32(p + 36);
	b->times = p + HEAD;
	b->kinds = b->times + (size_t)b->time_count * 8;
	b->types = b->kinds + b->time_count;
	line = (const char *)p + HEAD + n;
	/* A NUL stands behind the file's bytes. */
	b->rule = left > HEAD + n && line[0] == '\n' ? line + 1 : "";
	return b->type_count > 0;
}

/* ---- the rule ---- */

struct rule {
	char kind; /* 'M', 'J' or 'n' */
	int month, week, day;
	int time_s;
};

static int number(const char **s)
{
	int n = 0;

	while (**s >= '0' && **s <= '9' && n < 100000)
		n = n * 10 + *(*s)++ - '0';
	return n;
}

/* "[+-]hh[:mm[:ss]]" in seconds. */
static int read_hours(const char **s)
{
	int sign = **s == '-' ? -1 : 1, t;

	*s += **s == '-' || **s == '+';
	t = number(s) * 3600;
	for (int unit = 60; **s == ':' && unit; unit = unit > 1 ? 1 : 0) {
		++*s;
		t += number(s) * unit;
	}
	return sign * t;
}

static bool skip_name(const char **s)
{
	const char *from = *s;

	if (**s == '<') {
		*s += strcspn(*s, ">");
		*s += **s == '>';
	} else {
		while ((**s >= 'A' && **s <= 'Z') || (**s >= 'a' && **s <= 'z'))
			++*s;
	}
	return *s > from;
}

static bool read_rule(struct rule *r, const char **s)
{
	if (*(*s)++ != ',')
		return false;
	r->kind = **s;
	if (r->kind == 'M') {
		++*s;
		r->month = number(s);
		*s += **s == '.';
		r->week = number(s);
		*s += **s == '.';
	} else if (r->kind == 'J') {
		++*s;
	} else {
		r->kind = 'n';
	}
	r->day = number(s);
	r->time_s = 2 * 3600;
	if (**s == '/') {
		++*s;
		r->time_s = read_hours(s);
	}
	return r->kind != 'M' ||
	       (r->month >= 1 && r->month <= 12 && r->week >= 1 &&
		r->week <= 5 && r->day <= 6);
}

/* When it happens in a year, in seconds of the local clock before it. */
static int64_t rule_time(const struct rule *r, int year)
{
	int32_t first = date_from_ymd(year, r->kind == 'M' ? r->month : 1, 1);
	int weekday, y, m, d, day = r->day;

	if (r->kind == 'M') {
		weekday = (first % 7 + 11) % 7; /* 1970-01-01: a Thursday */
		day = (r->day - weekday + 7) % 7 + (r->week - 1) * 7;
		date_to_ymd(first + day, &y, &m, &d);
		if (m != r->month) /* the last one */
			day -= 7;
	} else if (r->kind == 'J') {
		day--;
		if (day >= 59 && date_from_ymd(year, 2, 29) != DATE_NONE)
			day++;
	}
	return ((int64_t)first + day) * DAY_S + r->time_s;
}

static bool by_rule(int *east, const char *s, int64_t at)
{
	struct rule begin, end;
	int std, dst, year, m, d;
	int64_t from, to;

	if (!skip_name(&s))
		return false;
	*east = std = -read_hours(&s);
	if (!skip_name(&s))
		return true;
	dst = std + 3600;
	if (*s && *s != ',')
		dst = -read_hours(&s);
	if (!read_rule(&begin, &s) || !read_rule(&end, &s))
		return true;
	date_to_ymd((int32_t)((at + std) / DAY_S), &year, &m, &d);
	from = rule_time(&begin, year) - std;
	to = rule_time(&end, year) - dst;
	if (from < to ? at >= from && at < to : at >= from || at < to)
		*east = dst;
	return true;
}

/* ---- the whole ---- */

static bool by_type(int *east, const struct block *b, unsigned type)
{
	if (type >= b->type_count)
		return false;
	*east = (int32_t)be32(b->types + (size_t)type * 6);
	return true;
}

static bool find(int *east, const struct block *b, int64_t at)
{
	uint32_t low = 0, high = b->time_count;

	while (low < high) { /* the first change behind at */
		uint32_t mid = low + (high - low) / 2;

		if (be64(b->times + (size_t)mid * 8) <= at)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == b->time_count && b->rule[0] && b->rule[0] != '\n' &&
	    by_rule(east, b->rule, at))
		return true;
	return by_type(east, b, low ? b->kinds[low - 1] : 0);
}

static bool is_name(const char *s)
{
	size_t n = strlen(s);

	return n && n < 64 && s[0] != '/' && !strstr(s, "..") &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			 "0123456789/_+-") == n;
}

bool zone_offset(int *east_s, const char *zone, int64_t ms)
{
	struct buf file = BUF_INIT(FILE_BYTES), path = BUF_INIT(0);
	struct block b;
	bool ok;

	if (!is_name(zone))
		return false;
	buf_adds(&path, FOLDER);
	buf_adds(&path, zone);
	ok = !buf_check(&path, NULL) &&
	     !file_read(&file, buf_str(&path), NULL) &&
	     read_block(&b, &file) &&
	     find(east_s, &b, ms / 1000 - (ms % 1000 < 0));
	buf_release(&path);
	buf_release(&file);
	return ok;
}

int32_t clock_zone_day(const char *zone, int64_t ms)
{
	int64_t s = ms / 1000 - (ms % 1000 < 0);
	int east;

	if (!zone || !zone[0] || !zone_offset(&east, zone, ms))
		return clock_local_day(ms);
	s += east;
	return (int32_t)(s / DAY_S - (s % DAY_S < 0));
}

void clock_zone_format(char *out, size_t size, const char *format,
		       const char *zone, int64_t ms)
{
	time_t s = (time_t)(ms / 1000 - (ms % 1000 < 0));
	struct tm tm;
	int east;
	bool ok;

	if (zone && zone[0] && zone_offset(&east, zone, ms)) {
		s += east;
		ok = gmtime_r(&s, &tm);
		tm.tm_gmtoff = east;
	} else {
		ok = localtime_r(&s, &tm);
	}
	if (!ok || !strftime(out, size, format, &tm))
		out[0] = '\0';
}
