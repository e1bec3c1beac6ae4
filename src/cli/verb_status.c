/* remem status */
#include <string.h>

#include "base/json.h"
#include "cli/cli.h"

#define SHOWN_MAX 20 /* of each list; --json has them all */

static long long num(yyjson_val *v, const char *key)
{
	return (long long)json_int(v, key, 0);
}

static void put_index(yyjson_val *root)
{
	yyjson_val *i = yyjson_obj_get(root, "index");
	yyjson_val *s = yyjson_obj_get(root, "sizes");
	yyjson_val *d = yyjson_obj_get(root, "disk");
	const char *when = json_str(i, "indexedAt", NULL);

	printf("index      %lld files, %lld indexed, %lld skipped; "
	       "%lld chunks, %lld passages%s%s\n",
	       num(i, "files"), num(i, "indexed"), num(i, "skipped"),
	       num(i, "chunks"), num(i, "passages"), when ? "; " : "",
	       when ? when : "");
	printf("disk       %lld notes, %lld skipped; %lld differ from the "
	       "index\n", num(d, "notes"), num(d, "skipped"),
	       num(d, "changed"));
	printf("size       text %s, database %s, vectors %s\n",
	       cli_size(num(s, "textBytes")), cli_size(num(s, "databaseBytes")),
	       cli_size(num(s, "vectorBytes")));
}

/* The parts that are not empty, in one line. */
static void put_parts(yyjson_val *root)
{
	yyjson_val *s = yyjson_obj_get(root, "sizes"), *key, *v;
	const char *before = "parts      ";
	size_t i, n;

	yyjson_obj_foreach(yyjson_obj_get(s, "parts"), i, n, key, v) {
		if (!yyjson_get_sint(v))
			continue;
		printf("%s%s %s", before, yyjson_get_str(key),
		       cli_size(yyjson_get_sint(v)));
		before = ", ";
	}
	if (*before == ',')
		putchar('\n');
}

static void put_vectors(yyjson_val *root)
{
	yyjson_val *v = yyjson_obj_get(root, "vectors");
	yyjson_val *i = yyjson_obj_get(root, "index");
	const char *off = json_str(v, "off", NULL);

	fputs("vectors    ", stdout);
	if (!json_bool(v, "available", false)) {
		fputs("none: ", stdout);
		cli_word(off ? off : "no provider");
	} else {
		printf("%s, %s; %lld made, %lld pending",
		       json_str(root, "provider", ""),
		       json_str(root, "model", "?"), num(i, "embedded"),
		       num(i, "pending"));
		if (num(i, "refused"))
			printf(", %lld refused", num(i, "refused"));
	}
	putchar('\n');
}

/* Open jobs, and the latest that ended. */
static void put_batch(yyjson_val *root)
{
	yyjson_val *b = yyjson_obj_get(root, "batch"), *v;
	yyjson_val *jobs = yyjson_obj_get(b, "jobs");
	size_t i, n, total = yyjson_arr_size(jobs);

	yyjson_arr_foreach(jobs, i, n, v) {
		const char *reason = json_str(v, "reason", NULL);
		const char *next = json_str(v, "nextAt", NULL);
		bool ended = !strcmp(json_str(v, "state", ""), "ended");

		if (ended && i + 1 < total)
			continue;
		printf("batch      %s, %s: %s, %lld of %lld texts",
		       json_str(v, "provider", ""), json_str(v, "name", ""),
		       json_str(v, "state", "?"), num(v, "done"),
		       num(v, "texts"));
		if (!ended && next)
			printf("; asked again %s", next);
		if (reason) {
			fputs("; ", stdout);
			cli_word(reason);
		}
		putchar('\n');
	}
}

/* Providers that do not answer, and the one behind the first. */
static void put_chain(yyjson_val *root)
{
	yyjson_val *list = yyjson_obj_get(root, "chain"), *v;
	const char *answering = json_str(root, "answering", NULL);
	const char *first = json_str(root, "provider", NULL);
	size_t i, n;

	yyjson_arr_foreach(list, i, n, v) {
		const char *state = json_str(v, "state", "");
		const char *until = json_str(v, "askedAgainAt", NULL);

		/* That the first is off has been said. */
		if (!i && strcmp(state, "down"))
			continue;
		printf("%-10s %s: %s", i ? "fallback" : "provider",
		       json_str(v, "provider", ""), state);
		if (json_str(v, "reason", NULL)) {
			fputs(", ", stdout);
			cli_word(json_str(v, "reason", ""));
		}
		if (until)
			printf("; asked again at %s", until);
		putchar('\n');
	}
	if (answering && first && strcmp(answering, first))
		printf("answering  vectors of %s\n", answering);
}

