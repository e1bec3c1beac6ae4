/*
 * Opening below a folder without ever leaving it. openat2 (Linux 5.6) does
 * it in one call and without races; where it is missing or forbidden, each
 * component is opened by itself with O_NOFOLLOW.
 */
#define _GNU_SOURCE /* O_PATH, syscall */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef SYS_openat2
#include <linux/openat2.h>
#endif

#include "base/alloc.h"
#include "base/path.h"

#ifndef O_PATH
#define O_PATH O_RDONLY
#endif

#define NAME_BYTES 256 /* NAME_MAX and a NUL */

static atomic_bool no_openat2;

void file_no_openat2(bool off)
{
	atomic_store(&no_openat2, off);
}

/* Only relative names without "..", checked before the kernel sees them. */
static int check_rel(const char *rel, struct remem_err *err)
{
	if (!rel[0])
		return fail(err, REMEM_EINVAL, "the path is empty");
	if (rel[0] == '/')
		return fail(err, REMEM_EPERM,
			    "'%s' is absolute, not a path inside the folder",
			    rel);
	for (const char *s = rel; s; s = strchr(s, '/')) {
		s += *s == '/';
		if (s[0] == '.' && s[1] == '.' && (!s[2] || s[2] == '/'))
			return fail(err, REMEM_EPERM,
				    "'%s' leads out of the folder by '..'",
				    rel);
	}
	return 0;
}

static int refuse(int errnum, const char *rel, struct remem_err *err)
{
	if (errnum == ELOOP)
		return fail(err, REMEM_EPERM, "'%s' leads through a link",
			    rel);
	if (errnum == EXDEV)
		return fail(err, REMEM_EPERM, "'%s' leads out of the folder",
			    rel);
	return file_fail(err, errnum, "open", rel);
}

/* A descriptor, -1 with errno, or -2: use the other way. */
static int by_openat2(int root_fd, const char *rel, int flags, mode_t mode)
{
#ifdef SYS_openat2
	struct open_how how = {
		.flags = (unsigned)flags,
		.mode = flags & O_CREAT ? mode : 0,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
			   RESOLVE_NO_MAGICLINKS,
	};

	if (atomic_load_explicit(&no_openat2, memory_order_relaxed))
		return -2;
	for (int i = 0; i < 16; i++) {
		long fd = syscall(SYS_openat2, root_fd, rel, &how,
				  sizeof(how));

		if (fd >= 0)
			return (int)fd;
		/* EAGAIN: something was renamed meanwhile. */
		if (errno != EAGAIN && errno != EINTR)
			break;
	}
	/* Old kernels say ENOSYS, some sandboxes EPERM. */
	if (errno != ENOSYS && errno != EPERM && errno != EINVAL)
		return -1;
#else
	(void)root_fd, (void)rel, (void)flags, (void)mode;
#endif
	return -2;
}

/* O_NOFOLLOW with O_DIRECTORY says ENOTDIR for links as well: tell apart. */
static int open_one(int dir_fd, const char *name, int flags, mode_t mode)
{
	int fd = openat(dir_fd, name, flags | O_NOFOLLOW, mode), e = errno;
	struct stat st;

	if (fd < 0 && e == ENOTDIR &&
	    fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISLNK(st.st_mode))
		e = ELOOP;
	errno = e;
	return fd;
}

static int by_component(int root_fd, const char *rel, int flags, mode_t mode)
{
	int dir = root_fd, fd, e;

	for (;;) {
		size_t n = strcspn(rel, "/");
		const char *rest = rel + n + strspn(rel + n, "/");
		char name[NAME_BYTES];
		int how = flags;

		if (n >= sizeof(name)) {
			fd = -1;
			errno = ENAMETOOLONG;
			break;
		}
		memcpy(name, rel, n);
		name[n] = '\0';
		if (*rest)
			how = O_PATH | O_DIRECTORY | O_CLOEXEC;
		else if (rel[n]) /* a slash at the end wants a folder */
			how |= O_DIRECTORY;
		fd = open_one(dir, name, how, mode);
		if (!*rest || fd < 0)
			break;
		if (dir != root_fd)
			close(dir);
		dir = fd;
		rel = rest;
	}
	e = errno;
	if (dir != root_fd)
		close(dir);
	errno = e;
	return fd;
}

int file_open_beneath_as(int root_fd, const char *rel, int flags, mode_t mode,
			 struct remem_err *err)
{
	int rc = check_rel(rel, err), fd;

	if (rc)
		return rc;
	flags |= O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	fd = by_openat2(root_fd, rel, flags, mode);
	if (fd == -2)
		fd = by_component(root_fd, rel, flags, mode);
	return fd < 0 ? refuse(errno, rel, err) : fd;
}

int file_open_beneath(int root_fd, const char *rel, struct remem_err *err)
{
	return file_open_beneath_as(root_fd, rel, O_RDONLY, 0, err);
}

int file_write_beneath(int root_fd, const char *rel, const void *data,
		       size_t len, mode_t mode, struct remem_err *err)
{
	const char *base = path_base(rel);
	char *dir;
	int rc = check_rel(rel, err), fd;

	if (rc)
		return rc;
	if (!base[0] || !strcmp(base, "."))
		return fail(err, REMEM_EINVAL, "'%s' is no file name", rel);
	dir = base == rel ? mem_strdup(".") :
			    mem_memdup0(rel, (size_t)(base - rel));
	if (!dir)
		return fail_nomem(err);
	fd = file_open_beneath_as(root_fd, dir, O_RDONLY | O_DIRECTORY, 0, err);
	mem_free(dir);
	if (fd < 0)
		return fd;
	rc = file_write_at(fd, base, rel, data, len, mode, err);
	close(fd);
	return rc;
}
