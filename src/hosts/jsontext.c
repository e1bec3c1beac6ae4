/* A scanner for JSON and JSON5 that knows where each value stands. */
#define _GNU_SOURCE /* memmem */
#include "hosts/jsontext.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

enum kind { KIND_OBJECT, KIND_ARRAY, KIND_OTHER };

struct node {
	enum kind kind;
	size_t start, end; /* of the value */
	size_t key, key_end; /* of a member's key as written; equal: none */
	const char *name; /* of a member, unquoted */
	struct node *first, *next, *parent;
	int count;
};

struct jsontext {
	const char *s;
	size_t len, at;
	const char *file;
	struct arena *a;
	struct node *root;
	struct remem_err *err;
	int depth;
};

static int line_of(const struct jsontext *t, size_t at)
{
	int line = 1;

	for (size_t i = 0; i < at && i < t->len; i++)
		line += t->s[i] == '\n';
	return line;
}

static bool bad(struct jsontext *t, const char *what)
{
	fail(t->err, REMEM_EFORMAT, "'%s' line %d: %s", t->file,
	     line_of(t, t->at), what);
	fail_action(t->err, "mend the file, then try again");
	return false;
}

/* ---- scanning --------------------------------------------------------- */

static bool skip_comment(struct jsontext *t)
{
	const char *end;

	if (t->s[t->at + 1] == '/') {
		end = memchr(t->s + t->at, '\n', t->len - t->at);
		t->at = end ? (size_t)(end - t->s) : t->len;
		return true;
	}
	for (size_t i = t->at + 2; i + 1 < t->len; i++) {
		if (t->s[i] == '*' && t->s[i + 1] == '/') {
			t->at = i + 2;
			return true;
		}
	}
	return bad(t, "a comment has no end");
}

static bool skip_space(struct jsontext *t)
{
	while (t->at < t->len) {
		const char *s = t->s + t->at;

		if (*s == ' ' || *s == '\t' || *s == '\n' || *s == '\r')
			t->at++;
		else if (t->len - t->at >= 3 && !memcmp(s, "\xef\xbb\xbf", 3))
			t->at += 3;
		else if (*s == '/' && t->at + 1 < t->len &&
			 (s[1] == '/' || s[1] == '*')) {
			if (!skip_comment(t))
				return false;
		} else {
			break;
		}
	}
	return true;
}

static bool skip_string(struct jsontext *t)
{
	char quote = t->s[t->at];

	for (size_t i = t->at + 1; i < t->len; i++) {
		if (t->s[i] == '\\')
			i++;
		else if (t->s[i] == quote) {
			t->at = i + 1;
			return true;
		} else if (t->s[i] == '\n') {
			break;
		}
	}
	return bad(t, "a string has no end");
}

static bool is_word(unsigned char c)
{
	return c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || strchr("_$+-.", c);
}

static bool skip_word(struct jsontext *t)
{
	size_t from = t->at;

	while (t->at < t->len && t->s[t->at] &&
	       is_word((unsigned char)t->s[t->at]))
		t->at++;
	return t->at > from ? true : bad(t, "a value is missing");
}

static bool read_scalar(struct jsontext *t)
{
	if (t->at >= t->len)
		return bad(t, "the file ends too early");
	return t->s[t->at] == '"' || t->s[t->at] == '\'' ? skip_string(t) :
							   skip_word(t);
}

/* Escapes that need decoding do not occur in names we look for. */
static bool read_key(struct jsontext *t, struct node *n)
{
	bool quoted;

	n->key = t->at;
	if (!read_scalar(t))
		return false;
	n->key_end = t->at;
	quoted = t->s[n->key] == '"' || t->s[n->key] == '\'';
	n->name = arena_strndup(t->a, t->s + n->key + quoted,
				n->key_end - n->key - 2 * quoted);
	if (!skip_space(t))
		return false;
	if (t->at >= t->len || t->s[t->at] != ':')
		return bad(t, "a ':' is missing");
	t->at++;
	return n->name != NULL;
}

static bool read_value(struct jsontext *t, struct node *n);

