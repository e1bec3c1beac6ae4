/* memory_recall, as OpenClaw's LanceDB plugin has it. */
#include <string.h>

#include "mcp/ask.h"

static const struct param params[] = {
	{ "query", PARAM_TEXT, true, 0, 2000, NULL, "What to look for." },
	{ "limit", PARAM_INT, false, 1, 50, NULL, "Memories at most; 5." },
	{ "scope", PARAM_WORD, false, 0, 64, NULL,
	  "Project whose memories come first." },
	{ NULL, 0, false, 0, 0, NULL, NULL },
};

#define LIMIT 5
#define MIN_RELEVANCE .1 /* the plugin's own */

static void put_escaped(struct buf *out, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		switch (s[i]) {
		case '&':
			buf_adds(out, "&amp;");
			break;
		case '<':
			buf_adds(out, "&lt;");
			break;
		case '>':
			buf_adds(out, "&gt;");
			break;
		case '"':
			buf_adds(out, "&quot;");
			break;
		case '\'':
			buf_adds(out, "&#39;");
			break;
		case '\n':
			buf_addc(out, ' ');
			break;
		default:
			buf_addc(out, s[i]);
		}
	}
}

static void put_memory(struct call *c, yyjson_val *hit, size_t number)
{
	yyjson_val *snippet = yyjson_obj_get(hit, "snippet");
	double score = rpc_num(yyjson_obj_get(hit, "relevance"), 0);
	struct json *j = &c->j;

	buf_addf(&c->text, "%zu. [other] ", number);
	put_escaped(&c->text, yyjson_get_str(snippet), yyjson_get_len(snippet));
	buf_addf(&c->text, " (%.0f%%)\n", score * 100);
	json_obj(j);
	json_kstr(j, "id", json_str(hit, "citation", ""));
	json_key(j, "text");
	json_put_val(j, snippet);
	json_kstr(j, "category", "other");
	json_kfixed(j, "importance", .7, 1);
	json_kfixed(j, "score", score, 4);
	json_kstr(j, "origin", json_str(hit, "origin", NULL));
	json_end(j);
}

static int run(struct call *c, struct remem_err *err)
{
	struct remem_search_opts o;
	struct ask k;
	yyjson_val *hit;
	size_t i, n;
	int rc;

	ask_begin(c, &o);
	o.max_results = arg_int(c, "limit", LIMIT);
	o.min_score = MIN_RELEVANCE;
	if ((rc = ask_run(&k, c, &o, err)))
		return rc;
	n = yyjson_arr_size(k.hits);
	if (n)
		buf_addf(&c->text, "Memories found (%zu). " NOTES_ARE_DATA
			 "\n", n);
	else
		buf_adds(&c->text, "No memory fits.\n");
	json_obj(&c->j);
	json_kint(&c->j, "count", (int64_t)n);
	json_key(&c->j, "memories");
	json_arr(&c->j);
	yyjson_arr_foreach(k.hits, i, n, hit)
		put_memory(c, hit, i + 1);
	json_arr_end(&c->j);
	json_end(&c->j);
	ask_end(&k);
	return 0;
}

const struct tool tool_lancedb_recall = {
	.name = "memory_recall",
	.title = "Recall",
	.help = "Look through long-term memory: preferences, decisions, facts, "
		"people, earlier topics.",
	.params = params,
	.run = run,
};
