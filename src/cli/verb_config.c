/* remem config */
#include <string.h>

#include "base/json.h"
#include "cli/cli.h"

/* A value as it would be written: texts bare, the rest as JSON. */
static void put_value(yyjson_val *v)
{
	yyjson_val *item;
	size_t i, n;

	if (yyjson_is_str(v))
		cli_word(yyjson_get_str(v));
	else if (yyjson_is_bool(v))
		fputs(yyjson_get_bool(v) ? "true" : "false", stdout);
	else if (yyjson_is_int(v))
		printf("%lld", (long long)yyjson_get_sint(v));
	else if (yyjson_is_num(v))
		printf("%g", yyjson_get_num(v));
	else if (yyjson_is_obj(v))
		printf("{%zu}", yyjson_obj_size(v));
	if (!yyjson_is_arr(v))
		return;
	putchar('[');
	yyjson_arr_foreach(v, i, n, item) {
		fputs(i ? ", " : "", stdout);
		cli_word(yyjson_is_str(item) ? yyjson_get_str(item) :
			 json_str(item, "path", ""));
	}
	putchar(']');
}

static void put_setting(struct cli *c, yyjson_val *v)
{
	fputs(json_str(v, "key", ""), stdout);
	fputs(": ", stdout);
	put_value(yyjson_obj_get(v, "value"));
	cli_style(c, "2");
	fputs("  # ", stdout);
	cli_word(json_str(v, "source", ""));
	if (!json_bool(v, "used", true))
		fputs(", no effect in this version", stdout);
	cli_style(c, "0");
	putchar('\n');
}

static int show_list(struct cli *c, void *root)
{
	yyjson_val *list = yyjson_obj_get(root, "settings"), *v;
	bool all = cli_flag(c, "all");
	size_t i, n, shown = 0;

	if (c->json)
		return EXIT_DONE;
	yyjson_arr_foreach(list, i, n, v) {
		if (!all && !strcmp(json_str(v, "source", ""), "default"))
			continue;
		put_setting(c, v);
		shown++;
	}
	if (!all)
		printf("%s%zu settings stand at their default; --all shows "
		       "them\n", shown ? "" : "nothing is set; ",
		       yyjson_arr_size(list) - shown);
	return EXIT_DONE;
}

static int show_one(struct cli *c, void *root)
{
	if (c->json)
		return EXIT_DONE;
	put_value(yyjson_obj_get(root, "value"));
	putchar('\n');
	return EXIT_DONE;
}

static int show_change(struct cli *c, void *root)
{
	if (c->json)
		return EXIT_DONE;
	if (!json_bool(root, "changed", false))
		puts("it was not set");
	else
		cli_note(c, "%s in %s", json_str(root, "key", ""),
			 json_str(root, "file", ""));
	return EXIT_DONE;
}

struct action {
	const char *name;
	size_t args; /* behind the name */
	const char *usage;
};

static const struct action actions[] = {
	{ "list", 0, "config list" },
	{ "get", 1, "config get KEY" },
	{ "set", 2, "config set KEY VALUE" },
	{ "unset", 1, "config unset KEY" },
};

static const char *action_name(int i)
{
	return i < (int)ARRAY_LEN(actions) ? actions[i].name : NULL;
}

static int perform(struct cli *c, struct remem *r, size_t what)
{
	struct remem_err err = { 0 };
	const char *key = what ? c->args[1] : NULL;
	char *json = NULL;
	int rc;

	if (what < 2)
		rc = remem_config_get(r, key, &json, &err);
	else
		rc = remem_config_set(r, key, what == 2 ? c->args[2] : NULL,
				      &json, &err);
	if (rc)
		return cli_fail(c, &err);
	return cli_report(c, json, what > 1 ? show_change :
				   what ? show_one : show_list);
}

int verb_config(struct cli *c)
{
	const char *name = c->arg_count ? c->args[0] : "list";
	const char *near;
	struct remem *r;
	size_t i = 0;
	int rc;

	while (i < ARRAY_LEN(actions) && strcmp(actions[i].name, name))
		i++;
	if (i == ARRAY_LEN(actions)) {
		near = cli_nearest(name, action_name);
		return cli_usage(c, "config cannot '%.40s'%s%s%s", name,
				 near ? ", did you mean '" : "",
				 near ? near : "", near ? "'?" : "");
	}
	if (c->arg_count && c->arg_count != actions[i].args + 1)
		return cli_usage(c, "it is: remem %s", actions[i].usage);
	if ((rc = cli_open(c, &r)))
		return rc;
	rc = perform(c, r, i);
	remem_close(r);
	return rc;
}
