/* The table of settings: rows by name, defaults, values of a handle. */
#include "api/settings.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/setting_value.h"
#include "base/nearest.h"

#define SAFE SET_SAFE
#define SECRET SET_SECRET
#define CONCAT SET_CONCAT
#define LATER SET_LATER
#define SETTING(name, type, def, flags, help) \
	{ name, SET_##type, def, flags, help },

static const struct setting table[] = {
#include "api/settings.def"
};

#undef SETTING

#define NAME_MAX_BYTES 160

const struct setting *setting_at(int i)
{
	return i >= 0 && i < (int)ARRAY_LEN(table) ? &table[i] : NULL;
}

int setting_count(void)
{
	return (int)ARRAY_LEN(table);
}

static int find_exact(const char *name)
{
	for (int i = 0; i < (int)ARRAY_LEN(table); i++)
		if (!strcmp(table[i].name, name))
			return i;
	return -1;
}

/* Rewrites a name that begins with an alias; true if it did. */
static bool follow_alias(char out[NAME_MAX_BYTES], const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		size_t n = strlen(table[i].name);

		if (table[i].type != SET_ALIAS ||
		    strncmp(name, table[i].name, n) ||
		    (name[n] && name[n] != '.'))
			continue;
		snprintf(out, NAME_MAX_BYTES, "%s%s", table[i].def, name + n);
		return true;
	}
	return false;
}

static int find_followed(const char *name)
{
	char other[NAME_MAX_BYTES];

	return find_exact(follow_alias(other, name) ? other : name);
}

int setting_find(const char *name)
{
	static const char defaults[] = "agents.defaults.";
	char full[NAME_MAX_BYTES];
	int row;

	if (!strncmp(name, defaults, sizeof(defaults) - 1))
		name += sizeof(defaults) - 1;
	row = find_followed(name);
	if (row >= 0 || strlen(name) + 14 >= sizeof(full))
		return row;
	snprintf(full, sizeof(full), "memorySearch.%s", name);
	return find_followed(full);
}

static int smaller(int a, int b)
{
	return a < b ? a : b;
}

static int dots(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += *s == '.';
	return n;
}

/* Length of the first parts + 1 components of a name. */
static size_t head_of(const char *name, int parts)
{
	size_t i = 0;

	for (; name[i]; i++)
		if (name[i] == '.' && parts-- == 0)
			break;
	return i;
}

const char *setting_nearest(const char *name)
{
	static _Thread_local char best_name[NAME_MAX_BYTES];
	int parts = dots(name), best = 0;
	size_t len = strlen(name);

	/* A third of the last part may be wrong, and two letters always. */
	best = smaller(2 + (int)(len - (size_t)(parts ? strrchr(name, '.') -
						     name : 0)) / 4, 5);
	best_name[0] = '\0';
	for (size_t i = 0; i < 2 * ARRAY_LEN(table); i++) {
		const char *row = table[i / 2].name;
		/* Each row once whole and once without the first part, which
		 * people may leave out on the command line. */
		size_t skip = i % 2 ? sizeof("memorySearch") : 0, n;
		int d;

		if (skip && strncmp(row, "memorySearch.", skip))
			continue;
		n = head_of(row + skip, parts);
		d = word_distance(name, len, row + skip, n);
		if (d >= best || n + skip >= sizeof(best_name))
			continue;
		best = d;
		memcpy(best_name, row, n + skip);
		best_name[n + skip] = '\0';
	}
	return best_name[0] ? best_name : NULL;
}

const char *setting_default(struct arena *a, const struct setting *row)
{
	bool bounded = row->type == SET_INT || row->type == SET_NUM ||
		       row->type == SET_ENUM;

	if (row->type == SET_ALIAS || row->type == SET_REFUSED)
		return "";
	if (!bounded)
		return row->def;
	return arena_strndup(a, row->def, strcspn(row->def, " "));
}

int settings_init(struct settings *s, struct arena *a, const struct env *env,
		  const char *agent, struct remem_err *err)
{
	memset(s, 0, sizeof(*s));
	s->a = a;
	s->env = env;
	s->agent = agent ? agent : "";
	s->values = ARENA_ARRAY(a, struct setting_value, ARRAY_LEN(table));
	if (!s->values)
		return fail_nomem(err);
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct setting_value *v = &s->values[i];

		v->where = "default";
		v->text = setting_default(a, &table[i]);
		if (a->failed)
			return fail_nomem(err);
		if (table[i].type == SET_BOOL)
			v->num = !strcmp(v->text, "true");
		else if (table[i].type == SET_INT || table[i].type == SET_NUM)
			v->num = strtod(v->text, NULL);
		else if (table[i].type == SET_LIST && v->text[0])
			setting_split(v, a, v->text);
	}
	return a->failed ? fail_nomem(err) : 0;
}

void settings_warn(struct settings *s, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	s->warnings = arena_grow(s->a, s->warnings, &s->warning_cap,
				 s->warning_count + 1, sizeof(char *));
	if (s->warnings)
		s->warnings[s->warning_count++] = arena_strdup(s->a, text);
	else
		s->warning_count = s->warning_cap = 0;
}

const struct setting_value *settings_value(const struct settings *s,
					   const char *name)
{
	int row = find_exact(name);

	assert(row >= 0);
	return &s->values[row < 0 ? 0 : row];
}

bool settings_bool(const struct settings *s, const char *name)
{
	return settings_value(s, name)->num != 0;
}

int64_t settings_int(const struct settings *s, const char *name)
{
	return (int64_t)settings_value(s, name)->num;
}

double settings_num(const struct settings *s, const char *name)
{
	return settings_value(s, name)->num;
}

bool settings_is_set(const struct settings *s, const char *name)
{
	return settings_value(s, name)->source != FROM_DEFAULT;
}

const char *settings_str(const struct settings *s, const char *name)
{
	const struct setting_value *v = settings_value(s, name);
	const char *text = v->text ? v->text : "";

	if (!v->expand)
		return text;
	text = setting_expand(s->a, s->env, text, NULL);
	return text ? text : "";
}

const char *settings_where(const struct settings *s, int row)
{
	return s->values[row].where;
}
