/* remem import */
#include "base/json.h"
#include "cli/cli.h"
#include "front.h"

static int show(struct cli *c, void *root)
{
	yyjson_val *set = yyjson_obj_get(root, "set"), *v;
	yyjson_val *missing = yyjson_obj_get(root, "notTaken");
	size_t i, n;

	if (c->json)
		return EXIT_DONE;
	yyjson_arr_foreach(set, i, n, v)
		printf("%s = %s\n", json_str(v, "key", ""),
		       json_str(v, "value", ""));
	yyjson_arr_foreach(missing, i, n, v)
		printf("not taken: %s: %s\n", json_str(v, "key", ""),
		       json_str(v, "reason", ""));
	if (!yyjson_arr_size(set) && !yyjson_arr_size(missing))
		puts("there was nothing to take over");
	return EXIT_DONE;
}

int verb_import(struct cli *c)
{
	struct import_opts o = { .dry_run = cli_flag(c, "dry-run") };
	struct remem_err err = { 0 };
	char *json;
	int rc;

	if (c->arg_count < 1 || c->arg_count > 2)
		return cli_usage(c, "import takes a format, and a path if it "
				 "is not the usual one");
	o.format = c->args[0];
	o.path = c->arg_count > 1 ? c->args[1] : NULL;
	if ((rc = cli_open_opts(c, &o.open)))
		return rc;
	if (host_import(&o, &json, &err))
		return cli_fail(c, &err);
	return cli_report(c, json, show);
}
