/* remem version */
#include "base/json.h"
#include "cli/cli.h"

static int show(struct cli *c, void *root)
{
	yyjson_val *libs = yyjson_obj_get(root, "libraries"), *key, *v;
	size_t i, n;

	if (c->json)
		return EXIT_DONE;
	printf("remem %s (%s, %s)\n", json_str(root, "remem", ""),
	       json_str(root, "build", ""), json_str(root, "cpu", ""));
	yyjson_obj_foreach(libs, i, n, key, v)
		printf("  %s %s\n", yyjson_get_str(key), yyjson_get_str(v));
	return EXIT_DONE;
}

int verb_version(struct cli *c)
{
	struct remem_err err = { 0 };
	char *json;

	if (remem_version(&json, &err))
		return cli_fail(c, &err);
	return cli_report(c, json, show);
}
