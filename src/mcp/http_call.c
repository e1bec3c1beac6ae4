/*
 * One request by HTTP. libmicrohttpd gives each connection a thread, which
 * waits here until the answer is there. The answer is one JSON document, or,
 * for a request that wants to see progress, a stream of events; whether the
 * client of a stream is still there shows when a comment is written to it.
 */
#include "mcp/http_call.h"

#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "mcp/era.h"

#define BEAT_MS 1000 /* a comment in a stream that has nothing to say */

static const char notification[] = "{\"jsonrpc\":\"2.0\",\"method\"";

static void take_message(struct sink *s, const char *json, size_t len)
{
	struct http_call *k = (struct http_call *)s;

	pthread_mutex_lock(&k->lock);
	if (k->stream) {
		buf_adds(&k->out, "event: message\ndata: ");
		buf_add(&k->out, json, len);
		buf_adds(&k->out, "\n\n");
	} else if (strncmp(json, notification, sizeof(notification) - 1)) {
		buf_reset(&k->out);
		buf_add(&k->out, json, len);
	}
	pthread_cond_broadcast(&k->change);
	pthread_mutex_unlock(&k->lock);
}

static void take_end(struct sink *s)
{
	struct http_call *k = (struct http_call *)s;

	pthread_mutex_lock(&k->lock);
	k->over++;
	pthread_cond_broadcast(&k->change);
	pthread_mutex_unlock(&k->lock);
}

static struct http_call *call_new(struct http *h, struct MHD_Connection *c,
				  const char *method)
{
	pthread_condattr_t attr;
	struct http_call *k = mem_zalloc(sizeof(*k));

	if (!k)
		return NULL;
	k->sink.send = take_message;
	k->sink.done = take_end;
	k->http = h;
	k->c = c;
	k->method = method;
	k->body.limit = MESSAGE_MAX_BYTES;
	pthread_mutex_init(&k->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&k->change, &attr);
	pthread_condattr_destroy(&attr);
	return k;
}

/* ---- answering ---------------------------------------------------------- */

static enum MHD_Result respond(struct http_call *k, unsigned status,
			       struct MHD_Response *r)
{
	const struct mhd_api *mhd = k->http->mhd;
	enum MHD_Result ok;

	if (!r)
		return MHD_NO;
	mhd->add_response_header(r, "Cache-Control", "no-store");
	mhd->add_response_header(r, "X-Content-Type-Options", "nosniff");
	if (k->is_new)
		mhd->add_response_header(r, "Mcp-Session-Id", k->session->id);
	if (status == MHD_HTTP_UNAUTHORIZED)
		mhd->add_response_header(r, "WWW-Authenticate", "Bearer");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		mhd->add_response_header(r, "Allow", "POST, DELETE");
	ok = mhd->queue_response(k->c, status, r);
	mhd->destroy_response(r);
	return ok;
}

static enum MHD_Result give(struct http_call *k, unsigned status,
			    const struct buf *json)
{
	const struct mhd_api *mhd = k->http->mhd;
	struct MHD_Response *r = mhd->create_response_from_buffer(
		json->len, (void *)(uintptr_t)buf_str(json),
		MHD_RESPMEM_MUST_COPY);

	if (r && json->len)
		mhd->add_response_header(r, "Content-Type",
					 "application/json");
	return respond(k, status, r);
}

static enum MHD_Result refuse(struct http_call *k, unsigned status, int code,
			      const char *why)
{
	struct buf b = BUF_INIT(0);
	enum MHD_Result ok;

	rpc_put_error(&b, NULL, code, why, NULL);
	ok = give(k, status, &b);
	buf_release(&b);
	return ok;
}

static bool is_over(const struct http_call *k)
{
	return k->over >= k->asked;
}

/* With the lock held: until there is news, or a beat has passed. */
static void wait_news(struct http_call *k)
{
	int64_t ns = clock_mono_ns() + (int64_t)BEAT_MS * 1000000;
	struct timespec t = { .tv_sec = (time_t)(ns / 1000000000),
			      .tv_nsec = (long)(ns % 1000000000) };

	pthread_cond_timedwait(&k->change, &k->lock, &t);
}

