/*
 * memory_forget, as OpenClaw's LanceDB plugin has it: by id, or by a question
 * that has one answer beyond doubt; else it lists what might be meant.
 */
#include <string.h>

#include "mcp/tool.h"

#define CANDIDATES 5
#define CANDIDATE_SCORE 0.7 /* the plugin's two thresholds */
#define CERTAIN_SCORE 0.9

static const struct param params[] = {
	{ "query", PARAM_WORD, false, 0, 1024, NULL, "What to forget." },
	{ "memoryId", PARAM_WORD, false, 0, 4096, NULL,
	  "The id, as memory_recall gives it." },
	{ NULL, 0, false, 0, 0, NULL, NULL },
};

static int forget(struct call *c, const char *id, struct remem_err *err)
{
	struct remem_forget_opts o = REMEM_OPTS_INIT(o);
	char *json = NULL;
	yyjson_doc *doc;
	size_t n;
	int rc;

	o.entry = id;
	o.actor.size = sizeof(o.actor);
	o.actor.via = "mcp";
	if (!strstr(id, "#L"))
		return fail(err, REMEM_EINVAL, "'%.200s' is no id of a memory",
			    id);
	if ((rc = remem_forget(c->r, &o, &json, err)))
		return rc;
	rc = json_read_verbatim(&doc, json, strlen(json), "answer", err);
	if (!rc) {
		n = yyjson_arr_size(yyjson_obj_get(yyjson_doc_get_root(doc),
						   "entries"));
		json_obj(&c->j);
		json_kstr(&c->j, "action", n ? "deleted" : "not_found");
		json_kstr(&c->j, "id", id);
		json_kint(&c->j, "entries", (int64_t)n);
		json_end(&c->j);
		yyjson_doc_free(doc);
	}
	remem_free(json);
	return rc;
}

static void put_candidates(struct call *c, const struct remem_results *res)
{
	size_t n = remem_results_count(res);

	json_obj(&c->j);
	json_kstr(&c->j, "action", n ? "candidates" : "not_found");
	json_key(&c->j, "candidates");
	json_arr(&c->j);
	for (size_t i = 0; i < n; i++) {
		const struct remem_hit *h = remem_results_hit(res, i);

		json_obj(&c->j);
		json_kstr(&c->j, "id", h->citation);
		json_kstr(&c->j, "text", h->snippet);
		json_kfixed(&c->j, "score", h->relevance, 4);
		json_end(&c->j);
	}
	json_arr_end(&c->j);
	json_end(&c->j);
}

/* The one that is meant beyond doubt, NULL when there is none or more. */
static const char *certain(struct call *c, const struct remem_results *res)
{
	const char *id = NULL;
	int n = 0;

	for (size_t i = 0; i < remem_results_count(res); i++) {
		const struct remem_hit *h = remem_results_hit(res, i);

		if (h->relevance <= CERTAIN_SCORE)
			continue;
		n++;
		id = h->citation;
	}
	return n == 1 ? arena_strdup(&c->a, id) : NULL;
}

static int run(struct call *c, struct remem_err *err)
{
	struct remem_search_opts so = REMEM_OPTS_INIT(so);
	const char *query = arg_word(c, "query"), *id;
	struct remem_results *res = NULL;
	int rc;

	if (arg_word(c, "memoryId"))
		return forget(c, arg_word(c, "memoryId"), err);
	if (!query || !query[0])
		return fail(err, REMEM_EINVAL, "give query or memoryId");
	so.max_results = CANDIDATES;
	so.min_score = CANDIDATE_SCORE;
	so.source = "memory";
	if ((rc = remem_search(c->r, query, strlen(query), &so, &res, err)))
		return rc;
	id = certain(c, res);
	if (!id)
		put_candidates(c, res);
	remem_results_free(res);
	return id ? forget(c, id, err) : 0;
}

const struct tool tool_lancedb_forget = {
	.name = "memory_forget",
	.title = "Forget",
	.help = "Take something out of long-term memory for good, by its id, or "
		"by a question that only one memory answers.",
	.params = params,
	.writes = true,
	.destroys = true,
	.run = run,
};
