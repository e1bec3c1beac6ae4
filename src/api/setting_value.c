/* YAML nodes as typed values. Plain scalars reach us as text, so that the key
 * and not YAML decides what "on" or "10" is. */
#include "api/setting_value.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"

bool setting_is_null(const struct yaml *node)
{
	return !node || (node->kind == YAML_SCALAR && !node->quoted &&
			 (!node->len || !strcmp(node->str, "~") ||
			  !strcasecmp(node->str, "null")));
}

static int parse_bool(struct setting_value *v, const char *s)
{
	static const char *const yes[] = { "true", "yes", "on", "1" };
	static const char *const no[] = { "false", "no", "off", "0" };

	for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
		if (!strcasecmp(s, yes[i])) {
			v->num = 1;
			v->text = "true";
			return 0;
		}
		if (!strcasecmp(s, no[i])) {
			v->num = 0;
			v->text = "false";
			return 0;
		}
	}
	return 1;
}

static void bounds(const struct setting *row, double *low, double *high)
{
	const char *at = strchr(row->def, ' ');
	char *end;

	*low = at ? strtod(at, &end) : -INFINITY;
	*high = at ? strtod(strstr(at, "..") + 2, NULL) : INFINITY;
}

static int parse_number(struct setting_value *v, struct arena *a,
			const struct setting *row, const char *s, bool *clamped)
{
	double low, high, n;
	char *end;

	errno = 0;
	n = strtod(s, &end);
	if (end == s || *end || !isfinite(n) || strspn(s, "+-.0123456789eE") !=
						       strlen(s))
		return 1;
	if (row->type == SET_INT && n != floor(n))
		return 1;
	bounds(row, &low, &high);
	*clamped = n < low || n > high;
	v->num = n < low ? low : n > high ? high : n;
	v->text = *clamped ? arena_printf(a, "%.15g", v->num) :
			     arena_strdup(a, s);
	return 0;
}

static int parse_enum(struct setting_value *v, struct arena *a,
		      const struct setting *row, const char *s)
{
	const char *at = strchr(row->def, ' ') + 1;
	size_t len = strlen(s);

	for (; len; at += strcspn(at, "|"), at += *at == '|') {
		if (!*at)
			return 1;
		if (strcspn(at, "|") == len && !strncasecmp(at, s, len)) {
			v->text = arena_strndup(a, at, len);
			return 0;
		}
	}
	return 1;
}

static struct setting_item *add_item(struct setting_value *v, struct arena *a,
				     size_t *cap)
{
	v->items = arena_grow(a, v->items, cap, (size_t)v->count + 1,
			      sizeof(*v->items));
	return v->items ? &v->items[v->count++] : NULL;
}

void setting_split(struct setting_value *v, struct arena *a, const char *text)
{
	size_t cap = 0;

	v->items = NULL;
	v->count = 0;
	while (*text) {
		size_t n, end;
		struct setting_item *it;

		text += strspn(text, " \t,");
		n = end = strcspn(text, ",");
		while (n && (text[n - 1] == ' ' || text[n - 1] == '\t'))
			n--;
		it = n ? add_item(v, a, &cap) : NULL;
		if (it)
			it->text = arena_strndup(a, text, n);
		text += end;
	}
}

static bool is_ref(const struct yaml *n)
{
	const struct yaml *c = n->child;

	return n->kind == YAML_MAP && c && !c->next &&
	       ((!strcmp(c->key, "file") && c->kind == YAML_SCALAR) ||
		(!strcmp(c->key, "command") && c->kind == YAML_SEQ));
}

static int parse_list(struct setting_value *v, struct arena *a,
		      const struct yaml *node)
{
	size_t cap = 0;

	if (node->kind == YAML_SCALAR) {
		setting_split(v, a, node->str);
		return 0;
	}
	if (node->kind != YAML_SEQ)
		return 1;
	for (const struct yaml *c = node->child; c; c = c->next) {
		struct setting_item *it;

		if (c->kind != YAML_SCALAR || !(it = add_item(v, a, &cap)))
			return 1;
		it->text = c->str;
	}
	return 0;
}

static int parse_map(struct setting_value *v, struct arena *a,
		     const struct yaml *node)
{
	size_t cap = 0;

	if (node->kind != YAML_MAP)
		return 1;
	for (const struct yaml *c = node->child; c; c = c->next) {
		struct setting_item *it;

		if (c->kind != YAML_SCALAR && !is_ref(c))
			return 1;
		if (!(it = add_item(v, a, &cap)))
			return 1;
		it->name = c->key;
		it->text = c->kind == YAML_SCALAR ? c->str : "";
		it->ref = c->kind == YAML_SCALAR ? NULL : (struct yaml *)c;
	}
	return 0;
}

