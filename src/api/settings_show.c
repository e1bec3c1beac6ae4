/* Values as JSON, and what can only be said when all of them are known. */
#include "api/settings.h"

#include <string.h>

#include "api/setting_value.h"

static void put_items(struct json *j, const struct setting_value *v)
{
	json_arr(j);
	for (int i = 0; i < v->count; i++) {
		const struct setting_item *it = &v->items[i];

		if (!it->name) {
			json_put_str(j, it->text);
			continue;
		}
		json_obj(j);
		json_kstr(j, "path", it->text);
		json_kstr(j, "pattern", it->name);
		json_end(j);
	}
	json_arr_end(j);
}

static const char *ref_name(const struct yaml *ref)
{
	return ref && ref->child && !strcmp(ref->child->key, "file") ?
		       "(from a file)" : "(from a command)";
}

/* Names alone: the values are as good as keys. */
static void put_headers(struct json *j, const struct setting_value *v)
{
	json_obj(j);
	for (int i = 0; i < v->count; i++)
		json_kstr(j, v->items[i].name, "(set)");
	json_end(j);
}

static void put_secret(struct json *j, const struct setting_value *v)
{
	const char *s = v->text;
	size_t n = strlen(s);

	if (v->ref)
		json_put_str(j, ref_name(v->ref));
	else if (n > 3 && !strncmp(s, "${", 2) && strchr(s, '}') == s + n - 1)
		json_put_str(j, s); /* a name, not a secret */
	else
		json_put_str(j, n ? "(set)" : "");
}

void settings_put_value(struct json *j, const struct settings *s, int row)
{
	const struct setting *def = setting_at(row);
	const struct setting_value *v = &s->values[row];

	switch (def->type) {
	case SET_BOOL:
		json_put_bool(j, v->num != 0);
		break;
	case SET_INT:
		json_put_int(j, (int64_t)v->num);
		break;
	case SET_NUM:
		json_put_num(j, v->num);
		break;
	case SET_LIST:
	case SET_PATHS:
		put_items(j, v);
		break;
	case SET_MAP:
		put_headers(j, v);
		break;
	case SET_TREE:
		json_put_str(j, v->source == FROM_DEFAULT ? "" : "(set)");
		break;
	default:
		if (def->flags & SET_SECRET)
			put_secret(j, v);
		else
			json_put_str(j, v->text);
	}
}

static void check_later(struct settings *s)
{
	for (int i = 0; setting_at(i); i++) {
		const struct setting_value *v = &s->values[i];
		const struct setting *row = setting_at(i);

		/* Trees hold rows of their own, which speak for themselves. */
		if (!v->out_of_use || row->type == SET_TREE ||
		    !strcmp(v->text, setting_default(s->a, row)))
			continue;
		settings_warn(s, "%s: %s has no effect in this version",
			      v->where, row->name);
	}
}

static void check_sources(struct settings *s)
{
	const struct setting_value *v =
		settings_value(s, "memorySearch.sources");

	for (int i = 0; i < v->count; i++) {
		const char *name = v->items[i].text;

		if (strcmp(name, "sessions") && strcmp(name, "memory"))
			settings_warn(s, "%s: no source '%.60s', there are "
				      "memory and sessions", v->where, name);
	}
}

static void check_chunking(struct settings *s)
{
	int overlap = setting_find("memorySearch.chunking.overlap");
	int tokens = setting_find("memorySearch.chunking.tokens");
	int passage = setting_find("memorySearch.chunking.passageTokens");
	double most = s->values[tokens].num;

	/* Half, so that every chunk has at least as much of its own. */
	if (s->values[overlap].num > most / 2) {
		settings_warn(s, "%s: chunking.overlap is more than half of "
			      "chunking.tokens, half is used",
			      s->values[overlap].where);
		s->values[overlap].num = (double)(int64_t)(most / 2);
	}
	if (s->values[passage].num > most)
		s->values[passage].num = most;
}

static void check_weights(struct settings *s)
{
	int v = setting_find("memorySearch.query.hybrid.vectorWeight");
	int t = setting_find("memorySearch.query.hybrid.textWeight");

	if (s->values[v].num + s->values[t].num > 0)
		return;
	settings_warn(s, "%s: both weights are 0, 0.7 and 0.3 are used",
		      s->values[v].where);
	s->values[v].num = 0.7;
	s->values[t].num = 0.3;
}

int settings_check(struct settings *s, struct remem_err *err)
{
	check_later(s);
	check_sources(s);
	check_chunking(s);
	check_weights(s);
	return s->a->failed ? fail_nomem(err) : 0;
}
