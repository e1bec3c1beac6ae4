/* memory_log: what was written to memory, and by whom. */
#include "mcp/tool.h"

#define LIMIT 20
#define LIMIT_MAX 100

static const struct param params[] = {
	{ "trace", PARAM_WORD, false, 0, 4096, NULL,
	  "Only what concerns this path or citation." },
	{ "limit", PARAM_INT, false, 1, LIMIT_MAX, NULL,
	  "How many records; 20 if left out." },
	{ NULL, 0, false, 0, 0, NULL, NULL },
};

static int run(struct call *c, struct remem_err *err)
{
	struct remem_journal_opts o = REMEM_OPTS_INIT(o);
	char *json = NULL;
	int rc;

	o.trace = arg_word(c, "trace");
	o.limit = arg_int(c, "limit", LIMIT);
	rc = remem_journal(c->r, &o, &json, err);
	return rc ? rc : show_whole(c, json, err);
}

const struct tool tool_log = {
	.name = "memory_log",
	.title = "Journal of memory",
	.help = "Who wrote what into memory and when, newest last: where a line "
		"comes from, and what changed lately.",
	.params = params,
	.run = run,
};
