/*
 * Child processes that are talked to. A socket instead of two pipes: sending
 * with MSG_NOSIGNAL needs no care for SIGPIPE, which belongs to the program
 * around us.
 */
#define _GNU_SOURCE /* __environ, F_DUPFD_CLOEXEC */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/utf8.h"

#define SLICE_MS 50
#define TAIL_BYTES 2048 /* of standard error that is looked at */
#define REASON_BYTES 240
#define GRACE_MS 300 /* for the end of one that has closed its output */

/* ---- start ------------------------------------------------------------ */

/* Above the standard three, which the child's are copied onto. */
static int move_up(int fd)
{
	int up;

	if (fd > 2 || fd < 0)
		return fd;
	up = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	close(fd);
	return up;
}

/* 0 or an errno value. In a group of its own: a key on the terminal is for us,
 * and we decide what becomes of it. */
static int spawn(struct child *c, const char *const *argv, int theirs)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, pipe;
	int e = posix_spawn_file_actions_init(&actions);

	if (e)
		return e;
	if ((e = posix_spawnattr_init(&attr)))
		goto out_actions;
	sigemptyset(&none);
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	if ((e = posix_spawn_file_actions_adddup2(&actions, theirs, 0)) ||
	    (e = posix_spawn_file_actions_adddup2(&actions, theirs, 1)) ||
	    (e = posix_spawn_file_actions_adddup2(&actions, c->errors, 2)) ||
	    (e = posix_spawnattr_setsigmask(&attr, &none)) ||
	    (e = posix_spawnattr_setsigdefault(&attr, &pipe)) ||
	    (e = posix_spawnattr_setpgroup(&attr, 0)) ||
	    (e = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK |
					  POSIX_SPAWN_SETSIGDEF |
					  POSIX_SPAWN_SETPGROUP)))
		goto out;
	e = posix_spawnp(&c->pid, argv[0], &actions, &attr,
			 (char *const *)(uintptr_t)argv, __environ);
out:
	posix_spawnattr_destroy(&attr);
out_actions:
	posix_spawn_file_actions_destroy(&actions);
	return e;
}

int child_start(struct child *c, const char *const *argv,
		struct remem_err *err)
{
	int pair[2], e = 0;

	memset(c, 0, sizeof(*c));
	c->errors = move_up(file_temp(err));
	if (c->errors < 0)
		return REMEM_EIO;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
		e = errno;
		close(c->errors);
		return fail_errno(err, REMEM_EIO, e, "cannot make a socket");
	}
	c->fd = move_up(pair[0]);
	pair[1] = move_up(pair[1]);
	if (c->fd < 0 || pair[1] < 0)
		e = EMFILE;
	else
		e = spawn(c, argv, pair[1]);
	if (pair[1] >= 0)
		close(pair[1]);
	if (!e) {
		fcntl(c->fd, F_SETFL, O_NONBLOCK);
		return 0;
	}
	if (c->fd >= 0)
		close(c->fd);
	close(c->errors);
	memset(c, 0, sizeof(*c));
	return fail_errno(err, e == ENOENT ? REMEM_ENOTFOUND : REMEM_EIO, e,
			  "cannot run '%s'", argv[0]);
}

/* ---- talk ------------------------------------------------------------- */

static int has_ended(struct remem_err *err)
{
	return fail(err, REMEM_EREMOTE, "the process has ended");
}

/* Waits until fd is ready for events, for time to run out, or for cancel. */
static int wait_for(const struct child *c, short events,
		    const struct child_wait *w, struct remem_err *err)
{
	for (;;) {
		struct pollfd p = { c->fd, events, 0 };
		int64_t left = w->until_ns - clock_mono_ns();
		int ms = left > SLICE_MS * INT64_C(1000000) ? SLICE_MS :
			 left > 0 ? (int)(left / 1000000) + 1 : 0;
		int n = poll(&p, 1, ms);

		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return fail_errno(err, REMEM_EIO, errno,
					  "cannot wait for a process");
		if (w->cancel && w->cancel(w->ctx))
			return fail(err, REMEM_ECANCELLED, "stopped");
		if (left <= 0)
			return fail(err, REMEM_ETIMEOUT,
				    "no answer in time");
	}
}

