/*
 * For LD_PRELOAD: the program is killed just before its KILL_AT-th call that
 * changes a file, so that programs as they are shipped are tested too.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static void step(void)
{
	static _Atomic long steps;
	const char *at = getenv("KILL_AT");

	if (at && ++steps == atol(at))
		kill(getpid(), SIGKILL);
}

#define REAL(f, name) (*(void **)&(f) = dlsym(RTLD_NEXT, name))

ssize_t write(int fd, const void *data, size_t len)
{
	ssize_t (*real)(int, const void *, size_t);

	REAL(real, "write");
	step();
	return real(fd, data, len);
}

ssize_t pwrite64(int fd, const void *data, size_t len, off64_t at)
{
	ssize_t (*real)(int, const void *, size_t, off64_t);

	REAL(real, "pwrite64");
	step();
	return real(fd, data, len, at);
}

int fsync(int fd)
{
	int (*real)(int);

	REAL(real, "fsync");
	step();
	return real(fd);
}

int fdatasync(int fd)
{
	int (*real)(int);

	REAL(real, "fdatasync");
	step();
	return real(fd);
}

int rename(const char *from, const char *to)
{
	int (*real)(const char *, const char *);

	REAL(real, "rename");
	step();
	return real(from, to);
}

int renameat(int fd, const char *from, int to_fd, const char *to)
{
	int (*real)(int, const char *, int, const char *);

	REAL(real, "renameat");
	step();
	return real(fd, from, to_fd, to);
}

int unlinkat(int fd, const char *name, int flags)
{
	int (*real)(int, const char *, int);

	REAL(real, "unlinkat");
	step();
	return real(fd, name, flags);
}
