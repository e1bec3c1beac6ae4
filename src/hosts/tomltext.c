/* Reads TOML line by line, far enough to tell tables from what is in them. */
#include "hosts/tomltext.h"

#include <string.h>

#include "base/buf.h"

#define DEPTH_MAX 64

struct toml {
	const char *s, *file;
	size_t len, at;
	int line;
	struct arena *a;
	const char *dotted;
	const char *table; /* that we are in, "" at the top */
	struct remem_err *err;
};

static int bad(struct toml *t, const char *what)
{
	fail(t->err, REMEM_EFORMAT, "'%s' line %d: %s", t->file, t->line,
	     what);
	fail_action(t->err, "mend the file, then try again");
	return REMEM_EFORMAT;
}

static char peek(const struct toml *t, size_t ahead)
{
	return t->at + ahead < t->len ? t->s[t->at + ahead] : '\0';
}

static void skip_blank(struct toml *t)
{
	while (peek(t, 0) == ' ' || peek(t, 0) == '\t')
		t->at++;
}

static void skip_line(struct toml *t)
{
	while (t->at < t->len && t->s[t->at] != '\n')
		t->at++;
}

static int skip_string(struct toml *t)
{
	char q = peek(t, 0);
	bool longer = peek(t, 1) == q && peek(t, 2) == q;

	t->at += longer ? 3 : 1;
	for (; t->at < t->len; t->at++) {
		char c = peek(t, 0);

		if (c == '\n' && !longer)
			break;
		t->line += c == '\n';
		if (c == '\\' && q == '"') {
			t->at++;
			t->line += peek(t, 0) == '\n';
		} else if (c == q && (!longer || (peek(t, 1) == q &&
						  peek(t, 2) == q))) {
			t->at += longer ? 3 : 1;
			/* One or two quotes may stand before the end. */
			while (longer && peek(t, 0) == q)
				t->at++;
			return 0;
		}
	}
	return bad(t, "a string has no end");
}

/* A dotted key as "a.b", without quotes and blanks. */
static const char *read_name(struct toml *t, char end)
{
	struct buf b = BUF_INIT(4096);
	char *out;

	for (;;) {
		char c;

		skip_blank(t);
		c = peek(t, 0);
		if (c == '"' || c == '\'') {
			size_t from = ++t->at;

			while (t->at < t->len && peek(t, 0) != c &&
			       peek(t, 0) != '\n')
				t->at++;
			if (peek(t, 0) != c)
				break;
			buf_add(&b, t->s + from, t->at++ - from);
		} else if (c == '.') {
			buf_addc(&b, c);
			t->at++;
		} else if (c && c != end && c != '\n' && c != '#' &&
			   c != '=') {
			buf_addc(&b, c);
			t->at++;
		} else {
			break;
		}
	}
	out = peek(t, 0) == end && b.len && !b.failed ?
	      arena_strndup(t->a, buf_str(&b), b.len) : NULL;
	buf_release(&b);
	return out;
}

/* To the end of a value, which may go over several lines in brackets. */
static int skip_value(struct toml *t)
{
	char open[DEPTH_MAX];
	int depth = 0, rc;

	for (;;) {
		char c = peek(t, 0);

		if (!c && t->at >= t->len)
			return depth ? bad(t, "a bracket has no end") : 0;
		if (c == '"' || c == '\'') {
			if ((rc = skip_string(t)))
				return rc;
			continue;
		}
		if (c == '\n' && !depth)
			return 0;
		if (c == '#') {
			skip_line(t);
			continue;
		}
		if (c == '[' || c == '{') {
			if (depth == DEPTH_MAX)
				return bad(t, "it is nested too deeply");
			open[depth++] = c == '[' ? ']' : '}';
		} else if (c == ']' || c == '}') {
			if (!depth || open[--depth] != c)
				return bad(t, "a bracket too many");
		}
		t->line += c == '\n';
		t->at++;
	}
}

static bool is_ours(const struct toml *t, const char *name)
{
	size_t n = strlen(t->dotted);

	return !strncmp(name, t->dotted, n) && (!name[n] || name[n] == '.');
}

static int read_table(struct toml *t, bool *ours)
{
	bool twice = peek(t, 1) == '[';

	t->at += twice ? 2 : 1;
	t->table = read_name(t, ']');
	if (!t->table)
		return bad(t, "a table's name has no end");
	t->at += twice ? 2 : 1;
	*ours = is_ours(t, t->table);
	skip_blank(t);
	if (t->at < t->len && !strchr("#\r\n", peek(t, 0)))
		return bad(t, "something stands behind a table's name");
	skip_line(t);
	return 0;
}

static int read_pair(struct toml *t)
{
	const char *key = read_name(t, '='), *full;

	if (!key)
		return bad(t, "neither a table nor a key");
	full = t->table[0] ? arena_printf(t->a, "%s.%s", t->table, key) : key;
	if (full && is_ours(t, full) && !is_ours(t, t->table))
		return bad(t, arena_printf(t->a, "%s is set by hand in "
					   "another form", t->dotted));
	t->at++;
	skip_blank(t);
	if (!peek(t, 0) || strchr("#\r\n", peek(t, 0)))
		return bad(t, "a value is missing");
	return skip_value(t);
}

int tomltext_find(bool *found, size_t *start, size_t *end, struct arena *a,
		  const char *text, size_t len, const char *dotted,
		  const char *name, struct remem_err *err)
{
	struct toml t = { text, name, len, 0, 1, a, dotted, "", err };
	bool ours = false;
	int rc = 0;

	*found = false;
	if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		t.at = 3;
	while (!rc && t.at < len) {
		size_t line = t.at;
		bool was = ours;

		skip_blank(&t);
		if (peek(&t, 0) == '#' || peek(&t, 0) == '\r')
			skip_line(&t);
		else if (peek(&t, 0) == '[')
			rc = read_table(&t, &ours);
		else if (peek(&t, 0) != '\n')
			rc = read_pair(&t);
		if (ours && !was && !*found) {
			*found = true;
			*start = line;
		}
		if (!ours && was)
			*end = line;
		if (peek(&t, 0) == '\n') {
			t.at++;
			t.line++;
		} else if (!rc && t.at < len) {
			rc = bad(&t, "a byte that is no text");
		}
	}
	if (ours)
		*end = len;
	return a->failed ? fail_nomem(err) : rc;
}

const char *tomltext_string(struct arena *a, const char *s)
{
	struct buf b = BUF_INIT(0);
	const char *out;

	buf_addc(&b, '"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			buf_addf(&b, "\\%c", *s);
		else if ((unsigned char)*s < ' ' || *s == 0x7f)
			buf_addf(&b, "\\u%04x", (unsigned char)*s);
		else
			buf_addc(&b, *s);
	}
	buf_addc(&b, '"');
	out = b.failed ? NULL : arena_strndup(a, buf_str(&b), b.len);
	buf_release(&b);
	return out;
}
