/* remem log, remem undo: what was written and recalled, and back. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/cli.h"

#define COMPACT_KEEP 100000 /* some 40 MB of records */

static int show_verify(void *root)
{
	yyjson_val *broken = yyjson_obj_get(root, "broken");

	if (json_bool(root, "ok", false)) {
		printf("%lld records, the chain is whole\n",
		       (long long)json_int(root, "records", 0));
		return EXIT_DONE;
	}
	printf("record %lld is broken: %s\n",
	       (long long)json_int(broken, "id", 0),
	       json_str(broken, "reason", ""));
	return EXIT_FAILED;
}

static void show_lines(void *root)
{
	yyjson_val *lines = yyjson_obj_get(root, "lines"), *v;
	const char *text = json_str(root, "text", "");
	size_t i, n;

	cli_text(text, strlen(text), "  ");
	yyjson_arr_foreach(lines, i, n, v) {
		int64_t id = json_int(v, "journal", 0);

		printf("line %lld: %s, ", (long long)json_int(v, "line", 0),
		       json_str(v, "origin", ""));
		if (id)
			printf("record %lld\n", (long long)id);
		else
			puts("not written by remem");
	}
}

static int show_log(struct cli *c, void *root)
{
	yyjson_val *rows = yyjson_obj_get(root, "records"), *v;
	size_t i, n;

	if (yyjson_obj_get(root, "ok"))
		return c->json ? (json_bool(root, "ok", false) ? EXIT_DONE :
				  EXIT_FAILED) : show_verify(root);
	if (c->json)
		return EXIT_DONE;
	show_lines(root);
	yyjson_arr_foreach(rows, i, n, v) {
		printf("%5lld  %s  %-8s ", (long long)json_int(v, "id", 0),
		       json_str(v, "time", ""), json_str(v, "op", ""));
		cli_word(json_str(v, "actor", ""));
		fputs("  ", stdout);
		cli_word(json_str(v, "path", ""));
		printf("  %lld bytes, %s\n", (long long)json_int(v, "bytes", 0),
		       json_str(v, "origin", ""));
	}
	if (!yyjson_arr_size(rows))
		puts("nothing was written or recalled");
	return EXIT_DONE;
}

static int show_compact(struct cli *c, void *root)
{
	if (!c->json)
		printf("%lld records taken away, %lld are there\n",
		       (long long)json_int(root, "removed", 0),
		       (long long)json_int(root, "records", 0));
	return EXIT_DONE;
}

int verb_log(struct cli *c)
{
	bool compact = c->arg_count == 1 && !strcmp(c->args[0], "compact");
	int keep = COMPACT_KEEP;
	struct remem_journal_opts o = REMEM_OPTS_INIT(o);
	struct remem_err err = { 0 };
	struct remem *r;
	char *json;
	int rc;

	o.verify = c->arg_count == 1 && !strcmp(c->args[0], "verify");
	if (c->arg_count && !o.verify && !compact)
		return cli_usage(c, "log takes verify or compact, and "
				 "options");
	if (!cli_int(c, "keep", 1, 1000000000, &keep))
		return EXIT_USAGE;
	o.keep = compact ? keep : 0;
	o.trace = cli_value(c, "trace");
	o.op = cli_value(c, "op");
	if (!cli_int(c, "limit", 1, 1000000, &o.limit))
		return EXIT_USAGE;
	if ((rc = cli_open(c, &r)))
		return rc;
	rc = remem_journal(r, &o, &json, &err) ? cli_fail(c, &err) :
	     cli_report(c, json, compact ? show_compact : show_log);
	remem_close(r);
	return rc;
}

/* ---- undo ---- */

static int show_undo(struct cli *c, void *root)
{
	const char *gone = json_str(root, "removed", "");
	const char *back = json_str(root, "restored", "");

	if (c->json)
		return EXIT_DONE;
	fputs(json_bool(root, "dryRun", false) ? "would change " : "changed ",
	      stdout);
	cli_word(json_str(root, "path", ""));
	puts(json_bool(root, "removesFile", false) ? ", which goes" : "");
	cli_text(gone, strlen(gone), "- ");
	cli_text(back, strlen(back), "+ ");
	return EXIT_DONE;
}

/* Yes from --yes or from a person at the terminal, who sees the change. */
static int ask(struct cli *c, struct remem *r, int64_t id, bool *yes)
{
	struct remem_err err = { 0 };
	bool person = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	char *json, answer[16];
	int rc;

	*yes = cli_flag(c, "yes");
	if (*yes)
		return EXIT_DONE;
	if (c->json || !person)
		return cli_usage(c, "undo changes a note: say --yes, or look "
				 "first with --dry-run");
	if (remem_undo(r, id, 1, &json, &err))
		return cli_fail(c, &err);
	if ((rc = cli_report(c, json, show_undo)))
		return rc;
	fputs("Take it back? [y/N] ", stdout);
	fflush(stdout);
	*yes = fgets(answer, sizeof(answer), stdin) &&
	       (answer[0] == 'y' || answer[0] == 'Y');
	return EXIT_DONE;
}

static int undo(struct cli *c, struct remem *r, int64_t id)
{
	struct remem_err err = { 0 };
	bool dry = cli_flag(c, "dry-run"), yes = true;
	char *json;
	int rc = dry ? EXIT_DONE : ask(c, r, id, &yes);

	if (rc || !yes)
		return rc;
	return remem_undo(r, id, dry, &json, &err) ? cli_fail(c, &err) :
	       cli_report(c, json, show_undo);
}

int verb_undo(struct cli *c)
{
	struct remem *r;
	char *end = NULL;
	int64_t id = 0;
	int rc;

	errno = 0;
	if (c->arg_count == 1)
		id = strtoll(c->args[0], &end, 10);
	if (!end || *end || errno || id < 1)
		return cli_usage(c, "undo takes the number of a record, as log "
				 "shows it");
	if ((rc = cli_open(c, &r)))
		return rc;
	rc = undo(c, r, id);
	remem_close(r);
	return rc;
}
