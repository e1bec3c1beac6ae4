/*
 * Open-file-description locks: held by the descriptor, so two threads of one
 * process exclude each other too, and closing another descriptor of the same
 * file does not drop them as it would with plain fcntl locks.
 */
#define _GNU_SOURCE /* F_OFD_SETLK */
#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

#ifndef F_OFD_SETLK
#include <sys/file.h>
#endif

#define NAP_MIN_NS 500000l /* 0.5 ms, doubled up to 16 ms */
#define NAP_MAX_NS 16000000l

static int set_lock(int fd, bool hold)
{
#ifdef F_OFD_SETLK
	struct flock fl = { .l_whence = SEEK_SET };

	fl.l_type = hold ? F_WRLCK : F_UNLCK;
	return fcntl(fd, F_OFD_SETLK, &fl);
#else
	return flock(fd, hold ? LOCK_EX | LOCK_NB : LOCK_UN);
#endif
}

/* 0, or an errno value; EAGAIN when another holds it. */
static int try_lock(int fd)
{
	if (!set_lock(fd, true))
		return 0;
	return errno == EACCES || errno == EWOULDBLOCK ? EAGAIN : errno;
}

/* True while path still names the file we locked: it may have been deleted
 * with its folder by somebody who rebuilds everything. */
static bool still_there(int fd, const char *path)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && stat(path, &b) == 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int wait_for(int fd, int64_t until_ns, const char *path,
		    struct remem_err *err)
{
	long nap = NAP_MIN_NS;

	for (;;) {
		int e = try_lock(fd);
		int64_t left = until_ns - clock_mono_ns();
		struct timespec t = { 0, nap };

		if (!e)
			return 0;
		if (e != EAGAIN && e != EINTR)
			return fail_errno(err, REMEM_EIO, e,
					  "cannot lock '%s'", path);
		if (left <= 0)
			return fail(err, REMEM_EBUSY,
				    "'%s' is held by another process", path);
		if (nap > left)
			t.tv_nsec = (long)left;
		nanosleep(&t, NULL);
		if (nap < NAP_MAX_NS)
			nap *= 2;
	}
}

int lock_take(struct lock *l, const char *path, int timeout_ms,
	      struct remem_err *err)
{
	int64_t until = timeout_ms < 0 ?
			INT64_MAX :
			clock_mono_ns() + (int64_t)timeout_ms * 1000000;

	l->fd = -1;
	for (;;) {
		int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW |
				    O_NONBLOCK | O_NOCTTY, 0600);
		int rc;

		if (fd < 0)
			return file_fail(err, errno, "open lock", path);
		rc = wait_for(fd, until, path, err);
		if (!rc && still_there(fd, path)) {
			l->fd = fd;
			return 0;
		}
		close(fd);
		if (rc)
			return rc;
	}
}

void lock_release(struct lock *l)
{
	if (!l || l->fd < 0)
		return;
	/* Closing is not enough while a forked child shares the descriptor. */
	set_lock(l->fd, false);
	close(l->fd);
	l->fd = -1;
}