static bool read_children(struct jsontext *t, struct node *n, char close)
{
	struct node **tail = &n->first;

	t->at++;
	for (;;) {
		struct node *c;

		if (!skip_space(t))
			return false;
		if (t->at < t->len && t->s[t->at] == close)
			break;
		c = ARENA_NEW(t->a, struct node);
		if (!c)
			return false;
		c->parent = n;
		if ((close == '}' && !read_key(t, c)) || !skip_space(t) ||
		    !read_value(t, c) || !skip_space(t))
			return false;
		*tail = c;
		tail = &c->next;
		n->count++;
		if (t->at < t->len && t->s[t->at] == ',')
			t->at++;
		else if (t->at >= t->len || t->s[t->at] != close)
			return bad(t, close == '}' ? "a ',' or '}' is missing" :
						     "a ',' or ']' is missing");
	}
	t->at++;
	return true;
}

static bool read_value(struct jsontext *t, struct node *n)
{
	char c = t->at < t->len ? t->s[t->at] : '\0';
	bool ok;

	n->start = t->at;
	n->kind = c == '{' ? KIND_OBJECT : c == '[' ? KIND_ARRAY : KIND_OTHER;
	if (n->kind == KIND_OTHER) {
		ok = read_scalar(t);
	} else if (++t->depth > JSONTEXT_MAX_DEPTH) {
		ok = bad(t, "it is nested too deeply");
	} else {
		ok = read_children(t, n, c == '{' ? '}' : ']');
		t->depth--;
	}
	n->end = t->at;
	return ok;
}

int jsontext_read(struct jsontext **out, struct arena *a, const char *text,
		  size_t len, const char *name, struct remem_err *err)
{
	struct jsontext *t = ARENA_NEW(a, struct jsontext);
	struct remem_err why = { 0 };
	bool ok;

	*out = NULL;
	if (len > JSONTEXT_MAX_BYTES)
		return fail(err, REMEM_ELIMIT, "'%s' has more than %u MB", name,
			    JSONTEXT_MAX_BYTES >> 20);
	if (!t)
		return fail_nomem(err);
	*t = (struct jsontext){ text, len, 0, name, a, NULL, &why, 0 };
	t->root = ARENA_NEW(a, struct node);
	ok = t->root && skip_space(t);
	if (ok && t->at == t->len) {
		t->root->kind = KIND_OBJECT;
		t->root->start = t->root->end = t->at;
	} else if (ok) {
		ok = read_value(t, t->root) && skip_space(t);
		if (ok && t->at != t->len)
			ok = bad(t, "something stands behind the end");
		if (ok && t->root->kind != KIND_OBJECT)
			ok = bad(t, "it is no object");
	}
	t->err = NULL;
	if (a->failed)
		return fail_nomem(err);
	if (!ok) {
		if (err)
			*err = why;
		return why.code ? why.code : REMEM_EFORMAT;
	}
	*out = t;
	return 0;
}

/* ---- looking ---------------------------------------------------------- */

static struct node *child(const struct node *n, const char *name)
{
	struct node *found = NULL;

	/* Of equal names readers take the last one. */
	for (struct node *c = n->first; c; c = c->next)
		if (c->name && !strcmp(c->name, name))
			found = c;
	return found;
}

static struct node *walk(const struct jsontext *t, const char *const *path)
{
	struct node *n = t->root;

	for (; n && *path; path++)
		n = n->kind == KIND_OBJECT ? child(n, *path) : NULL;
	return n;
}

bool jsontext_get(const struct jsontext *t, const char *const *path,
		  const char **value, size_t *len)
{
	const struct node *n = walk(t, path);

	if (!n)
		return false;
	*value = t->s + n->start;
	*len = n->end - n->start;
	return true;
}

bool jsontext_find(const struct jsontext *t, const char *const *path,
		   const char *part, const char **value, size_t *len)
{
	const struct node *n = walk(t, path);

	if (!n || n->kind != KIND_ARRAY)
		return false;
	for (const struct node *c = n->first; c; c = c->next) {
		if (!memmem(t->s + c->start, c->end - c->start, part,
			    strlen(part)))
			continue;
		*value = t->s + c->start;
		*len = c->end - c->start;
		return true;
	}
	return false;
}

int jsontext_count(const struct jsontext *t, const char *const *path)
{
	const struct node *n = walk(t, path);

	return n && n->kind != KIND_OTHER ? n->count : -1;
}

/* ---- plain JSON ------------------------------------------------------- */

