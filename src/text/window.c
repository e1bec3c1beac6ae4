/*
 * Windows and citations. Work is bounded by max_chars, except for counting
 * the lines before the window.
 */
#include "text/window.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "text/line.h"

/* ---- windows ----------------------------------------------------------- */

/* Characters in [from, to), counted up to max + 1 of them. */
static size_t chars(const char *t, size_t from, size_t to, size_t max)
{
	if (to - from > 4 * max + 4)
		to = from + 4 * max + 4;
	return utf8_count(t + from, to - from);
}

/* Begin of the line that at stands in; not below low. */
static size_t line_begin(const char *t, size_t at, size_t low)
{
	while (at > low && t[at - 1] != '\n')
		at--;
	return at;
}

/* As above, but gives up after so many bytes: *whole tells. */
static size_t near_begin(const char *t, size_t at, size_t low, size_t reach,
			 bool *whole)
{
	size_t stop = at - low > reach ? at - reach : low;
	size_t from = line_begin(t, at, stop);

	*whole = from == low || t[from - 1] == '\n';
	return from;
}

/* Steps back to the begin of a character. */
static size_t char_begin(const char *t, size_t at, size_t low)
{
	while (at > low && (t[at] & '\xc0') == '\x80')
		at--;
	return at;
}

/* Position of the nearest blank or CJK mark in (from, to] from behind, or
 * to; words are not cut where that costs little. */
static size_t word_end(const char *t, size_t from, size_t to, size_t end)
{
	size_t stop = to - from > 24 ? to - 24 : from;

	if (to >= end || byte_blank(t[to]) || t[to] < 0)
		return to;
	for (size_t i = to; i > stop; i--) {
		if (byte_blank(t[i - 1]) || t[i - 1] < 0)
			return i;
	}
	return to;
}

static size_t word_start(const char *t, size_t from, size_t to, size_t low)
{
	size_t stop = to - from > 24 ? from + 24 : to;

	if (from <= low || byte_blank(t[from - 1]) || t[from - 1] < 0)
		return from;
	for (size_t i = from; i < stop; i++) {
		if (byte_blank(t[i]) || t[i] < 0)
			return i;
	}
	return from;
}

/* Goes back count characters from at, not below low. */
static size_t chars_back(const char *t, size_t at, size_t low, size_t count)
{
	while (count-- && at > low)
		at = char_begin(t, at - 1, low);
	return at;
}

/*
 * The line is too long: text around [w->start, w->end) inside [low, high) up
 * to room characters, evenly, what one side cannot use going to the other.
 */
static void grow_inside(struct window *w, const char *t, size_t low,
			size_t high, size_t room)
{
	size_t up = chars(t, low > w->start ? w->start : low, w->start, room);
	size_t down = chars(t, w->end, high, room);
	size_t half = room / 2, start;

	/* From below, so that a long way back is not counted from its far
	 * end: [low, start) is near by the caller's bound. */
	up = up < half ? up : down < half ? room - down : half;
	start = chars_back(t, w->start, low, up);
	down = room - chars(t, start, w->start, room);
	w->end += utf8_offset(t + w->end, high - w->end, down);
	w->start = start;
	w->start = word_start(t, w->start, w->end, low);
	w->end = word_end(t, w->start, w->end, high);
}

struct side {
	size_t chars; /* taken so far on this side */
	bool open;
};

/* Takes the line above if it fits. */
static bool take_above(struct window *w, const char *t, size_t low,
		       size_t *room, struct side *s)
{
	bool whole;
	size_t from, n;

	if (w->start <= low)
		return false;
	from = near_begin(t, w->start - 1, low, 4 * *room + 4, &whole);
	n = chars(t, from, w->start, *room);
	if (!whole || n > *room)
		return false;
	w->start = from;
	*room -= n;
	s->chars += n;
	return true;
}

/* Takes the line below, and the line feed before it, if it fits. */
static bool take_below(struct window *w, const char *t, size_t high,
		       size_t *room, struct side *s)
{
	size_t from = w->end, to, reach = 4 * *room + 4, n;

	if (from >= high || t[from] != '\n')
		return false;
	to = high - from > reach ? from + reach : high;
	to = line_end(t, from + 1, to);
	if (to < high && t[to] != '\n')
		return false;
	n = chars(t, from, to, *room);
	if (n > *room)
		return false;
	w->end = to;
	*room -= n;
	s->chars += n;
	return true;
}

static void grow_lines(struct window *w, const char *t, size_t low, size_t high,
		       size_t room)
{
	struct side up = { 0, true }, down = { 0, true };

	while (up.open || down.open) {
		if (up.open && (!down.open || up.chars <= down.chars))
			up.open = take_above(w, t, low, &room, &up);
		else
			down.open = take_below(w, t, high, &room, &down);
	}
}

