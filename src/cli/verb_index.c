/* remem index */
#include "base/json.h"
#include "cli/cli.h"

/* Long enough for another run of a usual size; --wait waits for ever. */
#define WAIT_MS 30000

static void put_skips(void *root)
{
	yyjson_val *list = yyjson_obj_get(root, "skips"), *v;
	size_t i, n;

	yyjson_arr_foreach(list, i, n, v) {
		fputs("  skipped ", stdout);
		cli_word(json_str(v, "path", ""));
		fputs(": ", stdout);
		cli_word(json_str(v, "reason", ""));
		putchar('\n');
	}
}

static void put_vectors(void *root)
{
	yyjson_val *v = yyjson_obj_get(root, "vectors");
	long long refused = json_int(v, "refused", 0);

	printf("  vectors: %lld made, %lld from the cache, %lld pending",
	       (long long)json_int(v, "done", 0),
	       (long long)json_int(v, "cached", 0),
	       (long long)json_int(v, "pending", 0));
	if (refused)
		printf(", %lld refused", refused);
	putchar('\n');
	if (json_str(root, "degraded", NULL)) {
		fputs("  no vectors: ", stdout);
		cli_word(json_str(root, "degraded", ""));
		putchar('\n');
	}
}

static void put_batch(void *root)
{
	void *b = yyjson_obj_get(root, "batch");
	long long jobs = json_int(b, "jobs", 0);

	if (jobs)
		printf("  batch: %lld job%s with %lld texts under way\n", jobs,
		       jobs == 1 ? "" : "s",
		       (long long)json_int(b, "texts", 0));
	if (json_str(b, "off", NULL)) {
		fputs("  ", stdout);
		cli_word(json_str(b, "off", ""));
		putchar('\n');
	}
}

static void put_plan(void *root)
{
	double price = json_num(root, "priceUsd", -1);

	printf("  to embed: about %lld tokens",
	       (long long)json_int(root, "tokens", 0));
	if (price > 0)
		printf(", $%.4f%s by the list prices of %s", price,
		       json_bool(root, "byBatch", false) ? " as a batch" : "",
		       json_str(root, "pricesOf", "?"));
	else if (price < 0)
		printf(", price unknown");
	putchar('\n');
}

/* What is left to do, in words. */
static void put_rest(struct cli *c, void *root)
{
	void *v = yyjson_obj_get(root, "vectors");
	void *b = yyjson_obj_get(root, "batch");

	if (json_int(b, "jobs", 0))
		cli_note(c, "not complete: batch jobs are under way; run it "
			 "again, or remem index --wait");
	else if (json_str(root, "degraded", NULL))
		cli_note(c, "not complete: not all vectors could be made");
	else if (json_int(v, "pending", 0))
		cli_note(c, "not complete; run it again to go on");
	else
		cli_note(c, "not complete: not all files could be read; "
			 "remem status lists them");
}

static int show(struct cli *c, void *root)
{
	bool dry = json_bool(root, "dryRun", false);
	bool complete = json_bool(root, "complete", false);
	int rc = complete || dry || cli_flag(c, "text-only") ? EXIT_DONE :
							       EXIT_PARTLY;

	if (c->json)
		return rc;
	printf("%s %lld of %lld files (%lld added, %lld changed, %lld renamed, "
	       "%lld removed, %lld unchanged, %lld skipped)\n",
	       dry ? "would index" : "indexed",
	       (long long)json_int(root, "indexed", 0),
	       (long long)json_int(root, "files", 0),
	       (long long)json_int(root, "added", 0),
	       (long long)json_int(root, "changed", 0),
	       (long long)json_int(root, "renamed", 0),
	       (long long)json_int(root, "removed", 0),
	       (long long)json_int(root, "unchanged", 0),
	       (long long)json_int(root, "skipped", 0));
	printf("  %lld chunks, %lld passages\n",
	       (long long)json_int(root, "chunks", 0),
	       (long long)json_int(root, "passages", 0));
	put_vectors(root);
	put_batch(root);
	if (dry)
		put_plan(root);
	put_skips(root);
	printf("  %.2f s%s\n", (double)json_int(root, "tookMs", 0) / 1000,
	       json_bool(root, "shared", false) ?
		       ", by another process" : "");
	if (rc == EXIT_PARTLY)
		put_rest(c, root);
	return rc;
}

int verb_index(struct cli *c)
{
	struct remem_index_opts o = REMEM_OPTS_INIT(o);
	struct remem_err err = { 0 };
	struct meter meter;
	struct remem *r;
	char *json = NULL;
	int rc;

	if (c->arg_count)
		return cli_usage(c, "index takes no argument; --workspace "
				 "names the folder");
	if ((rc = cli_open(c, &r)))
		return rc;
	meter_init(&meter, c);
	o.force = cli_flag(c, "force");
	o.dry_run = cli_flag(c, "dry-run");
	o.text_only = cli_flag(c, "text-only");
	o.wait_ms = cli_flag(c, "wait") ? -1 : WAIT_MS;
	o.cancel_batches = cli_flag(c, "cancel-batches");
	o.progress = meter_step;
	o.progress_ctx = &meter;
	rc = remem_index(r, &o, &json, &err);
	meter_end(&meter);
	rc = rc ? cli_fail(c, &err) : cli_report(c, json, show);
	remem_close(r);
	return rc;
}
