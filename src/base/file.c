/* Whole files: read in one go, replaced atomically. See file.h. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/path.h"

#define READ_MAX (1u << 30) /* Linux reads at most 2 GiB a call */
#define READ_MIN 4096u /* first guess where the size is said to be 0 */

static atomic_long fault_at, fault_count;

void file_fault_at(long number)
{
	atomic_store(&fault_count, 0);
	atomic_store(&fault_at, number);
}

void file_fault_step(void)
{
	long at = atomic_load_explicit(&fault_at, memory_order_relaxed);

	if (UNLIKELY(at != 0) && atomic_fetch_add(&fault_count, 1) + 1 == at)
		kill(getpid(), SIGKILL);
}

int file_fail(struct remem_err *err, int errnum, const char *what,
	      const char *name)
{
	int gone = errnum == ENOENT || errnum == ENOTDIR;

	return fail_errno(err, gone ? REMEM_ENOTFOUND : REMEM_EIO, errnum,
			  "cannot %s '%s'", what, name);
}

/* ---- reading ---------------------------------------------------------- */

/*
 * One read into the room there is, the place of the final NUL included: a
 * file that has not grown ends with a short read, and no second one is
 * needed. Returns what read() returned.
 */
static ssize_t read_some(struct buf *b, int fd, size_t room)
{
	ssize_t got;

	do
		got = read(fd, b->ptr + b->len, room);
	while (got < 0 && errno == EINTR);
	return got;
}

static int too_large(struct buf *b, const char *name, struct remem_err *err)
{
	b->failed = REMEM_ELIMIT;
	return fail(err, REMEM_ELIMIT, "'%s' is larger than %zu bytes", name,
		    b->limit);
}

static int read_all(struct buf *b, int fd, uint64_t size, const char *name,
		    struct remem_err *err)
{
	size_t start = b->len, left = b->limit - b->len;
	size_t want = size ? (size_t)size : READ_MIN;
	bool expected;

	if (b->limit && size > left)
		return too_large(b, name, err);
	if (b->limit && want > left)
		want = left;
	do {
		size_t room;
		ssize_t got;

		if (!buf_reserve(b, want))
			return b->failed == REMEM_ELIMIT ?
			       too_large(b, name, err) : fail_nomem(err);
		room = b->cap - b->len;
		if (b->limit && room > b->limit - b->len + 1)
			room = b->limit - b->len + 1;
		if (room > READ_MAX)
			room = READ_MAX;
		got = read_some(b, fd, room);
		if (got < 0) {
			int e = errno;

			b->ptr[b->len] = '\0';
			return file_fail(err, e, "read", name);
		}
		if (b->limit && (size_t)got > b->limit - b->len) {
			b->ptr[b->len] = '\0';
			return too_large(b, name, err);
		}
		b->len += (size_t)got;
		if (got == 0)
			break;
		expected = (size_t)got < room && b->len - start == size;
		want = 1;
	} while (!expected);
	b->ptr[b->len] = '\0';
	return 0;
}

static int check_kind(const struct stat *st, const char *name,
		      struct remem_err *err)
{
	if (S_ISREG(st->st_mode))
		return 0;
	if (S_ISDIR(st->st_mode))
		return fail(err, REMEM_EINVAL, "'%s' is a folder", name);
	return fail(err, REMEM_EINVAL, "'%s' is not a regular file", name);
}

int file_read_fd(struct buf *b, int fd, const char *name,
		 struct remem_err *err)
{
	struct stat st;
	int rc;

	if (b->failed)
		return buf_check(b, err);
	if (fstat(fd, &st))
		return file_fail(err, errno, "read", name);
	if ((rc = check_kind(&st, name, err)))
		return rc;
	if (st.st_size < 0 || (uint64_t)st.st_size > SIZE_MAX / 2)
		return too_large(b, name, err);
	return read_all(b, fd, (uint64_t)st.st_size, name, err);
}

int file_read(struct buf *b, const char *path, struct remem_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc;

	if (fd < 0)
		return file_fail(err, errno, "open", path);
	rc = file_read_fd(b, fd, path, err);
	close(fd);
	return rc;
}

bool file_exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

/* ---- writing ---------------------------------------------------------- */

int file_write_all(int fd, const void *data, size_t len, const char *name,
		   struct remem_err *err)
{
	const char *p = data;

