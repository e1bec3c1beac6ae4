/*
 * Inside of time_scan(): numbers, units and names read from the folded text,
 * and the days that they mean. Weeks begin on Monday; a month without a year
 * is the latest one that has begun. Not for other modules.
 */
#ifndef TEXT_TIMEREAD_H
#define TEXT_TIMEREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* ---- days ---- */

struct range time_days(int32_t from, int32_t to);
struct range time_year(int year);
/* The Monday of the week that day is in. */
int32_t time_monday(int32_t day);
/* The unit that lies n before the current one (after it for n < 0). */
struct range time_unit_back(enum unit unit, int n, int32_t today);
/* "n units ago": a day exactly, a week with three days to either side. */
struct range time_ago(enum unit unit, int n, int32_t today);
/* "the last n units" */
struct range time_last(enum unit unit, int n, int32_t today);
/* A day, or a month for day 0; year 0 is the latest. False if there is none. */
bool time_named(struct range *r, int year, int month, int day, int32_t today);

/* ---- reading: each advances p only when it finds what it is for ---- */

bool time_is_letter(char c);
bool time_is_digit(char c);
/* Reads lit; a word of letters must end there. */
bool time_read(struct scan *p, const char *lit);
void time_read_blanks(struct scan *p);
/* Reads one of a list; its index from 1, 0 if none is there. */
int time_read_one(struct scan *p, const char *const *list, int count);
/* Up to four digits; 0 if there are none, or more. */
int time_read_digits(struct scan *p);
/* 一 to 九十九, 两, or digits. */
int time_read_han_number(struct scan *p);
/* one to twelve, a, a few, or digits. */
int time_read_english_number(struct scan *p);
enum unit time_read_english_unit(struct scan *p);
enum unit time_read_han_unit(struct scan *p);

#endif
