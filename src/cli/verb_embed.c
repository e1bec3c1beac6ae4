/*
 * remem embed: a line of standard input is a text, or a JSON string if it
 * begins with a quote; an answer a line, in order. Lines are taken together as
 * far as they have arrived, so that a pipe of many is fast and a question
 * typed by hand is answered at once.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "cli/cli.h"

#define TEXTS_MAX 64

struct group {
	char *texts[TEXTS_MAX];
	size_t lens[TEXTS_MAX];
	size_t count;
};

static void release(struct group *g)
{
	for (size_t i = 0; i < g->count; i++)
		mem_free(g->texts[i]);
	g->count = 0;
}

/* A text line as it is, a JSON string decoded. */
static int add(struct group *g, const char *line, size_t len,
	       struct remem_err *err)
{
	yyjson_doc *doc = NULL;
	yyjson_val *v;
	int rc = 0;

	if (len && line[0] == '"') {
		rc = json_read(&doc, line, len, false, "a line", err);
		if (rc)
			return rc;
		v = yyjson_doc_get_root(doc);
		line = yyjson_get_str(v);
		len = yyjson_get_len(v);
	}
	g->texts[g->count] = mem_memdup0(line, len);
	g->lens[g->count] = len;
	if (g->texts[g->count])
		g->count++;
	else
		rc = fail_nomem(err);
	yyjson_doc_free(doc);
	return rc;
}

static void put_vector(const float *v, int dims)
{
	fputs("{\"embedding\":[", stdout);
	for (int i = 0; i < dims; i++)
		printf(i ? ",%.7g" : "%.7g", (double)v[i]);
	puts("]}");
}

static int answer(struct cli *c, struct remem *r, struct group *g)
{
	enum remem_embed_kind kind = cli_flag(c, "query") ?
		REMEM_EMBED_QUERY : REMEM_EMBED_DOCUMENT;
	struct remem_err err = { 0 };
	float *vecs;
	int dims, rc;

	if (!g->count)
		return EXIT_DONE;
	rc = remem_embed(r, cli_value(c, "provider"), kind,
			 (const char *const *)g->texts, g->lens, g->count,
			 &vecs, &dims, &err);
	if (rc)
		return cli_fail(c, &err);
	for (size_t i = 0; i < g->count; i++)
		put_vector(vecs + i * (size_t)dims, dims);
	remem_free(vecs);
	release(g);
	fflush(stdout);
	return EXIT_DONE;
}

/* Whether another whole line is there without waiting. */
static bool has_line(const struct line_reader *in)
{
	return in->b.len > in->at &&
	       memchr(in->b.ptr + in->at, '\n', in->b.len - in->at);
}

static int run(struct cli *c, struct remem *r, struct line_reader *in,
	       struct group *g)
{
	struct remem_err err = { 0 };
	const char *line;
	bool too_long;
	size_t len;
	int rc = EXIT_DONE;

	while (!rc && cli_read_line(in, &line, &len, &too_long)) {
		if (too_long)
			return cli_usage(c, "a line of more than 8 MB");
		if (add(g, line, len, &err))
			return cli_fail(c, &err);
		if (g->count == TEXTS_MAX || !has_line(in))
			rc = answer(c, r, g);
	}
	return rc ? rc : answer(c, r, g);
}

int verb_embed(struct cli *c)
{
	struct line_reader in = { .b = BUF_INIT(0) };
	struct group g = { .count = 0 };
	struct remem *r;
	int rc;

	if (c->arg_count)
		return cli_usage(c, "embed reads its texts from standard "
				 "input");
	if (cli_flag(c, "query") && cli_flag(c, "document"))
		return cli_usage(c, "--query or --document, not both");
	if ((rc = cli_open(c, &r)))
		return rc;
	rc = run(c, r, &in, &g);
	release(&g);
	buf_release(&in.b);
	remem_close(r);
	return rc;
}
