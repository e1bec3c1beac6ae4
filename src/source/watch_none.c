/* Systems that have no file of their own here yet: everything by the clock. */
#ifndef __linux__
#include "source/watch_os.h"

#include <errno.h>

int watch_os_open(void)
{
	return -ENOSYS;
}

int watch_os_add(int fd, int folder_fd, const char *path)
{
	(void)fd, (void)folder_fd, (void)path;
	return -ENOSYS;
}

void watch_os_drop(int fd, int id)
{
	(void)fd, (void)id;
}

void watch_os_read(int fd, void (*fn)(void *ctx, const struct watch_event *e),
		   void *ctx)
{
	(void)fd, (void)fn, (void)ctx;
}

bool watch_os_is_shared(int folder_fd)
{
	(void)folder_fd;
	return false;
}
#else
typedef int watch_none_is_of_others;
#endif
