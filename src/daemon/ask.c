/* Both ways by the same tables, so that no option is forgotten in one. */
#include "daemon/ask.h"

#include <stddef.h>
#include <string.h>

#include "base/attr.h"
#include "base/utf8.h"

struct field {
	const char *key;
	size_t at;
};

#define OPEN(key, field) { key, offsetof(struct remem_open_opts, field) }
#define SEARCH(key, field) { key, offsetof(struct remem_search_opts, field) }

static const struct field open_texts[] = {
	OPEN("workspace", workspace), OPEN("agent", agent),
	OPEN("config", config_file), OPEN("program", program),
};

static const struct field search_texts[] = {
	SEARCH("now", now), SEARCH("source", source), SEARCH("path", path),
	SEARCH("after", after), SEARCH("before", before), SEARCH("tag", tag),
	SEARCH("origin", origin), SEARCH("project", project),
};

static const struct field search_ints[] = {
	SEARCH("maxResults", max_results), SEARCH("deadlineMs", deadline_ms),
	SEARCH("explain", explain), SEARCH("noSync", no_sync),
	SEARCH("lastDays", last_days),
};

static const char *text_at(const void *o, const struct field *f)
{
	const char *s;

	memcpy(&s, (const char *)o + f->at, sizeof(s));
	return s;
}

static void put_texts(struct json *j, const void *o, const struct field *f,
		      size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (text_at(o, &f[i]))
			json_kstr(j, f[i].key, text_at(o, &f[i]));
}

static void take_texts(void *o, const struct field *f, size_t n, yyjson_val *v)
{
	for (size_t i = 0; i < n; i++) {
		const char *s = json_str(v, f[i].key, NULL);

		memcpy((char *)o + f[i].at, &s, sizeof(s));
	}
}

static void put_list(struct json *j, const char *key, const char *const *list)
{
	json_key(j, key);
	json_arr(j);
	for (size_t i = 0; list && list[i]; i++)
		json_put_str(j, list[i]);
	json_arr_end(j);
}

void ask_put_open(struct json *j, const struct remem_open_opts *o,
		  const char *workspace)
{
	struct remem_open_opts real = *o;

	real.workspace = workspace;
	json_obj(j);
	put_texts(j, &real, open_texts, ARRAY_LEN(open_texts));
	put_list(j, "env", o->env);
	put_list(j, "set", o->set);
	json_end(j);
}

static const char *const *take_list(struct arena *a, yyjson_val *v)
{
	const char **out = ARENA_ARRAY(a, const char *, yyjson_arr_size(v) + 1);
	yyjson_val *item;
	size_t i, n;

	yyjson_arr_foreach(v, i, n, item)
		if (out)
			out[i] = arena_strdup(a, yyjson_is_str(item) ?
					      yyjson_get_str(item) : "");
	return out;
}

bool ask_take_open(struct remem_open_opts *o, struct arena *a, yyjson_val *v)
{
	*o = (struct remem_open_opts)REMEM_OPTS_INIT(*o);
	take_texts(o, open_texts, ARRAY_LEN(open_texts), v);
	for (size_t i = 0; i < ARRAY_LEN(open_texts); i++) {
		const char *s = text_at(o, &open_texts[i]);

		s = s ? arena_strdup(a, s) : NULL;
		memcpy((char *)o + open_texts[i].at, &s, sizeof(s));
	}
	o->env = take_list(a, yyjson_obj_get(v, "env"));
	o->set = take_list(a, yyjson_obj_get(v, "set"));
	return o->workspace && !a->failed;
}

static int int_at(const void *o, const struct field *f)
{
	int n;

	memcpy(&n, (const char *)o + f->at, sizeof(n));
	return n;
}

void ask_put_search(struct json *j, const struct remem_search_opts *o)
{
	json_obj(j);
	json_kint(j, "mode", o->mode);
	json_knum(j, "minScore", o->min_score);
	put_texts(j, o, search_texts, ARRAY_LEN(search_texts));
	for (size_t i = 0; i < ARRAY_LEN(search_ints); i++)
		json_kint(j, search_ints[i].key, int_at(o, &search_ints[i]));
	json_end(j);
}

bool ask_take_search(struct remem_search_opts *o, yyjson_val *v)
{
	*o = (struct remem_search_opts)REMEM_OPTS_INIT(*o);
	if (!yyjson_is_obj(v))
		return false;
	o->mode = (enum remem_mode)json_int(v, "mode", 0);
	o->min_score = json_num(v, "minScore", 0);
	take_texts(o, search_texts, ARRAY_LEN(search_texts), v);
	for (size_t i = 0; i < ARRAY_LEN(search_ints); i++) {
		int n = (int)json_int(v, search_ints[i].key, 0);

		memcpy((char *)o + search_ints[i].at, &n, sizeof(n));
	}
	return true;
}

static bool is_plain(const char *s)
{
	return !s || utf8_valid(s, strlen(s));
}

static bool are_plain(const void *o, const struct field *f, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!is_plain(text_at(o, &f[i])))
			return false;
	return true;
}

static bool is_plain_list(const char *const *list)
{
	for (size_t i = 0; list && list[i]; i++)
		if (!is_plain(list[i]))
			return false;
	return true;
}

bool ask_is_plain(const struct remem_open_opts *o,
		  const struct remem_search_opts *s, const char *query,
		  size_t len)
{
	return utf8_valid(query, len) && is_plain_list(o->env) &&
	       is_plain_list(o->set) &&
	       are_plain(o, open_texts, ARRAY_LEN(open_texts)) &&
	       are_plain(s, search_texts, ARRAY_LEN(search_texts));
}
