/* One request by HTTP: its headers, its body, its answer. */
#ifndef MCP_HTTP_CALL_H
#define MCP_HTTP_CALL_H

#include "mcp/http_session.h"
#include "mcp/mhd.h"

struct http {
	const struct mhd_api *mhd;
	struct server *server;
	struct http_sessions sessions;
	const char *token;
	const char *host; /* that was asked for beside loopback; NULL */
};

struct http_call {
	struct sink sink; /* first: a sink is a call */
	struct http *http;
	struct MHD_Connection *c;
	const char *method;
	pthread_mutex_t lock;
	pthread_cond_t change;
	struct buf body;
	bool too_long;
	struct buf out; /* the answer, or events not yet sent */
	bool stream; /* as server-sent events */
	int asked, over; /* requests under way, and ended ones */
	struct session once; /* of a version without sessions */
	struct http_session *session; /* NULL: once */
	bool is_new; /* the session's id goes out with the answer */
	bool modern; /* 2026-07-28: errors have a status of their own */
};

/* The access handler and the end of a request, as libmicrohttpd calls them
 * with a struct http. */
enum MHD_Result http_call_handle(void *ctx, struct MHD_Connection *c,
				 const char *url, const char *method,
				 const char *version, const char *data,
				 size_t *len, void **state);
void http_call_end(void *ctx, struct MHD_Connection *c, void **state,
		   enum MHD_RequestTerminationCode why);

/* -- http_check.c: 0, or the status to refuse it with; *why in words. */
int http_check_caller(struct http_call *k, const char *url, const char **why);
/* A request of 2026-07-28: its headers repeat what the body says. */
int http_check_mirror(struct http_call *k, yyjson_val *root,
		      const char **why);
const char *http_header(struct http_call *k, const char *name);

#endif
