/* HTTP against a small server of our own on loopback. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/http.h"

/* ---- the server ------------------------------------------------------- */

enum { CONNECTIONS = 64, REQUEST_BYTES = 16384, BIG = 300000 };

struct conn {
	int fd; /* 0: free */
	size_t len;
	char text[REQUEST_BYTES];
};

struct server {
	int fd, port, stop[2];
	pthread_t thread;
	int accepted; /* connections so far */
	struct conn conns[CONNECTIONS];
	char seen[REQUEST_BYTES]; /* the last request, whole */
};

static void send_all(int fd, const char *p, size_t len)
{
	while (len) {
		ssize_t n = send(fd, p, len, MSG_NOSIGNAL);

		if (n <= 0)
			return;
		p += n;
		len -= (size_t)n;
	}
}

static void answer(int fd, const char *status, const char *headers,
		   const char *body, size_t len)
{
	char head[1024];

	snprintf(head, sizeof(head),
		 "HTTP/1.1 %s\r\nContent-Length: %zu\r\n%s\r\n", status, len,
		 headers);
	send_all(fd, head, strlen(head));
	send_all(fd, body, len);
}

/* gzip of 40 times two characters */
static const char zipped[] =
	"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x7b\xb1"
	"\x6e\xc3\xd3\xfd\x6d\x2f\x46\x0c\x09\x00\xbe\x67"
	"\x19\x75\xf0\x00\x00\x00";

static void send_chunks(int fd)
{
	static char chunk[0x4000 + 2];
	static const char head[] = "HTTP/1.1 200 OK\r\n"
				   "Transfer-Encoding: chunked\r\n\r\n";

	memset(chunk, 'x', sizeof(chunk));
	memcpy(chunk + 0x4000, "\r\n", 2);
	send_all(fd, head, strlen(head));
	for (int i = 0; i < BIG / 0x4000; i++) {
		send_all(fd, "4000\r\n", 6);
		send_all(fd, chunk, sizeof(chunk));
	}
	send_all(fd, "0\r\n\r\n", 5);
}

static char big[BIG];

/* What the path asks for. False: close the connection. */
static bool serve(struct conn *c, const char *body)
{
	static const struct {
		const char *path, *status, *headers, *body;
	} fixed[] = {
		{ "/429 ", "429 Too Many", "Retry-After: 7\r\n", "slow down" },
		{ "/429ms ", "429 Too Many",
		  "Retry-After: 7\r\nRetry-After-Ms: 1234.5\r\n", "" },
		{ "/429date ", "429 Too Many",
		  "Retry-After: Fri, 31 Dec 2100 23:59:59 GMT\r\n", "" },
		{ "/429odd ", "429 Too Many",
		  "Retry-After: soon\r\nRetry-After-Ms: -5\r\n", "" },
		{ "/429past ", "429 Too Many",
		  "Retry-After: Fri, 31 Dec 1999 23:59:59 GMT\r\n", "" },
		{ "/500 ", "500 Oops", "", "broken" },
		{ "/away ", "307 Go", "Location: http://evil.example:99/x\r\n",
		  "" },
		{ "/here ", "302 Go", "Location: /echo\r\n", "" },
		{ "/odd ", "301 Go", "Location: file:///etc/passwd\r\n", "" },
		{ "/json ", "200 OK",
		  "Content-Type: application/json; charset=utf-8\r\n",
		  "{\"记\":\"忆\"}" },
	};
	const char *path = strchr(c->text, ' ');

	path = path ? path + 1 : "";
	for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++) {
		if (strncmp(path, fixed[i].path, strlen(fixed[i].path)) != 0)
			continue;
		answer(c->fd, fixed[i].status, fixed[i].headers, fixed[i].body,
		       strlen(fixed[i].body));
		return true;
	}
	if (!strncmp(path, "/hang", 5))
		return true;
	if (!strncmp(path, "/big ", 5))
		answer(c->fd, "200 OK", "", big, sizeof(big));
	else if (!strncmp(path, "/chunks ", 8))
		send_chunks(c->fd);
	else if (!strncmp(path, "/gzip ", 6))
		answer(c->fd, "200 OK", "Content-Encoding: gzip\r\n", zipped,
		       sizeof(zipped) - 1);
	else if (!strncmp(path, "/cut ", 5))
		send_all(c->fd, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
			 41);
	else if (!strncmp(path, "/garbage ", 9))
		send_all(c->fd, "\x01\x02 no such thing\r\n\r\n", 20);
	else
		answer(c->fd, "200 OK", "", body, strlen(body));
	return strncmp(path, "/cut ", 5) && strncmp(path, "/garbage ", 9);
}