/* Leaves out blank lines at both ends, and blanks behind the last word. */
static void trim_window(struct window *w, const char *t)
{
	size_t from = skip_blank(t, w->start, w->end);

	w->end = trim_blank(t, from, w->end);
	w->start = line_begin(t, from, w->start);
}

static void set_lines(struct window *w, const char *t, int first_line)
{
	w->line_first = first_line + line_feeds(t, 0, w->start);
	w->line_last = w->line_first + line_feeds(t, w->start, w->end);
}

void window_around(struct window *w, const char *text, size_t len,
		   int first_line, size_t start, size_t end, size_t low,
		   size_t high, size_t max_chars)
{
	size_t from, to, n, reach;
	bool whole;

	high = high < len ? high : len;
	low = low < high ? low : high;
	start = start < low ? low : start > high ? high : start;
	end = end < start ? start : end > high ? high : end;
	if (max_chars > SIZE_MAX / 8)
		max_chars = SIZE_MAX / 8;
	*w = (struct window){ .start = start, .end = end };
	n = chars(text, start, end, max_chars);
	if (n > max_chars) {
		w->end = start +
			 utf8_offset(text + start, end - start, max_chars);
		w->end = word_end(text, start, w->end, end);
		w->end = trim_blank(text, start, w->end);
		set_lines(w, text, first_line);
		return;
	}
	reach = 4 * max_chars + 4;
	from = near_begin(text, start, low, reach, &whole);
	to = high - end > reach ? end + reach : high;
	to = line_end(text, end, to);
	if (to < high && text[to] != '\n')
		whole = false;
	if (whole && chars(text, from, to, max_chars) <= max_chars) {
		w->start = from;
		w->end = to;
		grow_lines(w, text, low, high,
			   max_chars - chars(text, from, to, max_chars));
	} else {
		grow_inside(w, text, char_begin(text, from, low),
			    char_begin(text, to, end), max_chars - n);
	}
	trim_window(w, text);
	set_lines(w, text, first_line);
}

/* ---- citations --------------------------------------------------------- */

const char *citation_format(struct arena *a, const char *path, int first,
			    int last)
{
	if (first <= 0)
		return arena_strdup(a, path);
	if (last <= first)
		return arena_printf(a, "%s#L%d", path, first);
	return arena_printf(a, "%s#L%d-L%d", path, first, last);
}

/* Number that ends at *end (from s on), which moves before it; 0 if none. */
static int number_before(const char *s, size_t *end)
{
	size_t i = *end;
	long n = 0;

	while (i && byte_digit(s[i - 1]))
		i--;
	if (i == *end || *end - i > 9)
		return 0;
	for (size_t k = i; k < *end; k++)
		n = n * 10 + (s[k] - '0');
	if (n)
		*end = i;
	return (int)n;
}

/* "#L15", "#L15-L30", "#L15-30" at the end of s[0..*len). */
static bool parse_anchor(const char *s, size_t *len, int *first, int *last)
{
	size_t end = *len;
	int a = number_before(s, &end), b = 0;

	if (!a || !end)
		return false;
	if (s[end - 1] == '-' ||
	    (end >= 2 && s[end - 1] == 'L' && s[end - 2] == '-')) {
		end -= s[end - 1] == '-' ? 1 : 2;
		b = a;
		a = number_before(s, &end);
	}
	if (!a || end < 3 || s[end - 1] != 'L' || s[end - 2] != '#')
		return false;
	*len = end - 2;
	*first = b && b < a ? b : a;
	*last = b && b < a ? a : b;
	return true;
}

/* ":from" or ":from:count" at the end of s[0..*len). */
static bool parse_colons(const char *s, size_t *len, int *first, int *last)
{
	size_t end = *len, end2;
	int n = number_before(s, &end), from;

	if (!n || end < 2 || s[end - 1] != ':')
		return false;
	end2 = --end;
	from = number_before(s, &end2);
	if (from && end2 >= 2 && s[end2 - 1] == ':') {
		*len = end2 - 1;
		*first = from;
		*last = n > INT_MAX - from ? INT_MAX : from + n - 1;
		return true;
	}
	*len = end;
	*first = n;
	return true;
}

void citation_parse(struct arena *a, const char *address, const char **path,
		    int *first, int *last)
{
	size_t len = strlen(address);

	*first = *last = 0;
	if (!parse_anchor(address, &len, first, last))
		parse_colons(address, &len, first, last);
	*path = arena_strndup(a, address, len);
}
