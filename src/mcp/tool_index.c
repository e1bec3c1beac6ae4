/* memory_index: a sync as long as it takes, which can be watched and ended. */
#include "mcp/tool.h"

static const struct param params[] = {
	{ NULL, 0, false, 0, 0, NULL, NULL },
};

static int run(struct call *c, struct remem_err *err)
{
	struct remem_index_opts o = REMEM_OPTS_INIT(o);
	char *json = NULL;
	int rc;

	o.progress = request_progress;
	o.progress_ctx = c->q;
	o.wait_ms = 30000;
	rc = remem_index(c->r, &o, &json, err);
	return rc ? rc : show_report(c, json, err);
}

const struct tool tool_index = {
	.name = "memory_index",
	.title = "Bring the index up to date",
	.help = "Index all notes that have changed, vectors included. Searches "
		"do this by themselves within a short time; use it when an "
		"answer says that the index is not complete.",
	.params = params,
	.writes = true,
	.run = run,
};
