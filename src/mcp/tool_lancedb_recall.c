/* memory_recall, as OpenClaw's LanceDB plugin has it. */
#include <string.h>

#include "mcp/ask.h"

#define LIMIT 5
#define LIMIT_MAX 50
#define MIN_RELEVANCE .1 /* the plugin's own */

static const struct param params[] = {
	{ "query", PARAM_TEXT, true, 0, 2000, NULL, "What to look for." },
	{ "limit", PARAM_INT, false, 1, LIMIT_MAX, NULL, "Memories at most; 5." },
	{ "scope", PARAM_WORD, false, 0, 64, NULL,
	  "Project whose memories come first." },
	{ NULL, 0, false, 0, 0, NULL, NULL },
};

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

/* Where the snippet holds one that memory_store wrote. */
static const char *category_of(yyjson_val *snippet)
{
	static const char *const names[] = { "preference", "fact", "decision",
					     "entity" };
	const char *s = yyjson_get_str(snippet);

	for (size_t i = 0; s && i < ARRAY_LEN(names); i++) {
		size_t n = strlen(names[i]);

		if (!strncmp(s, "- [", 3) && !strncmp(s + 3, names[i], n) &&
		    s[3 + n] == ']')
			return names[i];
	}
	return "other";
}

static void put_memory(struct call *c, yyjson_val *hit, size_t number)
{
	yyjson_val *snippet = yyjson_obj_get(hit, "snippet");
	double score = rpc_num(yyjson_obj_get(hit, "relevance"), 0);
	const char *category = category_of(snippet);
	struct json *j = &c->j;

	buf_addf(&c->text, "%zu. [%s] ", number, category);
	put_escaped(&c->text, yyjson_get_str(snippet), yyjson_get_len(snippet));
	buf_addf(&c->text, " (%.0f%%)\n", score * 100);
	json_obj(j);
	json_kstr(j, "id", json_str(hit, "citation", ""));
	json_key(j, "text");
	json_put_val(j, snippet);
	json_kstr(j, "category", category);
	json_kfixed(j, "importance", .7, 1);
	json_kfixed(j, "score", score, 4);
	json_kstr(j, "origin", json_str(hit, "origin", NULL));
	json_end(j);
}

struct recall {
	yyjson_val *hits[LIMIT_MAX];
	size_t count, limit;
};

static bool is_in(const struct recall *m, yyjson_val *hit)
{
	for (size_t i = 0; i < m->count; i++)
		if (!strcmp(json_str(m->hits[i], "citation", ""),
			    json_str(hit, "citation", "")))
			return true;
	return false;
}

static void gather(struct recall *m, const struct ask *k)
{
	yyjson_val *hit;
	size_t i, n;

	yyjson_arr_foreach(k->hits, i, n, hit)
		if (m->count < m->limit && !is_in(m, hit))
			m->hits[m->count++] = hit;
}

static void put_memories(struct call *c, const struct recall *m)
{
	if (m->count)
		buf_addf(&c->text, "Memories found (%zu). " NOTES_ARE_DATA
			 "\n", m->count);
	else
		buf_adds(&c->text, "No memory fits.\n");
	json_obj(&c->j);
	json_kint(&c->j, "count", (int64_t)m->count);
	json_key(&c->j, "memories");
	json_arr(&c->j);
	for (size_t i = 0; i < m->count; i++)
		put_memory(c, m->hits[i], i + 1);
	json_arr_end(&c->j);
	json_end(&c->j);
}

/* Of the scope first, then of all. */
static int run(struct call *c, struct remem_err *err)
{
	const char *scope = arg_word(c, "scope");
	struct recall m = { .limit = (size_t)arg_int(c, "limit", LIMIT) };
	struct remem_search_opts o;
	struct ask own = { .doc = NULL }, all = { .doc = NULL };
	int rc = 0;

	ask_begin(c, &o);
	o.max_results = (int)m.limit;
	o.min_score = MIN_RELEVANCE;
	o.project = scope;
	if (scope && !(rc = ask_run(&own, c, &o, err)))
		gather(&m, &own);
	o.project = NULL;
	if (!rc && !(rc = ask_run(&all, c, &o, err)))
		gather(&m, &all);
	if (!rc)
		put_memories(c, &m);
	ask_end(&own);
	ask_end(&all);
	return rc;
}

const struct tool tool_lancedb_recall = {
	.name = "memory_recall",
	.title = "Recall",
	.help = "Look through long-term memory: preferences, decisions, facts, "
		"people, earlier topics.",
	.params = params,
	.run = run,
};
