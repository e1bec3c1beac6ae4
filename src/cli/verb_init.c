/* remem init */
#include <string.h>

#include "base/json.h"
#include "cli/cli.h"

static int show(struct cli *c, void *root)
{
	yyjson_val *made = yyjson_obj_get(root, "created"), *v;
	size_t i, n;

	if (c->json)
		return EXIT_DONE;
	fputs("workspace ", stdout);
	cli_word(json_str(root, "workspace", ""));
	putchar('\n');
	yyjson_arr_foreach(made, i, n, v)
		printf("  made %s\n", yyjson_get_str(v));
	if (!yyjson_arr_size(made))
		puts("  everything was there");
	return EXIT_DONE;
}

int verb_init(struct cli *c)
{
	struct remem_open_opts o;
	struct remem_err err = { 0 };
	char *json;
	int rc;

	if (c->arg_count > 1)
		return cli_usage(c, "init takes one folder");
	if ((rc = cli_open_opts(c, &o)))
		return rc;
	if (remem_init(&json, &o, c->arg_count ? c->args[0] : NULL, &err))
		return cli_fail(c, &err);
	return cli_report(c, json, show);
}
