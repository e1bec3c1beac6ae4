/* remem models */
#include <string.h>

#include "base/json.h"
#include "cli/cli.h"

static void put_model(struct cli *c, yyjson_val *v)
{
	const char *problem = json_str(v, "problem", NULL);
	yyjson_val *verified = yyjson_obj_get(v, "verified");

	cli_style(c, "1");
	cli_word(json_str(v, "name", ""));
	cli_style(c, "0");
	printf("  %s, %lld dimensions%s%s\n  ",
	       cli_size(json_int(v, "bytes", 0)),
	       (long long)json_int(v, "dims", 0),
	       json_bool(v, "used", false) ? ", used" : "",
	       !verified ? "" : yyjson_get_bool(verified) ?
	       ", verified" : ", NOT verified");
	cli_word(json_str(v, "path", ""));
	putchar('\n');
	if (json_int(v, "memoryBytes", 0))
		printf("  by llama.cpp: about %s of memory, %lld tokens/s on one "
		       "thread\n", cli_size(json_int(v, "memoryBytes", 0)),
		       (long long)json_int(v, "tokensPerSecond", 0));
	if (problem) {
		fputs("  ", stdout);
		cli_word(problem);
		putchar('\n');
	}
}

static void put_known(struct cli *c, yyjson_val *list)
{
	yyjson_val *v;
	size_t i, n;

	if (!yyjson_arr_size(list))
		return;
	cli_style(c, "1");
	fputs("known", stdout);
	cli_style(c, "0");
	puts(": remem models pull NAME --from WHERE --sha256 HEX");
	yyjson_arr_foreach(list, i, n, v) {
		printf("  %s  %s, %lld dimensions, ", json_str(v, "name", ""),
		       cli_size(json_int(v, "bytes", 0)),
		       (long long)json_int(v, "dims", 0));
		printf("%s of memory%s, %lld tokens/s, ",
		       cli_size(json_int(v, "memoryBytes", 0)),
		       json_bool(v, "fits", true) ? "" :
						    " (more than is free)",
		       (long long)json_int(v, "tokensPerSecond", 0));
		printf("%s, %s\n", json_str(v, "languages", ""),
		       json_str(v, "licence", ""));
	}
}

static int show(struct cli *c, void *root)
{
	yyjson_val *list = yyjson_obj_get(root, "models"), *v;
	size_t i, n;
	int rc = json_bool(root, "ok", true) ? EXIT_DONE : EXIT_FAILED;

	if (c->json)
		return rc;
	yyjson_arr_foreach(list, i, n, v)
		put_model(c, v);
	if (!yyjson_arr_size(list)) {
		puts("no models; looked in:");
		yyjson_arr_foreach(yyjson_obj_get(root, "folders"), i, n, v) {
			fputs("  ", stdout);
			cli_word(yyjson_get_str(v));
			putchar('\n');
		}
	}
	put_known(c, yyjson_obj_get(root, "known"));
	return rc;
}

static int show_use(struct cli *c, void *root)
{
	if (!c->json)
		cli_note(c, "%s in %s", json_str(root, "key", ""),
			 json_str(root, "file", ""));
	return EXIT_DONE;
}

static int show_fetched(struct cli *c, void *root)
{
	long long memory = (long long)json_int(root, "memoryBytes", 0);
	long long speed = (long long)json_int(root, "tokensPerSecond", 0);

	if (c->json)
		return EXIT_DONE;
	cli_word(json_str(root, "path", ""));
	putchar('\n');
	if (memory)
		printf("  about %s of memory, %lld tokens/s on one thread; to "
		       "use it: remem models use NAME\n", cli_size(memory),
		       speed);
	return EXIT_DONE;
}

/* pull and runtime. */
static int fetch(struct cli *c, const char *action, const char *name)
{
	struct remem_fetch_opts o = REMEM_OPTS_INIT(o);
	struct remem_err err = { 0 };
	struct meter meter;
	struct remem *r;
	char *json;
	int rc;

	if (!name && !strcmp(action, "pull"))
		return cli_usage(c, "say which model to fetch");
	if ((rc = cli_open_anywhere(c, &r)))
		return rc;
	meter_init(&meter, c);
	o.from = cli_value(c, "from");
	o.sha256 = cli_value(c, "sha256");
	o.force = cli_flag(c, "force");
	o.progress = meter_step;
	o.progress_ctx = &meter;
	rc = !strcmp(action, "pull") ?
		     remem_models_pull(r, name, &o, &json, &err) :
		     remem_models_runtime(r, &o, &json, &err);
	meter_end(&meter);
	rc = rc ? cli_fail(c, &err) : cli_report(c, json, show_fetched);
	remem_close(r);
	return rc;
}

int verb_models(struct cli *c)
{
	const char *action = c->arg_count ? c->args[0] : "list";
	const char *name = c->arg_count > 1 ? c->args[1] : NULL;
	struct remem_err err = { 0 };
	struct remem *r;
	char *json;
	int rc;

	if (c->arg_count > 2)
		return cli_usage(c, "models takes one name");
	if (!strcmp(action, "pull") || !strcmp(action, "runtime"))
		return fetch(c, action, name);
	if ((rc = cli_open_anywhere(c, &r)))
		return rc;
	rc = remem_models(r, action, name, &json, &err);
	rc = rc ? cli_fail(c, &err) :
		  cli_report(c, json, strcmp(action, "use") ? show : show_use);
	remem_close(r);
	return rc;
}
