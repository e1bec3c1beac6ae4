/* memory_review: what waits for a person's word. Only to look: an agent must
 * not approve what it proposed. */
#include "mcp/tool.h"

static const struct param params[] = {
	{ NULL, 0, false, 0, 0, NULL, NULL },
};

static int run(struct call *c, struct remem_err *err)
{
	char *json = NULL;
	int rc = remem_review(c->r, "list", NULL, 0, &json, err);

	return rc ? rc : show_whole(c, json, err);
}

const struct tool tool_review = {
	.name = "memory_review",
	.title = "Proposals for memory",
	.help = "What wants to go into MEMORY.md or USER.md and waits for the "
		"user: only the user can apply or reject it, by the command "
		"remem review. " NOTES_ARE_DATA,
	.params = params,
	.run = run,
};
