/*
 * Windows: the lines around a passage that are shown as an answer, and the
 * citation that goes with them.
 */
#ifndef TEXT_WINDOW_H
#define TEXT_WINDOW_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

struct window {
	size_t start, end; /* bytes of the text given */
	int line_first, line_last;
};

/*
 * Chooses at most max_chars characters of whole lines around
 * [start, end) of text, growing evenly up and down, without leaving
 * [low, high) (the section, less what better answers show). When the passage
 * alone is longer, it is cut between characters, best part first. first_line
 * is the line number of text[0]. Blank lines at the ends are left out.
 */
void window_around(struct window *w, const char *text, size_t len,
		   int first_line, size_t start, size_t end, size_t low,
		   size_t high, size_t max_chars);

/* "path#L15" or "path#L15-L30", in the arena. */
const char *citation_format(struct arena *a, const char *path, int first,
			    int last);
/*
 * Understands "path", "path:from", "path:from:count", "path#L15",
 * "path#L15-L30" (also "#L15-30"). *first 0 when no line was named, *last 0
 * when no end was. The path is borrowed from the arena.
 */
void citation_parse(struct arena *a, const char *address, const char **path,
		    int *first, int *last);

#endif
