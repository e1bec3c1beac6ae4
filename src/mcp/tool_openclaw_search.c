/*
 * memory_search with OpenClaw's parameters and fields, for plugins and prompts
 * that were written for it. Its text block is indented JSON, and with citations
 * each snippet ends with its source.
 */
#include <string.h>

#include "mcp/ask.h"

static const struct param params[] = {
	{ "query", PARAM_TEXT, true, 0, 2000, NULL, "What to look for." },
	{ "maxResults", PARAM_INT, false, 1, 50, NULL, "Hits at most." },
	{ "minScore", PARAM_NUM, false, 0, 1, NULL, "Least score." },
	{ "corpus", PARAM_CHOICE, false, 0, 0, "memory wiki all sessions",
	  "Where to look." },
	{ NULL, 0, false, 0, 0, NULL, NULL },
};

/* The text without HTML comments, which hold annotations. */
static void put_plain(struct buf *out, const char *s, size_t len)
{
	const char *end = s + len;

	while (s < end) {
		const char *from = strstr(s, "<!--"), *to;

		if (!from) {
			buf_add(out, s, (size_t)(end - s));
			return;
		}
		buf_add(out, s, (size_t)(from - s));
		while (out->len && out->ptr[out->len - 1] == ' ')
			buf_truncate(out, out->len - 1);
		to = strstr(from, "-->");
		s = to ? to + 3 : end;
	}
}

static void put_hit(struct json *j, yyjson_val *hit, bool cite)
{
	yyjson_val *snippet = yyjson_obj_get(hit, "snippet");
	const char *citation = json_str(hit, "citation", "");
	struct buf b = BUF_INIT(0);
	static const char *const same[] = { "path", "startLine", "endLine",
					    "score" };

	put_plain(&b, yyjson_get_str(snippet), yyjson_get_len(snippet));
	if (cite)
		buf_addf(&b, "\n\nSource: %s", citation);
	json_obj(j);
	for (size_t i = 0; i < ARRAY_LEN(same); i++) {
		json_key(j, same[i]);
		json_put_val(j, yyjson_obj_get(hit, same[i]));
	}
	json_key(j, "snippet");
	json_put_strn(j, buf_str(&b), b.len);
	json_kstr(j, "source", json_str(hit, "source", "memory"));
	json_kstr(j, "corpus", json_str(hit, "source", "memory"));
	if (cite)
		json_kstr(j, "citation", citation);
	json_end(j);
	buf_release(&b);
}

static void put_rest(struct call *c, yyjson_val *root, bool cite)
{
	yyjson_val *degraded = yyjson_obj_get(root, "degraded");
	const char *mode = json_str(root, "mode", "text");
	const char *message = json_str(root, "message", NULL);
	struct json *j = &c->j;

	json_kstr(j, "provider", json_str(root, "provider", "none"));
	json_kstr(j, "model", json_str(root, "model", "fts-only"));
	if (yyjson_is_obj(degraded)) {
		json_key(j, "fallback");
		json_obj(j);
		json_kstr(j, "from", json_str(root, "provider", "builtin"));
		json_kstr(j, "reason", json_str(degraded, "detail", ""));
		json_end(j);
	}
	json_kstr(j, "citations", cite ? "on" : "off");
	json_kstr(j, "mode", strcmp(mode, "text") ? "hybrid" : "fts-only");
	if (json_bool(root, "stale", false))
		json_kbool(j, "stale", true);
	if (message)
		json_kstr(j, "warning", message);
}

/* There is no wiki: nothing is found in it, and that is said. */
static int no_wiki(struct call *c)
{
	struct json *j = &c->j;

	json_obj(j);
	json_key(j, "results");
	json_arr(j);
	json_arr_end(j);
	json_kstr(j, "provider", "none");
	json_kstr(j, "model", "fts-only");
	json_kstr(j, "citations", show_citations(c) ? "on" : "off");
	json_kstr(j, "mode", "fts-only");
	json_kstr(j, "warning", "there is no wiki here; ask for corpus memory");
	json_end(j);
	return 0;
}

static int run(struct call *c, struct remem_err *err)
{
	const char *corpus = arg_word(c, "corpus");
	struct remem_search_opts o;
	bool cite = show_citations(c);
	struct ask k;
	yyjson_val *hit;
	size_t i, n;
	int rc;

	c->pretty = true;
	if (corpus && !strcmp(corpus, "wiki"))
		return no_wiki(c);
	ask_begin(c, &o);
	o.source = corpus;
	if ((rc = ask_run(&k, c, &o, err)))
		return rc;
	json_obj(&c->j);
	json_key(&c->j, "results");
	json_arr(&c->j);
	yyjson_arr_foreach(k.hits, i, n, hit)
		put_hit(&c->j, hit, cite);
	json_arr_end(&c->j);
	put_rest(c, k.root, cite);
	json_end(&c->j);
	ask_end(&k);
	return 0;
}

const struct tool tool_openclaw_search = {
	.name = "memory_search",
	.title = "Memory Search",
	.help = "Search MEMORY.md and memory/*.md (and transcripts, where they "
		"are indexed) by meaning and words. Use it before answering "
		"about earlier work, decisions, dates, people, preferences or "
		"to-dos.",
	.params = params,
	.run = run,
};
