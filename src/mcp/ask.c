/* Searching for a tool; see ask.h. */
#include "mcp/ask.h"

#include <string.h>

/* 0 in the options means the setting, and a negative value none. */
#define NO_THRESHOLD -1.0

void ask_begin(struct call *c, struct remem_search_opts *o)
{
	*o = (struct remem_search_opts)REMEM_OPTS_INIT(*o);
	o->max_results = arg_int(c, "maxResults", 0);
	if (arg_given(c, "minScore")) {
		o->min_score = arg_num(c, "minScore", 0);
		if (o->min_score == 0)
			o->min_score = NO_THRESHOLD;
	}
	o->progress = request_progress;
	o->progress_ctx = c->q;
}

int ask_run(struct ask *k, struct call *c, struct remem_search_opts *o,
	    struct remem_err *err)
{
	struct remem_results *res;
	size_t len;
	const char *query = arg_text(c, "query", &len);
	char *json = NULL;
	int rc = remem_search(c->r, query, len, o, &res, err);

	k->doc = NULL;
	if (rc)
		return rc;
	rc = remem_results_json(res, &json, err);
	if (!rc)
		rc = json_read_verbatim(&k->doc, json, strlen(json), "answer",
					err);
	remem_results_free(res);
	remem_free(json);
	if (rc)
		return rc;
	k->root = yyjson_doc_get_root(k->doc);
	k->hits = yyjson_obj_get(k->root, "results");
	return 0;
}

void ask_end(struct ask *k)
{
	yyjson_doc_free(k->doc);
}
