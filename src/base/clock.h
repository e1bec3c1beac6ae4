/*
 * Time, injectable. Dates are days since 1970-01-01 in the proleptic
 * Gregorian calendar; DATE_NONE where there is none.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DATE_NONE INT32_MIN

/* Wall clock in milliseconds since 1970 UTC; what clock_set() gave, if set. */
int64_t clock_now_ms(void);
/* Monotonic nanoseconds, never injected. */
int64_t clock_mono_ns(void);
/* Tests and --now: fixes clock_now_ms(); a negative value frees it again. */
void clock_set(int64_t now_ms);
/* Local calendar day of a wall-clock time (zone of the process). */
int32_t clock_local_day(int64_t ms);
/* Seconds east of Greenwich in a zone of the system's database at a time;
 * false when it is not there. */
bool zone_offset(int *east_s, const char *zone, int64_t ms);
/* The day in that zone; the zone of the process where zone is NULL, "" or not
 * known. This is the user's day: what is filed by day goes by it. */
int32_t clock_zone_day(const char *zone, int64_t ms);
/* strftime() of a time in that zone, with its %z; "" when it cannot be. */
void clock_zone_format(char *out, size_t size, const char *format,
		       const char *zone, int64_t ms);

/* Days since 1970 of y-m-d; DATE_NONE when there is no such day. */
int32_t date_from_ymd(int year, int month, int day);
void date_to_ymd(int32_t date, int *year, int *month, int *day);
/* Reads "YYYY-MM-DD" at s (exactly 10 bytes); false if it is no real day. */
bool date_parse(int32_t *out, const char *s, size_t len);
/* Writes "YYYY-MM-DD" and NUL; out has 16 bytes. "" for DATE_NONE. */
void date_format(char out[16], int32_t date);

#endif