static ssize_t read_events(void *ctx, uint64_t at, char *to, size_t max)
{
	struct http_call *k = ctx;
	ssize_t n;

	(void)at;
	pthread_mutex_lock(&k->lock);
	if (!k->out.len && !is_over(k))
		wait_news(k);
	if (!k->out.len && is_over(k)) {
		pthread_mutex_unlock(&k->lock);
		return MHD_CONTENT_READER_END_OF_STREAM;
	}
	if (!k->out.len)
		buf_adds(&k->out, ": \n\n");
	n = (ssize_t)(k->out.len < max ? k->out.len : max);
	memcpy(to, k->out.ptr, (size_t)n);
	memmove(k->out.ptr, k->out.ptr + n, k->out.len - (size_t)n);
	buf_truncate(&k->out, k->out.len - (size_t)n);
	pthread_mutex_unlock(&k->lock);
	return n;
}

static enum MHD_Result give_stream(struct http_call *k)
{
	const struct mhd_api *mhd = k->http->mhd;
	struct MHD_Response *r = mhd->create_response_from_callback(
		MHD_SIZE_UNKNOWN, 16384, read_events, k, NULL);

	if (r) {
		mhd->add_response_header(r, "Content-Type",
					 "text/event-stream");
		mhd->add_response_header(r, "X-Accel-Buffering", "no");
	}
	return respond(k, MHD_HTTP_OK, r);
}

/* From 2026-07-28 on some errors are errors of HTTP too. */
static unsigned status_of(struct http_call *k)
{
	yyjson_doc *doc;
	yyjson_val *error;
	unsigned status = MHD_HTTP_OK;
	double code;

	if (json_read_verbatim(&doc, buf_str(&k->out), k->out.len, "answer",
			       NULL))
		return MHD_HTTP_OK;
	error = yyjson_obj_get(yyjson_doc_get_root(doc), "error");
	code = rpc_num(yyjson_obj_get(error, "code"), 0);
	if (code == RPC_PARSE || code == RPC_INVALID ||
	    (k->modern && (code == RPC_VERSION || code == RPC_HEADERS)))
		status = MHD_HTTP_BAD_REQUEST;
	else if (k->modern && code == RPC_NO_METHOD)
		status = MHD_HTTP_NOT_FOUND;
	yyjson_doc_free(doc);
	return status;
}

static enum MHD_Result give_answer(struct http_call *k)
{
	pthread_mutex_lock(&k->lock);
	while (!is_over(k))
		wait_news(k);
	pthread_mutex_unlock(&k->lock);
	/* Notifications have no answer, and cancelled requests neither. */
	if (!k->out.len || k->out.failed)
		return give(k, k->out.failed ? MHD_HTTP_INTERNAL_SERVER_ERROR :
			    MHD_HTTP_ACCEPTED, &(struct buf)BUF_INIT(0));
	return give(k, status_of(k), &k->out);
}

/* ---- asking ------------------------------------------------------------- */

static bool wants_stream(struct http_call *k, yyjson_val *root)
{
	const char *accept = http_header(k, "Accept");
	yyjson_val *meta = yyjson_obj_get(yyjson_obj_get(root, "params"),
					  "_meta");

	return accept && strstr(accept, "text/event-stream") &&
	       !strcmp(json_str(root, "method", ""), "tools/call") &&
	       yyjson_obj_get(root, "id") &&
	       yyjson_obj_get(meta, "progressToken");
}

/* The session of a request of the older versions. 0, or a status. */
static int take_session(struct http_call *k, yyjson_val *root,
			const char **why)
{
	const char *id = http_header(k, "Mcp-Session-Id");
	const char *version = http_header(k, "MCP-Protocol-Version");

	*why = "this MCP-Protocol-Version is not known";
	if (version && !era_find(version))
		return MHD_HTTP_BAD_REQUEST;
	if (!strcmp(json_str(root, "method", ""), "initialize")) {
		k->session = http_session_new(&k->http->sessions);
		k->is_new = k->session != NULL;
		*why = "out of memory";
		return k->session ? 0 : MHD_HTTP_INTERNAL_SERVER_ERROR;
	}
	*why = "the header Mcp-Session-Id is missing: begin with initialize";
	if (!id)
		return MHD_HTTP_BAD_REQUEST;
	k->session = http_session_find(&k->http->sessions, id);
	*why = "there is no such session (any more): begin with initialize";
	return k->session ? 0 : MHD_HTTP_NOT_FOUND;
}

