/* remem add, remem append: a text into a note. */
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/cli.h"

static int show(struct cli *c, void *root)
{
	const char *why = json_str(root, "reviewReason", NULL);
	int64_t secrets = json_int(root, "secrets", 0);
	bool dry = json_bool(root, "dryRun", false);

	if (c->json)
		return EXIT_DONE;
	if (secrets)
		cli_note(c, "%lld %s masked", (long long)secrets,
			 secrets == 1 ? "secret" : "secrets");
	if (json_bool(root, "duplicate", false)) {
		fputs("already there: ", stdout);
		cli_word(json_str(root, "path", ""));
		putchar('\n');
		return EXIT_DONE;
	}
	if (why) {
		printf("not added, for %s: ", why);
		if (json_bool(root, "rejected", false))
			puts("it was rejected before");
		else if (dry)
			puts("it would wait for review");
		else
			printf("remem review show %lld\n",
			       (long long)json_int(root, "review", 0));
		return EXIT_DONE;
	}
	fputs(dry ? "would add to " : "added ", stdout);
	cli_word(json_str(root, "citation", ""));
	if (!dry)
		printf(", record %lld", (long long)json_int(root, "journal", 0));
	putchar('\n');
	if (dry) {
		const char *text = json_str(root, "text", "");

		cli_text(text, strlen(text), "  ");
	}
	return EXIT_DONE;
}

/* A person, not a program that feeds us: only then is it the owner's word. */
static bool at_terminal(void)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

static int take_origin(struct cli *c, struct remem_actor *actor)
{
	static const struct {
		const char *name;
		enum remem_origin origin;
	} classes[] = {
		{ "owner", REMEM_ORIGIN_OWNER },
		{ "agent", REMEM_ORIGIN_AGENT },
		{ "system", REMEM_ORIGIN_SYSTEM },
		{ "untrusted", REMEM_ORIGIN_UNTRUSTED },
		{ "unknown", REMEM_ORIGIN_UNKNOWN },
	};
	enum remem_origin best = at_terminal() ? REMEM_ORIGIN_OWNER :
						 REMEM_ORIGIN_AGENT;
	const char *s = cli_value(c, "origin");

	actor->origin = best;
	for (size_t i = 0; s && i < ARRAY_LEN(classes); i++) {
		if (strcmp(s, classes[i].name))
			continue;
		if (classes[i].origin > best)
			return cli_usage(c, "only a person at a terminal is "
					 "the owner");
		actor->origin = classes[i].origin;
		return EXIT_DONE;
	}
	return s ? cli_usage(c, "--origin is owner, agent, system, untrusted "
			     "or unknown, not '%.40s'", s) : EXIT_DONE;
}

static int take_opts(struct cli *c, struct remem_append_opts *o)
{
	o->triggers = cli_value(c, "trigger");
	o->project = cli_value(c, "project");
	o->source = cli_value(c, "source");
	o->observed = cli_value(c, "observed");
	o->verbatim = cli_flag(c, "verbatim");
	o->dry_run = cli_flag(c, "dry-run");
	o->actor = (struct remem_actor)REMEM_OPTS_INIT(o->actor);
	o->actor.via = "cli";
	o->actor.session = cli_value(c, "session");
	if (!cli_int(c, "importance", 1, 10, &o->importance))
		return EXIT_USAGE;
	return take_origin(c, &o->actor);
}

/* The words from the command line, or standard input for none and "-". */
static int take_text(struct cli *c, struct buf *text, size_t first)
{
	if (first == c->arg_count ||
	    (first + 1 == c->arg_count && !strcmp(c->args[first], "-")))
		return cli_read_all(c, text);
	for (size_t i = first; i < c->arg_count; i++) {
		if (i > first)
			buf_addc(text, ' ');
		buf_adds(text, c->args[i]);
	}
	return text->failed ? EXIT_FAILED : EXIT_DONE;
}

static int add(struct cli *c, const char *to, size_t first)
{
	struct remem_append_opts o = REMEM_OPTS_INIT(o);
	struct buf text = BUF_INIT(0);
	struct remem_err err = { 0 };
	struct remem *r;
	char *json;
	int rc = take_opts(c, &o);

	o.to = to;
	if (!rc)
		rc = take_text(c, &text, first);
	if (!rc && !(rc = cli_open(c, &r))) {
		rc = remem_append(r, buf_str(&text), text.len, &o, &json,
				  &err) ? cli_fail(c, &err) :
					  cli_report(c, json, show);
		remem_close(r);
	}
	buf_release(&text);
	return rc;
}

int verb_add(struct cli *c)
{
	if (!c->arg_count)
		return cli_usage(c, "add what? - reads it from standard "
				 "input");
	return add(c, cli_value(c, "to"), 0);
}

int verb_append(struct cli *c)
{
	const char *to = cli_value(c, "to");

	if (!to && !c->arg_count)
		return cli_usage(c, "append to which note?");
	return to ? add(c, to, 0) : add(c, c->args[0], 1);
}
