/* remem setup and remem uninstall */
#include <string.h>

#include "base/json.h"
#include "cli/cli.h"
#include "front.h"

static void show_lines(struct cli *c, yyjson_val *text, const char *sign,
		       const char *color)
{
	const char *s = yyjson_get_str(text);
	size_t len = yyjson_get_len(text);

	while (len && strchr("\r\n", s[0])) {
		s++;
		len--;
	}
	if (!len)
		return;
	cli_style(c, color);
	cli_text(s, len, sign);
	cli_style(c, "0");
}

static int show(struct cli *c, void *root)
{
	yyjson_val *all = yyjson_obj_get(root, "changes"), *v;
	const char *note = json_str(root, "note", NULL);
	bool applied = json_bool(root, "applied", false);
	size_t i, n;

	if (c->json)
		return EXIT_DONE;
	yyjson_arr_foreach(all, i, n, v) {
		const char *backup = json_str(v, "backup", NULL);

		if (applied && backup) {
			cli_note(c, "%s is kept as %s", json_str(v, "file", ""),
				 backup);
			continue;
		}
		if (applied)
			continue;
		printf("%s ", json_str(v, "what", ""));
		cli_word(json_str(v, "file", ""));
		putchar('\n');
		show_lines(c, yyjson_obj_get(v, "removed"), "- ", "31");
		show_lines(c, yyjson_obj_get(v, "added"), "+ ", "32");
	}
	if (!yyjson_arr_size(all))
		printf("%s: nothing to change\n", json_str(root, "title", ""));
	else if (applied)
		printf("%s: done\n", json_str(root, "title", ""));
	if (applied && note)
		printf("%s\n", note);
	return EXIT_DONE;
}

static int show_list(struct cli *c, void *root)
{
	yyjson_val *all = yyjson_obj_get(root, "hosts"), *v;
	size_t i, n;

	if (c->json)
		return EXIT_DONE;
	yyjson_arr_foreach(all, i, n, v) {
		const char *problem = json_str(v, "problem", NULL);

		printf("%-12s %-12s %s%s%s\n", json_str(v, "name", ""),
		       json_str(v, "title", ""),
		       json_bool(v, "setUp", false) ? "set up" : "-",
		       problem ? "  " : "", problem ? problem : "");
	}
	return EXIT_DONE;
}

static bool changes_something(const char *json)
{
	yyjson_doc *doc;
	bool yes;

	if (json_read(&doc, json, strlen(json), false, "the report", NULL))
		return false;
	yes = yyjson_arr_size(yyjson_obj_get(yyjson_doc_get_root(doc),
					     "changes")) > 0;
	yyjson_doc_free(doc);
	return yes;
}

static int run(struct cli *c, bool uninstall)
{
	struct setup_opts o = { .uninstall = uninstall,
				.project = cli_flag(c, "project"),
				.no_hooks = !uninstall &&
					    cli_flag(c, "no-hooks") };
	struct remem_err err = { 0 };
	bool list = !uninstall && cli_flag(c, "list");
	char *json;
	int rc;

	if (c->arg_count != (list ? 0 : 1))
		return cli_usage(c, "%s takes one host; remem setup --list "
				 "names them", c->verb->name);
	if ((rc = cli_open_opts(c, &o.open)))
		return rc;
	if (list)
		return host_list(&o, &json, &err) ? cli_fail(c, &err) :
						    cli_report(c, json,
							       show_list);
	o.host = c->args[0];
	o.dry_run = true;
	if (host_setup(&o, &json, &err))
		return cli_fail(c, &err);
	if (cli_flag(c, "dry-run") || !changes_something(json))
		return cli_report(c, json, show);
	if (o.open.read_only) {
		remem_free(json);
		return cli_usage(c, "--read-only: nothing is written");
	}
	if (c->json) {
		remem_free(json);
	} else if ((rc = cli_report(c, json, show))) {
		return rc;
	}
	if (!cli_confirm(c, uninstall ? "Take this out" : "Put this in"))
		return EXIT_USAGE;
	o.dry_run = false;
	if (host_setup(&o, &json, &err))
		return cli_fail(c, &err);
	return cli_report(c, json, show);
}

int verb_setup(struct cli *c)
{
	return run(c, false);
}

int verb_uninstall(struct cli *c)
{
	return run(c, true);
}
