/*
 * How content of notes reaches a model. JSON strings are a boundary that no
 * content can close; what could deceive whoever reads them (text that is not
 * seen, or runs the other way) is spelled out.
 */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/utf8.h"
#include "mcp/tool.h"

/* Of lists in reports: the program itself shows all of them. */
#define LIST_MAX 20u

/* Tag characters, marks that turn the direction, line separators, what has no
 * width. Joiners stay: scripts and emoji need them. */
static bool hides(uint32_t cp)
{
	return (cp >= 0xe0000 && cp <= 0xe007f) ||
	       (cp >= 0x202a && cp <= 0x202e) ||
	       (cp >= 0x2060 && cp <= 0x206f) ||
	       cp == 0x200b || cp == 0x200e || cp == 0x200f || cp == 0x2028 ||
	       cp == 0x2029 || cp == 0xfeff || cp == 0x061c;
}

static void put_hidden(struct buf *out, uint32_t cp)
{
	if (cp < 0x10000)
		buf_addf(out, "\\u%04x", (unsigned)cp);
	else
		buf_addf(out, "\\u%04x\\u%04x",
			 0xd800 + (unsigned)((cp - 0x10000) >> 10),
			 0xdc00 + (unsigned)((cp - 0x10000) & 0x3ff));
}

void show_json(struct buf *out, const char *json, size_t len)
{
	size_t begun = 0, i = 0;

	while (i < len) {
		uint32_t cp;
		int n;

		if (!(json[i] & 0x80)) {
			i++;
			continue;
		}
		n = utf8_decode(&cp, json + i, len - i);
		if (hides(cp)) {
			buf_add(out, json + begun, i - begun);
			put_hidden(out, cp);
			begun = i + (size_t)n;
		}
		i += (size_t)n;
	}
	buf_add(out, json + begun, len - begun);
}

bool show_citations(struct call *c)
{
	char *json = NULL;
	yyjson_doc *doc = NULL;
	const char *how = "auto";
	bool on;

	if (!remem_config_get(c->r, "memory.citations", &json, NULL) &&
	    !json_read(&doc, json, strlen(json), false, "settings", NULL))
		how = json_str(yyjson_doc_get_root(doc), "value", how);
	on = !strcmp(how, "on") || (!strcmp(how, "auto") && !c->o->shared);
	yyjson_doc_free(doc);
	remem_free(json);
	return on;
}

static void put_short_list(struct json *j, const char *key, yyjson_val *list)
{
	yyjson_val *v;
	size_t i, n;
	char more[80];

	json_key(j, key);
	json_arr(j);
	yyjson_arr_foreach(list, i, n, v)
		if (i < LIST_MAX)
			json_put_val(j, v);
	json_arr_end(j);
	n = yyjson_arr_size(list);
	if (n <= LIST_MAX)
		return;
	snprintf(more, sizeof(more), "%sLeftOut", key);
	json_kint(j, more, (int64_t)(n - LIST_MAX));
}

static int read_report(yyjson_doc **doc, char *json, struct remem_err *err)
{
	int rc = json_read_verbatim(doc, json, strlen(json), "report", err);

	remem_free(json);
	return rc;
}

int show_report(struct call *c, char *json, struct remem_err *err)
{
	yyjson_doc *doc;
	yyjson_val *key, *v;
	size_t i, n;
	int rc = read_report(&doc, json, err);

	if (rc)
		return rc;
	json_obj(&c->j);
	yyjson_obj_foreach(yyjson_doc_get_root(doc), i, n, key, v) {
		if (yyjson_is_arr(v)) {
			put_short_list(&c->j, yyjson_get_str(key), v);
			continue;
		}
		json_key(&c->j, yyjson_get_str(key));
		json_put_val(&c->j, v);
	}
	json_end(&c->j);
	yyjson_doc_free(doc);
	return 0;
}

int show_whole(struct call *c, char *json, struct remem_err *err)
{
	(void)err;
	json_put_raw(&c->j, json, strlen(json));
	remem_free(json);
	return 0;
}
