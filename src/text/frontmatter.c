/* Front matter: where it ends, and what is taken from it. */
#include "text/frontmatter.h"

#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/yaml.h"
#include "text/line.h"

#define MAX_VALUES 256 /* tags or aliases of one note */

/* A line of exactly three marks and blanks behind them. */
static bool is_fence(const char *t, size_t start, size_t end, const char *mark)
{
	return bytes_at(t, start, end, mark, 3) &&
	       skip_blank(t, start + 3, end) == end;
}

/* Finds the closing line: *close where it begins, *after what follows it. */
static bool find_close(const struct note *n, size_t from, size_t *close,
		       size_t *after)
{
	size_t end = n->len;

	if (end > FRONTMATTER_MAX_BYTES)
		end = FRONTMATTER_MAX_BYTES;
	while (from < end) {
		size_t e = line_end(n->text, from, n->len);

		if (is_fence(n->text, from, e, "---") ||
		    is_fence(n->text, from, e, "...")) {
			*close = from;
			*after = e < n->len ? e + 1 : e;
			return true;
		}
		from = e + 1;
	}
	return false;
}

static bool read_number(const char *s, size_t len, size_t *i, size_t max,
			int *out)
{
	size_t from = *i;

	*out = 0;
	while (*i < len && *i - from < max && byte_digit(s[*i]))
		*out = *out * 10 + (s[(*i)++] - '0');
	return *i > from;
}

/* Passes one of - / . or the Chinese sign that may stand there. */
static bool read_sign(const char *s, size_t len, size_t *i, const char *zh)
{
	if (*i < len && strchr("-/.", s[*i]) && s[*i]) {
		(*i)++;
		return true;
	}
	if (bytes_at(s, *i, len, zh, 3)) {
		*i += 3;
		return true;
	}
	return false;
}

int32_t frontmatter_date(const char *s, size_t len)
{
	size_t i = skip_blank(s, 0, len);
	int y, m, d;

	if (!read_number(s, len, &i, 4, &y) || !read_sign(s, len, &i, "年") ||
	    !read_number(s, len, &i, 2, &m) || !read_sign(s, len, &i, "月") ||
	    !read_number(s, len, &i, 2, &d))
		return DATE_NONE;
	if (y < 1000 || (i < len && byte_digit(s[i])))
		return DATE_NONE;
	return date_from_ymd(y, m, d);
}

struct values {
	struct arena *a;
	const char **list;
	size_t count, cap;
};

static void add_value(struct values *v, const char *s, size_t len)
{
	size_t from = skip_blank(s, 0, len), end = trim_blank(s, from, len);

	while (from < end && s[from] == '#')
		from++;
	if (from == end || v->count == MAX_VALUES)
		return;
	for (size_t i = 0; i < v->count; i++) {
		if (strlen(v->list[i]) == end - from &&
		    !memcmp(v->list[i], s + from, end - from))
			return;
	}
	v->list = arena_grow(v->a, v->list, &v->cap, v->count + 1,
			     sizeof(*v->list));
	if (v->list)
		v->list[v->count] = arena_strndup(v->a, s + from, end - from);
	if (!v->a->failed)
		v->count++;
}

/* Bytes of a comma at i: , ， 、 */
static size_t comma_at(const char *s, size_t i, size_t len)
{
	if (s[i] == ',')
		return 1;
	return bytes_at(s, i, len, "，", 3) || bytes_at(s, i, len, "、", 3) ? 3
									    : 0;
}

static void split_values(struct values *v, const char *s, size_t len,
			 bool blanks)
{
	size_t from = 0;
	bool commas = false;

	for (size_t i = 0; i < len && !commas; i++)
		commas = comma_at(s, i, len) > 0;
	for (size_t i = 0; i < len;) {
		size_t n = commas   ? comma_at(s, i, len)
			   : blanks ? blank_at(s, i, len)
				    : 0;

		if (n) {
			add_value(v, s + from, i - from);
			from = i + n;
		}
		i += n ? n : 1;
	}
	add_value(v, s + from, len - from);
}

static bool is_null(const struct yaml *y)
{
	return !y->quoted &&
	       (!y->len || !strcmp(y->str, "~") || !strcasecmp(y->str, "null"));
}

static void read_values(const char *const **list, int *count, struct arena *a,
			const struct yaml *y, bool blanks)
{
	struct values v = { a, NULL, 0, 0 };

	if (y->kind == YAML_SCALAR && !is_null(y))
		split_values(&v, y->str, y->len, blanks);
	if (y->kind == YAML_SEQ) {
		for (const struct yaml *c = y->child; c; c = c->next) {
			if (c->kind == YAML_SCALAR && !is_null(c))
				add_value(&v, c->str, c->len);
		}
	}
	if (v.count) {
		*list = v.list;
		*count = (int)v.count;
	}
}

static void take_entry(struct note *n, struct arena *a, const struct yaml *y)
{
	const char *k = y->key;
	bool scalar = y->kind == YAML_SCALAR && !is_null(y);
	int32_t date = scalar ? frontmatter_date(y->str, y->len) : DATE_NONE;

	if (!k)
		return;
	if (!strcasecmp(k, "title") && scalar)
		n->title = y->str;
	else if (!strcasecmp(k, "tags") || !strcasecmp(k, "tag"))
		read_values(&n->tags, &n->tag_count, a, y, true);
	else if (!strcasecmp(k, "aliases") || !strcasecmp(k, "alias"))
		read_values(&n->aliases, &n->alias_count, a, y, false);
	else if (!strcasecmp(k, "date") && date != DATE_NONE)
		n->date = date;
	else if (!strcasecmp(k, "created") && n->date == DATE_NONE)
		n->date = date;
}

int frontmatter_read(struct note *n, struct arena *a, size_t *end,
		     struct remem_err *err)
{
	size_t from = line_end(n->text, 0, n->len), close, after;
	struct yaml *y = NULL;
	int rc;

	*end = 0;
	if (!is_fence(n->text, 0, from, "---") || from == n->len ||
	    !find_close(n, from + 1, &close, &after))
		return 0;
	from++;
	if (skip_blank(n->text, from, close) == close) {
		/* Two rules with nothing between: empty front matter. */
		n->body = *end = after;
		return 0;
	}
	rc = yaml_read(&y, a, n->text + from, close - from, "front matter",
		       NULL);
	if (a->failed || rc == REMEM_ENOMEM)
		return fail_nomem(err);
	if (rc || !y || y->kind != YAML_MAP) {
		/* One scalar is prose between two rules. */
		if (rc || (y && y->kind == YAML_SEQ))
			n->warnings |= NOTE_BAD_FRONT_MATTER;
		*end = after;
		return 0;
	}
	n->body = *end = after;
	for (; y->child; y->child = y->child->next)
		take_entry(n, a, y->child);
	return a->failed ? fail_nomem(err) : 0;
}
