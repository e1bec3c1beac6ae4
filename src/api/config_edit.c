/*
 * Edit by trial: places where the entry may stand are tried one after the
 * other, and the first edit after which the file reads as wanted is taken. So
 * no second YAML parser is needed, and a wrong guess can damage nothing.
 */
#include "api/config_edit.h"

#include <string.h>

#include "base/yaml.h"

#define PARTS_MAX 16
#define LOOK_BACK 4 /* a value may begin some lines below its key */

struct edit {
	struct arena *a;
	const char *text;
	size_t len;
	struct yaml *root; /* NULL: empty */
	char *parts[PARTS_MAX]; /* of the path */
	int count;
	int found; /* parts that exist */
	struct yaml *node; /* at parts[found - 1], root for 0 */
	const char *value; /* NULL: remove */
	struct yaml *want; /* value as a tree */
	struct buf *out;
};

static bool is_null(const struct yaml *y)
{
	return !y || (y->kind == YAML_SCALAR && !y->quoted &&
		      (!y->len || !strcmp(y->str, "~") ||
		       !strcmp(y->str, "null")));
}

static bool same(const struct yaml *x, const struct yaml *y);

static bool same_items(const struct yaml *x, const struct yaml *y)
{
	for (x = x->child, y = y->child; x && y; x = x->next, y = y->next)
		if (!same(x, y))
			return false;
	return !x && !y;
}

static int entries(const struct yaml *m)
{
	int n = 0;

	for (const struct yaml *c = m->child; c; c = c->next)
		n++;
	return n;
}

static bool same(const struct yaml *x, const struct yaml *y)
{
	if (is_null(x) || is_null(y))
		return is_null(x) && is_null(y);
	if (x->kind != y->kind)
		return false;
	if (x->kind == YAML_SCALAR)
		return x->len == y->len && !memcmp(x->str, y->str, x->len);
	if (x->kind == YAML_SEQ)
		return same_items(x, y);
	for (const struct yaml *c = x->child; c; c = c->next) {
		struct yaml *other = yaml_get((struct yaml *)y, c->key);

		if (!other || !same(c, other))
			return false;
	}
	return entries(x) == entries(y);
}

/* Whether y is x but for the entry at parts[at..]. */
static bool same_but(const struct edit *e, struct yaml *x, struct yaml *y,
		     int at)
{
	const char *key = e->parts[at];
	struct yaml *old = is_null(x) ? NULL : yaml_get(x, key);
	struct yaml *now = is_null(y) ? NULL : yaml_get(y, key);
	int rest = 0;

	if ((!is_null(x) && x->kind != YAML_MAP) ||
	    (!is_null(y) && y->kind != YAML_MAP))
		return false;
	for (const struct yaml *c = is_null(x) ? NULL : x->child; c;
	     c = c->next) {
		if (!strcmp(c->key, key))
			continue;
		if (!yaml_get(y, c->key) || !same(c, yaml_get(y, c->key)))
			return false;
		rest++;
	}
	if (!is_null(y) && entries(y) != rest + (now != NULL))
		return false;
	if (at + 1 == e->count)
		return e->value ? now && same(now, e->want) : !now;
	if (!now)
		return !e->value && !old;
	return same_but(e, old, now, at + 1);
}

/* Puts the text together with [from, to) replaced; true if it reads well. */
static bool try_edit(struct edit *e, size_t from, size_t to, const char *with)
{
	struct arena a = ARENA_INIT;
	struct yaml *now;
	bool good;

	buf_reset(e->out);
	buf_add(e->out, e->text, from);
	buf_adds(e->out, with);
	buf_add(e->out, e->text + to, e->len - to);
	good = !e->out->failed &&
	       !yaml_read(&now, &a, buf_str(e->out), e->out->len, "", NULL) &&
	       same_but(e, e->root, now, 0);
	arena_release(&a);
	return good;
}

static size_t line_start(const struct edit *e, int line)
{
	const char *p = e->text, *end = e->text + e->len;

	for (; line > 1 && p < end; line--) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		p = nl ? nl + 1 : end;
	}
	return (size_t)(p - e->text);
}

static size_t line_stop(const struct edit *e, size_t at)
{
	const char *nl = memchr(e->text + at, '\n', e->len - at);

	return nl ? (size_t)(nl - e->text) : e->len;
}

static size_t indent_of(const struct edit *e, size_t at)
{
	size_t i = at;

	while (i < e->len && e->text[i] == ' ')
		i++;
	return i - at;
}

static bool is_blank_line(const struct edit *e, size_t at)
{
	size_t i = at + indent_of(e, at);

	return i >= e->len || strchr("\r\n#", e->text[i]);
}