/* Serves the request in the buffer when it is complete. */
static bool try_serve(struct server *s, struct conn *c)
{
	char *end, *length;
	size_t want, head;

	c->text[c->len] = '\0';
	end = strstr(c->text, "\r\n\r\n");
	if (!end)
		return true;
	length = strstr(c->text, "Content-Length: ");
	want = length && length < end ? strtoul(length + 16, NULL, 10) : 0;
	head = (size_t)(end - c->text) + 4;
	if (c->len < head + want)
		return true;
	memcpy(s->seen, c->text, c->len + 1);
	c->len = 0;
	return serve(c, c->text + head);
}

static void accept_one(struct server *s)
{
	int fd = accept(s->fd, NULL, NULL);

	for (int i = 0; i < CONNECTIONS; i++) {
		if (s->conns[i].fd)
			continue;
		s->conns[i].fd = fd;
		s->conns[i].len = 0;
		__atomic_add_fetch(&s->accepted, 1, __ATOMIC_SEQ_CST);
		return;
	}
	close(fd);
}

static void read_one(struct server *s, struct conn *c)
{
	ssize_t n = read(c->fd, c->text + c->len,
			 sizeof(c->text) - 1 - c->len);

	if (n > 0)
		c->len += (size_t)n;
	if (n > 0 && try_serve(s, c))
		return;
	close(c->fd);
	c->fd = 0;
}

static void *run_server(void *ctx)
{
	struct server *s = ctx;

	for (;;) {
		struct pollfd p[CONNECTIONS + 2] = { { s->fd, POLLIN, 0 },
						     { s->stop[0], POLLIN,
						       0 } };

		for (int i = 0; i < CONNECTIONS; i++) {
			p[i + 2].fd = s->conns[i].fd ? s->conns[i].fd : -1;
			p[i + 2].events = POLLIN;
		}
		if (poll(p, CONNECTIONS + 2, -1) < 0)
			continue;
		if (p[1].revents)
			return NULL;
		for (int i = 0; i < CONNECTIONS; i++) {
			if (p[i + 2].revents)
				read_one(s, &s->conns[i]);
		}
		if (p[0].revents)
			accept_one(s);
	}
}

static int listen_anywhere(int *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_true(fd > 2);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(fd, 64), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	*port = ntohs(a.sin_port);
	return fd;
}

static struct server *server_start(void)
{
	struct server *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->fd = listen_anywhere(&s->port);
	assert_int_equal(pipe(s->stop), 0);
	assert_int_equal(pthread_create(&s->thread, NULL, run_server, s), 0);
	return s;
}

static void server_stop(struct server *s)
{
	assert_int_equal(write(s->stop[1], "x", 1), 1);
	pthread_join(s->thread, NULL);
	for (int i = 0; i < CONNECTIONS; i++) {
		if (s->conns[i].fd)
			close(s->conns[i].fd);
	}
	close(s->fd);
	close(s->stop[0]);
	close(s->stop[1]);
	free(s);
}

/* ---- asking it -------------------------------------------------------- */

struct fixture {
	struct server *s;
	struct http *h;
	char url[256];
};

static void begin(struct fixture *f)
{
	struct remem_err err = { 0 };

	f->s = server_start();
	if (http_new(&f->h, &err))
		fail_msg("%s", err.message);
}

static void end(struct fixture *f)
{
	http_free(f->h);
	server_stop(f->s);
}

static const char *url_of(struct fixture *f, const char *path)
{
	snprintf(f->url, sizeof(f->url), "http://127.0.0.1:%d%s", f->s->port,
		 path);
	return f->url;
}

static void ask_for(struct fixture *f, struct http_reply *r,
		    struct http_request *req)
{
	struct remem_err err = { 0 };

	if (http_perform(f->h, req, r, 1, NULL, NULL, &err))
		fail_msg("%s", err.message);
}

static void ask(struct fixture *f, struct http_reply *r, const char *path)
{
	struct http_request req = { .url = url_of(f, path),
				    .timeout_ms = 20000 };

	ask_for(f, r, &req);
}