	while (len) {
		ssize_t n;

		file_fault_step();
		n = write(fd, p, len < READ_MAX ? len : READ_MAX);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return file_fail(err, errno, "write", name);
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int file_fsync(int fd, const char *name, struct remem_err *err)
{
	int rc;

	file_fault_step();
	do
		rc = fsync(fd);
	while (rc < 0 && errno == EINTR);
	/* Some file systems cannot sync a folder and say so like this. */
	if (rc < 0 && errno != EINVAL && errno != ENOTSUP)
		return file_fail(err, errno, "sync", name);
	return 0;
}

int dir_fsync(const char *path, struct remem_err *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc;

	if (fd < 0)
		return file_fail(err, errno, "open", path);
	rc = file_fsync(fd, path, err);
	close(fd);
	return rc;
}

/* Creates a new file with a name nobody else has; the name goes to tmp. */
static int make_temp(char *tmp, size_t size, int dir_fd, mode_t mode)
{
	static atomic_uint serial;
	int fd;

	for (int i = 0; i < 100; i++) {
		unsigned n = atomic_fetch_add(&serial, 1);

		snprintf(tmp, size, FILE_TEMP_PREFIX "%lx-%x-%llx.tmp",
			 (long)getpid(), n,
			 (unsigned long long)clock_mono_ns());
		fd = openat(dir_fd, tmp,
			    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
			    mode);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

/* What stands there now: *old is set, or *is_new is true. */
static int look_at_target(struct stat *old, bool *is_new, int dir_fd,
			  const char *base, const char *name,
			  struct remem_err *err)
{
	*is_new = fstatat(dir_fd, base, old, AT_SYMLINK_NOFOLLOW) != 0;
	if (*is_new)
		return errno == ENOENT ? 0 : file_fail(err, errno, "replace",
						       name);
	if (S_ISLNK(old->st_mode))
		return fail(err, REMEM_EPERM,
			    "cannot replace '%s': it is a link", name);
	return check_kind(old, name, err);
}

static int fill_temp(int fd, const struct stat *old, const void *data,
		     size_t len, const char *name, struct remem_err *err)
{
	int rc = file_write_all(fd, data, len, name, err);

	if (rc)
		return rc;
	/* Only root may give a file away; others own both files. */
	if (old && fchown(fd, old->st_uid, old->st_gid) && errno != EPERM)
		return file_fail(err, errno, "write", name);
	if (old && fchmod(fd, old->st_mode & 07777))
		return file_fail(err, errno, "write", name);
	return file_fsync(fd, name, err);
}

int file_write_at(int dir_fd, const char *base, const char *name,
		  const void *data, size_t len, mode_t mode,
		  struct remem_err *err)
{
	return file_write_checked(dir_fd, base, name, data, len, mode, NULL,
				  NULL, err);
}

int file_write_checked(int dir_fd, const char *base, const char *name,
		       const void *data, size_t len, mode_t mode,
		       int (*check)(void *ctx, struct remem_err *err),
		       void *ctx, struct remem_err *err)
{
	char tmp[80];
	struct stat old;
	bool is_new;
	int fd, rc;

	if ((rc = look_at_target(&old, &is_new, dir_fd, base, name, err)))
		return rc;
	file_fault_step();
	fd = make_temp(tmp, sizeof(tmp), dir_fd, is_new ? mode : 0600);
	if (fd < 0)
		return file_fail(err, errno, "write", name);
	rc = fill_temp(fd, is_new ? NULL : &old, data, len, name, err);
	if (close(fd) && !rc)
		rc = file_fail(err, errno, "write", name);
	if (!rc && check)
		rc = check(ctx, err);
	if (!rc) {
		file_fault_step();
		if (renameat(dir_fd, tmp, dir_fd, base))
			rc = file_fail(err, errno, "replace", name);
	}
	if (rc) {
		unlinkat(dir_fd, tmp, 0);
		return rc;
	}
	return file_fsync(dir_fd, name, err);
}

int file_write_atomic(const char *path, const void *data, size_t len,
		      mode_t mode, struct remem_err *err)
{
	const char *base = path_base(path);
	char *dir;
	int fd, rc;

	if (!base[0] || !strcmp(base, ".") || !strcmp(base, ".."))
		return fail(err, REMEM_EINVAL, "'%s' is no file name", path);
	dir = base == path ? mem_strdup(".") :
			     mem_memdup0(path, (size_t)(base - path));
	if (!dir)
		return fail_nomem(err);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		rc = file_fail(err, errno, "open", dir);
		goto out;
	}
	rc = file_write_at(fd, base, path, data, len, mode, err);
	close(fd);
out:
	mem_free(dir);
	return rc;
}
