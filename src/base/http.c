/*
 * HTTP requests on libcurl's multi interface. Connections live in the multi
 * handle and are used again by later calls.
 */
#include "base/http.h"

#include <arpa/inet.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/curl.h"
#include "base/utf8.h"

#define MAX_REPLY ((size_t)64 << 20)
#define CONNECT_TIMEOUT_MS 10000
#define TIMEOUT_MS 120000
#define POLL_MS 100 /* how often cancel is asked */
#define BUFFER_BYTES (128l << 10) /* a reply of 100 vectors has megabytes */
#define KEEP_CONNECTIONS 32l
#define HOST_BYTES 300

/* CURLOPT_PROTOCOLS and its bits by number: new headers call the name
 * deprecated, old libraries do not know its successor. */
#define OPT_PROTOCOLS ((CURLoption)181)
#define PROTOCOLS_HTTP_HTTPS 3l

struct http {
	const struct curl_api *curl;
	CURLM *multi;
	char *ca_file;
};

struct transfer {
	const struct http_request *req;
	struct http_reply *reply;
	CURL *easy;
	const struct curl_api *curl;
	struct curl_slist *headers;
	size_t taken; /* bytes */
	bool added, done;
	char detail[CURL_ERROR_SIZE];
};

/* ---- addresses -------------------------------------------------------- */

/* The authority of an http or https URL; false for anything else. */
static bool find_authority(const char **s, size_t *n, const char *url)
{
	if (!strncasecmp(url, "http://", 7))
		url += 7;
	else if (!strncasecmp(url, "https://", 8))
		url += 8;
	else
		return false;
	*s = url;
	*n = strcspn(url, "/?#");
	return *n > 0;
}

/*
 * Host without brackets, or (with_port) as it stands with its port. The
 * name goes into messages and decides about proxies, so whatever could be
 * read in two ways is refused: then out is "".
 */
static void get_host(char out[HOST_BYTES], const char *url, bool with_port)
{
	const char *s, *at, *end;
	size_t n;

	out[0] = '\0';
	if (!find_authority(&s, &n, url))
		return;
	at = memchr(s, '@', n);
	if (at) {
		n -= (size_t)(at + 1 - s);
		s = at + 1;
	}
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c <= ' ' || c == 0x7f || strchr("@\\%<>\"'", c))
			return;
	}
	if (!with_port && n && s[0] == '[') {
		end = memchr(s, ']', n);
		if (!end)
			return;
		s++;
		n = (size_t)(end - s);
	} else if (!with_port) {
		end = memchr(s, ':', n);
		n = end ? (size_t)(end - s) : n;
	}
	if (n < HOST_BYTES)
		snprintf(out, HOST_BYTES, "%.*s", (int)n, s);
}

bool http_is_loopback(const char *url)
{
	char host[HOST_BYTES];
	unsigned char v4[4];
	struct in6_addr v6;

	get_host(host, url, false);
	if (!strcasecmp(host, "localhost") || !strcasecmp(host, "localhost."))
		return true;
	if (inet_pton(AF_INET, host, v4) == 1)
		return v4[0] == 127;
	if (inet_pton(AF_INET6, host, &v6) != 1)
		return false;
	return IN6_IS_ADDR_LOOPBACK(&v6) ||
	       (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127);
}

bool http_may_follow(const char *from, const char *to)
{
	bool safe = !strncasecmp(to, "https://", 8);
	char a[HOST_BYTES], b[HOST_BYTES];
	const char *s;
	size_t n;

	get_host(a, from, true);
	get_host(b, to, true);
	/* A name in an address that was sent to us is no good sign. */
	if (!find_authority(&s, &n, to) || memchr(s, '@', n))
		return false;
	if (!a[0] || !b[0] || (!safe && !strncasecmp(from, "https://", 8)))
		return false;
	if (http_is_loopback(to))
		return http_is_loopback(from);
	return safe || !strcasecmp(a, b);
}

/* ---- client ----------------------------------------------------------- */

