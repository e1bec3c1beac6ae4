/* remem context */
#include <string.h>

#include "base/json.h"
#include "cli/cli.h"

static int show(struct cli *c, void *root)
{
	yyjson_val *text = yyjson_obj_get(root, "text"), *left, *item;
	const char *error = json_str(root, "taskError", NULL);
	size_t i, n;

	if (c->json)
		return EXIT_DONE;
	cli_text(yyjson_get_str(text), yyjson_get_len(text), "");
	left = yyjson_obj_get(root, "leftOut");
	yyjson_arr_foreach(left, i, n, item)
		cli_note(c, "left out: %lld of %s (%s)",
			 (long long)json_int(item, "entries", 0),
			 json_str(item, "path", "the task's hits"),
			 json_str(item, "reason", ""));
	if (error)
		cli_note(c, "nothing for the task: %s", error);
	return EXIT_DONE;
}

int verb_context(struct cli *c)
{
	struct remem_context_opts o = REMEM_OPTS_INIT(o);
	const char *audience = cli_value(c, "audience");
	struct remem_err err = { 0 };
	struct remem *r;
	char *json;
	int rc;

	if (c->arg_count)
		return cli_usage(c, "context takes no arguments; a task is "
				 "given with --task");
	if (!cli_int(c, "budget", 1, 1000000, &o.budget_tokens) ||
	    !cli_int(c, "max-chars", 1, INT32_MAX, &o.max_chars))
		return EXIT_USAGE;
	if (audience && strcmp(audience, "private") &&
	    strcmp(audience, "shared"))
		return cli_usage(c, "--audience is private or shared, not '%s'",
				 audience);
	o.shared = audience && !strcmp(audience, "shared");
	o.task = cli_value(c, "task");
	if ((rc = cli_open(c, &r)))
		return rc;
	rc = remem_context(r, &o, &json, &err);
	rc = rc ? cli_fail(c, &err) : cli_report(c, json, show);
	remem_close(r);
	return rc;
}
