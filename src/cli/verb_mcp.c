/* remem mcp: memory for agents' programs, by the Model Context Protocol. */
#include "base/err.h"
#include "cli/cli.h"
#include "front.h"

int verb_mcp(struct cli *c)
{
	struct mcp_opts o = { .tools = cli_value(c, "tools"),
			      .compat = cli_value(c, "compat"),
			      .shared = cli_flag(c, "shared") };
	struct remem_err err = { 0 };
	int rc;

	if (c->arg_count)
		return cli_usage(c, "mcp takes no argument");
	if ((rc = cli_open_opts(c, &o.open)))
		return rc;
	rc = mcp_serve(&o, &err);
	if (rc == REMEM_EINVAL)
		return cli_usage(c, "%s", err.message);
	return rc ? cli_fail(c, &err) : EXIT_DONE;
}
