/*
 * The server behind the transports. A transport gives each message that comes
 * in to server_message(), with a sink for what goes out. What is cheap is
 * answered at once, in the transport's thread; what touches the workspace is
 * done by a few workers, so that pings and cancellations never wait.
 */
#ifndef MCP_SERVER_H
#define MCP_SERVER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "front.h"
#include "mcp/rpc.h"

#define MESSAGE_MAX_BYTES ((size_t)16 << 20)

struct server;
struct request;

/* Where the answers of one connection (stdio) or one request (HTTP) go. Called
 * by several threads, never two at a time for one request. */
struct sink {
	/* One message, without a line end. */
	void (*send)(struct sink *s, const char *json, size_t len);
	/* A request of this sink is over, answered or not; may be NULL. It is
	 * the last call for it. */
	void (*done)(struct sink *s);
	/* Waits a little for room; false: there is none yet. May be NULL. */
	bool (*ready)(struct sink *s);
};

#define CLIENT_BYTES 64

/* What a client has agreed with the server. Zeroed at the beginning. */
struct session {
	const char *version; /* by initialize; NULL: none yet */
	char client[CLIENT_BYTES]; /* its name, "" when it said none */
};

int server_new(struct server **out, const struct mcp_opts *o,
	       struct remem_err *err);
/* Cancels what runs and waits for it; false: something does not end. */
bool server_stop(struct server *s, int wait_ms);
void server_free(struct server *s); /* after server_stop() */

/* Called when a request is over, by any thread. Set before the first one. */
void server_on_done(struct server *s, void (*fn)(void *ctx), void *ctx);
/* Requests that wait or run. */
int server_pending(struct server *s);

/* too_long: the text is only the beginning of a message. Returns how many
 * requests are under way for sink now: 0 means that nothing more comes. */
int server_message(struct server *s, struct session *session,
		   struct sink *sink, const char *text, size_t len,
		   bool too_long);
/* Cancels what was asked by this sink. */
void server_hang_up(struct server *s, struct sink *sink);

#endif