/* Start of the line behind everything that belongs to the entry at line at. */
static size_t entry_stop(const struct edit *e, size_t at)
{
	size_t indent = indent_of(e, at), stop = line_stop(e, at) + 1;
	size_t next = stop;

	while (next < e->len) {
		size_t deep = indent_of(e, next);
		bool item = e->text[next + deep] == '-' && deep == indent;

		if (is_blank_line(e, next)) {
			next = line_stop(e, next) + 1;
			continue;
		}
		if (deep <= indent && !item)
			break;
		next = stop = line_stop(e, next) + 1;
	}
	return stop < e->len ? stop : e->len;
}

/* End of a value that begins at i: a comma or bracket within flow style, or
 * the comment or end of the line. */
static size_t value_stop(const struct edit *e, size_t i, bool flow)
{
	size_t end = line_stop(e, i), last = i;
	char quote = 0;
	int depth = 0;

	for (; i < end; i++) {
		char c = e->text[i];

		if (quote) {
			i += c == '\\' && quote == '"';
			quote = c == quote ? 0 : quote;
		} else if (c == '"' || c == '\'') {
			quote = c;
		} else if (c == '{' || c == '[') {
			depth++;
		} else if (c == '}' || c == ']') {
			if (flow && !depth)
				break;
			depth--;
		} else if (c == ',' && flow && !depth) {
			break;
		} else if (c == '#' && i && e->text[i - 1] == ' ') {
			break;
		}
		if (c != ' ' && c != '\r')
			last = i + 1;
	}
	return last < e->len ? last : e->len;
}

/* Whether the key stands at i, as a key; *value is where its value begins. */
static bool key_at(const struct edit *e, const char *key, size_t i,
		   size_t *value)
{
	size_t n = strlen(key), quoted = strchr("\"'", e->text[i]) != NULL;

	if (i && !strchr(" {,\n", e->text[i - 1]))
		return false;
	if (i + n + 2 * quoted >= e->len ||
	    strncmp(e->text + i + quoted, key, n))
		return false;
	i += n + 2 * quoted;
	while (i < e->len && e->text[i] == ' ')
		i++;
	if (i >= e->len || e->text[i] != ':')
		return false;
	i++;
	while (i < e->len && e->text[i] == ' ')
		i++;
	*value = i;
	return true;
}

static bool replace_at(struct edit *e, size_t line, size_t value)
{
	const char *space = value && e->text[value - 1] == ':' ? " " : "";
	const char *with = arena_printf(e->a, "%s%s", space, e->value);
	size_t stop = line_stop(e, line), end;

	if (!with)
		return false;
	if (value > stop)
		value = stop;
	for (int flow = 0; flow < 2; flow++) {
		end = value_stop(e, value, flow);
		if (try_edit(e, value, end < value ? value : end, with))
			return true;
	}
	/* A value on the lines below. */
	end = entry_stop(e, line);
	if (end && e->text[end - 1] == '\n')
		end--;
	return try_edit(e, value, end, with);
}

static bool remove_at(struct edit *e, size_t line, size_t key, size_t value)
{
	size_t end = value_stop(e, value, true);

	if (try_edit(e, line, entry_stop(e, line), ""))
		return true;
	if (end < e->len && e->text[end] == ',') {
		size_t next = end + 1;

		next += next < e->len && e->text[next] == ' ';
		if (try_edit(e, key, next, ""))
			return true;
	}
	while (key > line && e->text[key - 1] == ' ')
		key--;
	if (key > line && e->text[key - 1] == ',' &&
	    try_edit(e, key - 1, end, ""))
		return true;
	return try_edit(e, key, end, "");
}

/* The entry is there: every place near its line that looks like its key. */
static bool change_entry(struct edit *e)
{
	const char *key = e->parts[e->count - 1];

	for (int back = 0; back <= LOOK_BACK && back < e->node->line; back++) {
		size_t line = line_start(e, e->node->line - back);
		size_t stop = line_stop(e, line), value;

		for (size_t i = line; i < stop; i++) {
			if (!key_at(e, key, i, &value))
				continue;
			if (e->value ? replace_at(e, line, value) :
				       remove_at(e, line, i, value))
				return true;
		}
	}
	return false;
}

/* The missing parts as lines below indent. */
static const char *as_lines(struct edit *e, size_t indent, const char *before)
{
	struct buf b = BUF_INIT(0);
	const char *out;

	buf_adds(&b, before);
	for (int i = e->found; i < e->count; i++, indent += 2) {
		for (size_t k = 0; k < indent; k++)
			buf_addc(&b, ' ');
		buf_addf(&b, "%s:", e->parts[i]);
		if (i + 1 == e->count)
			buf_addf(&b, " %s", e->value);
		buf_addc(&b, '\n');
	}
	out = b.failed ? NULL : arena_strdup(e->a, buf_str(&b));
	buf_release(&b);
	return out ? out : "";
}