int http_new(struct http **out, struct remem_err *err)
{
	const struct curl_api *curl;
	struct http *h;
	int rc = curl_api_get(&curl, err);

	*out = NULL;
	if (rc)
		return rc;
	h = mem_zalloc(sizeof(*h));
	if (!h)
		return fail_nomem(err);
	h->curl = curl;
	h->multi = curl->multi_init();
	if (!h->multi) {
		mem_free(h);
		return fail_nomem(err);
	}
	curl->multi_setopt(h->multi, CURLMOPT_MAXCONNECTS, KEEP_CONNECTIONS);
	*out = h;
	return 0;
}

void http_free(struct http *h)
{
	if (!h)
		return;
	h->curl->multi_cleanup(h->multi);
	mem_free(h->ca_file);
	mem_free(h);
}

int http_set_ca(struct http *h, const char *ca_file, struct remem_err *err)
{
	char *copy = ca_file ? mem_strdup(ca_file) : NULL;

	if (ca_file && !copy)
		return fail_nomem(err);
	mem_free(h->ca_file);
	h->ca_file = copy;
	return 0;
}

void http_reply_release(struct http_reply *r)
{
	if (!r)
		return;
	buf_release(&r->body);
	mem_free(r->location);
	r->location = NULL;
}

/* ---- one transfer: before --------------------------------------------- */

static int reply_fail(struct http_reply *r, int rc, const char *fmt, ...)
	ATTR_PRINTF(3, 4);

static int reply_fail(struct http_reply *r, int rc, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->error, sizeof(r->error), fmt, ap);
	va_end(ap);
	r->error[utf8_trim(r->error, strlen(r->error))] = '\0';
	return r->rc = rc;
}

/* A refusal is read as a whole: it is short, and says why. */
static bool is_taken(struct transfer *t)
{
	long status = 0;

	if (!t->req->take)
		return false;
	t->curl->easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
	return status >= 200 && status < 300;
}

static size_t take_body(struct transfer *t, const char *data, size_t len)
{
	struct http_reply *r = t->reply;

	t->taken += len;
	if (t->taken > r->body.limit)
		r->body.failed = REMEM_ELIMIT;
	return r->body.failed || t->req->take(t->req->take_ctx, data, len) ?
		       0 : len;
}

static size_t on_body(char *data, size_t size, size_t count, void *ctx)
{
	struct transfer *t = ctx;

	if (is_taken(t))
		return take_body(t, data, size * count);
	buf_add(&t->reply->body, data, size * count);
	return t->reply->body.failed ? 0 : size * count;
}

/* "Content-Range: bytes 0-99/1234" */
static void read_range(struct http_reply *r, const char *line, size_t len)
{
	static const char name[] = "content-range:";
	const char *at;
	char value[24];
	size_t n;

	if (len <= sizeof(name) || strncasecmp(line, name, sizeof(name) - 1))
		return;
	at = memchr(line, '/', len);
	n = at ? len - (size_t)(at + 1 - line) : 0;
	if (!n || n >= sizeof(value) || at[1] < '0' || at[1] > '9')
		return;
	memcpy(value, at + 1, n);
	value[n] = '\0';
	r->total = strtoll(value, NULL, 10);
}

/* A weak mark ("W/") does not say that bytes are the same. */
static void read_etag(struct http_reply *r, const char *line, size_t len)
{
	static const char name[] = "etag:";
	size_t n = sizeof(name) - 1;

	if (len <= n || strncasecmp(line, name, n))
		return;
	for (len -= n, line += n; len && *line == ' '; line++)
		len--;
	while (len && (unsigned char)line[len - 1] <= ' ')
		len--;
	if (len > 1 && len < sizeof(r->etag) && line[0] == '"')
		snprintf(r->etag, sizeof(r->etag), "%.*s", (int)len, line);
}

/* Milliseconds are what OpenAI and Azure say more precisely. */
static size_t on_header(char *line, size_t size, size_t count, void *ctx)
{
	static const char name[] = "retry-after-ms:";
	struct transfer *t = ctx;
	size_t len = size * count, n = sizeof(name) - 1;
	char value[24];

	read_range(t->reply, line, len);
	read_etag(t->reply, line, len);
	if (len > n && len - n < sizeof(value) && !strncasecmp(line, name, n)) {
		double ms;

		memcpy(value, line + n, len - n);
		value[len - n] = '\0';
		ms = strtod(value, NULL);
		if (ms > 0 && ms < INT_MAX)
			t->reply->retry_after_ms = (int)ms;
	}
	return len;
}

