/* From argv to a verb and its exit code. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/env.h"
#include "base/file.h"
#include "cli/cli.h"

/* The program's own path, to find the models that lie beside it. */
static const char *find_program(struct cli *c, const char *argv0)
{
	char *path = arena_alloc(&c->a, 4096);
	ssize_t n = path ? readlink("/proc/self/exe", path, 4095) : -1;

	if (n <= 0)
		return argv0;
	path[n] = '\0';
	return path;
}

static void on_log(void *ctx, int level, const char *component,
		   const char *message)
{
	struct cli *c = ctx;

	if (level <= 1 && c->quiet)
		return;
	fflush(stdout);
	if (level <= 1)
		fprintf(stderr, "remem: %s%s\n", level ? "warning: " : "",
			message);
	else
		fprintf(stderr, "remem[%s]: %s\n", component, message);
}

static bool wants_color(const char *const *env)
{
	const char *term = env_find(env, "TERM");

	return isatty(STDOUT_FILENO) && !env_find(env, "NO_COLOR") && term &&
	       strcmp(term, "dumb");
}

static int set_up(struct cli *c)
{
	struct remem_err err = { 0 };
	const char *cpu = env_find(c->env, "REMEM_CPU");

	remem_log(on_log, c, env_find(c->env, "REMEM_TRACE"));
	if (cpu && remem_cpu(cpu, &err))
		return cli_fail(c, &err);
#ifndef NDEBUG
	/* Tests kill the program at its n-th write. */
	if (env_find(c->env, "REMEM_TEST_KILL_AT"))
		file_fault_at(atol(env_find(c->env, "REMEM_TEST_KILL_AT")));
#endif
	return EXIT_DONE;
}

int cli_open_opts(struct cli *c, struct remem_open_opts *o)
{
	const char **set;
	size_t n = 0;

	*o = (struct remem_open_opts)REMEM_OPTS_INIT(*o);
	o->workspace = cli_value(c, "workspace");
	o->agent = cli_value(c, "agent");
	o->env = c->env;
	o->config_file = cli_value(c, "config");
	o->program = c->program;
	o->read_only = cli_flag(c, "read-only");
	set = ARENA_ARRAY(&c->a, const char *, c->option_count + 1);
	if (!set)
		return EXIT_FAILED;
	for (size_t i = 0; i < c->option_count; i++)
		if (!strcmp(c->options[i].opt->name, "set") &&
		    !strcmp(c->options[i].opt->verb, "all"))
			set[n++] = c->options[i].value;
	o->set = set;
	return EXIT_DONE;
}

static int open_handle(struct cli *c, struct remem **out, int anywhere)
{
	struct remem_open_opts o;
	struct remem_err err = { 0 };
	int rc = cli_open_opts(c, &o);

	if (rc)
		return rc;
	o.anywhere = anywhere;
	return remem_open(out, &o, &err) ? cli_fail(c, &err) : EXIT_DONE;
}

int cli_open(struct cli *c, struct remem **out)
{
	return open_handle(c, out, 0);
}

int cli_open_anywhere(struct cli *c, struct remem **out)
{
	return open_handle(c, out, 1);
}

static int dispatch(struct cli *c)
{
	if (cli_flag(c, "version"))
		return verb_version(c);
	if (cli_flag(c, "help"))
		return c->verb ? help_verb(c->verb) : help_all();
	if (!c->verb)
		return c->option_count ? cli_usage(c, "say what to do") :
					 help_all();
	return c->verb->run(c);
}

int cli_main(int argc, char **argv, char **env)
{
	struct cli c = { .a = ARENA_INIT,
			 .env = (const char *const *)env };
	int rc;

	c.program = find_program(&c, argc > 0 ? argv[0] : "remem");
	c.color = wants_color(c.env);
	/* Known before the rest, so that a wrong option is told as JSON too. */
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
		c.json = c.json || !strcmp(argv[i], "--json");
	rc = cli_parse(&c, argc, argv);
	if (!rc)
		rc = set_up(&c);
	if (!rc)
		rc = dispatch(&c);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "remem: cannot write the answer\n");
		rc = rc ? rc : EXIT_FAILED;
	}
	arena_release(&c.a);
	return rc;
}
