/* memory_get with OpenClaw's parameters and fields. */
#include <string.h>

#include "mcp/tool.h"

static const struct param params[] = {
	{ "path", PARAM_WORD, true, 0, 4096, NULL, "Path of a note." },
	{ "from", PARAM_INT, false, 1, 2147483647, NULL, "First line." },
	{ "lines", PARAM_INT, false, 1, 2147483647, NULL, "How many lines." },
	{ "corpus", PARAM_CHOICE, false, 0, 0, "memory wiki all sessions",
	  "Where it lies." },
	{ NULL, 0, false, 0, 0, NULL, NULL },
};

static void put_note(struct json *j, yyjson_val *got)
{
	yyjson_val *text = yyjson_obj_get(got, "text");
	yyjson_val *next = yyjson_obj_get(got, "nextFrom");
	struct buf b = BUF_INIT(0);
	bool cut = json_bool(got, "truncated", false) && rpc_is_num(next);

	buf_add(&b, yyjson_get_str(text), yyjson_get_len(text));
	if (cut)
		buf_addf(&b, "\n\n[More lines follow: go on with from=%.0f.]",
			 rpc_num(next, 0));
	json_obj(j);
	json_kstr(j, "path", json_str(got, "path", ""));
	json_key(j, "text");
	json_put_strn(j, buf_str(&b), b.len);
	json_key(j, "from");
	json_put_val(j, yyjson_obj_get(got, "from"));
	json_key(j, "lines");
	json_put_val(j, yyjson_obj_get(got, "lines"));
	if (cut) {
		json_kbool(j, "truncated", true);
		json_key(j, "nextFrom");
		json_put_val(j, next);
	}
	json_kstr(j, "status", json_str(got, "status", "ok"));
	json_end(j);
	buf_release(&b);
}

/* A refusal is an ordinary answer there. */
static int refused(struct call *c, int rc, const struct remem_err *err)
{
	struct json *j = &c->j;

	json_obj(j);
	json_kstr(j, "path", arg_word(c, "path"));
	json_kstr(j, "text", "");
	json_kbool(j, "disabled", true);
	json_kstr(j, "error", err->message);
	json_kstr(j, "status", "error");
	json_kstr(j, "code", rc == REMEM_EPERM ? "MEMORY_PATH_NOT_ALLOWED" :
						 "MEMORY_READ_FAILED");
	json_end(j);
	return 0;
}

static int run(struct call *c, struct remem_err *err)
{
	struct remem_get_opts o = REMEM_OPTS_INIT(o);
	struct remem_err why = { 0 };
	yyjson_doc *doc;
	char *json = NULL;
	int rc;

	c->pretty = true;
	o.from = arg_int(c, "from", 0);
	o.lines = arg_int(c, "lines", 0);
	rc = remem_get(c->r, arg_word(c, "path"), &o, &json, &why);
	if (rc == REMEM_ENOMEM) {
		*err = why;
		return rc;
	}
	if (rc)
		return refused(c, rc, &why);
	rc = json_read_verbatim(&doc, json, strlen(json), "note", err);
	remem_free(json);
	if (rc)
		return rc;
	put_note(&c->j, yyjson_doc_get_root(doc));
	yyjson_doc_free(doc);
	return 0;
}

const struct tool tool_openclaw_get = {
	.name = "memory_get",
	.title = "Memory Get",
	.help = "Read lines of MEMORY.md, USER.md or memory/*.md after "
		"memory_search, to keep the context small.",
	.params = params,
	.run = run,
};