static void test_http__a_post_goes_out_whole(void **state)
{
	static const char *const headers[] = {
		"Content-Type: application/json", "Authorization: Bearer k",
		NULL
	};
	struct http_reply r;
	struct fixture f;
	struct http_request req = { .method = "POST", .headers = headers,
				    .body = "{\"问\":\"昨天\"}" };

	(void)state;
	begin(&f);
	req.body_len = strlen(req.body);
	req.url = url_of(&f, "/echo?x=1");
	ask_for(&f, &r, &req);
	assert_int_equal(r.rc, 0);
	assert_int_equal(r.status, 200);
	assert_int_equal(r.retry_after_ms, -1);
	assert_string_equal(r.error, "");
	assert_string_equal(buf_str(&r.body), req.body);
	assert_int_equal(strncmp(f.s->seen, "POST /echo?x=1 HTTP/1.1\r\n", 25),
			 0);
	assert_non_null(strstr(f.s->seen, "Authorization: Bearer k\r\n"));
	assert_non_null(strstr(f.s->seen, "Content-Type: application/json"));
	assert_non_null(strstr(f.s->seen, "Accept-Encoding: "));
	assert_null(strstr(f.s->seen, "Expect:"));
	http_reply_release(&r);
	end(&f);
}

static void check_method(struct fixture *f, const char *method,
			 const char *body, const char *want)
{
	struct http_request req = { .method = method, .body = body,
				    .body_len = body ? strlen(body) : 0 };
	struct http_reply r;

	req.url = url_of(f, "/echo");
	ask_for(f, &r, &req);
	assert_int_equal(r.rc, 0);
	assert_int_equal(strncmp(f->s->seen, want, strlen(want)), 0);
	http_reply_release(&r);
}

static void test_http__methods(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	check_method(&f, NULL, NULL, "GET /echo ");
	check_method(&f, NULL, "x", "POST /echo ");
	check_method(&f, "GET", NULL, "GET /echo ");
	check_method(&f, "POST", NULL, "POST /echo ");
	check_method(&f, "DELETE", NULL, "DELETE /echo ");
	check_method(&f, "PUT", "文", "PUT /echo ");
	check_method(&f, "HEAD", NULL, "HEAD /echo ");
	end(&f);
}

static void test_http__content_type_and_chinese_body(void **state)
{
	struct http_reply r;
	struct fixture f;

	(void)state;
	begin(&f);
	ask(&f, &r, "/json");
	assert_string_equal(r.content_type, "application/json; charset=utf-8");
	assert_string_equal(buf_str(&r.body), "{\"记\":\"忆\"}");
	http_reply_release(&r);
	end(&f);
}

static void test_http__connections_are_kept(void **state)
{
	struct http_reply r;
	struct fixture f;

	(void)state;
	begin(&f);
	for (int i = 0; i < 5; i++) {
		ask(&f, &r, "/json");
		http_reply_release(&r);
	}
	assert_int_equal(__atomic_load_n(&f.s->accepted, __ATOMIC_SEQ_CST), 1);
	end(&f);
}

static void test_http__a_status_is_no_failure_of_transport(void **state)
{
	struct http_reply r;
	struct fixture f;

	(void)state;
	begin(&f);
	ask(&f, &r, "/500");
	assert_int_equal(r.rc, 0);
	assert_int_equal(r.status, 500);
	assert_string_equal(buf_str(&r.body), "broken");
	http_reply_release(&r);
	end(&f);
}

static void test_http__retry_after(void **state)
{
	struct http_reply r;
	struct fixture f;

	(void)state;
	begin(&f);
	ask(&f, &r, "/429");
	assert_int_equal(r.status, 429);
	assert_int_equal(r.rc, 0);
	assert_int_equal(r.retry_after_ms, 7000);
	http_reply_release(&r);
	ask(&f, &r, "/429ms");
	assert_int_equal(r.retry_after_ms, 1234);
	http_reply_release(&r);
	ask(&f, &r, "/429date");
	assert_int_equal(r.retry_after_ms, INT_MAX);
	http_reply_release(&r);
	/* Nonsense and the past say nothing. */
	ask(&f, &r, "/429odd");
	assert_int_equal(r.retry_after_ms, -1);
	http_reply_release(&r);
	ask(&f, &r, "/429past");
	assert_int_equal(r.retry_after_ms, -1);
	http_reply_release(&r);
	end(&f);
}