/* A quoted string as JSON has it: double quotes, no escapes of its own. */
static void plain_string(struct buf *b, const char *s, size_t len)
{
	buf_addc(b, '"');
	for (size_t i = 0; i < len; i++) {
		char c = s[i];

		if (c == '\\' && i + 1 < len) {
			c = s[++i];
			if (c == '\n' || c == '\r')
				i += c == '\r' && i + 1 < len && s[i + 1] == '\n';
			else if (c == 'x' && i + 2 < len)
				buf_addf(b, "\\u00%.2s", s + i + 1), i += 2;
			else if (c == 'v' || c == '0')
				buf_adds(b, c == 'v' ? "\\u000b" : "\\u0000");
			else if (strchr("\"\\/bfnrtu", c))
				buf_addf(b, "\\%c", c);
			else
				buf_addc(b, c);
		} else if (c == '"') {
			buf_adds(b, "\\\"");
		} else {
			buf_addc(b, c);
		}
	}
	buf_addc(b, '"');
}

/* Numbers as JSON5 has them; what JSON cannot say is null. */
static void plain_word(struct buf *b, const char *s, size_t len)
{
	if (len && s[0] == '+') {
		s++;
		len--;
	}
	if (len > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		buf_addf(b, "%llu", strtoull(s, NULL, 16));
	} else if (len && (s[0] == '.' || (s[0] >= '0' && s[0] <= '9') ||
			   (s[0] == '-' && len > 1 && s[1] != 'I'))) {
		bool minus = s[0] == '-';

		if (minus)
			buf_addc(b, '-');
		if (s[minus] == '.')
			buf_addc(b, '0');
		buf_add(b, s + minus, len - minus);
		if (s[len - 1] == '.')
			buf_addc(b, '0');
	} else if ((len == 4 && !memcmp(s, "true", 4)) ||
		   (len == 5 && !memcmp(s, "false", 5))) {
		buf_add(b, s, len);
	} else {
		buf_adds(b, "null");
	}
}

static void plain(struct buf *b, const struct jsontext *t,
		  const struct node *n)
{
	const char *s = t->s + n->start;
	size_t len = n->end - n->start;

	if (n->kind == KIND_OTHER) {
		if (len && (s[0] == '"' || s[0] == '\''))
			plain_string(b, s + 1, len - 2);
		else
			plain_word(b, s, len);
		return;
	}
	buf_addc(b, n->kind == KIND_OBJECT ? '{' : '[');
	for (const struct node *c = n->first; c; c = c->next) {
		if (c != n->first)
			buf_addc(b, ',');
		if (c->name) {
			plain_string(b, c->name, strlen(c->name));
			buf_addc(b, ':');
		}
		plain(b, t, c);
	}
	buf_addc(b, n->kind == KIND_OBJECT ? '}' : ']');
}

void jsontext_plain(struct buf *out, const struct jsontext *t)
{
	plain(out, t, t->root);
}

/* ---- changing --------------------------------------------------------- */

/* The blanks in front of the line that at stands in. */
static const char *indent_at(const struct jsontext *t, size_t at)
{
	size_t line = at, n = 0;

	while (line && t->s[line - 1] != '\n')
		line--;
	while (line + n < t->len && (t->s[line + n] == ' ' ||
				     t->s[line + n] == '\t'))
		n++;
	return arena_strndup(t->a, t->s + line, n);
}

/* What the file indents by: as its first indented line does. */
static const char *unit_of(const struct jsontext *t)
{
	const char *s = memchr(t->s, '\n', t->len);
	size_t n = 0;

	while (s && s + 1 < t->s + t->len && (s[1 + n] == ' ' ||
					      s[1 + n] == '\t'))
		n++;
	return n && n <= 8 ? arena_strndup(t->a, s + 1, n) : "  ";
}

static const char *line_end(const struct jsontext *t)
{
	const char *s = memchr(t->s, '\n', t->len);

	return s && s > t->s && s[-1] == '\r' ? "\r\n" : "\n";
}

static bool is_one_line(const struct jsontext *t, const struct node *n)
{
	return n->first && !memchr(t->s + n->start, '\n', n->end - n->start);
}

static void put_key(struct buf *b, const char *key)
{
	if (key)
		buf_addf(b, "\"%s\": ", key);
}

/* Inside n, in front: names are the keys from here on (several: objects are
 * made), or none for an element of an array. */
