/* See target.h. */
#include "memory/target.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/path.h"
#include "memory/origin.h"

#define NEW_FOLDER 0700
#define NEW_FILE 0600

/* One more folder below dir_fd, made if need be. A descriptor or a code. */
static int enter(int dir_fd, const char *name, const char *path, bool make,
		 struct remem_err *err)
{
	int rc;

	if (make) {
		file_fault_step();
		if (!mkdirat(dir_fd, name, NEW_FOLDER)) {
			if ((rc = file_fsync(dir_fd, path, err)))
				return rc;
		} else if (errno != EEXIST) {
			return fail_errno(err, REMEM_EIO, errno,
					  "cannot make the folder of '%s'",
					  path);
		}
	}
	return file_open_beneath_as(dir_fd, name, O_RDONLY | O_DIRECTORY, 0,
				    err);
}

static int open_folder(struct target *t, struct memory *m, bool make,
		       struct remem_err *err)
{
	char *names = mem_strdup(t->path), *slash, *s = names;
	int fd, rc = 0;

	if (!names)
		return fail_nomem(err);
	t->dir_fd = fcntl(m->root_fd, F_DUPFD_CLOEXEC, 0);
	if (t->dir_fd < 0)
		rc = file_fail(err, errno, "open", m->root);
	while (!rc && (slash = strchr(s, '/'))) {
		*slash = '\0';
		fd = enter(t->dir_fd, s, t->path, make, err);
		close(t->dir_fd);
		t->dir_fd = fd < 0 ? -1 : fd;
		rc = fd < 0 ? fd : 0;
		s = slash + 1;
	}
	mem_free(names);
	return rc;
}

static int check(struct target *t, struct remem_err *err)
{
	if (fstat(t->fd, &t->st))
		return file_fail(err, errno, "read", t->path);
	if (S_ISREG(t->st.st_mode))
		return 0;
	fail(err, REMEM_EPERM, "'%s' is not a regular file", t->path);
	fail_action(err, "move it away, then the note can be written");
	return REMEM_EPERM;
}

static int open_file(struct target *t, struct remem_err *err)
{
	struct remem_err why = { 0 };
	struct stat st;
	int rc;

	t->absent = fstatat(t->dir_fd, t->base, &st, AT_SYMLINK_NOFOLLOW) &&
		    errno == ENOENT;
	if (t->absent)
		return 0;
	if (S_ISDIR(st.st_mode) || S_ISLNK(st.st_mode)) {
		fail(err, REMEM_EPERM, "'%s' is a %s", t->path,
		     S_ISDIR(st.st_mode) ? "folder" : "link");
		fail_action(err, "notes are written to regular files only");
		return REMEM_EPERM;
	}
	t->fd = file_open_beneath_as(t->dir_fd, t->base, O_RDWR | O_APPEND, 0,
				     &why);
	if (t->fd >= 0)
		return check(t, err);
	rc = t->fd;
	t->fd = -1;
	return fail(err, rc, "cannot write '%s': %s", t->path, why.message);
}

int target_open(struct target *t, struct memory *m, const char *path, bool make,
		struct remem_err *err)
{
	struct remem_err why = { 0 };
	int rc;

	memset(t, 0, sizeof(*t));
	t->dir_fd = t->fd = -1;
	t->path = path;
	t->base = path_base(path);
	rc = open_folder(t, m, make, &why);
	if (rc == REMEM_ENOTFOUND && !make) {
		t->absent = true;
		return 0;
	}
	if (rc) {
		if (err)
			*err = why;
		return rc;
	}
	return open_file(t, err);
}

int target_create(struct target *t, bool *raced, struct remem_err *err)
{
	*raced = false;
	file_fault_step();
	t->fd = openat(t->dir_fd, t->base, O_RDWR | O_APPEND | O_CREAT |
		       O_EXCL | O_NOFOLLOW | O_CLOEXEC, NEW_FILE);
	if (t->fd >= 0)
		return check(t, err);
	*raced = errno == EEXIST;
	return *raced ? 0 : fail_errno(err, REMEM_EIO, errno,
				       "cannot make '%s'", t->path);
}

void target_close(struct target *t)
{
	if (t->fd >= 0)
		close(t->fd);
	if (t->dir_fd >= 0)
		close(t->dir_fd);
	t->fd = t->dir_fd = -1;
}

bool target_holds(const struct target *t)
{
	struct stat a, b;

	return !fstat(t->fd, &a) &&
	       !fstatat(t->dir_fd, t->base, &b, AT_SYMLINK_NOFOLLOW) &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int target_read(struct buf *out, const struct target *t,
		const struct memory *m, struct remem_err *err)
{
	struct remem_err why = { 0 };
	int rc;

	buf_init(out, (size_t)m->max_file_bytes);
	if (lseek(t->fd, 0, SEEK_SET) < 0)
		return file_fail(err, errno, "read", t->path);
	rc = file_read_fd(out, t->fd, t->path, &why);
	if (!rc)
		return 0;
	if (err)
		*err = why;
	if (rc == REMEM_ELIMIT)
		fail_action(err, "such a file is not indexed either: split "
			    "it, or set memorySearch.maxFileBytes");
	return rc;
}

static int64_t ns(struct timespec t)
{
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void target_stamp(struct note_row *row, const struct stat *st)
{
	row->dev = (uint64_t)st->st_dev;
	row->inode = (uint64_t)st->st_ino;
	row->size = (int64_t)st->st_size;
	row->mtime_ns = ns(st->st_mtim);
	row->ctime_ns = ns(st->st_ctim);
}

bool target_known(const struct target *t, const struct note_row *row)
{
	struct note_row now = { 0 };

	target_stamp(&now, &t->st);
	return now.dev == row->dev && now.inode == row->inode &&
	       now.size == row->size && now.mtime_ns == row->mtime_ns &&
	       now.ctime_ns == row->ctime_ns;
}

static int read_anew(struct note_row *row, struct arena *a, struct memory *m,
		     const struct target *t, struct remem_err *err)
{
	struct buf b;
	int rc;

	buf_init(&b, 0);
	if (t->fd >= 0)
		rc = target_read(&b, t, m, err);
	else
		rc = 0;
	if (!rc && !(rc = state_begin(m->state, false, err))) {
		rc = origin_resync(row, a, m, t->path, buf_str(&b), b.len,
				   m->edits, 0, err);
		target_stamp(row, &t->st);
		if (!rc)
			rc = state_note_put(m->state, row, err);
		if (!rc)
			rc = state_commit(m->state, err);
		else
			state_rollback(m->state);
	}
	buf_release(&b);
	return rc;
}

int target_sync(struct note_row *row, struct arena *a, struct memory *m,
		const struct target *t, struct remem_err *err)
{
	bool found;
	int rc = state_note_get(m->state, a, t->path, row, &found, err);

	if (rc || (found && !t->absent && target_known(t, row)))
		return rc;
	if (!t->absent)
		return read_anew(row, a, m, t, err);
	/* Gone, or never there: what was known of its lines has ended. */
	row->path = t->path;
	row->origin = origin_of_path(t->path);
	row->outside = m->edits;
	row->size = row->lines = 0;
	sha256_init(&row->mid);
	return found ? state_line_remove(m->state, t->path, 0, err) : 0;
}