static int set_headers(struct http *h, struct transfer *t)
{
	const char *const *line = t->req->headers;
	/* No "100 Continue": it costs a round trip, or a second. */
	const char *const expect[] = { "Expect:", NULL };
	const char *const more[] = { t->req->more[0], t->req->more[1],
				     t->req->more[2], t->req->more[3], NULL };
	const char *const *const lists[] = { line, more, expect };

	for (size_t pass = 0; pass < ARRAY_LEN(lists); pass++) {
		for (line = lists[pass]; line && *line; line++) {
			struct curl_slist *list;

			if (strpbrk(*line, "\r\n"))
				return reply_fail(t->reply, REMEM_EINVAL,
						  "a header has two lines");
			list = h->curl->slist_append(t->headers, *line);
			if (!list)
				return reply_fail(t->reply, REMEM_ENOMEM,
						  "out of memory");
			t->headers = list;
		}
	}
	h->curl->easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->headers);
	return 0;
}

static CURLcode set_method(struct http *h, struct transfer *t)
{
	CURLcode (*set)(CURL *, CURLoption, ...) = h->curl->easy_setopt;
	const struct http_request *req = t->req;
	const char *method = req->method;
	CURLcode e;

	if (!method)
		method = req->body ? "POST" : "GET";
	if (!strcmp(method, "HEAD"))
		return set(t->easy, CURLOPT_NOBODY, 1l);
	if (!req->body && strcmp(method, "POST") != 0) {
		set(t->easy, CURLOPT_HTTPGET, 1l);
		return set(t->easy, CURLOPT_CUSTOMREQUEST, method);
	}
	set(t->easy, CURLOPT_POST, 1l);
	set(t->easy, CURLOPT_POSTFIELDSIZE_LARGE,
	    (curl_off_t)(req->body ? req->body_len : 0));
	e = set(t->easy, CURLOPT_POSTFIELDS, req->body ? req->body : "");
	if (e || !strcmp(method, "POST"))
		return e;
	return set(t->easy, CURLOPT_CUSTOMREQUEST, method);
}

static int positive(int value, int def)
{
	return value > 0 ? value : def;
}

/* What every request has; the URL has been looked at. */
static CURLcode set_options(struct http *h, struct transfer *t)
{
	CURLcode (*set)(CURL *, CURLoption, ...) = h->curl->easy_setopt;
	const struct http_request *req = t->req;
	CURL *e = t->easy;
	CURLcode rc = set(e, CURLOPT_URL, req->url);

	if (!rc)
		rc = set_method(h, t);
	if (!rc)
		rc = set(e, CURLOPT_USERAGENT, "remem");
	if (!rc) /* "" is all encodings that the library knows */
		rc = set(e, CURLOPT_ACCEPT_ENCODING, "");
	if (!rc && h->ca_file)
		rc = set(e, CURLOPT_CAINFO, h->ca_file);
	if (!rc && http_is_loopback(req->url)) {
		rc = set(e, CURLOPT_PROXY, "");
		if (!rc)
			rc = set(e, CURLOPT_NOPROXY, "*");
	}
	set(e, CURLOPT_NOSIGNAL, 1l);
	set(e, OPT_PROTOCOLS, PROTOCOLS_HTTP_HTTPS);
	set(e, CURLOPT_FOLLOWLOCATION, 0l);
	set(e, CURLOPT_CONNECTTIMEOUT_MS,
	    (long)positive(req->connect_timeout_ms, CONNECT_TIMEOUT_MS));
	set(e, CURLOPT_TIMEOUT_MS, (long)positive(req->timeout_ms, TIMEOUT_MS));
	set(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
	/* With TLS, wait whether one connection can carry all. */
	if (!strncasecmp(req->url, "https:", 6))
		set(e, CURLOPT_PIPEWAIT, 1l);
	set(e, CURLOPT_TCP_KEEPALIVE, 1l);
	set(e, CURLOPT_BUFFERSIZE, BUFFER_BYTES);
	set(e, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)t->reply->body.limit);
	set(e, CURLOPT_ERRORBUFFER, t->detail);
	set(e, CURLOPT_WRITEFUNCTION, on_body);
	set(e, CURLOPT_WRITEDATA, t);
	set(e, CURLOPT_HEADERFUNCTION, on_header);
	set(e, CURLOPT_HEADERDATA, t);
	set(e, CURLOPT_PRIVATE, t);
	return rc;
}

