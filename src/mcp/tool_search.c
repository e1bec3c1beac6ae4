/* memory_search */
#include <string.h>

#include "mcp/ask.h"

/* Both forms of the answer together stay below 64 KiB, above which lines
 * trouble some hosts' bridges. */
#define RESULTS_MAX_BYTES 24000u
#define MAX_RESULTS 50

static const struct param params[] = {
	{ "query", PARAM_TEXT, true, 0, 2000, NULL,
	  "The question, in its own words and language." },
	{ "maxResults", PARAM_INT, false, 1, MAX_RESULTS, NULL,
	  "How many hits at most; 6 if left out." },
	{ "minScore", PARAM_NUM, false, 0, 1, NULL,
	  "Least relevance; 0.35 if left out." },
	{ "corpus", PARAM_CHOICE, false, 0, 0, "memory sessions all",
	  "Notes, transcripts of conversations, or both." },
	{ "after", PARAM_DATE, false, 0, 0, NULL,
	  "Only notes of this day or later." },
	{ "before", PARAM_DATE, false, 0, 0, NULL,
	  "Only notes of this day or earlier." },
	{ "deadlineMs", PARAM_INT, false, 1, 600000, NULL,
	  "Answer within this time, by keywords if need be." },
	{ "explain", PARAM_BOOL, false, 0, 0, NULL,
	  "Show the parts of each score." },
	{ NULL, 0, false, 0, 0, NULL, NULL },
};

static void put_hit(struct json *j, yyjson_val *hit, bool cite)
{
	yyjson_val *key, *v;
	size_t i, n;

	json_obj(j);
	yyjson_obj_foreach(hit, i, n, key, v) {
		const char *name = yyjson_get_str(key);

		if (!cite && !strcmp(name, "citation"))
			continue;
		json_key(j, name);
		json_put_val(j, v);
	}
	json_end(j);
}

static void put_results(struct call *c, yyjson_val *hits, bool cite)
{
	size_t i, n, left_out = 0;
	yyjson_val *hit;

	json_key(&c->j, "results");
	json_arr(&c->j);
	yyjson_arr_foreach(hits, i, n, hit) {
		if (left_out || (i && c->out.len > RESULTS_MAX_BYTES))
			left_out++;
		else
			put_hit(&c->j, hit, cite);
	}
	json_arr_end(&c->j);
	if (left_out) {
		json_kint(&c->j, "leftOut", (int64_t)left_out);
		json_kstr(&c->j, "leftOutAction", "ask a narrower question, "
			  "or with after and before");
	}
}

static int run(struct call *c, struct remem_err *err)
{
	struct remem_search_opts o;
	struct ask k;
	yyjson_val *key, *v;
	size_t i, n;
	int rc;

	ask_begin(c, &o);
	o.source = arg_word(c, "corpus");
	o.after = arg_word(c, "after");
	o.before = arg_word(c, "before");
	o.deadline_ms = arg_int(c, "deadlineMs", 0);
	o.explain = arg_bool(c, "explain", false);
	if ((rc = ask_run(&k, c, &o, err)))
		return rc;
	json_obj(&c->j);
	json_kstr(&c->j, "notice", NOTES_ARE_DATA);
	yyjson_obj_foreach(k.root, i, n, key, v) {
		if (v == k.hits) {
			put_results(c, v, show_citations(c));
			continue;
		}
		json_key(&c->j, yyjson_get_str(key));
		json_put_val(&c->j, v);
	}
	json_end(&c->j);
	ask_end(&k);
	return 0;
}

const struct tool tool_search = {
	.name = "memory_search",
	.title = "Search memory",
	.help = "Search the user's notes of earlier work, decisions, people, "
		"dates, preferences and to-dos. Use it before answering about "
		"any of these. Returns cited snippets.",
	.params = params,
	.output = "{\"type\":\"object\",\"properties\":{"
		  "\"results\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
		  "\"properties\":{\"path\":{\"type\":\"string\"},"
		  "\"startLine\":{\"type\":\"integer\"},"
		  "\"endLine\":{\"type\":\"integer\"},"
		  "\"score\":{\"type\":\"number\"},"
		  "\"snippet\":{\"type\":\"string\"},"
		  "\"citation\":{\"type\":\"string\"},"
		  "\"origin\":{\"type\":[\"string\",\"null\"]},"
		  "\"flags\":{\"type\":\"array\"}},"
		  "\"required\":[\"path\",\"snippet\"]}},"
		  "\"stale\":{\"type\":\"boolean\"},"
		  "\"unavailable\":{\"type\":\"boolean\"}},"
		  "\"required\":[\"results\"]}",
	.run = run,
};
