/*
 * Child processes by posix_spawn. Our ends of the pipes do not block; one
 * poll() serves all of them, so neither side can wait for the other for ever.
 */
#define _GNU_SOURCE /* pipe2, __environ, posix_spawn_file_actions_addchdir_np */
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define READ_BYTES 16384
#define WRITE_BYTES 65536

enum { IN, OUT, ERR, STREAMS };

struct child {
	const char *name;
	pid_t pid; /* 0: not started, or reaped */
	int ours[STREAMS], theirs[STREAMS]; /* -1: closed */
	const char *in;
	size_t in_left;
	struct buf *out, *errors;
	int64_t until_ns; /* INT64_MAX: for ever */
	int wait_status;
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Above the standard three, which the child's are copied onto. */
static int move_up(int fd)
{
	int up;

	if (fd > 2)
		return fd;
	up = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	close(fd);
	return up;
}

static int make_pipe(struct child *c, int stream)
{
	int fd[2], mine = stream == IN ? 1 : 0;

	if (pipe2(fd, O_CLOEXEC))
		return -1;
	c->ours[stream] = move_up(fd[mine]);
	c->theirs[stream] = move_up(fd[1 - mine]);
	if (c->ours[stream] < 0 || c->theirs[stream] < 0)
		return -1;
	return fcntl(c->ours[stream], F_SETFL, O_NONBLOCK);
}

/* ---- start ------------------------------------------------------------ */

/* The child begins with the signals as they are by default. */
static int set_attr(posix_spawnattr_t *attr)
{
	sigset_t none, pipe;
	int e;

	sigemptyset(&none);
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	if ((e = posix_spawnattr_setsigmask(attr, &none)) ||
	    (e = posix_spawnattr_setsigdefault(attr, &pipe)) ||
	    (e = posix_spawnattr_setpgroup(attr, 0)))
		return e;
	return posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK |
						      POSIX_SPAWN_SETSIGDEF |
						      POSIX_SPAWN_SETPGROUP);
}

static int set_actions(posix_spawn_file_actions_t *actions,
		       const struct child *c, const char *dir)
{
	int e = 0;

	for (int i = 0; i < STREAMS && !e; i++)
		e = posix_spawn_file_actions_adddup2(actions, c->theirs[i], i);
	if (!e && dir)
		e = posix_spawn_file_actions_addchdir_np(actions, dir);
	return e;
}

/* 0 or an errno value. */
static int spawn(struct child *c, const char *const *argv,
		 const struct proc_opts *o)
{
	/* Ours is handed on as it is; nothing is looked up in it. */
	char *const *env = o->env ? (char *const *)(uintptr_t)o->env :
				    __environ;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int e = posix_spawn_file_actions_init(&actions);

	if (e)
		return e;
	if ((e = posix_spawnattr_init(&attr)))
		goto out_actions;
	if ((e = set_attr(&attr)) || (e = set_actions(&actions, c, o->dir)))
		goto out;
	e = posix_spawnp(&c->pid, argv[0], &actions, &attr,
			 (char *const *)(uintptr_t)argv, env);
	if (e)
		c->pid = 0;
out:
	posix_spawnattr_destroy(&attr);
out_actions:
	posix_spawn_file_actions_destroy(&actions);
	return e;
}

static int word_spawn(const struct child *c, const struct proc_opts *o, int e,
		      struct remem_err *err)
{
	bool searched = !strchr(c->name, '/');
	/* EACCES may come from any folder of PATH that we may not look into. */
	int gone = e == ENOENT || (searched && e == EACCES);
	int code = gone ? REMEM_ENOTFOUND : REMEM_EIO;

	if (o->dir)
		return fail_errno(err, code, e, "cannot run '%s' in '%s'",
				  c->name, o->dir);
	if (gone && searched)
		return fail(err, code, "cannot find the program '%s'",
			    c->name);
	return fail_errno(err, code, e, "cannot run '%s'", c->name);
}

static int start(struct child *c, const char *const *argv,
		 const struct proc_opts *o, struct remem_err *err)
{
	int e;

	for (int i = 0; i < STREAMS; i++) {
		if (make_pipe(c, i))
			return fail_errno(err, REMEM_EIO, errno,
					  "cannot make a pipe for '%s'",
					  c->name);
	}
	e = spawn(c, argv, o);
	for (int i = 0; i < STREAMS; i++)
		close_fd(&c->theirs[i]);
	return e ? word_spawn(c, o, e, err) : 0;
}

/* ---- talk ------------------------------------------------------------- */

static void feed(struct child *c)
{
	while (c->in_left) {
		size_t n = c->in_left < WRITE_BYTES ? c->in_left : WRITE_BYTES;
		ssize_t done = write(c->ours[IN], c->in, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0 && errno == EAGAIN)
			return;
		if (done < 0) /* it does not want more: no error of ours */
			break;
		c->in += done;
		c->in_left -= (size_t)done;
	}
	close_fd(&c->ours[IN]);
}

static void keep_errors(struct buf *b, const char *p, size_t n)
{
	if (!b || b->failed)
		return;
	if (b->limit && n > b->limit - b->len)
		n = b->limit - b->len;
	buf_add(b, p, n);
}