static void start(struct http *h, struct transfer *t)
{
	struct http_reply *r = t->reply;
	const char *s;
	size_t n;
	CURLcode e;

	t->done = true;
	if (!find_authority(&s, &n, t->req->url)) {
		reply_fail(r, REMEM_EINVAL, "the address is not http or https");
		return;
	}
	t->easy = h->curl->easy_init();
	if (!t->easy) {
		reply_fail(r, REMEM_ENOMEM, "out of memory");
		return;
	}
	if (set_headers(h, t))
		return;
	e = set_options(h, t);
	if (e) {
		reply_fail(r, e == CURLE_OUT_OF_MEMORY ? REMEM_ENOMEM :
							 REMEM_ENOTSUP,
			   "%s", h->curl->easy_strerror(e));
		return;
	}
	if (h->curl->multi_add_handle(h->multi, t->easy)) {
		reply_fail(r, REMEM_ENOMEM, "out of memory");
		return;
	}
	t->added = true;
	t->done = false;
}

/* ---- one transfer: after ---------------------------------------------- */

static void word_timeout(struct http *h, struct transfer *t, const char *host)
{
	const struct http_request *req = t->req;
	double sent = 0; /* seconds until the request could go out */

	h->curl->easy_getinfo(t->easy, CURLINFO_PRETRANSFER_TIME, &sent);
	if (sent > 0)
		reply_fail(t->reply, REMEM_ETIMEOUT,
			   "no complete answer from '%s' within %d ms", host,
			   positive(req->timeout_ms, TIMEOUT_MS));
	else
		reply_fail(t->reply, REMEM_ETIMEOUT,
			   "cannot connect to '%s' in time", host);
}

static void word_failure(struct http *h, struct transfer *t, CURLcode e,
			 const char *host)
{
	struct http_reply *r = t->reply;
	char reason[96] = "";
	long os = 0;

	if (r->body.failed == REMEM_ENOMEM || e == CURLE_OUT_OF_MEMORY) {
		reply_fail(r, REMEM_ENOMEM, "out of memory");
	} else if (r->body.failed || e == CURLE_FILESIZE_EXCEEDED) {
		reply_fail(r, REMEM_ELIMIT,
			   "the answer of '%s' is larger than %zu bytes", host,
			   r->body.limit);
	} else if (e == CURLE_OPERATION_TIMEDOUT) {
		word_timeout(h, t, host);
	} else if (e == CURLE_COULDNT_RESOLVE_HOST) {
		reply_fail(r, REMEM_EREMOTE, "cannot find the host '%s'", host);
	} else if (e == CURLE_COULDNT_RESOLVE_PROXY) {
		reply_fail(r, REMEM_EREMOTE, "cannot find the proxy's host");
	} else if (e == CURLE_COULDNT_CONNECT) {
		h->curl->easy_getinfo(t->easy, CURLINFO_OS_ERRNO, &os);
		if (os && !strerror_r((int)os, reason, sizeof(reason)))
			reply_fail(r, REMEM_EREMOTE,
				   "cannot connect to '%s': %s", host, reason);
		else
			reply_fail(r, REMEM_EREMOTE, "cannot connect to '%s'",
				   host);
	} else {
		reply_fail(r, REMEM_EREMOTE, "'%s': %s", host,
			   t->detail[0] ? t->detail :
					  h->curl->easy_strerror(e));
	}
}