static const char *insertion(const struct jsontext *t, const struct node *n,
			     const char *const *names, bool in_array,
			     const char *value)
{
	const char *unit = unit_of(t), *nl = line_end(t);
	const char *indent = indent_at(t, n->start);
	struct buf b = BUF_INIT(0);
	bool flat = is_one_line(t, n);
	const char *out;
	int depth = 0, n_names = 0;

	if (!indent || !unit)
		return NULL;
	while (names[n_names])
		n_names++;
	if (flat)
		buf_addc(&b, ' ');
	else
		buf_addf(&b, "%s%s%s", nl, indent, unit);
	for (int i = 0; i < n_names; i++) {
		put_key(&b, names[i]);
		if (i + 1 == n_names)
			break;
		depth++;
		buf_adds(&b, "{");
		if (flat)
			continue;
		buf_addf(&b, "%s%s", nl, indent);
		for (int d = 0; d <= depth; d++)
			buf_adds(&b, unit);
	}
	/* An array that is made, with its one element. */
	buf_addf(&b, in_array ? "[%s]" : "%s", value);
	for (; depth; depth--) {
		if (!flat) {
			buf_addf(&b, "%s%s", nl, indent);
			for (int d = 0; d < depth; d++)
				buf_adds(&b, unit);
		}
		buf_addc(&b, '}');
	}
	if (n->first)
		buf_addc(&b, ',');
	else
		buf_addf(&b, "%s%s", nl, indent);
	out = b.failed ? NULL : arena_strndup(t->a, buf_str(&b), b.len);
	buf_release(&b);
	return out;
}

static int no_container(const struct jsontext *t, const char *name,
			struct remem_err *err)
{
	fail(err, REMEM_EFORMAT, "'%s': %s is not what it should be", t->file,
	     name);
	fail_action(err, "mend the file, then try again");
	return REMEM_EFORMAT;
}

static int put(struct jsontext_edit *out, const struct jsontext *t,
	       struct arena *a, const char *const *path, bool in_array,
	       const char *value, struct remem_err *err)
{
	const struct node *n = t->root;

	memset(out, 0, sizeof(*out));
	while (*path && n->kind == KIND_OBJECT && child(n, *path))
		n = child(n, *path++);
	if (!*path && !in_array) {
		out->at = n->start;
		out->remove = n->end - n->start;
		out->insert = arena_strdup(a, value);
	} else if (n->kind == KIND_OTHER ||
		   (n->kind == KIND_ARRAY && (*path || !in_array)) ||
		   (n->kind == KIND_OBJECT && !*path)) {
		return no_container(t, n->name ? n->name : "the whole", err);
	} else {
		out->at = n->start + 1;
		out->insert = insertion(t, n, path, in_array && *path, value);
		/* There was nothing at all, or blanks and comments. */
		if (n == t->root && n->start == n->end) {
			out->at = t->len;
			out->insert = out->insert ?
				arena_printf(a, "{%s}%s", out->insert,
					     line_end(t)) : NULL;
		}
	}
	return a->failed || !out->insert ? fail_nomem(err) : 0;
}

int jsontext_set(struct jsontext_edit *out, const struct jsontext *t,
		 struct arena *a, const char *const *path, const char *value,
		 struct remem_err *err)
{
	return put(out, t, a, path, false, value, err);
}

int jsontext_add(struct jsontext_edit *out, const struct jsontext *t,
		 struct arena *a, const char *const *path, const char *value,
		 struct remem_err *err)
{
	return put(out, t, a, path, true, value, err);
}

static const struct node *at_offset(const struct node *n, size_t start)
{
	for (const struct node *c = n->first; c; c = c->next) {
		if (c->start == start)
			return c;
		if (c->start < start && start < c->end)
			return at_offset(c, start);
	}
	return NULL;
}

/* Behind a comma that follows at, with blanks between; at if there is none. */
static size_t behind_comma(const struct jsontext *t, size_t at)
{
	size_t i = at;

	while (i < t->len && strchr(" \t\r\n", t->s[i]))
		i++;
	return i < t->len && t->s[i] == ',' ? i + 1 : at;
}

void jsontext_take(struct jsontext_edit *out, const struct jsontext *t,
		   const char *value)
{
	const struct node *n = at_offset(t->root, (size_t)(value - t->s));
	size_t from, to;

	memset(out, 0, sizeof(*out));
	out->insert = "";
	if (!n)
		return;
	from = n->key_end > n->key ? n->key : n->start;
	to = behind_comma(t, n->end);
	while (from && strchr(" \t\r\n", t->s[from - 1]))
		from--;
	/* The last one takes the comma before it along. */
	if (to == n->end && from && t->s[from - 1] == ',')
		from--;
	if (n->parent->count == 1)
		while (to < t->len && strchr(" \t\r\n", t->s[to]))
			to++;
	out->at = from;
	out->remove = to - from;
}
