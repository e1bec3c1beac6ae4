/*
 * HTTP by libcurl, which is loaded at first use (linking it alone costs 4 ms
 * and 6 MB at each start). Loopback never goes through a proxy, other hosts
 * by the proxy variables as libcurl reads them; redirects are not followed;
 * replies are bounded; http and https alone.
 */
#ifndef BASE_HTTP_H
#define BASE_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

struct http; /* a client: keeps connections alive; one thread at a time */

struct http_request {
	const char *method; /* NULL: POST with a body, GET without */
	const char *url;
	const char *const *headers; /* "Name: value" lines, NULL-terminated */
	const char *more[4]; /* headers of this request alone, NULL: no more */
	const char *body;
	size_t body_len;
	int connect_timeout_ms; /* 0: 10 s */
	int timeout_ms; /* whole request; 0: 120 s */
	size_t max_reply; /* bytes, 0: 64 MiB */
	bool redirects; /* one is an answer, and not a failure */
	/* A body with a status of 2xx goes here, piece by piece, instead of
	 * into the reply; another result than 0 ends the request. May be NULL. */
	int (*take)(void *ctx, const char *data, size_t len);
	void *take_ctx;
	void *tag; /* the caller's */
};

struct http_reply {
	int status; /* HTTP status, 0 when there was none */
	/*
	 * 0 when a whole reply came, whatever its status; REMEM_EREMOTE (also
	 * for a redirect), ETIMEOUT, ELIMIT, ECANCELLED, ENOMEM, and EINVAL
	 * for a request that cannot be sent.
	 */
	int rc;
	int retry_after_ms; /* -1 when not said */
	int64_t total; /* of the whole file (Content-Range); 0: not said */
	struct buf body;
	char content_type[64];
	char etag[100]; /* "" where none, or none that is strong */
	char *location; /* of a redirect that was asked for, whole; else NULL */
	char error[256]; /* worded, without secrets; "" if rc is 0 */
};

int http_new(struct http **out, struct remem_err *err); /* ENOTSUP: no curl */
void http_free(struct http *h);
/* File of certificates to trust instead of the system's; NULL: the system's. */
int http_set_ca(struct http *h, const char *ca_file, struct remem_err *err);

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

/* True for 127.0.0.0/8, ::1 and localhost in an http or https URL; false
 * where the host could be read in two ways. */
bool http_is_loopback(const char *url);

/*
 * Whether a file may be fetched from where its server sends us: to the same
 * host, or to any by https; never from https to http, and to this machine only
 * from itself. Nothing of the first request goes along.
 */
bool http_may_follow(const char *from, const char *to);

/* ---- requests to an interface that speaks JSON (http_make.c) ----------- */

/* base with path ("/embeddings") put before its query; a base that ends so
 * already stays as it is. In the arena. */
const char *http_endpoint(struct arena *a, const char *base, const char *path);
/* base without slashes at its end and without the first of tails
 * (NULL-terminated) that it ends with. In the arena. */
const char *http_bare(struct arena *a, const char *base,
		      const char *const *tails);
/*
 * Content type and key, then the headers given ("Name: value", NULL-
 * terminated, or NULL), which take the place of ours. key may be NULL; it is
 * sent as "name: key", or as "Authorization: Bearer" where name is NULL.
 */
const char *const *http_json_headers(struct arena *a, const char *name,
				     const char *key,
				     const char *const *headers);

#endif