static void read_facts(struct http *h, struct transfer *t)
{
	CURLcode (*get)(CURL *, CURLINFO, ...) = h->curl->easy_getinfo;
	struct http_reply *r = t->reply;
	curl_off_t wait_s = 0;
	char *type = NULL;
	long status = 0;

	get(t->easy, CURLINFO_RESPONSE_CODE, &status);
	r->status = (int)status;
	get(t->easy, CURLINFO_CONTENT_TYPE, &type);
	if (type)
		snprintf(r->content_type, sizeof(r->content_type), "%s", type);
	get(t->easy, CURLINFO_RETRY_AFTER, &wait_s);
	if (r->retry_after_ms < 0 && wait_s > 0)
		r->retry_after_ms = wait_s < INT_MAX / 1000 ?
				    (int)wait_s * 1000 : INT_MAX;
}

static void finish(struct http *h, struct transfer *t, CURLcode e)
{
	char host[HOST_BYTES], to[HOST_BYTES];
	char *location = NULL;

	t->done = true;
	read_facts(h, t);
	get_host(host, t->req->url, true);
	if (e) {
		word_failure(h, t, e, host);
		return;
	}
	h->curl->easy_getinfo(t->easy, CURLINFO_REDIRECT_URL, &location);
	if (!location)
		return;
	if (t->req->redirects) {
		t->reply->location = mem_strdup(location);
		if (!t->reply->location)
			reply_fail(t->reply, REMEM_ENOMEM, "out of memory");
		return;
	}
	get_host(to, location, true);
	reply_fail(t->reply, REMEM_EREMOTE,
		   "'%s' sends us on to '%s', which is not followed", host,
		   to[0] ? to : "an address that is not http");
}

/* ---- all transfers ---------------------------------------------------- */

static void collect(struct http *h)
{
	CURLMsg *m;
	int left;

	while ((m = h->curl->multi_info_read(h->multi, &left))) {
		char *p = NULL;

		if (m->msg != CURLMSG_DONE)
			continue;
		h->curl->easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &p);
		if (p)
			finish(h, (struct transfer *)(void *)p,
			       m->data.result);
	}
}

static int run(struct http *h, bool (*cancel)(void *ctx), void *ctx,
	       struct remem_err *err)
{
	int64_t asked = 0;

	for (;;) {
		int64_t now = clock_mono_ns();
		CURLMcode e;
		int running;

		if (cancel && now - asked >= POLL_MS * 1000000ll) {
			if (cancel(ctx))
				return 0; /* the rest is marked by cleanup */
			asked = now;
		}
		e = h->curl->multi_perform(h->multi, &running);
		collect(h);
		if (!e && !running)
			return 0;
		if (!e)
			e = h->curl->multi_poll(h->multi, NULL, 0, POLL_MS,
						NULL);
		if (e)
			return fail(err, REMEM_EIO, "the HTTP client: %s",
				    h->curl->multi_strerror(e));
	}
}

static void clean_up(struct http *h, struct transfer *t)
{
	if (!t->done)
		reply_fail(t->reply, REMEM_ECANCELLED, "cancelled");
	if (t->added)
		h->curl->multi_remove_handle(h->multi, t->easy);
	h->curl->slist_free_all(t->headers);
	if (t->easy)
		h->curl->easy_cleanup(t->easy);
}

int http_perform(struct http *h, const struct http_request *req,
		 struct http_reply *reply, size_t n,
		 bool (*cancel)(void *ctx), void *ctx, struct remem_err *err)
{
	struct transfer *t;
	int rc;

	for (size_t i = 0; i < n; i++) {
		memset(&reply[i], 0, sizeof(reply[i]));
		reply[i].retry_after_ms = -1;
		buf_init(&reply[i].body,
			 req[i].max_reply ? req[i].max_reply : MAX_REPLY);
	}
	t = mem_zarray(n, sizeof(*t));
	if (!t)
		return fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		t[i].req = &req[i];
		t[i].reply = &reply[i];
		t[i].curl = h->curl;
		start(h, &t[i]);
	}
	rc = run(h, cancel, ctx, err);
	for (size_t i = 0; i < n; i++)
		clean_up(h, &t[i]);
	mem_free(t);
	return rc;
}
