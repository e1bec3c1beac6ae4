/* Files without a name: in memory on Linux, elsewhere unlinked at once. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"

int file_temp(struct remem_err *err)
{
	char name[] = "/tmp/remem-XXXXXX";
	int fd = -1;

#ifdef MFD_CLOEXEC
	fd = memfd_create("remem", MFD_CLOEXEC);
#endif
	if (fd >= 0)
		return fd;
	fd = mkstemp(name);
	if (fd < 0)
		return fail_errno(err, REMEM_EIO, errno,
				  "cannot make a file in /tmp");
	unlink(name);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	return fd;
}
