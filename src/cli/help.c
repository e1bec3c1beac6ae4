/* Help from the table. */
#include <string.h>

#include "cli/cli.h"

static void put_options(const char *verb)
{
	for (int i = 0; opt_at(i); i++) {
		const struct opt *o = opt_at(i);
		char name[64];

		if (strcmp(o->verb, verb))
			continue;
		snprintf(name, sizeof(name), "--%s%s%s", o->name,
			 o->arg ? " " : "", o->arg ? o->arg : "");
		printf("  %c%c%c %-18s  %s\n", o->letter ? '-' : ' ',
		       o->letter ? o->letter : ' ', o->letter ? ',' : ' ',
		       name, o->help);
	}
}

int help_all(void)
{
	puts("remem: memory for AI agents. Notes in, cited answers out.\n\n"
	     "  remem VERB [OPTION...] [ARGUMENT...]\n");
	for (int i = 0; verb_at(i); i++)
		printf("  %-8s  %s\n", verb_at(i)->name, verb_at(i)->help);
	puts("\nOptions of every verb:");
	put_options("all");
	puts("\nremem help VERB shows its own. Exit codes: 0 done, 1 failed,\n"
	     "2 the command line makes no sense, 3 partly done.");
	return EXIT_DONE;
}

int help_verb(const struct verb *v)
{
	bool own = false;

	for (int i = 0; opt_at(i); i++)
		own = own || !strcmp(opt_at(i)->verb, v->name);
	printf("  remem %s\n\n%s\n", v->synopsis, v->help);
	if (own) {
		puts("\nOptions:");
		put_options(v->name);
	}
	puts("\nOptions of every verb:");
	put_options("all");
	return EXIT_DONE;
}

static const char *verb_name(int i)
{
	return verb_at(i) ? verb_at(i)->name : NULL;
}

int verb_help(struct cli *c)
{
	const struct verb *v;
	const char *near;

	if (!c->arg_count)
		return help_all();
	v = verb_find(c->args[0]);
	if (v)
		return help_verb(v);
	near = cli_nearest(c->args[0], verb_name);
	return cli_usage(c, "there is no verb '%.60s'%s%s%s", c->args[0],
			 near ? ", did you mean '" : "", near ? near : "",
			 near ? "'?" : "");
}
