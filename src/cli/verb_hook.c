/* remem hook: never fails the program that calls it. */
#include <string.h>

#include "cli/cli.h"
#include "front.h"

int verb_hook(struct cli *c)
{
	const char *audience = cli_value(c, "audience");
	struct hook_opts o = { .wait = cli_flag(c, "wait") };

	if (c->arg_count != 2)
		return cli_usage(c, "hook takes a host and an event");
	if (!cli_int(c, "timeout", 1, 600000, &o.timeout_ms))
		return EXIT_USAGE;
	o.host = c->args[0];
	o.event = c->args[1];
	o.shared = audience && !strcmp(audience, "shared");
	/* What the library has to say would be read by the host. */
	c->quiet = true;
	if (cli_open_opts(c, &o.open))
		return EXIT_DONE;
	return hook_run(&o);
}
