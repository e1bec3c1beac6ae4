/* remem snapshot */
#include <string.h>

#include "base/json.h"
#include "cli/talk_opts.h"

static int show(struct cli *c, void *root)
{
	const char *reason = json_str(root, "reason", NULL);
	const char *degraded = json_str(root, "degraded", NULL);
	yyjson_val *text = yyjson_obj_get(root, "text");

	if (c->json)
		return EXIT_DONE;
	if (reason) {
		printf("no note was written: %s\n", reason);
		return EXIT_DONE;
	}
	printf("%s %s\n", json_bool(root, "dryRun", false) ?
	       "would be written:" : "wrote", json_str(root, "path", ""));
	if (yyjson_is_str(text))
		cli_text(yyjson_get_str(text), yyjson_get_len(text), "  ");
	if (degraded)
		cli_note(c, "without the chat model: %s", degraded);
	return EXIT_DONE;
}

int verb_snapshot(struct cli *c)
{
	struct remem_err err = { 0 };
	struct remem_talk_opts o;
	struct remem *r;
	char *json;
	int rc;

	if ((rc = talk_opts(c, &o)) || (rc = cli_open(c, &r)))
		return rc;
	rc = remem_snapshot(r, &o, &json, &err);
	rc = rc ? cli_fail(c, &err) : cli_report(c, json, show);
	remem_close(r);
	return rc;
}
