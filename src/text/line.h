/* Blank characters: ASCII white space, NUL (of bytes not decoded), the ideographic space with which
 * Chinese paragraphs are indented, and the no-break space. */
#ifndef TEXT_LINE_H
#define TEXT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline bool byte_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0';
}

static inline bool byte_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool bytes_at(const char *t, size_t i, size_t end, const char *s,
			    size_t len)
{
	return end - i >= len && !memcmp(t + i, s, len);
}

/* Bytes of the blank character at i, 0 if there is another or none. */
static inline size_t blank_at(const char *t, size_t i, size_t end)
{
	if (i >= end)
		return 0;
	if (byte_blank(t[i]))
		return 1;
	if (t[i] == '\xe3' && bytes_at(t, i, end, "\xe3\x80\x80", 3))
		return 3;
	return t[i] == '\xc2' && bytes_at(t, i, end, "\xc2\xa0", 2) ? 2 : 0;
}

static inline size_t skip_blank(const char *t, size_t i, size_t end)
{
	size_t n;

	while ((n = blank_at(t, i, end)))
		i += n;
	return i;
}

/* End of the text in [start, end) without blanks behind it. */
static inline size_t trim_blank(const char *t, size_t start, size_t end)
{
	for (;;) {
		if (end > start && byte_blank(t[end - 1]))
			end--;
		else if (end - start >= 3 && blank_at(t, end - 3, end) == 3)
			end -= 3;
		else if (end - start >= 2 && blank_at(t, end - 2, end) == 2)
			end -= 2;
		else
			return end;
	}
}

/* Position of the line feed that ends the line at i, or end. */
static inline size_t line_end(const char *t, size_t i, size_t end)
{
	const char *p = i < end ? memchr(t + i, '\n', end - i) : NULL;

	return p ? (size_t)(p - t) : end;
}

/* Line feeds in [start, end). */
static inline int line_feeds(const char *t, size_t start, size_t end)
{
	int n = 0;

	for (; start < end; start++) {
		start = line_end(t, start, end);
		if (start == end)
			break;
		n++;
	}
	return n;
}

#endif
