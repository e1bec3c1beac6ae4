/* Methods of the protocol, in both of its times. */
#include <string.h>

#include "mcp/prompt.h"
#include "mcp/resource.h"
#include "mcp/tool.h"

static void put_abilities(struct json *j)
{
	json_key(j, "capabilities");
	json_obj(j);
	json_key(j, "tools");
	json_obj(j);
	json_end(j);
	json_key(j, "resources");
	json_obj(j);
	json_end(j);
	json_key(j, "prompts");
	json_obj(j);
	json_end(j);
	json_end(j);
}

static void put_guidance(struct request *q, struct json *j)
{
	struct buf b = BUF_INIT(0);

	server_guidance(q->server, &b);
	if (b.len)
		json_kstr(j, "instructions", buf_str(&b));
	buf_release(&b);
}

static void initialize(struct request *q, struct answer *a, struct worker *w)
{
	yyjson_val *v = yyjson_obj_get(q->params, "protocolVersion");
	const struct era *era = era_agree(yyjson_get_str(v));
	struct json *j = &a->j;

	(void)w;
	q->session->version = era->version;
	client_take(q->session->client,
		    yyjson_obj_get(q->params, "clientInfo"));
	json_kstr(j, "protocolVersion", era->version);
	put_abilities(j);
	json_key(j, "serverInfo");
	json_obj(j);
	json_kstr(j, "name", "remem");
	if (era->structured)
		json_kstr(j, "title", "remem: memory of notes");
	json_kstr(j, "version", REMEM_VERSION_TEXT);
	json_end(j);
	put_guidance(q, j);
}

static void discover(struct request *q, struct answer *a, struct worker *w)
{
	(void)w;
	json_key(&a->j, "supportedVersions");
	era_put_supported(&a->j);
	put_abilities(&a->j);
	put_guidance(q, &a->j);
}

static void ping(struct request *q, struct answer *a, struct worker *w)
{
	(void)q, (void)a, (void)w;
}

/* All lists come in one page, so no cursor is right. */
static bool has_cursor(struct request *q, struct answer *a)
{
	yyjson_val *v = yyjson_obj_get(q->params, "cursor");

	if (!v || yyjson_is_null(v))
		return false;
	answer_fail(a, RPC_PARAMS, "this cursor is not known");
	return true;
}

static void list_tools(struct request *q, struct answer *a, struct worker *w)
{
	(void)w;
	if (!has_cursor(q, a))
		tools_put_list(&a->j, server_opts(q->server), q->era);
}

static void list_resources(struct request *q, struct answer *a,
			   struct worker *w)
{
	(void)w;
	if (!has_cursor(q, a))
		resources_put_list(&a->j, server_opts(q->server), q->era);
}

static void list_templates(struct request *q, struct answer *a,
			   struct worker *w)
{
	(void)w;
	if (!has_cursor(q, a))
		resources_put_templates(&a->j, server_opts(q->server));
}

static void list_prompts(struct request *q, struct answer *a,
			 struct worker *w)
{
	(void)w;
	if (!has_cursor(q, a))
		prompts_put_list(&a->j);
}

static const struct method methods[] = {
	/* name, body, legacy, modern, heavy, cached */
	{ "initialize", initialize, true, false, false, false },
	{ "server/discover", discover, false, true, false, true },
	{ "ping", ping, true, false, false, false },
	{ "tools/list", list_tools, true, true, false, true },
	{ "tools/call", tools_call, true, true, true, false },
	{ "resources/list", list_resources, true, true, false, true },
	{ "resources/templates/list", list_templates, true, true, false, true },
	{ "resources/read", resources_read, true, true, true, true },
	{ "prompts/list", list_prompts, true, true, false, true },
	{ "prompts/get", prompts_get, true, true, true, false },
};

const struct method *method_find(const char *name, const struct era *era)
{
	for (size_t i = 0; i < ARRAY_LEN(methods); i++)
		if (!strcmp(methods[i].name, name) &&
		    (era->modern ? methods[i].modern : methods[i].legacy))
			return &methods[i];
	return NULL;
}

const char *method_name(void *ctx, int i)
{
	(void)ctx;
	return i < (int)ARRAY_LEN(methods) ? methods[i].name : NULL;
}
