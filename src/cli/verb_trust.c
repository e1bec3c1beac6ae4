/* remem trust */
#include <string.h>

#include "base/json.h"
#include "cli/cli.h"

static int show(struct cli *c, void *root)
{
	const char *file = json_str(root, "file", NULL);

	if (c->json)
		return EXIT_DONE;
	if (file)
		cli_word(file);
	puts(!file ? "the workspace has no remem.yaml" :
	     json_bool(root, "trusted", false) ?
		     " is trusted: every key in it counts" :
		     " is not trusted: only safe keys in it count");
	return EXIT_DONE;
}

int verb_trust(struct cli *c)
{
	struct remem_err err = { 0 };
	struct remem *r;
	int rc, on = -1;
	char *json;

	if (c->arg_count == 1 && !strcmp(c->args[0], "on"))
		on = 1;
	else if (c->arg_count == 1 && !strcmp(c->args[0], "off"))
		on = 0;
	else if (c->arg_count)
		return cli_usage(c, "trust is on or off");
	if ((rc = cli_open(c, &r)))
		return rc;
	rc = remem_trust(r, on, &json, &err);
	rc = rc ? cli_fail(c, &err) : cli_report(c, json, show);
	remem_close(r);
	return rc;
}
