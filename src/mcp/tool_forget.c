/* memory_forget, which only shows: what goes for good goes by the user. */
#include "mcp/tool.h"

static const struct param params[] = {
	{ "citation", PARAM_WORD, false, 0, 4096, NULL,
	  "The entry, as search cites it." },
	{ "text", PARAM_WORD, false, 0, 1024, NULL, "What entries hold." },
	{ "person", PARAM_WORD, false, 0, 200, NULL, "Whom they speak of." },
	{ "source", PARAM_WORD, false, 0, 1024, NULL,
	  "Where they were taken from." },
	{ "after", PARAM_DATE, false, 0, 0, NULL, "Of this day or later." },
	{ "before", PARAM_DATE, false, 0, 0, NULL, "Of this day or earlier." },
	{ NULL, 0, false, 0, 0, NULL, NULL },
};

static int run(struct call *c, struct remem_err *err)
{
	struct remem_forget_opts o = REMEM_OPTS_INIT(o);
	char *json = NULL;
	int rc;

	o.entry = arg_word(c, "citation");
	o.text = arg_word(c, "text");
	o.person = arg_word(c, "person");
	o.source = arg_word(c, "source");
	o.after = arg_word(c, "after");
	o.before = arg_word(c, "before");
	o.dry_run = 1;
	o.actor.size = sizeof(o.actor);
	o.actor.via = "mcp";
	rc = remem_forget(c->r, &o, &json, err);
	return rc ? rc : show_report(c, json, err);
}

const struct tool tool_forget = {
	.name = "memory_forget",
	.title = "What would be forgotten",
	.help = "Show which entries the user would lose by forgetting; nothing "
		"is taken away. The user forgets by the command remem forget.",
	.params = params,
	.writes = true,
	.run = run,
};
