/* Lines over a socket that does not block, with poll() for the time. */
#include "daemon/wire.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"

#define BLOCK 65536

void wire_init(struct wire *w, int fd, size_t limit)
{
	w->fd = fd;
	w->at = 0;
	buf_init(&w->in, limit + BLOCK);
}

void wire_release(struct wire *w)
{
	buf_release(&w->in);
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
}

/* Waits until fd can do what events say; until_ns 0: for ever. */
static int wait_for(const struct wire *w, short events, int64_t until_ns,
		    struct remem_err *err)
{
	struct pollfd p = { .fd = w->fd, .events = events };

	for (;;) {
		int64_t left = until_ns ? until_ns - clock_mono_ns() : 0;
		int n;

		if (until_ns && left <= 0)
			return fail(err, REMEM_ETIMEOUT, "no answer in time");
		n = poll(&p, 1, until_ns ? (int)(left / 1000000) + 1 : -1);
		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return fail_errno(err, REMEM_EIO, errno, "socket");
	}
}

static int64_t until(int timeout_ms)
{
	return timeout_ms < 0 ? 0 :
	       clock_mono_ns() + (int64_t)timeout_ms * 1000000;
}

/* What stands before the next line is not needed any more. */
static void drop_read(struct wire *w)
{
	size_t rest = w->in.len - w->at;

	if (!w->at)
		return;
	memmove(w->in.ptr, w->in.ptr + w->at, rest);
	buf_truncate(&w->in, rest);
	w->at = 0;
}

static int read_more(struct wire *w, int64_t until_ns, struct remem_err *err)
{
	char *to;
	ssize_t n;
	int rc;

	if (w->in.len + BLOCK > w->in.limit)
		return fail(err, REMEM_ELIMIT, "a line is too long");
	if (!(to = buf_reserve(&w->in, BLOCK)))
		return buf_check(&w->in, err);
	while ((n = recv(w->fd, to, BLOCK, 0)) < 0) {
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN && errno != EWOULDBLOCK)
			break;
		if ((rc = wait_for(w, POLLIN, until_ns, err)))
			return rc;
	}
	if (!n || (n < 0 && errno == ECONNRESET))
		return fail(err, REMEM_ENOTFOUND, "the other end has closed");
	if (n < 0)
		return fail_errno(err, REMEM_EIO, errno, "socket");
	w->in.len += (size_t)n;
	w->in.ptr[w->in.len] = '\0';
	return 0;
}

int wire_line(struct wire *w, const char **line, size_t *len, int timeout_ms,
	      struct remem_err *err)
{
	int64_t until_ns = until(timeout_ms);
	size_t seen = 0;
	int rc;

	drop_read(w);
	for (;;) {
		char *end = w->in.len > seen ?
			memchr(w->in.ptr + seen, '\n', w->in.len - seen) : NULL;

		if (end) {
			*end = '\0';
			*line = w->in.ptr;
			*len = (size_t)(end - w->in.ptr);
			w->at = *len + 1;
			return 0;
		}
		seen = w->in.len;
		if ((rc = read_more(w, until_ns, err)))
			return rc;
	}
}

static int send_all(struct wire *w, const char *p, size_t len,
		    int64_t until_ns, struct remem_err *err)
{
	int rc;

	while (len) {
		ssize_t n = send(w->fd, p, len, MSG_NOSIGNAL);

		if (n > 0) {
			p += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			if ((rc = wait_for(w, POLLOUT, until_ns, err)))
				return rc;
		} else if (errno != EINTR) {
			return fail_errno(err, REMEM_EIO, errno, "socket");
		}
	}
	return 0;
}

int wire_send(struct wire *w, const char *text, size_t len, int timeout_ms,
	      struct remem_err *err)
{
	int64_t until_ns = until(timeout_ms);
	int rc = send_all(w, text, len, until_ns, err);

	return rc ? rc : send_all(w, "\n", 1, until_ns, err);
}

void wire_stamp(char out[96], const char *program)
{
	struct stat st = { 0 };

	if (program)
		(void)!stat(program, &st);
	snprintf(out, 96, "%llu-%lld-%lld-%ld", (unsigned long long)st.st_ino,
		 (long long)st.st_size, (long long)st.st_mtim.tv_sec,
		 (long)st.st_mtim.tv_nsec);
}

int wire_compare(const char *a, const char *b)
{
	for (;;) {
		char *end_a, *end_b;
		long x = strtol(a, &end_a, 10), y = strtol(b, &end_b, 10);

		if (x != y)
			return x < y ? -1 : 1;
		if (*end_a != '.' || *end_b != '.')
			return 0;
		a = end_a + 1;
		b = end_b + 1;
	}
}
