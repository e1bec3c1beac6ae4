/*
 * Inside of query_parse(): the text of a question made clean, what is quoted
 * in it, and where it speaks of time. Not for other modules.
 */
#ifndef TEXT_QUESTION_H
#define TEXT_QUESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "text/timeword.h"

#define QUESTION_QUOTES 16
#define QUESTION_TIMES 16

struct span {
	size_t start, end;
};

struct question {
	const char *text; /* valid UTF-8, trimmed, bounded, NUL-terminated */
	size_t len;
	struct span quotes[QUESTION_QUOTES]; /* what stands inside */
	int quote_count;
	struct time_span times[QUESTION_TIMES]; /* in bytes of text */
	int time_count;
};

/* Everything in the arena; look at its failed afterwards. */
void question_read(struct question *w, struct arena *a, const char *text,
		   size_t len, int32_t today);

/* True when [start, end) lies inside a quotation. */
bool question_quoted(const struct question *w, size_t start, size_t end);
/* What was said of time at [start, end), NULL if nothing. */
const struct time_span *question_time(const struct question *w, size_t start,
				      size_t end);

#endif