static void put_flush(yyjson_val *root)
{
	yyjson_val *f = yyjson_obj_get(root, "flush");
	const char *last = json_str(f, "lastAt", NULL);

	printf("flush      %s", json_bool(f, "enabled", false) ? "on" : "off");
	if (last)
		printf("; last %s; %lld written, %lld with nothing new, "
		       "%lld failed", last, num(f, "written"),
		       num(f, "empty"), num(f, "failed"));
	if (num(f, "missed"))
		printf("; %lld compaction%s without one", num(f, "missed"),
		       num(f, "missed") == 1 ? "" : "s");
	putchar('\n');
}

static void put_list(yyjson_val *root, const char *key, const char *name,
		     const char *text)
{
	yyjson_val *list = yyjson_obj_get(root, key), *v;
	size_t i, n;

	yyjson_arr_foreach(list, i, n, v) {
		if (i == SHOWN_MAX) {
			printf("%-10s and %zu more\n", key, n - i);
			break;
		}
		if (!json_str(v, text, NULL))
			continue;
		printf("%-10s ", key);
		cli_word(json_str(v, name, ""));
		fputs(": ", stdout);
		cli_word(json_str(v, text, ""));
		putchar('\n');
	}
}

static void put_deep(yyjson_val *root)
{
	yyjson_val *probe = yyjson_obj_get(root, "probe");
	yyjson_val *check = yyjson_obj_get(root, "check"), *v;
	size_t i, n;

	if (yyjson_is_obj(probe) && json_bool(probe, "ok", false))
		printf("probe      the provider answers in %lld ms\n",
		       num(probe, "tookMs"));
	else if (yyjson_is_obj(probe))
		printf("probe      %s\n", json_str(probe, "error", ""));
	if (yyjson_is_obj(check) && json_bool(check, "ok", false))
		puts("check      the index is sound");
	yyjson_arr_foreach(yyjson_obj_get(check, "problems"), i, n, v) {
		fputs("check      ", stdout);
		cli_word(yyjson_get_str(v));
		putchar('\n');
	}
}

static void put_settings(yyjson_val *root)
{
	yyjson_val *s = yyjson_obj_get(root, "settings");
	bool own = json_bool(s, "workspaceFile", false);

	fputs("settings   ", stdout);
	cli_word(json_str(s, "file", "none"));
	if (own)
		printf("; remem.yaml of the workspace, %strusted",
		       json_bool(s, "trusted", false) ? "" : "not ");
	putchar('\n');
}

static int show(struct cli *c, void *root)
{
	const char *problem = json_str(root, "problem", NULL);

	if (c->json)
		return EXIT_DONE;
	fputs("workspace  ", stdout);
	cli_word(json_str(root, "workspace", ""));
	if (json_str(root, "agent", NULL))
		printf(" (agent %s)", json_str(root, "agent", ""));
	putchar('\n');
	put_index(root);
	put_parts(root);
	put_vectors(root);
	put_batch(root);
	put_chain(root);
	put_flush(root);
	put_settings(root);
	put_list(root, "skipped", "path", "reason");
	put_list(root, "warnings", "path", "reason");
	put_list(root, "refused", "citation", "reason");
	put_list(root, "roots", "path", "problem");
	put_deep(root);
	if (problem) {
		fflush(stdout);
		fprintf(stderr, "remem: %s\n", problem);
	}
	return EXIT_DONE;
}

int verb_status(struct cli *c)
{
	struct remem_err err = { 0 };
	struct remem *r;
	char *json;
	int rc;

	if (c->arg_count)
		return cli_usage(c, "status takes no argument");
	if ((rc = cli_open(c, &r)))
		return rc;
	rc = remem_status(r, cli_flag(c, "deep"), &json, &err);
	rc = rc ? cli_fail(c, &err) : cli_report(c, json, show);
	remem_close(r);
	return rc;
}
