/* remem search --batch: questions as JSON lines, answers as JSON lines. */
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "cli/search_opts.h"

/* Files are looked at again this long after the last time: one walk for a
 * file of questions, and a session of hours still sees what is new. */
#define SYNC_EVERY_NS ((int64_t)2000000000)

struct batch {
	struct remem *r;
	const struct remem_search_opts *o;
	int64_t synced_ns;
	bool bad; /* a line got an error */
};

/* The value of "id", null if there is none or it is no plain value. */
static void put_id(struct json *j, yyjson_val *id)
{
	json_key(j, "id");
	if (yyjson_is_str(id))
		json_put_strn(j, yyjson_get_str(id), yyjson_get_len(id));
	else if (yyjson_is_int(id))
		json_put_int(j, yyjson_get_sint(id));
	else if (yyjson_is_num(id))
		json_put_num(j, yyjson_get_num(id));
	else if (yyjson_is_bool(id))
		json_put_bool(j, yyjson_get_bool(id));
	else
		json_put_null(j);
}

static void put_error(struct batch *b, yyjson_val *id,
		      const struct remem_err *err)
{
	struct buf out = BUF_INIT(0);
	struct json j;

	b->bad = true;
	json_begin(&j, &out);
	json_obj(&j);
	put_id(&j, id);
	json_kbool(&j, "ok", false);
	json_key(&j, "error");
	json_obj(&j);
	json_kstr(&j, "type", err_type(err->code));
	json_kstr(&j, "message", err->message);
	json_kstr(&j, "action", err->action);
	json_end(&j);
	json_end(&j);
	puts(buf_str(&out));
	buf_release(&out);
}

/* {"id":…, before the members of the answer. */
static void put_answer(yyjson_val *id, const char *json)
{
	struct buf out = BUF_INIT(0);
	struct json j;

	json_begin(&j, &out);
	json_obj(&j);
	put_id(&j, id);
	printf("%s,%s\n", buf_str(&out), json + 1);
	buf_release(&out);
}

static int ask(struct batch *b, yyjson_val *line, char **json,
	       struct remem_err *err)
{
	struct remem_search_opts o = *b->o;
	yyjson_val *query = yyjson_obj_get(line, "query");
	struct remem_results *res;
	int64_t now = clock_mono_ns();
	int rc;

	if (!yyjson_is_obj(line))
		return fail(err, REMEM_EFORMAT, "a line should be an object");
	if (!yyjson_is_str(query))
		return fail(err, REMEM_EINVAL, "'query' should be a text");
	if ((rc = search_opts_from_json(&o, line, err)))
		return rc;
	if (b->synced_ns && now - b->synced_ns < SYNC_EVERY_NS)
		o.no_sync = 1;
	rc = remem_search(b->r, yyjson_get_str(query), yyjson_get_len(query),
			  &o, &res, err);
	if (rc)
		return rc;
	if (!o.no_sync)
		b->synced_ns = clock_mono_ns();
	rc = remem_results_json(res, json, err);
	remem_results_free(res);
	return rc;
}

static void one(struct batch *b, const char *text, size_t len)
{
	struct remem_err err = { 0 };
	yyjson_doc *doc = NULL;
	yyjson_val *root = NULL;
	char *json = NULL;
	int rc = json_read(&doc, text, len, false, "a line", &err);

	if (!rc) {
		root = yyjson_doc_get_root(doc);
		rc = ask(b, root, &json, &err);
	}
	if (rc)
		put_error(b, yyjson_obj_get(root, "id"), &err);
	else
		put_answer(yyjson_obj_get(root, "id"), json);
	remem_free(json);
	yyjson_doc_free(doc);
	fflush(stdout);
}

static bool is_blank(const char *s, size_t n)
{
	return strspn(s, " \t") >= n;
}

int search_batch(struct cli *c, struct remem *r,
		 const struct remem_search_opts *o)
{
	struct batch b = { .r = r, .o = o };
	struct line_reader in = { .b = BUF_INIT(0) };
	const char *line;
	size_t len;
	bool too_long;

	if (c->arg_count)
		return cli_usage(c, "with --batch the questions come from "
				 "standard input");
	while (!ferror(stdout) && cli_read_line(&in, &line, &len, &too_long)) {
		struct remem_err err = { 0 };

		if (too_long) {
			fail(&err, REMEM_ELIMIT, "a line of more than 8 MB");
			put_error(&b, NULL, &err);
		} else if (!is_blank(line, len)) {
			one(&b, line, len);
		}
	}
	buf_release(&in.b);
	return b.bad ? EXIT_PARTLY : EXIT_DONE;
}
