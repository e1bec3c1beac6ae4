/* Arguments of tools: their schema, and whether they keep to it. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/nearest.h"
#include "base/utf8.h"
#include "mcp/tool.h"

static const char *type_name(enum param_type type)
{
	static const char *const names[] = {
		"string", "string", "integer", "number", "boolean", "string",
		"string",
	};

	return names[type];
}

/* The words of a list with blanks between them. */
static const char *next_word(const char *s, size_t *len)
{
	s += strspn(s, " ");
	*len = strcspn(s, " ");
	return *len ? s : NULL;
}

static void put_choices(struct json *j, const char *choices)
{
	size_t n;

	json_key(j, "enum");
	json_arr(j);
	for (const char *s = choices; (s = next_word(s, &n)); s += n)
		json_put_strn(j, s, n);
	json_arr_end(j);
}

static void put_param(struct json *j, const struct param *p)
{
	bool number = p->type == PARAM_INT || p->type == PARAM_NUM;

	json_key(j, p->name);
	json_obj(j);
	json_kstr(j, "type", type_name(p->type));
	json_kstr(j, "description", p->help);
	if (p->choices)
		put_choices(j, p->choices);
	if (p->type == PARAM_DATE)
		json_kstr(j, "pattern", "^\\d{4}-\\d{2}-\\d{2}$");
	if (number && p->max > p->min) {
		json_knum(j, "minimum", p->min);
		json_knum(j, "maximum", p->max);
	} else if (p->max > 0 && !number) {
		json_knum(j, "maxLength", p->max);
	}
	json_end(j);
}

void params_put_schema(struct json *j, const struct param *params)
{
	json_obj(j);
	json_kstr(j, "type", "object");
	json_key(j, "properties");
	json_obj(j);
	for (const struct param *p = params; p->name; p++)
		put_param(j, p);
	json_end(j);
	json_key(j, "required");
	json_arr(j);
	for (const struct param *p = params; p->name; p++)
		if (p->required)
			json_put_str(j, p->name);
	json_arr_end(j);
	json_kbool(j, "additionalProperties", false);
	json_end(j);
}

/* ---- checking ----------------------------------------------------------- */

static const char *param_name(void *ctx, int i)
{
	return ((const struct param *)ctx)[i].name;
}

static int unknown(const struct param *params, const char *name,
		   struct remem_err *err)
{
	const char *near = word_nearest(name, param_name,
					(void *)(uintptr_t)params);
	struct buf all = BUF_INIT(400);

	fail(err, REMEM_EINVAL, "there is no argument '%.60s'", name);
	if (near)
		fail_action(err, "did you mean '%s'?", near);
	for (const struct param *p = params; !near && p->name; p++)
		buf_addf(&all, "%s%s", p == params ? "" : ", ", p->name);
	if (!near)
		fail_action(err, "%s%s", all.len ? "there are " :
			    "it takes none", buf_str(&all));
	buf_release(&all);
	return REMEM_EINVAL;
}

static bool is_choice(const struct param *p, const char *text, size_t len)
{
	size_t n;

	for (const char *s = p->choices; (s = next_word(s, &n)); s += n)
		if (n == len && !memcmp(s, text, n))
			return true;
	return false;
}

static int check_text(const struct param *p, yyjson_val *v,
		      struct remem_err *err)
{
	const char *s = yyjson_get_str(v);
	size_t len = yyjson_get_len(v);
	int32_t day;

	if (!s)
		return fail(err, REMEM_EINVAL, "'%s' should be a text",
			    p->name);
	if (p->type != PARAM_TEXT && memchr(s, '\0', len))
		return fail(err, REMEM_EINVAL, "'%s' holds a NUL", p->name);
	if (p->max > 0 && (double)utf8_count(s, len) > p->max)
		return fail(err, REMEM_EINVAL, "'%s' should have at most %.0f "
			    "characters", p->name, p->max);
	if (p->type == PARAM_CHOICE && !is_choice(p, s, len))
		return fail(err, REMEM_EINVAL, "'%s' should be one of: %s",
			    p->name, p->choices);
	if (p->type == PARAM_DATE && !date_parse(&day, s, len))
		return fail(err, REMEM_EINVAL, "'%s' should be a date "
			    "YYYY-MM-DD, not '%.40s'", p->name, s);
	if (p->required && !len)
		return fail(err, REMEM_EINVAL, "'%s' is empty", p->name);
	return 0;
}

static int check_number(const struct param *p, yyjson_val *v,
			struct remem_err *err)
{
	double n = rpc_num(v, NAN);
	bool whole = p->type == PARAM_INT;

	if (!rpc_is_num(v) || (whole && n != floor(n)) ||
	    (p->max > p->min && !(n >= p->min && n <= p->max)))
		return fail(err, REMEM_EINVAL, "'%s' should be a %snumber from "
			    "%g to %g", p->name, whole ? "whole " : "", p->min,
			    p->max);
	return 0;
}

static int check_value(const struct param *p, yyjson_val *v,
		       struct remem_err *err)
{
	switch (p->type) {
	case PARAM_INT:
	case PARAM_NUM:
		return check_number(p, v, err);
	case PARAM_BOOL:
		if (yyjson_is_bool(v))
			return 0;
		return fail(err, REMEM_EINVAL, "'%s' should be true or false",
			    p->name);
	default:
		return check_text(p, v, err);
	}
}

static const struct param *param_find(const struct param *p, yyjson_val *key)
{
	for (; p->name; p++)
		if (yyjson_equals_str(key, p->name))
			return p;
	return NULL;
}

int args_check(struct call *c, const struct tool *t, struct remem_err *err)
{
	yyjson_val *key, *v;
	size_t i, n;
	int rc;

	if (c->args && !yyjson_is_obj(c->args))
		return fail(err, REMEM_EINVAL,
			    "the arguments should be an object");
	yyjson_obj_foreach(c->args, i, n, key, v) {
		const struct param *p = param_find(t->params, key);

		if (!p)
			return unknown(t->params, yyjson_get_str(key), err);
		/* Some clients fill what is left out with null. */
		if (yyjson_is_null(v) && !p->required)
			continue;
		if ((rc = check_value(p, v, err)))
			return rc;
	}
	for (const struct param *p = t->params; p->name; p++)
		if (p->required && !yyjson_obj_get(c->args, p->name))
			return fail(err, REMEM_EINVAL, "'%s' is missing",
				    p->name);
	return 0;
}

const char *arg_text(const struct call *c, const char *name, size_t *len)
{
	yyjson_val *v = yyjson_obj_get(c->args, name);

	*len = yyjson_get_len(v);
	return yyjson_get_str(v);
}

const char *arg_word(const struct call *c, const char *name)
{
	return yyjson_get_str(yyjson_obj_get(c->args, name));
}

double arg_num(const struct call *c, const char *name, double def)
{
	return rpc_num(yyjson_obj_get(c->args, name), def);
}

int arg_int(const struct call *c, const char *name, int def)
{
	return (int)arg_num(c, name, def);
}

bool arg_bool(const struct call *c, const char *name, bool def)
{
	yyjson_val *v = yyjson_obj_get(c->args, name);

	return yyjson_is_bool(v) ? yyjson_get_bool(v) : def;
}

bool arg_given(const struct call *c, const char *name)
{
	yyjson_val *v = yyjson_obj_get(c->args, name);

	return v && !yyjson_is_null(v);
}