/* The missing parts in braces. */
static const char *as_flow(struct edit *e, const char *behind)
{
	struct buf b = BUF_INIT(0);
	const char *out;

	for (int i = e->found; i < e->count; i++)
		buf_addf(&b, "%s%s: ", i > e->found ? "{" : "", e->parts[i]);
	buf_adds(&b, e->value);
	for (int i = e->found + 1; i < e->count; i++)
		buf_addc(&b, '}');
	buf_adds(&b, behind);
	out = b.failed ? NULL : arena_strdup(e->a, buf_str(&b));
	buf_release(&b);
	return out ? out : "";
}

static bool add_in_braces(struct edit *e, size_t from)
{
	const char *more = as_flow(e, ", "), *alone = as_flow(e, "");

	for (size_t i = from; i < e->len && i < from + 4096; i++) {
		if (e->text[i] != '{')
			continue;
		/* Alone reads well only in a map that is empty. */
		if (try_edit(e, i + 1, i + 1, alone) ||
		    try_edit(e, i + 1, i + 1, more))
			return true;
	}
	return false;
}

static bool add_below(struct edit *e, size_t line)
{
	size_t indent = indent_of(e, line), first = line_stop(e, line) + 1;
	size_t stop = entry_stop(e, line), child = indent + 2;
	const char *before = "";

	while (first < stop && is_blank_line(e, first))
		first = line_stop(e, first) + 1;
	if (first < stop && indent_of(e, first) > indent)
		child = indent_of(e, first);
	if (stop && e->text[stop - 1] != '\n')
		before = "\n";
	return try_edit(e, stop, stop, as_lines(e, child, before)) ||
	       add_in_braces(e, line);
}

/* The entry is not there: into the map that is. */
static bool add_entry(struct edit *e)
{
	const char *before = e->len && e->text[e->len - 1] != '\n' ? "\n" : "";
	size_t value;

	if (!e->found)
		return try_edit(e, e->len, e->len, as_lines(e, 0, before)) ||
		       add_in_braces(e, 0);
	for (int back = 0; back <= LOOK_BACK && back < e->node->line; back++) {
		size_t line = line_start(e, e->node->line - back);
		size_t stop = line_stop(e, line);

		for (size_t i = line; i < stop; i++)
			if (key_at(e, e->parts[e->found - 1], i, &value) &&
			    add_below(e, line))
				return true;
	}
	return false;
}

static void split(struct edit *e, const char *path)
{
	e->count = 0;
	while (*path && e->count < PARTS_MAX) {
		size_t n = strcspn(path, ".");

		e->parts[e->count++] = arena_strndup(e->a, path, n);
		path += n + (path[n] == '.');
	}
}

static void find(struct edit *e)
{
	struct yaml *y = e->root;

	e->node = y;
	e->found = 0;
	while (e->found < e->count && (y = yaml_get(y, e->parts[e->found]))) {
		e->node = y;
		e->found++;
	}
}

/* The path where the entry is, or to which least has to be added. */
static void choose(struct edit *e, const char *const *paths)
{
	const char *best = paths[0];
	int least = PARTS_MAX + 1;

	for (size_t i = 0; paths[i] && !e->a->failed; i++) {
		split(e, paths[i]);
		if (e->a->failed)
			return;
		find(e);
		if (e->count - e->found < least) {
			least = e->count - e->found;
			best = paths[i];
		}
	}
	split(e, best);
	if (!e->a->failed)
		find(e);
}

int config_edit(struct buf *out, bool *changed, struct arena *a,
		const char *text, size_t len, const char *const *paths,
		const char *value, struct remem_err *err)
{
	struct edit e = { .a = a, .text = text, .len = len, .value = value,
			  .out = out };
	bool done;
	int rc;

	*changed = true;
	if ((rc = yaml_read(&e.root, a, text, len, "settings", err)))
		return rc;
	if (value && (rc = yaml_read(&e.want, a, value, strlen(value), "value",
				     err)))
		return rc;
	choose(&e, paths);
	if (a->failed)
		return fail_nomem(err);
	if (!value && e.found < e.count) {
		*changed = false;
		return 0;
	}
	done = e.found == e.count ? change_entry(&e) : add_entry(&e);
	if (a->failed || out->failed)
		return fail_nomem(err);
	if (done)
		return 0;
	fail(err, REMEM_ENOTSUP, "the file is written in a style that cannot "
	     "be edited line by line");
	fail_action(err, "edit it by hand: %s", paths[0]);
	return REMEM_ENOTSUP;
}