static void test_http__a_hanging_server_costs_the_timeout(void **state)
{
	static const char *const headers[] = { "X-Key: sesame", NULL };
	struct http_request req = { .timeout_ms = 150, .headers = headers };
	int64_t start = clock_mono_ns();
	struct http_reply r;
	struct fixture f;

	(void)state;
	begin(&f);
	req.url = url_of(&f, "/hang");
	ask_for(&f, &r, &req);
	assert_int_equal(r.rc, REMEM_ETIMEOUT);
	assert_int_equal(r.status, 0);
	assert_non_null(strstr(r.error, "no complete answer from '127.0.0.1"));
	assert_non_null(strstr(r.error, "150 ms"));
	assert_null(strstr(r.error, "sesame"));
	assert_true(clock_mono_ns() - start < 5000000000);
	http_reply_release(&r);
	end(&f);
}

static void test_http__refused_says_where(void **state)
{
	struct http_request req = { .url = NULL };
	struct http_reply r;
	struct fixture f;
	char url[100];
	int port, fd = listen_anywhere(&port);

	(void)state;
	close(fd);
	begin(&f);
	snprintf(url, sizeof(url), "http://user:secret@127.0.0.1:%d/x", port);
	req.url = url;
	ask_for(&f, &r, &req);
	assert_int_equal(r.rc, REMEM_EREMOTE);
	assert_non_null(strstr(r.error, "cannot connect to '127.0.0.1:"));
	assert_non_null(strstr(r.error, "refused"));
	assert_null(strstr(r.error, "secret"));
	http_reply_release(&r);
	end(&f);
}

static void test_http__replies_are_bounded(void **state)
{
	static const char *const paths[] = { "/big", "/chunks" };
	struct http_request req = { .max_reply = 1000 };
	struct http_reply r;
	struct fixture f;

	(void)state;
	begin(&f);
	for (int i = 0; i < 2; i++) {
		req.max_reply = 1000;
		req.url = url_of(&f, paths[i]);
		ask_for(&f, &r, &req);
		assert_int_equal(r.rc, REMEM_ELIMIT);
		assert_non_null(strstr(r.error, "1000 bytes"));
		assert_true(r.body.len <= 1000);
		http_reply_release(&r);
		req.max_reply = BIG;
		ask_for(&f, &r, &req);
		assert_int_equal(r.rc, 0);
		assert_true(r.body.len > BIG - 0x4000);
		http_reply_release(&r);
	}
	end(&f);
}

static void test_http__redirects_are_told_and_not_followed(void **state)
{
	struct http_reply r;
	struct fixture f;

	(void)state;
	begin(&f);
	ask(&f, &r, "/away");
	assert_int_equal(r.rc, REMEM_EREMOTE);
	assert_int_equal(r.status, 307);
	assert_non_null(strstr(r.error, "'evil.example:99'"));
	http_reply_release(&r);
	ask(&f, &r, "/here");
	assert_int_equal(r.rc, REMEM_EREMOTE);
	assert_non_null(strstr(r.error, "to '127.0.0.1:"));
	assert_non_null(strstr(f.s->seen, "/here"));
	http_reply_release(&r);
	ask(&f, &r, "/odd");
	assert_int_equal(r.rc, REMEM_EREMOTE);
	assert_non_null(strstr(r.error, "not http"));
	http_reply_release(&r);
	end(&f);
}

static void test_http__compressed_bodies_are_unpacked(void **state)
{
	struct http_reply r;
	struct fixture f;

	(void)state;
	begin(&f);
	ask(&f, &r, "/gzip");
	if (!strstr(f.s->seen, "gzip"))
		skip();
	assert_int_equal(r.rc, 0);
	assert_int_equal(r.body.len, 240);
	assert_int_equal(strncmp(buf_str(&r.body), "记忆记忆", 12), 0);
	http_reply_release(&r);
	end(&f);
}

static void test_http__broken_answers_are_remote_errors(void **state)
{
	static const char *const paths[] = { "/cut", "/garbage" };
	struct http_reply r;
	struct fixture f;

	(void)state;
	begin(&f);
	for (int i = 0; i < 2; i++) {
		ask(&f, &r, paths[i]);
		assert_int_equal(r.rc, REMEM_EREMOTE);
		assert_non_null(strstr(r.error, "'127.0.0.1:"));
		http_reply_release(&r);
	}
	end(&f);
}

