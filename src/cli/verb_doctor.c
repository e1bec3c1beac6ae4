/* remem doctor */
#include <string.h>

#include "base/json.h"
#include "cli/cli.h"

static void put_check(struct cli *c, yyjson_val *v)
{
	const char *status = json_str(v, "status", "");
	const char *action = json_str(v, "action", "");
	bool fixed = json_bool(v, "fixed", false);
	bool good = fixed || !strcmp(status, "ok");

	cli_style(c, good ? "32" : strcmp(status, "error") ? "33" : "31");
	printf("%-8s", fixed ? "fixed" : status);
	cli_style(c, "0");
	printf("%-10s ", json_str(v, "name", ""));
	cli_word(json_str(v, "message", ""));
	putchar('\n');
	if (!good && action[0]) {
		fputs("                   ", stdout);
		cli_word(action);
		putchar('\n');
	}
}

static int show(struct cli *c, void *root)
{
	yyjson_val *v;
	size_t i, n;

	if (!c->json)
		yyjson_arr_foreach(yyjson_obj_get(root, "checks"), i, n, v)
			put_check(c, v);
	return json_bool(root, "ok", false) ? EXIT_DONE : EXIT_FAILED;
}

static int show_memory(struct cli *c, void *root)
{
	yyjson_val *all = yyjson_obj_get(root, "findings"), *v, *at;
	size_t i, n, k, m;

	if (c->json)
		return EXIT_DONE;
	yyjson_arr_foreach(all, i, n, v) {
		printf("%-10s", json_str(v, "kind", ""));
		yyjson_arr_foreach(yyjson_obj_get(v, "citations"), k, m, at) {
			cli_word(yyjson_get_str(at));
			fputs(k + 1 < m ? ", " : ": ", stdout);
		}
		cli_word(json_str(v, "message", ""));
		fputs("\n          ", stdout);
		cli_word(json_str(v, "remedy", ""));
		putchar('\n');
	}
	if (!yyjson_arr_size(all))
		puts("nothing to say about the notes");
	return EXIT_DONE;
}

int verb_doctor(struct cli *c)
{
	struct remem_err err = { 0 };
	struct remem *r;
	char *json;
	int rc;

	if (c->arg_count)
		return cli_usage(c, "doctor takes no argument");
	if ((rc = cli_open(c, &r)))
		return rc;
	if (cli_flag(c, "memory"))
		rc = remem_memory_report(r, &json, &err) ? cli_fail(c, &err) :
		     cli_report(c, json, show_memory);
	else
		rc = remem_doctor(r, cli_flag(c, "fix"), &json, &err) ?
		     cli_fail(c, &err) : cli_report(c, json, show);
	remem_close(r);
	return rc;
}
