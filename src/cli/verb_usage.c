/* remem usage */
#include <string.h>

#include "base/json.h"
#include "cli/cli.h"

static void line(const char *name, yyjson_val *sum)
{
	printf("%-28s %7lld %7lld %10lld  $%.4f", name,
	       (long long)json_int(sum, "calls", 0),
	       (long long)json_int(sum, "items", 0),
	       (long long)json_int(sum, "tokens", 0),
	       json_num(sum, "usd", 0));
	if (json_int(sum, "unpricedTokens", 0))
		printf(" and %lld tokens without a known price",
		       (long long)json_int(sum, "unpricedTokens", 0));
	putchar('\n');
}

static int show(struct cli *c, void *root)
{
	size_t i, n;
	yyjson_val *row;

	if (c->json)
		return EXIT_DONE;
	printf("%-28s %7s %7s %10s  price\n", json_str(root, "by", ""),
	       "calls", "texts", "tokens");
	yyjson_arr_foreach(yyjson_obj_get(root, "rows"), i, n, row) {
		struct buf b = BUF_INIT(256);

		/* Names of models come from settings. */
		for (const char *s = json_str(row, "key", ""); *s; s++)
			buf_addc(&b, (unsigned char)*s < ' ' ? '?' : *s);
		line(buf_str(&b), row);
		buf_release(&b);
	}
	line("total", yyjson_obj_get(root, "total"));
	line("today", yyjson_obj_get(root, "today"));
	printf("prices as of %s, in US dollars\n",
	       json_str(root, "pricesOf", ""));
	return EXIT_DONE;
}

int verb_usage(struct cli *c)
{
	struct remem_err err = { 0 };
	struct remem *r;
	char *json;
	int rc;

	if (c->arg_count)
		return cli_usage(c, "usage takes no arguments");
	if ((rc = cli_open(c, &r)))
		return rc;
	rc = remem_usage(r, cli_value(c, "by"), &json, &err);
	rc = rc ? cli_fail(c, &err) : cli_report(c, json, show);
	remem_close(r);
	return rc;
}