int child_write(struct child *c, const void *p, size_t len,
		const struct child_wait *w, struct remem_err *err)
{
	const char *at = p;
	int rc;

	while (len) {
		ssize_t n = send(c->fd, at, len, MSG_NOSIGNAL);

		if (n >= 0) {
			at += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			if ((rc = wait_for(c, POLLOUT, w, err)))
				return rc;
		} else if (errno != EINTR) {
			return has_ended(err);
		}
	}
	return 0;
}

int child_read(struct child *c, void *p, size_t len, size_t *got,
	       const struct child_wait *w, struct remem_err *err)
{
	char *at = p;
	int rc = 0;

	while (*got < len) {
		ssize_t n = recv(c->fd, at + *got, len - *got, 0);

		if (n > 0)
			*got += (size_t)n;
		else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			rc = wait_for(c, POLLIN, w, err);
		else if (!n || errno != EINTR)
			rc = has_ended(err);
		if (rc)
			return rc;
	}
	return 0;
}

/* ---- end -------------------------------------------------------------- */

static void add_last_line(struct buf *why, int fd)
{
	char tail[TAIL_BYTES + 1];
	struct stat st;
	off_t from;
	ssize_t n;
	size_t start;

	if (fstat(fd, &st))
		return;
	from = st.st_size > TAIL_BYTES ? st.st_size - TAIL_BYTES : 0;
	n = pread(fd, tail, TAIL_BYTES, from);
	while (n > 0 && (unsigned char)tail[n - 1] <= ' ')
		n--;
	if (n <= 0)
		return;
	for (start = (size_t)n; start && tail[start - 1] != '\n'; start--)
		;
	if ((size_t)n - start > REASON_BYTES)
		n = (ssize_t)(start + REASON_BYTES);
	n = (ssize_t)start + (ssize_t)utf8_trim(tail + start,
						(size_t)n - start);
	for (ssize_t i = (ssize_t)start; i < n; i++)
		if ((unsigned char)tail[i] < ' ' || tail[i] == 0x7f)
			tail[i] = ' ';
	if (utf8_valid(tail + start, (size_t)n - start)) {
		buf_adds(why, ": ");
		buf_add(why, tail + start, (size_t)n - start);
	}
}

static void say_how(struct buf *why, int status, bool killed, int errors)
{
	if (killed)
		buf_adds(why, "it was ended");
	else if (WIFSIGNALED(status))
		buf_addf(why, "it was ended by signal %d%s", WTERMSIG(status),
			 WTERMSIG(status) == SIGABRT ? " (abort)" :
			 WTERMSIG(status) == SIGKILL ? " (killed, perhaps for "
						       "lack of memory)" : "");
	else
		buf_addf(why, "it ended with code %d", WEXITSTATUS(status));
	add_last_line(why, errors);
}

/* True when it ended by itself within a moment. */
static bool ended_alone(pid_t pid, int *status, int ms)
{
	for (int i = 0; i <= ms; i++) {
		struct timespec t = { 0, 1000000 };
		pid_t got = waitpid(pid, status, WNOHANG);

		if (got == pid || (got < 0 && errno != EINTR))
			return true;
		nanosleep(&t, NULL);
	}
	return false;
}

void child_end(struct child *c, struct buf *why)
{
	int status = 0;
	bool alone;
	char byte;

	if (!c->pid)
		return;
	/* One that is dying has closed its end already. */
	alone = ended_alone(c->pid, &status,
			    recv(c->fd, &byte, 1, MSG_PEEK) == 0 ? GRACE_MS :
								   0);
	if (!alone) {
		kill(-c->pid, SIGKILL);
		kill(c->pid, SIGKILL);
		while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	if (why)
		say_how(why, status, !alone, c->errors);
	close(c->fd);
	close(c->errors);
	memset(c, 0, sizeof(*c));
}
