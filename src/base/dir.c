/* Folders: made with their parents, removed with their contents. */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

#define DEPTH_MAX 200 /* of a folder to remove: each level holds a descriptor */

static bool is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int make_one(const char *path, mode_t mode, struct remem_err *err)
{
	int e;

	if (mkdir(path, mode) == 0)
		return 0;
	e = errno;
	/* A parent we may not write to can refuse what is already there. */
	if (is_dir(path))
		return 0;
	return fail_errno(err, REMEM_EIO, e == EEXIST ? ENOTDIR : e,
			  "cannot create folder '%s'", path);
}

int dir_make(const char *path, mode_t mode, struct remem_err *err)
{
	char *p;
	int rc = 0;

	if (!path[0])
		return fail(err, REMEM_EINVAL, "the name of a folder is empty");
	if (is_dir(path))
		return 0;
	p = mem_strdup(path);
	if (!p)
		return fail_nomem(err);
	for (char *s = strchr(p + 1, '/'); s && !rc; s = strchr(s + 1, '/')) {
		*s = '\0';
		rc = make_one(p, mode, err);
		*s = '/';
	}
	if (!rc)
		rc = make_one(p, mode, err);
	mem_free(p);
	return rc;
}

static int empty_dir(int fd, const char *name, int depth,
		     struct remem_err *err);

static int remove_entry(int dir_fd, const char *entry, const char *name,
			int depth, struct remem_err *err)
{
	int fd, rc;

	file_fault_step();
	if (unlinkat(dir_fd, entry, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return file_fail(err, errno, "remove something in", name);
	fd = openat(dir_fd, entry,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return file_fail(err, errno, "open a folder in", name);
	if ((rc = empty_dir(fd, name, depth + 1, err)))
		return rc;
	if (unlinkat(dir_fd, entry, AT_REMOVEDIR) && errno != ENOENT)
		return file_fail(err, errno, "remove a folder in", name);
	return 0;
}

/* Takes fd. */
static int empty_dir(int fd, const char *name, int depth,
		     struct remem_err *err)
{
	DIR *d = depth > DEPTH_MAX ? NULL : fdopendir(fd);
	struct dirent *e;
	int rc = 0;

	if (!d) {
		rc = depth > DEPTH_MAX ?
		     fail(err, REMEM_ELIMIT,
			  "'%s' is more than %d folders deep", name,
			  DEPTH_MAX) :
		     file_fail(err, errno, "read", name);
		close(fd);
		return rc;
	}
	while (!rc && (errno = 0, e = readdir(d))) {
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			rc = remove_entry(fd, e->d_name, name, depth, err);
	}
	if (!rc && errno)
		rc = file_fail(err, errno, "read", name);
	closedir(d);
	return rc;
}

int dir_remove(const char *path, struct remem_err *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int rc;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return fail_errno(err, REMEM_EIO, errno,
				  "cannot remove folder '%s'", path);
	if ((rc = empty_dir(fd, path, 0, err)))
		return rc;
	file_fault_step();
	if (rmdir(path) && errno != ENOENT)
		return file_fail(err, errno, "remove folder", path);
	return 0;
}
