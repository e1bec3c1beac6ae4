/* remem daemon: the background process, by hand. */
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/json.h"
#include "cli/cli.h"
#include "front.h"

#define LOG_BYTES (4u << 20)
#define LOG_LINES 50 /* shown of its end */
#define IDLE_MINUTES 30 /* as daemon.idleMinutes, where there is no workspace */

static int show_status(struct cli *c, void *root)
{
	bool running = json_bool(root, "running", false);
	yyjson_val *v;
	size_t i, n;

	if (c->json)
		return running ? EXIT_DONE : EXIT_FAILED;
	if (!running) {
		puts("the background process does not run");
		return EXIT_FAILED;
	}
	printf("running    process %lld, remem %s, for %lld s; %lld requests\n",
	       (long long)json_int(root, "pid", 0),
	       json_str(root, "remem", "?"),
	       (long long)json_int(root, "upSeconds", 0),
	       (long long)json_int(root, "requests", 0));
	yyjson_arr_foreach(yyjson_obj_get(root, "workspaces"), i, n, v) {
		fputs("workspace  ", stdout);
		cli_word(json_str(v, "workspace", ""));
		printf(", %lld questions%s\n",
		       (long long)json_int(v, "asked", 0),
		       json_bool(v, "watched", false) ? ", watched" : "");
	}
	return EXIT_DONE;
}

static int status(struct cli *c, const struct helper_opts *o)
{
	struct remem_err err = { 0 };
	char *json;

	if (helper_status(o, &json, &err))
		return cli_fail(c, &err);
	return cli_report(c, json, show_status);
}

static int start(struct cli *c, const struct helper_opts *o)
{
	struct remem_err err = { 0 };

	return helper_start(o, &err) ? cli_fail(c, &err) : status(c, o);
}

static int stop(struct cli *c, const struct helper_opts *o)
{
	struct remem_err err = { 0 };
	int rc = helper_stop(o, &err);

	/* It does not run, which is what was asked for. */
	if (rc && rc != REMEM_ENOTFOUND)
		return cli_fail(c, &err);
	puts(c->json ? "{\"version\":1,\"running\":false}" :
	     rc ? "the background process does not run" : "ended");
	return EXIT_DONE;
}

/* Where the last lines begin. */
static const char *last_lines(const char *text, size_t len, int lines)
{
	const char *p = text + len;

	for (p -= len > 0; p > text; p--)
		if (p[-1] == '\n' && !--lines)
			break;
	return p;
}

static int logs(struct cli *c, const struct helper_opts *o)
{
	struct buf b = BUF_INIT(LOG_BYTES);
	struct remem_err err = { 0 };
	char path[2048];
	const char *from;
	int rc = helper_log(o, path, sizeof(path), &err);

	if (!rc)
		rc = file_read(&b, path, &err);
	if (rc && rc != REMEM_ENOTFOUND) {
		buf_release(&b);
		return cli_fail(c, &err);
	}
	from = last_lines(buf_str(&b), b.len, LOG_LINES);
	if (rc)
		cli_note(c, "there is no log yet");
	else
		cli_text(from, strlen(from), "");
	buf_release(&b);
	return EXIT_DONE;
}

static int run(struct cli *c, const struct helper_opts *o)
{
	struct remem_err err = { 0 };

	return helper_serve(o, &err) ? cli_fail(c, &err) : EXIT_DONE;
}

/* From the option, the settings of the workspace, or the default. */
static bool take_minutes(struct cli *c, int *out)
{
	struct remem_traits t = REMEM_OPTS_INIT(t);
	struct remem_open_opts open;
	struct remem *r = NULL;

	*out = IDLE_MINUTES;
	if (cli_value(c, "idle-minutes"))
		return cli_int(c, "idle-minutes", 0, 10080, out);
	if (!cli_open_opts(c, &open) && !remem_open(&r, &open, NULL) &&
	    !remem_traits(r, &t, NULL))
		*out = t.idle_minutes;
	remem_close(r);
	return true;
}

int verb_daemon(struct cli *c)
{
	static const struct {
		const char *name;
		int (*fn)(struct cli *c, const struct helper_opts *o);
	} actions[] = {
		{ "start", start }, { "stop", stop }, { "status", status },
		{ "logs", logs }, { "run", run },
	};
	struct helper_opts o = { .env = c->env, .program = c->program };

	if (c->arg_count != 1)
		return cli_usage(c, "say start, stop, status, logs or run");
	for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
		if (strcmp(c->args[0], actions[i].name))
			continue;
		if (!take_minutes(c, &o.idle_minutes))
			return EXIT_USAGE;
		return actions[i].fn(c, &o);
	}
	return cli_usage(c, "daemon knows start, stop, status, logs and run, "
			 "not '%.40s'", c->args[0]);
}
