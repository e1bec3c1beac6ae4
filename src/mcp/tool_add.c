/* memory_add */
#include "mcp/add.h"

static const struct param params[] = {
	{ "content", PARAM_TEXT, true, 0, 20000, NULL,
	  "What to remember: one fact in a sentence that can stand alone." },
	{ "target", PARAM_WORD, false, 0, 1024, NULL,
	  "today (if left out), MEMORY for what holds for good, USER for the "
	  "user's person, or memory/x.md." },
	{ "importance", PARAM_INT, false, 1, 10, NULL, "1 to 10." },
	{ "triggers", PARAM_WORD, false, 0, 200, NULL,
	  "Up to three words, with commas, that should bring it to mind." },
	{ NULL, 0, false, 0, 0, NULL, NULL },
};

static int run(struct call *c, struct remem_err *err)
{
	struct remem_append_opts o;
	size_t len;
	const char *text = arg_text(c, "content", &len);
	char *json = NULL;
	int rc;

	add_begin(c, &o);
	o.to = arg_word(c, "target");
	o.importance = arg_int(c, "importance", 0);
	o.triggers = arg_word(c, "triggers");
	rc = remem_append(c->r, text, len, &o, &json, err);
	return rc ? rc : show_whole(c, json, err);
}

const struct tool tool_add = {
	.name = "memory_add",
	.title = "Add to memory",
	.help = "Note down one thing worth remembering: a decision with its "
		"reason, a fact, a preference, a to-do. The same text is kept "
		"once a day. Never for secrets.",
	.params = params,
	.writes = true,
	.run = run,
};
