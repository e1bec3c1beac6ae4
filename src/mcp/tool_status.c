/* memory_status */
#include "mcp/tool.h"

static const struct param params[] = {
	{ NULL, 0, false, 0, 0, NULL, NULL },
};

static int run(struct call *c, struct remem_err *err)
{
	char *json = NULL;
	int rc = remem_status(c->r, 0, &json, err);

	return rc ? rc : show_report(c, json, err);
}

const struct tool tool_status = {
	.name = "memory_status",
	.title = "State of memory",
	.help = "What is indexed, what waits or was skipped and why, and who "
		"makes the vectors.",
	.params = params,
	.run = run,
};
