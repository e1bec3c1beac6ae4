/* remem review: the inbox of what wants to go into the curated notes. */
#include <string.h>

#include "base/json.h"
#include "cli/cli.h"

static int show_list(struct cli *c, void *root)
{
	yyjson_val *all = yyjson_obj_get(root, "proposals"), *v;
	size_t i, n;

	if (c->json)
		return EXIT_DONE;
	yyjson_arr_foreach(all, i, n, v) {
		const char *text = json_str(v, "text", "");

		printf("%lld  %s  ", (long long)json_int(v, "id", 0),
		       json_str(v, "time", ""));
		cli_word(json_str(v, "path", ""));
		fputs("  ", stdout);
		cli_word(json_str(v, "actor", ""));
		printf(", %s: %s\n", json_str(v, "origin", ""),
		       json_str(v, "reason", ""));
		cli_text(text, strlen(text), "  ");
	}
	if (!yyjson_arr_size(all))
		puts("nothing waits");
	return EXIT_DONE;
}

static int show_decision(struct cli *c, void *root)
{
	const char *text = json_str(root, "text", "");
	bool applied = !strcmp(json_str(root, "action", ""), "apply");

	if (c->json)
		return EXIT_DONE;
	if (json_bool(root, "dryRun", false)) {
		fputs(applied ? "would add to " : "would reject for ", stdout);
		cli_word(json_str(root, "citation",
				  json_str(root, "path", "")));
		putchar('\n');
		cli_text(text, strlen(text), "  ");
	} else if (json_bool(root, "forgotten", false)) {
		puts("not added: it was forgotten; the proposal is gone");
	} else if (json_bool(root, "duplicate", false)) {
		puts("it stood there already; the proposal is gone");
	} else {
		fputs(applied ? "added " : "rejected for ", stdout);
		cli_word(json_str(root, "citation",
				  json_str(root, "path", "")));
		putchar('\n');
	}
	return EXIT_DONE;
}

static int look(struct cli *c, struct remem *r, const char *id)
{
	struct remem_err err = { 0 };
	char *json;

	return remem_review(r, id ? "show" : "list", id, 0, &json, &err) ?
		       cli_fail(c, &err) : cli_report(c, json, show_list);
}

static int decide(struct cli *c, struct remem *r, const char *action,
		  const char *id)
{
	bool dry = cli_flag(c, "dry-run");
	struct remem_err err = { 0 };
	char *json;
	int rc;

	/* What is decided about is seen first. */
	if (!dry && !cli_flag(c, "yes")) {
		if (!c->json && (rc = look(c, r, id)))
			return rc;
		if (!cli_confirm(c, action[0] == 'a' ? "Write this" :
						       "Reject this"))
			return EXIT_USAGE;
	}
	return remem_review(r, action, id, dry, &json, &err) ?
		       cli_fail(c, &err) : cli_report(c, json, show_decision);
}

int verb_review(struct cli *c)
{
	const char *action = c->arg_count ? c->args[0] : "list";
	const char *id = c->arg_count > 1 ? c->args[1] : NULL;
	bool list = !strcmp(action, "list"), show = !strcmp(action, "show");
	struct remem *r;
	int rc;

	if (!list && !show && strcmp(action, "apply") &&
	    strcmp(action, "reject"))
		return cli_usage(c, "review is list, show, apply or reject, "
				 "not '%.40s'", action);
	if (c->arg_count > (list ? 1u : 2u) || (!list && !id))
		return cli_usage(c, "review %s takes %s", action,
				 list ? "no number" : "the number of one "
						      "proposal");
	if ((rc = cli_open(c, &r)))
		return rc;
	rc = list || show ? look(c, r, id) : decide(c, r, action, id);
	remem_close(r);
	return rc;
}
