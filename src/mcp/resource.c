/* Reading notes by address; see resource.h. */
#include "mcp/resource.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"

#define SCHEME "memory://"
#define TYPE "text/markdown"
/* A whole note, but not one that fills a context by itself. */
#define READ_MAX_LINES 100000
#define READ_MAX_CHARS 100000

struct named {
	const char *name, *path, *title, *help;
	int days_ago; /* path NULL: the note of that day */
	bool personal; /* not where others read along */
};

static const struct named names[] = {
	{ "MEMORY.md", "MEMORY.md", "Long-term memory",
	  "What is to be remembered for good.", 0, true },
	{ "USER.md", "USER.md", "About the user",
	  "Who the user is and what they prefer.", 0, true },
	{ "today", NULL, "Today's note", "What was noted today.", 0, true },
	{ "yesterday", NULL, "Yesterday's note", "What was noted yesterday.",
	  1, true },
};

void resources_put_list(struct json *j, const struct mcp_opts *o,
			const struct era *era)
{
	char uri[64];

	json_key(j, "resources");
	json_arr(j);
	for (size_t i = 0; !o->shared && i < ARRAY_LEN(names); i++) {
		snprintf(uri, sizeof(uri), SCHEME "%s", names[i].name);
		json_obj(j);
		json_kstr(j, "uri", uri);
		json_kstr(j, "name", names[i].name);
		if (era->structured)
			json_kstr(j, "title", names[i].title);
		json_kstr(j, "description", names[i].help);
		json_kstr(j, "mimeType", TYPE);
		json_end(j);
	}
	json_arr_end(j);
}

void resources_put_templates(struct json *j, const struct mcp_opts *o)
{
	json_key(j, "resourceTemplates");
	json_arr(j);
	if (!o->shared) {
		json_obj(j);
		json_kstr(j, "uriTemplate", SCHEME "{+path}");
		json_kstr(j, "name", "note");
		json_kstr(j, "description", "Any note, by its path in the "
			  "workspace.");
		json_kstr(j, "mimeType", TYPE);
		json_end(j);
	}
	json_arr_end(j);
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* %XX as a byte; false for a NUL or what is no escape. */
static bool decode(char *out, size_t cap, const char *s)
{
	size_t n = 0;

	for (; *s && n + 1 < cap; s++) {
		int high, low;

		if (*s != '%') {
			out[n++] = *s;
			continue;
		}
		high = hex(s[1]);
		low = high < 0 ? -1 : hex(s[2]);
		if (low < 0 || !(high | low))
			return false;
		out[n++] = (char)(high * 16 + low);
		s += 2;
	}
	out[n] = '\0';
	return !*s;
}

/* The user's day of now. */
static int32_t today(struct remem *r)
{
	yyjson_doc *doc = NULL;
	char *json = NULL;
	const char *zone = "";
	int32_t day;

	if (!remem_config_get(r, "userTimezone", &json, NULL) &&
	    !json_read(&doc, json, strlen(json), false, "settings", NULL))
		zone = json_str(yyjson_doc_get_root(doc), "value", zone);
	day = clock_zone_day(zone, clock_now_ms());
	yyjson_doc_free(doc);
	remem_free(json);
	return day;
}

/* The path of an address; false if it is none of ours. */
static bool path_of(char *out, size_t cap, yyjson_val *uri, struct remem *r)
{
	const char *s = yyjson_get_str(uri);
	char name[4096];

	if (!s || strlen(s) != yyjson_get_len(uri) ||
	    strncmp(s, SCHEME, strlen(SCHEME)) ||
	    !decode(name, sizeof(name), s + strlen(SCHEME)) || !name[0])
		return false;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char day[16];

		if (names[i].path || strcmp(names[i].name, name))
			continue;
		date_format(day, today(r) - names[i].days_ago);
		return snprintf(out, cap, "memory/%s.md", day) < (int)cap;
	}
	return snprintf(out, cap, "%s", name) < (int)cap;
}

/* Of the daily notes it is no error that nothing was written yet. */
static bool may_be_absent(const char *uri)
{
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strcmp(names[i].name, uri + strlen(SCHEME)))
			return true;
	return false;
}

static void not_found(struct request *q, struct answer *a, const char *uri,
		      const char *why)
{
	struct json j;

	answer_fail(a, q->era->modern ? RPC_PARAMS : RPC_NO_RESOURCE,
		    "there is no resource '%.200s'%s%s", uri, why ? ": " : "",
		    why ? why : "");
	json_begin(&j, &a->data);
	json_obj(&j);
	json_kstr(&j, "uri", uri);
	json_end(&j);
}

static void put_contents(struct answer *a, const char *uri, yyjson_val *got)
{
	yyjson_val *text = yyjson_obj_get(got, "text");
	struct buf b = BUF_INIT(0);
	struct json *j = &a->j;

	buf_add(&b, yyjson_get_str(text), yyjson_get_len(text));
	if (json_bool(got, "truncated", false))
		buf_addf(&b, "\n\n[cut here; the rest by memory_get from line "
			 "%lld]\n", (long long)json_int(got, "nextFrom", 0));
	json_key(j, "contents");
	json_arr(j);
	json_obj(j);
	json_kstr(j, "uri", uri);
	json_kstr(j, "mimeType", TYPE);
	json_key(j, "text");
	json_put_strn(j, buf_str(&b), b.len);
	json_end(j);
	json_arr_end(j);
	buf_release(&b);
}

static void give(struct request *q, struct answer *a, const char *uri,
		 const char *json)
{
	struct remem_err err = { 0 };
	yyjson_doc *doc;
	yyjson_val *root;

	if (json_read(&doc, json, strlen(json), false, "note", &err)) {
		answer_fail(a, RPC_INTERNAL, "%s", err.message);
		return;
	}
	root = yyjson_doc_get_root(doc);
	if (strcmp(json_str(root, "status", ""), "ok") && !may_be_absent(uri))
		not_found(q, a, uri, NULL);
	else
		put_contents(a, uri, root);
	yyjson_doc_free(doc);
}

void resources_read(struct request *q, struct answer *a, struct worker *w)
{
	struct remem_get_opts o = REMEM_OPTS_INIT(o);
	yyjson_val *v = yyjson_obj_get(q->params, "uri");
	const char *uri = yyjson_get_str(v);
	struct remem_err err = { 0 };
	struct remem *r;
	char path[4096], *json = NULL;
	int rc;

	if (!uri || server_opts(q->server)->shared) {
		not_found(q, a, uri ? uri : "", NULL);
		return;
	}
	o.from = 1;
	o.lines = READ_MAX_LINES;
	o.max_chars = READ_MAX_CHARS;
	rc = worker_open(w, q, &r, &err);
	if (!rc && !path_of(path, sizeof(path), v, r)) {
		not_found(q, a, uri, NULL);
		return;
	}
	if (!rc)
		rc = remem_get(r, path, &o, &json, &err);
	if (!rc)
		give(q, a, uri, json);
	else if (rc == REMEM_EPERM || rc == REMEM_EINVAL)
		not_found(q, a, uri, err.message);
	else
		answer_fail(a, RPC_INTERNAL, "%s%s%s", err.message,
			    err.action[0] ? "; " : "", err.action);
	remem_free(json);
}
