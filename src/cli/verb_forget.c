/* remem forget */
#include <string.h>

#include "base/json.h"
#include "cli/cli.h"

static void show_entry(struct cli *c, const char *citation, yyjson_val *text)
{
	cli_style(c, "1");
	cli_word(citation);
	cli_style(c, "0");
	putchar('\n');
	cli_text(yyjson_get_str(text), yyjson_get_len(text), "  ");
}

static int show(struct cli *c, void *root)
{
	yyjson_val *all = yyjson_obj_get(root, "entries"), *v;
	bool applied = json_bool(root, "applied", false);
	const char *trouble = json_str(root, "indexError", NULL);
	size_t i, n, count = yyjson_arr_size(all);

	if (c->json)
		return trouble ? EXIT_PARTLY : EXIT_DONE;
	yyjson_arr_foreach(all, i, n, v) {
		char at[4200];

		if (applied)
			break;
		snprintf(at, sizeof(at), "%s#L%lld-L%lld",
			 json_str(v, "path", ""),
			 (long long)json_int(v, "startLine", 0),
			 (long long)json_int(v, "endLine", 0));
		show_entry(c, at, yyjson_obj_get(v, "text"));
	}
	printf("%zu %s in %lld %s%s\n", count, count == 1 ? "entry" : "entries",
	       (long long)json_int(root, "files", 0),
	       json_int(root, "files", 0) == 1 ? "note" : "notes",
	       applied ? " forgotten" : "");
	all = yyjson_obj_get(root, "suspects");
	if (applied && yyjson_arr_size(all))
		puts("What may say the same in other words, and stays:");
	yyjson_arr_foreach(all, i, n, v)
		if (applied)
			show_entry(c, json_str(v, "citation", ""),
				   yyjson_obj_get(v, "text"));
	all = yyjson_obj_get(root, "outside");
	yyjson_arr_foreach(all, i, n, v)
		cli_note(c, "not looked into, for it is not ours to change: %s",
			 yyjson_get_str(v));
	if (trouble)
		cli_note(c, "the index still holds it: %s; run: remem index "
			 "--force", trouble);
	return trouble ? EXIT_PARTLY : EXIT_DONE;
}

static bool finds_something(const char *json)
{
	yyjson_doc *doc;
	bool yes;

	if (json_read(&doc, json, strlen(json), false, "the report", NULL))
		return false;
	yes = yyjson_arr_size(yyjson_obj_get(yyjson_doc_get_root(doc),
					     "entries")) > 0;
	yyjson_doc_free(doc);
	return yes;
}

static int run(struct cli *c, struct remem *r, struct remem_forget_opts *o)
{
	struct remem_err err = { 0 };
	char *json;
	int rc;

	o->dry_run = 1;
	if (remem_forget(r, o, &json, &err))
		return cli_fail(c, &err);
	if (cli_flag(c, "dry-run") || !finds_something(json))
		return cli_report(c, json, show);
	if (c->json)
		remem_free(json);
	else if ((rc = cli_report(c, json, show)))
		return rc;
	if (!cli_confirm(c, "Forget this"))
		return EXIT_USAGE;
	o->dry_run = 0;
	if (remem_forget(r, o, &json, &err))
		return cli_fail(c, &err);
	return cli_report(c, json, show);
}

int verb_forget(struct cli *c)
{
	struct remem_forget_opts o = REMEM_OPTS_INIT(o);
	struct remem *r;
	int rc;

	if (c->arg_count > 1)
		return cli_usage(c, "forget takes at most one citation");
	o.entry = c->arg_count ? c->args[0] : NULL;
	o.source = cli_value(c, "source");
	o.session = cli_value(c, "session");
	o.person = cli_value(c, "person");
	o.text = cli_value(c, "text");
	o.after = cli_value(c, "after");
	o.before = cli_value(c, "before");
	o.actor = (struct remem_actor)REMEM_OPTS_INIT(o.actor);
	o.actor.via = "cli";
	if ((rc = cli_open(c, &r)))
		return rc;
	rc = run(c, r, &o);
	remem_close(r);
	return rc;
}
