/* remem git */
#include <string.h>

#include "base/json.h"
#include "cli/cli.h"

static void show_status(void *root)
{
	yyjson_val *all = yyjson_obj_get(root, "changes"), *v;
	const char *busy = json_str(root, "busy", NULL);
	const char *top = json_str(root, "repository", NULL);
	size_t i, n;

	if (!top) {
		puts("no repository; remem git init makes one");
		return;
	}
	fputs("repository ", stdout);
	cli_word(top);
	printf(", commits by themselves: %s\n", json_str(root, "commits", ""));
	if (busy)
		printf("%s is under way: no commit until it is over\n", busy);
	yyjson_arr_foreach(all, i, n, v) {
		printf("%-8s ", json_str(v, "what", ""));
		cli_word(json_str(v, "path", ""));
		putchar('\n');
	}
	if (!yyjson_arr_size(all))
		puts("nothing to commit");
}

static void show_log(void *root)
{
	yyjson_val *all = yyjson_obj_get(root, "entries"), *v;
	size_t i, n;

	yyjson_arr_foreach(all, i, n, v) {
		printf("%.10s %.16s ", json_str(v, "commit", ""),
		       json_str(v, "at", ""));
		cli_word(json_str(v, "subject", ""));
		putchar('\n');
	}
}

static int show(struct cli *c, void *root)
{
	const char *action = json_str(root, "action", "");
	const char *commit = json_str(root, "commit", NULL);

	if (c->json)
		return EXIT_DONE;
	if (!strcmp(action, "status"))
		show_status(root);
	else if (!strcmp(action, "log"))
		show_log(root);
	else if (!strcmp(action, "commit"))
		printf(commit ? "committed %.10s\n" : "nothing to commit\n",
		       commit);
	else
		puts(json_bool(root, "made", false) ?
			     "made a repository" : "there is a repository");
	return EXIT_DONE;
}

int verb_git(struct cli *c)
{
	struct remem_err err = { 0 };
	struct remem *r;
	char *json;
	int rc;

	if (c->arg_count != 1)
		return cli_usage(c, "git does init, status, log or commit");
	if ((rc = cli_open(c, &r)))
		return rc;
	rc = remem_git(r, c->args[0], &json, &err);
	rc = rc ? cli_fail(c, &err) : cli_report(c, json, show);
	remem_close(r);
	return rc;
}
