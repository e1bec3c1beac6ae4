/* remem mcp: memory for agents' programs, by the Model Context Protocol. */
#include "base/err.h"
#include "cli/cli.h"
#include "front.h"

int verb_mcp(struct cli *c)
{
	struct mcp_opts o = { .tools = cli_value(c, "tools"),
			      .compat = cli_value(c, "compat"),
			      .shared = cli_flag(c, "shared"),
			      .http = cli_flag(c, "http"),
			      .host = cli_value(c, "host"),
			      .token_file = cli_value(c, "token-file") };
	struct remem_err err = { 0 };
	int rc;

	if (c->arg_count)
		return cli_usage(c, "mcp takes no argument");
	if (!cli_int(c, "port", 0, 65535, &o.port))
		return EXIT_USAGE;
	if (cli_value(c, "port") && !o.port)
		o.port = -1;
	if ((rc = cli_open_opts(c, &o.open)))
		return rc;
	rc = mcp_serve(&o, &err);
	if (rc == REMEM_EINVAL)
		return cli_usage(c, "%s", err.message);
	return rc ? cli_fail(c, &err) : EXIT_DONE;
}