/* A path, or {path: …, pattern: …}. */
static int parse_path(struct setting_item *it, struct yaml *node)
{
	struct yaml *path = yaml_get(node, "path");
	struct yaml *pattern = yaml_get(node, "pattern");

	if (node->kind == YAML_SCALAR) {
		it->text = node->str;
		return !node->len;
	}
	if (!path || path->kind != YAML_SCALAR || !path->len ||
	    (pattern && pattern->kind != YAML_SCALAR))
		return 1;
	it->text = path->str;
	it->name = pattern && pattern->len ? pattern->str : NULL;
	return 0;
}

static int parse_paths(struct setting_value *v, struct arena *a,
		       struct yaml *node)
{
	struct yaml *c = node->kind == YAML_SEQ ? node->child : node;
	size_t cap = 0;

	for (; c; c = node->kind == YAML_SEQ ? c->next : NULL) {
		struct setting_item *it = add_item(v, a, &cap);

		if (!it || parse_path(it, c))
			return 1;
	}
	return 0;
}

static void expected(char why[160], const struct setting *row)
{
	double low, high;

	switch (row->type) {
	case SET_BOOL:
		snprintf(why, 160, "true or false");
		break;
	case SET_INT:
	case SET_NUM:
		bounds(row, &low, &high);
		snprintf(why, 160, "a %snumber from %.15g to %.15g",
			 row->type == SET_INT ? "whole " : "", low, high);
		break;
	case SET_ENUM:
		snprintf(why, 160, "one of %s", strchr(row->def, ' ') + 1);
		break;
	case SET_LIST:
		snprintf(why, 160, "a list of texts");
		break;
	case SET_MAP:
		snprintf(why, 160, "a map of names and texts");
		break;
	case SET_PATHS:
		snprintf(why, 160, "a list of paths or of {path, pattern}");
		break;
	default:
		snprintf(why, 160, row->flags & SET_SECRET ?
			 "a text, {file: PATH} or {command: [..]}" : "a text");
		break;
	}
}

int setting_parse(struct setting_value *v, struct arena *a,
		  const struct setting *row, const struct yaml *node,
		  char why[160], bool *clamped)
{
	bool scalar = node->kind == YAML_SCALAR;
	struct yaml *n = (struct yaml *)node;
	int wrong = 1;

	*clamped = false;
	v->text = "";
	v->items = NULL;
	v->count = 0;
	v->ref = NULL;
	if (row->type == SET_BOOL)
		wrong = !scalar || parse_bool(v, node->str);
	else if (row->type == SET_INT || row->type == SET_NUM)
		wrong = !scalar || parse_number(v, a, row, node->str, clamped);
	else if (row->type == SET_ENUM)
		wrong = !scalar || parse_enum(v, a, row, node->str);
	else if (row->type == SET_LIST)
		wrong = parse_list(v, a, node);
	else if (row->type == SET_MAP)
		wrong = parse_map(v, a, node);
	else if (row->type == SET_PATHS)
		wrong = parse_paths(v, a, n);
	else if (row->type == SET_TREE)
		wrong = 0;
	else if (scalar)
		wrong = 0;
	else
		wrong = !(row->flags & SET_SECRET) || !is_ref(node);
	if (scalar && (row->type == SET_STR || row->type == SET_TREE))
		v->text = node->str;
	if (!scalar && (row->type == SET_STR || row->type == SET_TREE))
		v->ref = n;
	if (wrong)
		expected(why, row);
	return wrong;
}

const char *setting_expand(struct arena *a, const struct env *env,
			   const char *text, const char **missing)
{
	struct buf b = BUF_INIT(1 << 20);
	const char *at, *end, *value, *out;

	while ((at = strstr(text, "${")) && (end = strchr(at, '}'))) {
		bool literal = at > text && at[-1] == '$';
		size_t n = (size_t)(end - at) - 2;

		if (literal) {
			buf_add(&b, text, (size_t)(at - text) - 1);
			buf_add(&b, at, (size_t)(end + 1 - at));
		} else {
			buf_add(&b, text, (size_t)(at - text));
			value = env_getn(env, at + 2, n);
			if (value)
				buf_adds(&b, value);
			else if (missing && !*missing)
				*missing = arena_strndup(a, at + 2, n);
		}
		text = end + 1;
	}
	buf_adds(&b, text);
	out = b.failed ? NULL : arena_strndup(a, buf_str(&b), b.len);
	buf_release(&b);
	return out;
}
