/*
 * The table of tools: listing and calling. A tool's answer is one object, as
 * structured content and once more as one block of text for clients that do
 * not know the first. When memory does not answer the object says so: that is
 * no error of the protocol.
 */
#include <string.h>

#include "base/err.h"
#include "base/nearest.h"
#include "mcp/tool.h"

static const struct {
	const struct tool *tool;
	int profiles;
} rows[] = {
#define TOOL(symbol, profiles) { &tool_##symbol, profiles },
#include "mcp/tools.def"
#undef TOOL
};

static const struct {
	const char *name;
	int profile;
} compats[] = {
	{ "openclaw", TOOLS_OPENCLAW },
	{ "lancedb", TOOLS_LANCEDB },
};

static int profile_of(const struct mcp_opts *o)
{
	for (size_t i = 0; o->compat && i < ARRAY_LEN(compats); i++)
		if (!strcmp(compats[i].name, o->compat))
			return compats[i].profile;
	return o->tools && !strcmp(o->tools, "full") ?
		       TOOLS_CORE | TOOLS_FULL : TOOLS_CORE;
}

int tools_check_opts(const struct mcp_opts *o, struct remem_err *err)
{
	bool known = !o->compat;

	for (size_t i = 0; !known && i < ARRAY_LEN(compats); i++)
		known = !strcmp(compats[i].name, o->compat);
	if (!known)
		return fail(err, REMEM_EINVAL, "--compat is openclaw or "
			    "lancedb, not '%.40s'", o->compat);
	if (o->tools && strcmp(o->tools, "core") && strcmp(o->tools, "full"))
		return fail(err, REMEM_EINVAL, "--tools is core or full, not "
			    "'%.40s'", o->tools);
	return 0;
}

const struct tool *tool_at(const struct mcp_opts *o, int i)
{
	int profile = profile_of(o);

	for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
		if (!(rows[k].profiles & profile) ||
		    (o->open.read_only && rows[k].tool->writes))
			continue;
		if (!i--)
			return rows[k].tool;
	}
	return NULL;
}

static void put_hints(struct json *j, const struct tool *t)
{
	json_key(j, "annotations");
	json_obj(j);
	json_kstr(j, "title", t->title);
	json_kbool(j, "readOnlyHint", !t->writes);
	if (t->writes) {
		json_kbool(j, "destructiveHint", t->destroys);
		/* The same text on one day is kept once. */
		json_kbool(j, "idempotentHint", true);
	}
	/* The notes are all the world there is. */
	json_kbool(j, "openWorldHint", false);
	json_end(j);
}

void tools_put_list(struct json *j, const struct mcp_opts *o,
		    const struct era *era)
{
	const struct tool *t;

	json_key(j, "tools");
	json_arr(j);
	for (int i = 0; (t = tool_at(o, i)); i++) {
		json_obj(j);
		json_kstr(j, "name", t->name);
		if (era->structured)
			json_kstr(j, "title", t->title);
		json_kstr(j, "description", t->help);
		json_key(j, "inputSchema");
		params_put_schema(j, t->params);
		if (era->structured && t->output) {
			json_key(j, "outputSchema");
			json_put_raw(j, t->output, strlen(t->output));
		}
		if (era->annotations)
			put_hints(j, t);
		json_end(j);
	}
	json_arr_end(j);
}

/* ---- calling ------------------------------------------------------------ */

static bool callers_fault(int rc)
{
	return rc == REMEM_EINVAL || rc == REMEM_EPERM || rc == REMEM_ELIMIT ||
	       rc == REMEM_ENOTFOUND || rc == REMEM_ENOTSUP;
}

static void begin_again(struct call *c)
{
	buf_reset(&c->out);
	buf_reset(&c->text);
	json_begin(&c->j, &c->out);
}

static void put_error(struct call *c, int rc, const struct remem_err *err)
{
	begin_again(c);
	c->is_error = true;
	json_obj(&c->j);
	json_kbool(&c->j, "ok", false);
	json_key(&c->j, "error");
	json_obj(&c->j);
	json_kstr(&c->j, "type", err_type(rc));
	json_kstr(&c->j, "message", err->message);
	json_kstr(&c->j, "action", err->action);
	json_end(&c->j);
	json_end(&c->j);
}