/* One piece of a stream. False when out is full. */
static bool take(struct child *c, int stream)
{
	char piece[READ_BYTES];
	ssize_t n = read(c->ours[stream], piece, sizeof(piece));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (n <= 0)
		close_fd(&c->ours[stream]);
	else if (stream == OUT)
		buf_add(c->out, piece, (size_t)n);
	else
		keep_errors(c->errors, piece, (size_t)n);
	return !c->out->failed;
}

/* Milliseconds left, rounded up, for poll(): -1 for ever. */
static int time_left(const struct child *c)
{
	int64_t left;

	if (c->until_ns == INT64_MAX)
		return -1;
	left = c->until_ns - clock_mono_ns();
	if (left <= 0)
		return 0;
	left = left / 1000000 + 1;
	return left < INT_MAX ? (int)left : INT_MAX;
}

static int too_slow(const struct child *c, struct remem_err *err)
{
	return fail(err, REMEM_ETIMEOUT, "'%s' did not end in time", c->name);
}

static int talk(struct child *c, struct remem_err *err)
{
	while (c->ours[IN] >= 0 || c->ours[OUT] >= 0 || c->ours[ERR] >= 0) {
		struct pollfd p[STREAMS];
		int left = time_left(c), ready;

		for (int i = 0; i < STREAMS; i++) {
			p[i].fd = c->ours[i];
			p[i].events = i == IN ? POLLOUT : POLLIN;
			p[i].revents = 0;
		}
		ready = left ? poll(p, STREAMS, left) : 0;
		if (ready < 0 && errno != EINTR)
			return fail_errno(err, REMEM_EIO, errno,
					  "cannot wait for '%s'", c->name);
		if (ready == 0 && !time_left(c))
			return too_slow(c, err);
		if (ready <= 0)
			continue;
		if (p[IN].revents)
			feed(c);
		for (int i = OUT; i < STREAMS; i++) {
			if (p[i].revents && !take(c, i))
				return buf_check(c->out, err);
		}
	}
	return 0;
}

/* ---- end -------------------------------------------------------------- */

/* Waits for the end of a child that has closed its outputs. */
static int reap(struct child *c, struct remem_err *err)
{
	long nap = 200000; /* 0.2 ms, doubled up to 26 ms */

	for (;;) {
		bool forever = c->until_ns == INT64_MAX;
		pid_t got = waitpid(c->pid, &c->wait_status,
				    forever ? 0 : WNOHANG);
		struct timespec t = { 0, nap };

		if (got == c->pid) {
			c->pid = 0;
			return 0;
		}
		if (got < 0 && errno != EINTR) {
			int e = errno;

			c->pid = 0;
			return fail_errno(err, REMEM_EIO, e,
					  "cannot wait for '%s'", c->name);
		}
		if (forever)
			continue;
		if (!time_left(c))
			return too_slow(c, err);
		nanosleep(&t, NULL);
		if (nap < 26000000)
			nap *= 2;
	}
}

static void end(struct child *c)
{
	for (int i = 0; i < STREAMS; i++) {
		close_fd(&c->ours[i]);
		close_fd(&c->theirs[i]);
	}
	if (!c->pid)
		return;
	kill(-c->pid, SIGKILL);
	kill(c->pid, SIGKILL); /* if it has left its group */
	while (waitpid(c->pid, &c->wait_status, 0) < 0 && errno == EINTR)
		;
}

/*
 * Writing to a child that has ended raises SIGPIPE. The program around us
 * owns the handlers, so it is blocked for this thread and taken away.
 */
static void block_sigpipe(sigset_t *old, bool *was_pending)
{
	sigset_t set, pending;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigpending(&pending);
	*was_pending = sigismember(&pending, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &set, old);
}

static void restore_sigpipe(const sigset_t *old, bool was_pending)
{
	const struct timespec now = { 0, 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	while (!was_pending && sigtimedwait(&set, NULL, &now) < 0 &&
	       errno == EINTR)
		;
	pthread_sigmask(SIG_SETMASK, old, NULL);
}

int proc_run_opts(struct buf *out, const char *const *argv,
		  const struct proc_opts *o, int *status,
		  struct remem_err *err)
{
	struct child c = { .name = argv[0], .ours = { -1, -1, -1 },
			   .theirs = { -1, -1, -1 }, .in = o->in,
			   .in_left = o->in ? o->in_len : 0, .out = out,
			   .errors = o->errors, .until_ns = INT64_MAX };
	bool was_pending;
	sigset_t old;
	int rc;

	if (o->timeout_ms > 0)
		c.until_ns = clock_mono_ns() + (int64_t)o->timeout_ms * 1000000;
	block_sigpipe(&old, &was_pending);
	if (!(rc = start(&c, argv, o, err)) && !(rc = talk(&c, err)))
		rc = reap(&c, err);
	end(&c);
	restore_sigpipe(&old, was_pending);
	if (!rc)
		*status = WIFEXITED(c.wait_status) ?
			  WEXITSTATUS(c.wait_status) :
			  128 + WTERMSIG(c.wait_status);
	return rc;
}

int proc_run(struct buf *out, const char *const *argv, const char *in,
	     size_t in_len, int timeout_ms, int *status,
	     struct remem_err *err)
{
	const struct proc_opts o = { .in = in, .in_len = in_len,
				     .timeout_ms = timeout_ms };

	return proc_run_opts(out, argv, &o, status, err);
}
