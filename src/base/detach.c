/*
 * A process that outlives us: a middle child makes a session and forks again,
 * so that nobody has to wait for it and no terminal reaches it. Whether the
 * program could be started comes back by a pipe that closes when it runs.
 */
#define _GNU_SOURCE /* pipe2, close_range, execvpe, __environ */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc.h"

#define CLOSE_UP_TO 1024 /* where the kernel has no close_range */

static void close_others(int keep)
{
	if (close_range(3, (unsigned)keep - 1, 0) == 0 &&
	    close_range((unsigned)keep + 1, ~0u, 0) == 0)
		return;
	for (int fd = 3; fd < CLOSE_UP_TO; fd++)
		if (fd != keep)
			close(fd);
}

static int open_streams(const struct proc_detach_opts *o)
{
	int in = open("/dev/null", O_RDWR), out = in;

	if (in < 0)
		return -1;
	if (o->log)
		out = open(o->log, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW,
			   0600);
	if (out < 0)
		return -1;
	return dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0 ? -1 : 0;
}

/* In the last child: only what may follow a fork in a program of threads. */
static _Noreturn void become(const char *const *argv,
			     const struct proc_detach_opts *o, int report)
{
	char *const *env = o->env ? (char *const *)(uintptr_t)o->env :
				    __environ;
	sigset_t none;
	int e;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGHUP, SIG_IGN);
	if (!open_streams(o) && (!o->dir || !chdir(o->dir))) {
		close_others(report);
		execvpe(argv[0], (char *const *)(uintptr_t)argv, env);
	}
	e = errno;
	while (write(report, &e, sizeof(e)) < 0 && errno == EINTR)
		;
	_exit(127);
}

static int read_report(int fd)
{
	int e = 0;
	ssize_t n;

	while ((n = read(fd, &e, sizeof(e))) < 0 && errno == EINTR)
		;
	return n == (ssize_t)sizeof(e) ? e : 0;
}

int proc_detach(const char *const *argv, const struct proc_detach_opts *opts,
		struct remem_err *err)
{
	static const struct proc_detach_opts none;
	const struct proc_detach_opts *o = opts ? opts : &none;
	int fd[2], e, status;
	pid_t pid;

	if (pipe2(fd, O_CLOEXEC))
		return fail_errno(err, REMEM_EIO, errno, "cannot make a pipe");
	/* Above the standard three, which are replaced in the child. */
	e = fd[1] > 2 ? fd[1] : fcntl(fd[1], F_DUPFD_CLOEXEC, 3);
	pid = e < 0 ? -1 : fork();
	if (!pid) {
		setsid();
		if (fork() == 0)
			become(argv, o, e);
		_exit(0);
	}
	if (e != fd[1])
		close(e);
	close(fd[1]);
	if (pid < 0) {
		close(fd[0]);
		return fail_errno(err, REMEM_EIO, errno,
				  "cannot start a process");
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	e = read_report(fd[0]);
	close(fd[0]);
	return e ? fail_errno(err, e == ENOENT ? REMEM_ENOTFOUND : REMEM_EIO, e,
			      "cannot run '%s'", argv[0]) : 0;
}
