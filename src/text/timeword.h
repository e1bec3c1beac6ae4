/*
 * Time words in a question: "yesterday", "last 3 weeks", "in March", 上周三,
 * 三天前, 3月5日, 2026-03-01. English and Chinese, a few Japanese and Korean.
 */
#ifndef TEXT_TIMEWORD_H
#define TEXT_TIMEWORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct time_span {
	size_t start, end; /* bytes of the folded text */
	int32_t from, to; /* days, both inclusive */
	bool is_date; /* names a day or year: its words stay search terms */
};

/*
 * Finds what is said of time in text folded by term_fold(), counted from
 * today. Writes at most max spans, in order, and returns their number.
 */
int time_scan(struct time_span *out, int max, const char *s, size_t len,
	      int32_t today);

#endif
