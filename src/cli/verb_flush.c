/* remem flush */
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/talk_opts.h"

#define ANSWER_BYTES ((size_t)4 << 20)

static void show_entries(yyjson_val *root)
{
	yyjson_val *list = yyjson_obj_get(root, "entries"), *e;
	size_t i, n;

	yyjson_arr_foreach(list, i, n, e) {
		const char *who = json_str(e, "who", NULL);

		printf("  %s%s", json_str(e, "kind", "note"), who ? " of " : "");
		cli_word(who ? who : "");
		printf(": ");
		cli_word(json_str(e, "text", ""));
		printf("\n");
	}
}

static int show(struct cli *c, void *root)
{
	const char *reason = json_str(root, "reason", NULL);
	const char *status = json_str(root, "status", "");
	const char *degraded = json_str(root, "degraded", NULL);
	bool dry = json_bool(root, "dryRun", false);

	if (c->json)
		return EXIT_DONE;
	if (!strcmp(status, "written"))
		printf("%s %s\n", dry ? "would be added to today's note:" :
					"added to",
		       dry ? "" : json_str(root, "path", ""));
	else if (!strcmp(status, "nothing"))
		printf("nothing that is worth keeping and not kept already\n");
	else if (!strcmp(status, "due"))
		printf("it is time: %s\n", json_str(root, "trigger", ""));
	else
		printf("not done: %s\n", reason ? reason : status);
	show_entries(root);
	if (degraded)
		cli_note(c, "without the chat model: %s", degraded);
	return EXIT_DONE;
}

static int read_answer(struct cli *c, struct buf *out, const char *file)
{
	struct remem_err err = { 0 };

	if (!strcmp(file, "-"))
		return cli_read_all(c, out);
	return file_read(out, file, &err) ? cli_fail(c, &err) : EXIT_DONE;
}

static int print_prompt(struct cli *c)
{
	struct remem_err err = { 0 };
	struct buf b = BUF_INIT(0);
	struct json j;
	char *text;

	if (remem_flush_prompt(&text, &err))
		return cli_fail(c, &err);
	if (c->json) {
		json_begin(&j, &b);
		json_obj(&j);
		json_kint(&j, "version", 1);
		json_kstr(&j, "prompt", text);
		json_end(&j);
		printf("%s\n", buf_str(&b));
		buf_release(&b);
	} else {
		printf("%s", text);
	}
	remem_free(text);
	return EXIT_DONE;
}

static int flush(struct cli *c, const struct remem_talk_opts *o)
{
	struct remem_err err = { 0 };
	struct remem *r;
	char *json;
	int rc = cli_open(c, &r);

	if (rc)
		return rc;
	rc = remem_flush(r, o, &json, &err);
	rc = rc ? cli_fail(c, &err) : cli_report(c, json, show);
	remem_close(r);
	return rc;
}

int verb_flush(struct cli *c)
{
	const char *file = cli_value(c, "answer");
	struct buf answer = BUF_INIT(ANSWER_BYTES);
	struct remem_talk_opts o;
	int rc, window, used;

	if (cli_flag(c, "prompt"))
		return print_prompt(c);
	if ((rc = talk_opts(c, &o)))
		return rc;
	if (!cli_int(c, "window", 1, INT32_MAX, &window) ||
	    !cli_int(c, "used", 0, INT32_MAX, &used))
		return EXIT_USAGE;
	o.window_tokens = cli_value(c, "window") ? window : 0;
	o.used_tokens = cli_value(c, "used") ? used : 0;
	o.check = cli_flag(c, "check");
	if (file && !(rc = read_answer(c, &answer, file))) {
		o.answer = buf_str(&answer);
		o.answer_len = answer.len;
		o.force = 1; /* the host has decided */
	}
	if (!rc)
		rc = flush(c, &o);
	buf_release(&answer);
	return rc;
}
