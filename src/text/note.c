/* Notes: decoding, front matter, blocks, chunks, in that order. */
#include "text/note.h"

#include <string.h>

#include "base/clock.h"
#include "text/chunk.h"
#include "text/decode.h"
#include "text/frontmatter.h"
#include "text/line.h"
#include "text/markdown.h"
#include "text/passage.h"

/* The first heading is the title of a note that names none. */
static void set_title(struct note *n, struct arena *a)
{
	for (int i = 0; i < n->heading_count && !n->title; i++) {
		const struct heading *h = &n->headings[i];

		if (h->len)
			n->title = arena_strndup(a, h->text, h->len);
	}
}

int note_parse(struct note *n, struct arena *a, const char *bytes, size_t len,
	       const struct note_opts *opts, struct remem_err *err)
{
	struct decoded d;
	struct passages p;
	size_t plain;
	int rc;

	*n = (struct note){ .text = "", .date = DATE_NONE };
	if ((rc = chunk_check(opts, err)) ||
	    (rc = decode_text(&d, a, bytes, len, err)))
		return rc;
	n->text = d.text;
	n->len = d.len;
	n->line_count = d.lines;
	n->warnings = d.warnings;
	if ((rc = frontmatter_read(n, a, &plain, err)))
		return rc;
	passages_init(&p, n, a, opts);
	if (a->failed)
		return fail_nomem(err);
	markdown_read(&p, plain);
	passages_done(&p);
	if (!a->failed)
		chunk_make(&p, opts);
	if (!a->failed)
		set_title(n, a);
	return a->failed ? fail_nomem(err) : 0;
}

/* Reads count digits at s; -1 if there are others, or more follow. */
static int digits(const char *s, size_t len, size_t count)
{
	int n = 0;

	if (len < count || (len > count && s[count] >= '0' && s[count] <= '9'))
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (s[i] < '0' || s[i] > '9')
			return -1;
		n = n * 10 + (s[i] - '0');
	}
	return n;
}

struct part {
	const char *s;
	size_t len;
};

/* The component of a path before s; false when there is none. */
static bool part_before(struct part *out, const char *path, const char *s)
{
	const char *end = s, *from;

	while (end > path && end[-1] == '/')
		end--;
	for (from = end; from > path && from[-1] != '/'; from--)
		;
	*out = (struct part){ from, (size_t)(end - from) };
	return end > path;
}

/* YYYY/MM/DD with day as the last of the three. */
static int32_t split_date(const char *path, const struct part *day)
{
	struct part month, year;
	int y, m, d = digits(day->s, day->len, 2);

	if (d < 0 || !part_before(&month, path, day->s) || month.len != 2 ||
	    !part_before(&year, path, month.s) || year.len != 4)
		return DATE_NONE;
	m = digits(month.s, 2, 2);
	y = digits(year.s, 4, 4);
	return m < 0 || y < 0 ? DATE_NONE : date_from_ymd(y, m, d);
}

int32_t note_path_date(const char *path)
{
	const char *s = path + strlen(path);
	struct part part;
	int32_t date;

	while (part_before(&part, path, s)) {
		s = part.s;
		if (part.len >= 10 && date_parse(&date, s, 10) &&
		    !(part.len > 10 && s[10] >= '0' && s[10] <= '9'))
			return date;
		date = split_date(path, &part);
		if (date != DATE_NONE)
			return date;
	}
	return DATE_NONE;
}

const char *note_lines(const struct note *n, size_t start, size_t end,
		       size_t *len)
{
	while (start > n->body && n->text[start - 1] != '\n')
		start--;
	*len = line_end(n->text, end, n->len) - start;
	return n->text + start;
}
