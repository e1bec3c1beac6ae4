/*
 * What a name in a question is. An identifier is taken at its word: notes
 * that hold it pass the threshold, and it is reported when none does. So
 * follow-up, and/or, GitHub or 9am must be none.
 */
#include "text/query_unit.h"

#include <string.h>

struct look {
	const char *s;
	size_t len;
	size_t digits, letters, lower_first; /* small letters at the front */
	size_t slashes, dots, dashes, colons, others; /* others: _ # @ + */
	size_t quotes;
};

static bool is_digit(char c)
{
	return (unsigned char)(c - '0') < 10;
}

static void look_at(struct look *l, const char *s, size_t len)
{
	bool front = true;

	memset(l, 0, sizeof(*l));
	l->s = s;
	l->len = len;
	for (size_t i = 0; i < len; i++) {
		bool lower = (unsigned char)(s[i] - 'a') < 26;

		front = front && lower;
		l->lower_first += front;
		if (is_digit(s[i]))
			l->digits++;
		else if (s[i] == '/')
			l->slashes++;
		else if (s[i] == '.')
			l->dots++;
		else if (s[i] == '-')
			l->dashes++;
		else if (s[i] == ':')
			l->colons++;
		else if (strchr("_#@+", s[i]) && s[i])
			l->others++;
		else if (s[i] == '\'')
			l->quotes++;
		else
			l->letters++;
	}
}

/* 10:30, 9:05:00 */
static bool is_time_of_day(const struct look *l)
{
	return l->colons >= 1 && l->colons <= 2 && l->digits <= 6 &&
	       l->colons + l->digits == l->len && l->len >= 4 &&
	       l->s[l->len - 3] == ':';
}

/* 9am, 2nd, 500ms, 10-20, 3/4 */
static bool is_measure(const struct look *l)
{
	size_t i = 0;

	if (l->others || l->dots || l->colons)
		return false;
	while (i < l->len && is_digit(l->s[i]))
		i++;
	if (i > 0 && i == l->digits && l->letters <= 2 &&
	    i + l->letters == l->len)
		return true;
	return !l->letters && l->slashes + l->dashes == 1 && l->len <= 7;
}

/* phase-2, top-10: also written with a blank; but DEC-0054, gpt-4o */
static bool is_numbered(const struct look *l)
{
	return l->dashes == 1 && l->digits && l->digits <= 2 &&
	       l->lower_first == l->letters &&
	       l->letters + 1 + l->digits == l->len && l->letters >= 2 &&
	       is_digit(l->s[l->len - 1]) && l->s[l->letters] == '-';
}

/* A dot between two pieces of two characters and more: README.md, no e.g */
static bool has_name_dot(const struct look *l)
{
	for (size_t i = 2; i + 2 < l->len; i++)
		if (l->s[i] == '.' && l->s[i - 1] != '.' &&
		    l->s[i - 2] != '.' && l->s[i + 2] != '.')
			return true;
	return false;
}

static bool has(const char *s, size_t len, const char *what)
{
	size_t n = strlen(what);

	for (size_t i = 0; i + n <= len; i++)
		if (!memcmp(s + i, what, n))
			return true;
	return false;
}

enum name_kind name_kind_of(const struct query_build *b, const struct term *t)
{
	const char *text = b->question.text;
	const struct time_span *when;
	struct look l;

	look_at(&l, text + t->start, t->end - t->start);
	when = question_time(&b->question, t->start, t->end);
	if ((when && when->start <= t->start && when->end >= t->end) ||
	    is_time_of_day(&l))
		return NAME_DATE;
	if (is_numbered(&l))
		return NAME_JOINED;
	if (l.digits)
		return is_measure(&l) ? NAME_MEASURE : NAME_IDENTIFIER;
	if (l.others || l.slashes >= 2 || has_name_dot(&l) ||
	    has(l.s, l.len, "::"))
		return NAME_IDENTIFIER;
	if (t->start >= 2 && !memcmp(text + t->start - 2, "--", 2) && l.dashes)
		return NAME_IDENTIFIER;
	if (l.slashes && t->start >= 1 && text[t->start - 1] == '/')
		return NAME_IDENTIFIER;
	if (l.slashes || l.dots || l.dashes || l.colons)
		return NAME_JOINED;
	/* getUserName; but not iPhone, OpenClaw */
	return l.lower_first >= 2 && !l.quotes && l.lower_first < l.len
		       ? NAME_IDENTIFIER
		       : NAME_LETTERS;
}