static void test_http__odd_requests_are_invalid(void **state)
{
	static const char *const two[] = { "A: b\r\nEvil: yes", NULL };
	static const char *const urls[] = { "ftp://127.0.0.1/", "", "file:///x",
					    "http://", "127.0.0.1", "http:/x" };
	struct http_request req = { .headers = two };
	struct http_reply r;
	struct fixture f;

	(void)state;
	begin(&f);
	req.url = url_of(&f, "/echo");
	ask_for(&f, &r, &req);
	assert_int_equal(r.rc, REMEM_EINVAL);
	assert_null(strstr(r.error, "Evil"));
	http_reply_release(&r);
	req.headers = NULL;
	for (size_t i = 0; i < sizeof(urls) / sizeof(*urls); i++) {
		req.url = urls[i];
		ask_for(&f, &r, &req);
		assert_int_equal(r.rc, REMEM_EINVAL);
		http_reply_release(&r);
	}
	assert_int_equal(f.s->accepted, 0);
	end(&f);
}

static void test_http__many_at_once_each_get_their_own(void **state)
{
	enum { N = 24 };
	struct http_request req[N];
	struct http_reply r[N];
	char body[N][24], url[2][256];
	struct fixture f;

	(void)state;
	begin(&f);
	snprintf(url[0], sizeof(url[0]), "%s", url_of(&f, "/echo"));
	snprintf(url[1], sizeof(url[1]), "%s", url_of(&f, "/hang"));
	for (int i = 0; i < N; i++) {
		snprintf(body[i], sizeof(body[i]), "第%d个", i);
		req[i] = (struct http_request){ .url = url[i % 8 == 7],
						.body = body[i],
						.body_len = strlen(body[i]),
						.timeout_ms =
							i % 8 == 7 ? 200 : 0,
						.tag = &r[i] };
	}
	assert_int_equal(http_perform(f.h, req, r, N, NULL, NULL, NULL), 0);
	for (int i = 0; i < N; i++) {
		assert_int_equal(r[i].rc, i % 8 == 7 ? REMEM_ETIMEOUT : 0);
		if (!r[i].rc)
			assert_string_equal(buf_str(&r[i].body), body[i]);
		http_reply_release(&r[i]);
	}
	assert_int_equal(http_perform(f.h, NULL, NULL, 0, NULL, NULL, NULL), 0);
	end(&f);
}

static bool count_down(void *ctx)
{
	int *left = ctx;

	return --*left < 0;
}

static void test_http__cancel_ends_all(void **state)
{
	struct http_request req[3];
	struct http_reply r[3];
	int64_t start = clock_mono_ns();
	struct fixture f;
	int left = 2;

	(void)state;
	begin(&f);
	for (int i = 0; i < 3; i++)
		req[i] = (struct http_request){ .url = url_of(&f, "/hang") };
	assert_int_equal(http_perform(f.h, req, r, 3, count_down, &left, NULL),
			 0);
	assert_true(clock_mono_ns() - start < 5000000000);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(r[i].rc, REMEM_ECANCELLED);
		http_reply_release(&r[i]);
	}
	left = 0; /* cancelled before it begins */
	assert_int_equal(http_perform(f.h, req, r, 1, count_down, &left, NULL),
			 0);
	assert_int_equal(r[0].rc, REMEM_ECANCELLED);
	http_reply_release(&r[0]);
	ask(&f, &r[0], "/json"); /* the client still works */
	assert_int_equal(r[0].rc, 0);
	http_reply_release(&r[0]);
	end(&f);
}

static void test_http__proxies_do_not_touch_loopback(void **state)
{
	static const char *const names[] = { "127.0.0.1", "localhost" };
	struct http_request req = { .timeout_ms = 20000 };
	struct http_reply r;
	struct fixture f;

	(void)state;
	begin(&f);
	setenv("http_proxy", "http://127.0.0.1:1", 1);
	setenv("all_proxy", "http://127.0.0.1:1", 1);
	for (int i = 0; i < 2; i++) {
		snprintf(f.url, sizeof(f.url), "http://%s:%d/json", names[i],
			 f.s->port);
		req.url = f.url;
		ask_for(&f, &r, &req);
		if (r.rc)
			fail_msg("%s", r.error);
		assert_int_equal(r.status, 200);
		http_reply_release(&r);
	}
	unsetenv("http_proxy");
	unsetenv("all_proxy");
	end(&f);
}

/* Other hosts do use the proxy, unless no_proxy names them. */
static void test_http__proxies_and_no_proxy_hold_for_others(void **state)
{
	struct http_request req = { .url = "http://models.example/echo",
				    .timeout_ms = 20000 };
	struct http_reply r;
	struct fixture f;

	(void)state;
	begin(&f);
	setenv("http_proxy", url_of(&f, ""), 1);
	ask_for(&f, &r, &req);
	assert_int_equal(r.rc, 0);
	assert_non_null(strstr(f.s->seen, "GET http://models.example/echo "));
	http_reply_release(&r);
	unsetenv("http_proxy");
	end(&f);
}