static void put_unavailable(struct call *c, const struct remem_err *err,
			    int rest_ms)
{
	begin_again(c);
	json_obj(&c->j);
	json_key(&c->j, "results");
	json_arr(&c->j);
	json_arr_end(&c->j);
	json_kbool(&c->j, "disabled", true);
	json_kbool(&c->j, "unavailable", true);
	json_kstr(&c->j, "error", err->message);
	json_kstr(&c->j, "warning", "Memory could not be searched. This says "
		  "nothing about what it holds; tell the user.");
	json_kstr(&c->j, "action", err->action[0] ? err->action :
		  "run: remem doctor");
	if (rest_ms)
		json_kint(&c->j, "retryAfterMs", rest_ms);
	json_end(&c->j);
}

/* The structured content again, on many lines. */
static void put_pretty(struct call *c)
{
	struct json j;
	yyjson_doc *doc;

	if (json_read_verbatim(&doc, buf_str(&c->out), c->out.len, "answer",
			       NULL))
		return;
	json_begin(&j, &c->text);
	j.pretty = true;
	json_put_val(&j, yyjson_doc_get_root(doc));
	yyjson_doc_free(doc);
}

static void put_text(struct call *c, struct json *j)
{
	struct buf shown = BUF_INIT(0);

	if (c->pretty && !c->text.len)
		put_pretty(c);
	if (c->text.len)
		show_json(&shown, buf_str(&c->text), c->text.len);
	else
		show_json(&shown, buf_str(&c->out), c->out.len);
	json_key(j, "content");
	json_arr(j);
	json_obj(j);
	json_kstr(j, "type", "text");
	json_key(j, "text");
	json_put_strn(j, buf_str(&shown), shown.len);
	json_end(j);
	json_arr_end(j);
	if (shown.failed)
		j->out->failed = shown.failed;
	buf_release(&shown);
}

static void put_result(struct call *c, struct answer *a)
{
	struct json *j = &a->j;

	if (buf_check(&c->out, NULL) || buf_check(&c->text, NULL)) {
		answer_fail(a, RPC_INTERNAL, "out of memory");
		return;
	}
	put_text(c, j);
	if (c->q->era->structured) {
		json_key(j, "structuredContent");
		json_put_raw(j, buf_str(&c->out), c->out.len);
	}
	if (c->is_error)
		json_kbool(j, "isError", true);
}

static void run_tool(struct call *c, const struct tool *t, struct worker *w)
{
	struct server *s = w->server;
	struct remem_err err = { 0 };
	int rc, left;
	bool opened;

	if ((rc = args_check(c, t, &err))) {
		put_error(c, rc, &err);
		return;
	}
	if (server_resting(s, &err, &left)) {
		put_unavailable(c, &err, left);
		return;
	}
	rc = worker_open(w, c->q, &c->r, &err);
	opened = !rc;
	if (opened)
		rc = t->run(c, &err);
	if (!rc)
		return;
	if (rc == REMEM_ECANCELLED || rc == REMEM_ENOMEM ||
	    (opened && (t->writes || callers_fault(rc)))) {
		/* A full disk is no reason not to search. */
		put_error(c, rc, &err);
		return;
	}
	worker_close(w);
	server_rest(s, &err);
	put_unavailable(c, &err, 0);
}

static const char *tool_name(void *ctx, int i)
{
	const struct tool *t = tool_at(ctx, i);

	return t ? t->name : NULL;
}

static void no_tool(struct answer *a, const struct mcp_opts *o,
		    const char *name)
{
	const char *near = word_nearest(name, tool_name,
					(void *)(uintptr_t)o);

	if (near)
		answer_fail(a, RPC_PARAMS, "there is no tool '%.80s', did you "
			    "mean '%s'?", name, near);
	else
		answer_fail(a, RPC_PARAMS, "there is no tool '%.80s'", name);
}

void tools_call(struct request *q, struct answer *a, struct worker *w)
{
	const struct mcp_opts *o = server_opts(q->server);
	yyjson_val *name = yyjson_obj_get(q->params, "name");
	struct call c = { .a = ARENA_INIT, .q = q, .o = o,
			  .out = BUF_INIT(0), .text = BUF_INIT(0) };
	const struct tool *t = NULL;

	for (int i = 0; (t = tool_at(o, i)); i++)
		if (yyjson_equals_str(name, t->name))
			break;
	if (!t) {
		no_tool(a, o, yyjson_is_str(name) ? yyjson_get_str(name) : "");
		return;
	}
	c.args = yyjson_obj_get(q->params, "arguments");
	if (yyjson_is_null(c.args))
		c.args = NULL;
	json_begin(&c.j, &c.out);
	run_tool(&c, t, w);
	put_result(&c, a);
	buf_release(&c.out);
	buf_release(&c.text);
	arena_release(&c.a);
}
