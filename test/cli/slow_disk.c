/*
 * For LD_PRELOAD: each look at a file named slow-* takes SLOW_MS, as on a disk
 * far away.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

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
