/* JSON-RPC 2.0; see rpc.h. */
#include "mcp/rpc.h"

#include <stdlib.h>
#include <string.h>

static bool is_id(yyjson_val *v)
{
	return yyjson_is_str(v) || yyjson_is_raw(v) || yyjson_is_null(v);
}

static const char *plain_text(yyjson_val *v)
{
	const char *s = yyjson_get_str(v);

	return s && strlen(s) == yyjson_get_len(v) ? s : NULL;
}

static void bad(struct rpc *m, const char *why)
{
	m->kind = RPC_BAD;
	m->why = why;
}

void rpc_read(struct rpc *m, yyjson_val *v)
{
	yyjson_val *id = yyjson_obj_get(v, "id");
	yyjson_val *method = yyjson_obj_get(v, "method");
	const char *version = plain_text(yyjson_obj_get(v, "jsonrpc"));

	memset(m, 0, sizeof(*m));
	if (id && is_id(id))
		m->id = id;
	if (!yyjson_is_obj(v)) {
		bad(m, "a message should be a JSON object");
	} else if (!version || strcmp(version, "2.0")) {
		bad(m, "\"jsonrpc\" should be \"2.0\"");
	} else if (id && !m->id) {
		bad(m, "\"id\" should be a string or a number");
	} else if (method) {
		m->method = plain_text(method);
		m->params = yyjson_obj_get(v, "params");
		m->kind = id ? RPC_REQUEST : RPC_NOTIFICATION;
		if (!m->method)
			bad(m, "\"method\" should be a name");
		else if (m->params && !yyjson_is_ctn(m->params))
			bad(m, "\"params\" should be an object");
	} else if (id && (yyjson_obj_get(v, "result") ||
			  yyjson_obj_get(v, "error"))) {
		m->kind = RPC_RESPONSE;
	} else {
		bad(m, "a message should have a \"method\"");
	}
}

void rpc_put_result(struct buf *out, const char *id, const char *result,
		    size_t len)
{
	buf_addf(out, "{\"jsonrpc\":\"2.0\",\"id\":");
	buf_adds(out, id);
	buf_adds(out, ",\"result\":");
	buf_add(out, result, len);
	buf_addc(out, '}');
}

void rpc_put_error(struct buf *out, const char *id, int code,
		   const char *message, const char *data)
{
	struct json j;

	json_begin(&j, out);
	json_obj(&j);
	json_kstr(&j, "jsonrpc", "2.0");
	json_key(&j, "id");
	json_put_raw(&j, id ? id : "null", strlen(id ? id : "null"));
	json_key(&j, "error");
	json_obj(&j);
	json_kint(&j, "code", code);
	json_kstr(&j, "message", message);
	if (data) {
		json_key(&j, "data");
		json_put_raw(&j, data, strlen(data));
	}
	json_end(&j);
	json_end(&j);
}

bool rpc_is_num(yyjson_val *v)
{
	return yyjson_is_raw(v) || yyjson_is_num(v);
}

double rpc_num(yyjson_val *v, double def)
{
	if (yyjson_is_raw(v))
		return strtod(yyjson_get_raw(v), NULL);
	return yyjson_is_num(v) ? yyjson_get_num(v) : def;
}
