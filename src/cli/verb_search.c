/* remem search */
#include <string.h>

#include "base/err.h"
#include "cli/search_opts.h"
#include "front.h"

static void put_flags(struct cli *c, const struct remem_hit *h)
{
	if (h->date[0])
		printf("  %s", h->date);
	if (!h->flags[0])
		return;
	fputs("  [", stdout);
	cli_word(h->flags);
	if (h->superseded_by) {
		fputs(" by ", stdout);
		cli_word(h->superseded_by);
	}
	putchar(']');
	(void)c;
}

static void put_hit(struct cli *c, const struct remem_hit *h, size_t rank)
{
	printf("%zu. ", rank);
	cli_style(c, "1");
	cli_word(h->citation);
	cli_style(c, "0");
	cli_style(c, "2");
	printf("  %.2f", h->score);
	put_flags(c, h);
	cli_style(c, "0");
	putchar('\n');
	if (h->heading[0]) {
		cli_style(c, "2");
		fputs("   ", stdout);
		cli_word(h->heading);
		cli_style(c, "0");
		putchar('\n');
	}
	cli_text(h->snippet, strlen(h->snippet), "   ");
	putchar('\n');
}

static void put_parts(yyjson_val *hit)
{
	yyjson_val *key, *v, *parts = yyjson_obj_get(hit, "explain");
	size_t i, n;

	fputs("   ", stdout);
	yyjson_obj_foreach(parts, i, n, key, v)
		if (yyjson_is_num(v))
			printf("%s %.3f  ", yyjson_get_str(key),
			       yyjson_get_num(v));
	putchar('\n');
}

/* The parts of the scores are in the JSON form only. */
static void put_explain(const char *json)
{
	struct remem_err err;
	yyjson_doc *doc = NULL;
	yyjson_val *v;
	size_t i, n;

	if (json_read(&doc, json, strlen(json), false, "answer", &err))
		return;
	yyjson_arr_foreach(yyjson_obj_get(yyjson_doc_get_root(doc), "results"),
			   i, n, v) {
		printf("%zu. ", i + 1);
		put_parts(v);
	}
	yyjson_doc_free(doc);
}

static void show(struct cli *c, const struct helper_answer *a)
{
	for (size_t i = 0; i < a->count; i++)
		put_hit(c, &a->hits[i], i + 1);
	if (a->count && cli_flag(c, "explain"))
		put_explain(a->json);
	if (!a->count) {
		cli_word(a->message ? a->message : "nothing found");
		putchar('\n');
	} else if (a->message) {
		cli_note(c, "%s", a->message);
	}
	if (a->degraded)
		cli_note(c, "%s", a->degraded);
}

/* What the library found, in the form of an answer from elsewhere; strings
 * are borrowed from res. */
static int take_results(struct helper_answer *a, struct cli *c,
			const struct remem_results *res, struct remem_err *err)
{
	int rc = 0;

	memset(a, 0, sizeof(*a));
	a->count = remem_results_count(res);
	a->message = remem_results_message(res);
	a->degraded = remem_results_degraded(res);
	a->hits = ARENA_ARRAY(&c->a, struct remem_hit, a->count + 1);
	if (!a->hits)
		return fail_nomem(err);
	for (size_t i = 0; i < a->count; i++)
		a->hits[i] = *remem_results_hit(res, i);
	if (c->json || cli_flag(c, "explain"))
		rc = remem_results_json(res, &a->json, err);
	return rc;
}

static void put_answer(struct cli *c, const struct helper_answer *a)
{
	if (c->json)
		puts(a->json);
	else
		show(c, a);
}

static int answer(struct cli *c, struct remem *r,
		  const struct remem_search_opts *o, const struct buf *query)
{
	struct remem_results *res;
	struct remem_err err = { 0 };
	struct helper_answer a;
	int rc;

	if (remem_search(r, buf_str(query), query->len, o, &res, &err))
		return cli_fail(c, &err);
	/* err may tell of damage that was mended on the way. */
	rc = take_results(&a, c, res, &err);
	if (!rc)
		put_answer(c, &a);
	remem_free(a.json);
	remem_results_free(res);
	return rc ? cli_fail(c, &err) : EXIT_DONE;
}

/* By the background process, if it runs and has the answer; else here, and it
 * is started for the next time. */
static int ask(struct cli *c, struct remem *r,
	       const struct remem_search_opts *o, const struct buf *query)
{
	struct remem_open_opts open;
	struct helper_answer a;
	int rc;

	if ((rc = cli_open_opts(c, &open)))
		return rc;
	if (!helper_search(&a, r, &open, buf_str(query), query->len, o)) {
		rc = answer(c, r, o, query);
		if (!rc)
			helper_wake(r, &open, o->mode);
		return rc;
	}
	put_answer(c, &a);
	helper_answer_release(&a);
	return EXIT_DONE;
}

/* The words of the command line, or standard input for "-". */
static int take_query(struct cli *c, struct buf *out)
{
	if (!c->arg_count)
		return cli_usage(c, "say what to search for");
	if (c->arg_count == 1 && !strcmp(c->args[0], "-"))
		return cli_read_all(c, out);
	for (size_t i = 0; i < c->arg_count; i++) {
		if (i)
			buf_addc(out, ' ');
		buf_adds(out, c->args[i]);
	}
	return EXIT_DONE;
}

int verb_search(struct cli *c)
{
	struct remem_search_opts o;
	struct buf query = BUF_INIT(0);
	struct remem *r = NULL;
	bool batch = cli_flag(c, "batch");
	int rc = search_opts_from_args(c, &o);

	if (!rc && !batch)
		rc = take_query(c, &query);
	if (!rc)
		rc = cli_open(c, &r);
	if (!rc && batch)
		rc = search_batch(c, r, &o);
	else if (!rc)
		rc = ask(c, r, &o, &query);
	remem_close(r);
	buf_release(&query);
	return rc;
}
