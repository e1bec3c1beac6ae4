/*
 * HTTP by libcurl, which is loaded at first use (linking it alone costs 4 ms
 * and 6 MB at each start). Loopback never goes through a proxy; redirects to
 * another host are refused; replies are bounded.
 */
#ifndef BASE_HTTP_H
#define BASE_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct http; /* a client: keeps connections alive; one thread at a time */

struct http_request {
	const char *method; /* "POST" */
	const char *url;
	const char *const *headers; /* "Name: value" lines, NULL-terminated */
	const char *body;
	size_t body_len;
	int connect_timeout_ms;
	int timeout_ms; /* whole request */
	size_t max_reply; /* bytes, 0: 64 MiB */
	void *tag; /* the caller's */
};

struct http_reply {
	int status; /* HTTP status, 0 when there was none */
	int rc; /* 0, or REMEM_EREMOTE, ETIMEOUT, ELIMIT, ECANCELLED */
	int retry_after_ms; /* -1 when not said */
	struct buf body;
	char content_type[64];
	char error[256]; /* worded, without secrets */
};

int http_new(struct http **out, struct remem_err *err); /* ENOTSUP: no curl */
void http_free(struct http *h);

/*
 * Runs n requests at once (all in flight; the caller bounds n) and fills
 * replies[n], whose bodies the caller releases. cancel(ctx), asked about ten
 * times a second, ends all of them when it returns true; it may be NULL.
 * Returns 0 unless the client itself is broken; look at each reply.
 */
int http_perform(struct http *h, const struct http_request *req,
		 struct http_reply *reply, size_t n,
		 bool (*cancel)(void *ctx), void *ctx, struct remem_err *err);
void http_reply_release(struct http_reply *r);

/* True for 127.0.0.0/8, ::1 and localhost. */
bool http_is_loopback(const char *url);

#endif
