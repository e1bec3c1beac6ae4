/* JSON-RPC 2.0: what a message is, and how answers are written. */
#ifndef MCP_RPC_H
#define MCP_RPC_H

#include "base/json.h"

enum rpc_code {
	RPC_PARSE = -32700,
	RPC_INVALID = -32600,
	RPC_NO_METHOD = -32601,
	RPC_PARAMS = -32602,
	RPC_INTERNAL = -32603,
	RPC_BUSY = -32000,
	/* Of the Model Context Protocol: the first until 2025-11-25, the
	 * others from 2026-07-28 on. */
	RPC_NO_RESOURCE = -32002,
	RPC_HEADERS = -32020,
	RPC_VERSION = -32022
};

enum rpc_kind {
	RPC_REQUEST,
	RPC_NOTIFICATION,
	RPC_RESPONSE, /* to a request that was never made */
	RPC_BAD
};

struct rpc {
	enum rpc_kind kind;
	yyjson_val *id; /* NULL: none, or none that could be */
	const char *method;
	yyjson_val *params; /* object or array, NULL if absent */
	const char *why; /* RPC_BAD */
};

/* Everything is borrowed from the document, read by json_read_verbatim(). */
void rpc_read(struct rpc *m, yyjson_val *v);

/* {"jsonrpc":"2.0","id":ID,"result":RESULT}; id and result are JSON. */
void rpc_put_result(struct buf *out, const char *id, const char *result,
		    size_t len);
/* data is JSON, or NULL; id NULL: null. */
void rpc_put_error(struct buf *out, const char *id, int code,
		   const char *message, const char *data);

/* Numbers of a document that was read verbatim; def if v is none. */
double rpc_num(yyjson_val *v, double def);
bool rpc_is_num(yyjson_val *v);

#endif
