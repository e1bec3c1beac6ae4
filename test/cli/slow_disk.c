/*
 * For LD_PRELOAD: each look at a file named slow-* and each opening of one take
 * SLOW_MS, as on a disk far away.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void wait_for(const char *name)
{
	const char *ms = getenv("SLOW_MS");
	struct timespec t = { 0, ms ? atol(ms) * 1000000 : 0 };

	if (ms && name && strstr(name, "slow-"))
		nanosleep(&t, NULL);
}

int fstatat64(int fd, const char *name, struct stat64 *st, int flags)
{
	int (*real)(int, const char *, struct stat64 *, int);

	wait_for(name);
	*(void **)&real = dlsym(RTLD_NEXT, "fstatat64");
	return real(fd, name, st, flags);
}

/* Opening below a folder has no function of its own. */
long syscall(long number, ...)
{
	long (*real)(long, ...), a[6];
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
#ifdef SYS_openat2
	if (number == SYS_openat2)
		wait_for((const char *)a[1]);
#endif
	*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
