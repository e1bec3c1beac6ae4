/* See talk_opts.h. */
#include "cli/talk_opts.h"

int talk_opts(struct cli *c, struct remem_talk_opts *o)
{
	*o = (struct remem_talk_opts)REMEM_OPTS_INIT(*o);
	if (c->arg_count)
		return cli_usage(c, "%s takes no arguments; the file is given "
				 "with --transcript", c->verb->name);
	o->transcript = cli_value(c, "transcript");
	o->format = cli_value(c, "format");
	o->session = cli_value(c, "session");
	o->reason = cli_value(c, "reason");
	o->force = cli_flag(c, "force");
	o->dry_run = cli_flag(c, "dry-run");
	o->actor = (struct remem_actor)REMEM_OPTS_INIT(o->actor);
	o->actor.via = cli_value(c, "via") ? cli_value(c, "via") : "cli";
	o->actor.session = o->session;
	if (!o->transcript)
		return cli_usage(c, "say which conversation: --transcript FILE");
	return EXIT_DONE;
}
