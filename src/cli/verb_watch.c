/* remem watch: in step until it is interrupted. */
#include <signal.h>
#include <string.h>

#include "base/json.h"
#include "cli/cli.h"

static struct remem_watch *running; /* what a signal ends */

static void on_signal(int signal)
{
	(void)signal;
	remem_watch_stop(running);
}

static void take_signals(void (*fn)(int))
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction s = { .sa_handler = fn };

	sigemptyset(&s.sa_mask);
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		sigaction(ends[i], &s, NULL);
}

static long long num(yyjson_val *v, const char *key)
{
	return (long long)json_int(v, key, 0);
}

static void show_synced(yyjson_val *v)
{
	long long n = num(v, "added") + num(v, "changed") +
		      num(v, "renamed") + num(v, "removed");
	const char *degraded = json_str(v, "degraded", NULL);

	if (n || num(v, "vectors") || !strcmp(json_str(v, "reason", ""),
					      "start"))
		printf("%lld added, %lld changed, %lld renamed, %lld removed; "
		       "%lld files, %lld passages wait for a vector; "
		       "%lld ms\n", num(v, "added"), num(v, "changed"),
		       num(v, "renamed"), num(v, "removed"),
		       num(v, "indexed"), num(v, "pending"),
		       num(v, "tookMs"));
	if (n && degraded) {
		fputs("  no vectors: ", stdout);
		cli_word(degraded);
		putchar('\n');
	}
}

static void show(struct cli *c, yyjson_val *v)
{
	const char *event = json_str(v, "event", "");

	if (!strcmp(event, "synced")) {
		show_synced(v);
	} else if (!strcmp(event, "watching")) {
		printf("watching %lld folders of ", num(v, "folders"));
		cli_word(json_str(v, "workspace", ""));
		putchar('\n');
		if (json_str(v, "problem", NULL))
			cli_note(c, "%s: looked at by the clock",
				 json_str(v, "problem", ""));
	} else if (!strcmp(event, "failed")) {
		v = yyjson_obj_get(v, "error");
		cli_note(c, "%s", json_str(v, "message", ""));
		if (json_str(v, "action", "")[0])
			cli_note(c, "  %s", json_str(v, "action", ""));
	}
}

static int on_event(void *ctx, const char *json)
{
	struct cli *c = ctx;
	struct remem_err err;
	yyjson_doc *doc;

	if (c->json) {
		puts(json);
	} else if (!json_read(&doc, json, strlen(json), false, "event", &err)) {
		show(c, yyjson_doc_get_root(doc));
		yyjson_doc_free(doc);
	}
	/* Nobody reads any more. */
	return fflush(stdout) || ferror(stdout);
}

int verb_watch(struct cli *c)
{
	struct remem_watch_opts o = REMEM_OPTS_INIT(o);
	struct remem_err err = { 0 };
	struct remem *r;
	int rc;

	if (c->arg_count)
		return cli_usage(c, "watch takes no argument; --workspace "
				 "names the folder");
	if ((rc = cli_open(c, &r)))
		return rc;
	o.event = on_event;
	o.ctx = c;
	if (remem_watch_new(&running, r, &o, &err)) {
		rc = cli_fail(c, &err);
		remem_close(r);
		return rc;
	}
	take_signals(on_signal);
	rc = remem_watch(running, &err) ? cli_fail(c, &err) : EXIT_DONE;
	take_signals(SIG_IGN); /* it is going to be freed */
	remem_watch_free(running);
	remem_close(r);
	return rc;
}
