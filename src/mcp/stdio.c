/*
 * One client, on standard input and output. This thread reads and answers what
 * is cheap; workers do the rest (server.c) and another thread writes (out.c).
 *
 * Standard output carries messages and nothing else: its descriptor is kept
 * here, and 1 leads to standard error for whoever prints without thinking.
 *
 * The end of the input ends the program. What was asked before is answered, as
 * long as answers come; a client that is gone is not waited for.
 */
#include "mcp/stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "mcp/frame.h"
#include "mcp/out.h"

#define READ_BYTES 65536
/* Without any answer in that time nothing more is waited for. */
#define GRACE_MS 5000
#define STOP_MS 1000

struct stdio {
	struct server *server;
	struct session session;
	struct out out;
	struct frame frame;
	int in;
	bool in_ended;
};

static int wake_fd[2] = { -1, -1 };
static volatile sig_atomic_t stopped;

static void wake(void *ctx)
{
	ssize_t n = write(wake_fd[1], "", 1);

	(void)ctx, (void)n; /* full is as good: it will be read */
}

static void on_signal(int sig)
{
	int e = errno;

	(void)sig;
	stopped = 1;
	wake(NULL);
	errno = e;
}

static void on_line(void *ctx, const char *line, size_t len, bool too_long)
{
	struct stdio *s = ctx;

	server_message(s->server, &s->session, &s->out.sink, line, len,
		       too_long);
}

static void read_input(struct stdio *s)
{
	char data[READ_BYTES];
	struct remem_err err = { 0 };
	ssize_t n = read(s->in, data, sizeof(data));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		frame_end(&s->frame, on_line, s);
		s->in_ended = true;
	} else if (frame_feed(&s->frame, data, (size_t)n, on_line, s, &err)) {
		log_msg(LOG_ERROR, "mcp", "%s", err.message);
	}
}

/* Waits for input, or for somebody to call wake(). False after timeout_ms. */
static bool wait_for(struct stdio *s, int timeout_ms)
{
	bool full = out_full(&s->out);
	struct pollfd fds[2] = {
		{ .fd = wake_fd[0], .events = POLLIN },
		{ .fd = s->in_ended ? -1 : s->in,
		  .events = full ? 0 : POLLIN },
	};
	char drop[256];
	int n = poll(fds, 2, timeout_ms);

	if (n < 0)
		return true;
	if (fds[0].revents)
		while (read(wake_fd[0], drop, sizeof(drop)) > 0)
			;
	/* A full output and a client that is gone: what it still said does
	 * not matter. */
	if (full && (fds[1].revents & (POLLHUP | POLLERR)))
		s->in_ended = true;
	else if (fds[1].revents)
		read_input(s);
	return n > 0;
}

static void serve(struct stdio *s)
{
	int left, before;

	while (!s->in_ended && !stopped && !out_broken(&s->out))
		wait_for(s, -1);
	before = server_pending(s->server);
	while ((left = server_pending(s->server)) && !stopped &&
	       !out_broken(&s->out)) {
		if (!wait_for(s, GRACE_MS) && left == before)
			break;
		before = left;
	}
}

static int set_fds(struct stdio *s, int *out_fd, struct remem_err *err)
{
	struct sigaction on = { .sa_handler = on_signal };
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	int fd;

	if (pipe(wake_fd))
		return fail_errno(err, REMEM_EIO, errno, "cannot make a pipe");
	for (int i = 0; i < 2; i++) {
		fcntl(wake_fd[i], F_SETFL, O_NONBLOCK);
		fcntl(wake_fd[i], F_SETFD, FD_CLOEXEC);
	}
	*out_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (*out_fd < 0)
		return fail_errno(err, REMEM_EIO, errno,
				  "standard output is not open");
	if (fcntl(STDERR_FILENO, F_GETFD) < 0) {
		fd = open("/dev/null", O_WRONLY);
		if (fd >= 0 && fd != STDERR_FILENO) {
			dup2(fd, STDERR_FILENO);
			close(fd);
		}
	}
	dup2(STDERR_FILENO, STDOUT_FILENO);
	s->in = STDIN_FILENO;
	stopped = 0;
	sigaction(SIGTERM, &on, NULL);
	sigaction(SIGHUP, &on, NULL);
	sigaction(SIGINT, &on, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
	return 0;
}

int stdio_serve(const struct mcp_opts *o, struct remem_err *err)
{
	struct stdio s = { .in = -1 };
	bool ended = true;
	int rc, out_fd = -1;

	frame_init(&s.frame, MESSAGE_MAX_BYTES);
	rc = set_fds(&s, &out_fd, err);
	if (!rc)
		rc = out_start(&s.out, out_fd, wake, NULL, err);
	if (!rc)
		rc = server_new(&s.server, o, err);
	if (!rc) {
		server_on_done(s.server, wake, NULL);
		serve(&s);
		ended = server_stop(s.server, STOP_MS);
	}
	ended = out_end(&s.out, stopped ? STOP_MS : GRACE_MS) && ended;
	/* A thread hangs in a write or a remote call: nothing is left that
	 * could be lost. */
	if (!ended)
		_exit(0);
	if (s.out.started)
		out_release(&s.out);
	server_free(s.server);
	frame_release(&s.frame);
	close(wake_fd[0]);
	close(wake_fd[1]);
	return rc;
}