/* Looks at the body before the server does. 0, or a status. */
static int look_at(struct http_call *k, int *code, const char **why)
{
	yyjson_doc *doc;
	yyjson_val *root;
	const char *asked;
	int status;

	/* The server words what is wrong with it. */
	if (k->too_long || json_read_verbatim(&doc, buf_str(&k->body),
					      k->body.len, "message", NULL))
		return 0;
	root = yyjson_doc_get_root(doc);
	*code = RPC_HEADERS;
	era_of(yyjson_obj_get(root, "params"), &asked);
	k->modern = asked != NULL;
	if (k->modern) {
		/* Which versions there are matters more than a header. */
		status = era_find(asked) ? http_check_mirror(k, root, why) : 0;
	} else {
		*code = RPC_INVALID;
		status = take_session(k, root, why);
	}
	if (!status && (!asked || era_find(asked)))
		k->stream = wants_stream(k, root);
	yyjson_doc_free(doc);
	return status;
}

static enum MHD_Result post(struct http_call *k)
{
	const char *why = NULL;
	int code = RPC_INVALID, asked;
	int status = look_at(k, &code, &why);

	if (status)
		return refuse(k, (unsigned)status, code, why);
	asked = server_message(k->http->server, k->session ?
			       &k->session->session : &k->once, &k->sink,
			       buf_str(&k->body), k->body.len, k->too_long);
	pthread_mutex_lock(&k->lock);
	k->asked = asked;
	pthread_mutex_unlock(&k->lock);
	buf_release(&k->body);
	return k->stream ? give_stream(k) : give_answer(k);
}

static enum MHD_Result end_session(struct http_call *k)
{
	const char *id = http_header(k, "Mcp-Session-Id");

	if (!id || !http_session_drop(&k->http->sessions, id))
		return refuse(k, id ? MHD_HTTP_NOT_FOUND :
			      MHD_HTTP_BAD_REQUEST, RPC_INVALID,
			      "there is no such session");
	return give(k, MHD_HTTP_NO_CONTENT, &(struct buf)BUF_INIT(0));
}

enum MHD_Result http_call_handle(void *ctx, struct MHD_Connection *c,
				 const char *url, const char *method,
				 const char *version, const char *data,
				 size_t *len, void **state)
{
	struct http_call *k = *state;
	const char *why;
	int status;

	(void)version;
	if (!k) {
		k = call_new(ctx, c, method);
		*state = k;
		if (!k)
			return MHD_NO;
		status = http_check_caller(k, url, &why);
		return status ? refuse(k, (unsigned)status, RPC_INVALID, why) :
				MHD_YES;
	}
	if (*len) {
		if (!k->too_long)
			buf_add(&k->body, data, *len);
		if (k->body.failed) {
			k->too_long = true;
			buf_release(&k->body);
			k->body.failed = 0;
		}
		*len = 0;
		return MHD_YES;
	}
	return strcmp(k->method, "POST") ? end_session(k) : post(k);
}

void http_call_end(void *ctx, struct MHD_Connection *c, void **state,
		   enum MHD_RequestTerminationCode why)
{
	struct http_call *k = *state;

	(void)ctx, (void)c, (void)why;
	*state = NULL;
	if (!k)
		return;
	/* A stream that was closed is a request that nobody wants any more;
	 * its worker still knows us until it is over. */
	server_hang_up(k->http->server, &k->sink);
	pthread_mutex_lock(&k->lock);
	while (!is_over(k))
		wait_news(k);
	pthread_mutex_unlock(&k->lock);
	http_session_leave(&k->http->sessions, k->session);
	pthread_mutex_destroy(&k->lock);
	pthread_cond_destroy(&k->change);
	buf_release(&k->body);
	buf_release(&k->out);
	mem_free(k);
}
