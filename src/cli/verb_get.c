/* remem get */
#include <string.h>

#include "base/json.h"
#include "cli/cli.h"

static int show(struct cli *c, void *root)
{
	yyjson_val *text = yyjson_obj_get(root, "text");
	const char *message = json_str(root, "message", NULL);
	bool found = !strcmp(json_str(root, "status", ""), "ok");

	if (c->json)
		return found ? EXIT_DONE : EXIT_FAILED;
	cli_text(yyjson_get_str(text), yyjson_get_len(text), "");
	if (message)
		cli_note(c, "%s", message);
	return found ? EXIT_DONE : EXIT_FAILED;
}

int verb_get(struct cli *c)
{
	struct remem_get_opts o = REMEM_OPTS_INIT(o);
	struct remem_err err = { 0 };
	struct remem *r;
	int rc, offset = 0;
	char *json;

	if (c->arg_count != 1)
		return cli_usage(c, "get takes one path");
	if (!cli_int(c, "from", 1, INT32_MAX, &o.from) ||
	    !cli_int(c, "lines", 1, INT32_MAX, &o.lines) ||
	    !cli_int(c, "max-chars", 1, INT32_MAX, &o.max_chars) ||
	    !cli_int(c, "offset", 0, INT32_MAX, &offset))
		return EXIT_USAGE;
	o.offset = offset;
	o.as_of = cli_value(c, "as-of");
	if ((rc = cli_open(c, &r)))
		return rc;
	rc = remem_get(r, c->args[0], &o, &json, &err);
	rc = rc ? cli_fail(c, &err) : cli_report(c, json, show);
	remem_close(r);
	return rc;
}