static void test_http__what_counts_as_loopback(void **state)
{
	static const char *const yes[] = {
		"http://127.0.0.1", "http://127.0.0.1:11434/api",
		"https://127.255.3.4/", "http://localhost", "HTTP://LocalHost:1/",
		"http://localhost.:80", "http://[::1]:8080/x", "http://[::1]",
		"http://[0:0::1]/", "http://[::ffff:127.0.0.1]/",
		"http://user:pw@127.0.0.1/", "http://127.0.0.1?q", "http://127.0.0.1#f",
	};
	static const char *const no[] = {
		"", "127.0.0.1", "ftp://127.0.0.1", "http://", "http://128.0.0.1",
		"http://localhost.evil.example", "http://127.0.0.1.evil.example",
		"http://127.0.0.1@evil.example", "http://evil.example/127.0.0.1",
		"http://a@127.0.0.1@evil.example", "http://127.0.0.1\\@evil.example",
		"http://evil.example#@127.0.0.1", "http://evil.example?@127.0.0.1",
		"http://[::1", "http://[::2]/", "http://10.0.0.1", "http://127.1",
		"http://2130706433", "http://0x7f.1", "http://127.0.0.1%00.evil",
		"http://127.0.0.1 .evil.example", "http://本机", "http://\tlocalhost",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++) {
		if (!http_is_loopback(yes[i]))
			fail_msg("%s", yes[i]);
	}
	for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++) {
		if (http_is_loopback(no[i]))
			fail_msg("%s", no[i]);
	}
}

static void test_http__a_missing_ca_file_is_an_error(void **state)
{
	struct http_request req = { .url = "https://127.0.0.1:1/" };
	struct http_reply r;
	struct fixture f;

	(void)state;
	begin(&f);
	assert_int_equal(http_set_ca(f.h, "/no/such/ca.pem", NULL), 0);
	ask_for(&f, &r, &req);
	assert_int_equal(r.rc, REMEM_EREMOTE);
	http_reply_release(&r);
	assert_int_equal(http_set_ca(f.h, NULL, NULL), 0);
	end(&f);
}

static void test_http__survives_failed_allocations(void **state)
{
	struct http_request req = { .timeout_ms = 20000 };
	bool done = false;
	struct fixture f;

	(void)state;
	begin(&f);
	req.url = url_of(&f, "/chunks");
	for (long n = 1; !done; n++) {
		struct http_reply r;
		struct http *h;
		int rc;

		alloc_fail_at(n);
		rc = http_new(&h, NULL);
		if (!rc) {
			rc = http_perform(h, &req, &r, 1, NULL, NULL, NULL);
			if (!rc)
				rc = r.rc;
			http_reply_release(&r);
		}
		alloc_fail_at(0);
		http_free(h);
		assert_true(rc == 0 || rc == REMEM_ENOMEM);
		done = rc == 0;
		assert_true(n < 40);
	}
	http_reply_release(NULL);
	end(&f);
}

/* Where a download may be sent on to. */
static void test_http__redirects_of_files_go_to_safe_places(void **state)
{
	static const struct {
		const char *from, *to;
		bool may;
	} rows[] = {
		{ "https://a.org/x", "https://a.org/y", true },
		{ "https://a.org/x", "https://cdn.b.net/y?key=1", true },
		{ "http://a.org/x", "https://b.net/y", true },
		{ "http://a.org/x", "http://A.org/y", true },
		{ "https://a.org/x", "http://a.org/x", false },
		{ "http://a.org/x", "http://b.net/y", false },
		{ "http://a.org/x", "http://a.org:81/x", false },
		{ "https://a.org/x", "https://127.0.0.1/y", false },
		{ "http://a.org/x", "http://localhost/y", false },
		{ "http://127.0.0.1:1/x", "http://localhost:2/y", true },
		{ "http://127.0.0.1:1/x", "https://b.net/y", true },
		{ "https://a.org/x", "file:///etc/passwd", false },
		{ "https://a.org/x", "ftp://a.org/x", false },
		{ "https://a.org/x", "https://b.net\\@a.org/", false },
		{ "https://a.org/x", "https:///y", false },
		{ "https://a.org/x", "", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (http_may_follow(rows[i].from, rows[i].to) != rows[i].may)
			fail_msg("%s to %s", rows[i].from, rows[i].to);
}
