/*
 * Files. Paths given from outside are opened beneath a root, never through a
 * link inside it. Whole files are written to a temporary name beside the
 * target, synced and renamed.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

/* Names of unfinished files; whatever begins like this may be removed when no
 * remem process runs. */
#define FILE_TEMP_PREFIX ".remem-tmp-"

/*
 * Appends a whole regular file to b, whose limit bounds it; never blocks.
 * REMEM_ENOTFOUND, REMEM_EINVAL (a folder, a pipe, a device), REMEM_ELIMIT,
 * REMEM_EIO. The second begins where fd stands; name is for messages.
 */
int file_read(struct buf *b, const char *path, struct remem_err *err);
int file_read_fd(struct buf *b, int fd, const char *name,
		 struct remem_err *err);
/*
 * Replaces path by data: temporary file in the same folder, fsync, rename,
 * fsync of the folder. mode is used for a new file; an old one's is kept.
 * A link in the last place is not followed and not replaced: REMEM_EPERM.
 * Nothing is left behind on failure.
 */
int file_write_atomic(const char *path, const void *data, size_t len,
		      mode_t mode, struct remem_err *err);
/* The same for base (no slash) in an open folder; name is for messages. */
int file_write_at(int dir_fd, const char *base, const char *name,
		  const void *data, size_t len, mode_t mode,
		  struct remem_err *err);
/* The same; check(ctx) is called when all but the rename is done, and what it
 * returns other than 0 ends the call with the old file as it was. */
int file_write_checked(int dir_fd, const char *base, const char *name,
		       const void *data, size_t len, mode_t mode,
		       int (*check)(void *ctx, struct remem_err *err),
		       void *ctx, struct remem_err *err);
/* Writes all of data to fd, in as many steps as it takes; no sync. */
int file_write_all(int fd, const void *data, size_t len, const char *name,
		   struct remem_err *err);
/* "cannot WHAT 'NAME': reason"; REMEM_ENOTFOUND if it is not there, or EIO. */
int file_fail(struct remem_err *err, int errnum, const char *what,
	      const char *name);
/* A descriptor of an empty file without a name, in memory where the system can
 * do that; gone when it is closed. Or a negative code. */
int file_temp(struct remem_err *err);
/* mkdir -p. */
int dir_make(const char *path, mode_t mode, struct remem_err *err);
/* Removes a folder with all its contents, never following links. It is no
 * error when it is not there. */
int dir_remove(const char *path, struct remem_err *err);
/* Links followed. */
bool file_exists(const char *path);
int file_fsync(int fd, const char *name, struct remem_err *err);
int dir_fsync(const char *path, struct remem_err *err);

/*
 * Opens rel beneath the open folder root_fd, read-only, refusing absolute
 * paths, "..", and links anywhere in it (openat2 where the kernel has it,
 * component by component elsewhere). Returns a descriptor or a negative code:
 * REMEM_EPERM for such a path, REMEM_ENOTFOUND, REMEM_EIO. What is opened may
 * be a folder or a pipe (never waited for); file_read_fd() tells.
 */
int file_open_beneath(int root_fd, const char *rel, struct remem_err *err);
/* With these flags of open() and a mode for a new file; never waits. */
int file_open_beneath_as(int root_fd, const char *rel, int flags, mode_t mode,
			 struct remem_err *err);
/* file_write_atomic() with the same guard; the folder must be there. */
int file_write_beneath(int root_fd, const char *rel, const void *data,
		       size_t len, mode_t mode, struct remem_err *err);
/* Tests: true goes component by component everywhere. */
void file_no_openat2(bool off);

/*
 * Kill and failure injection for tests: file_fault_at(n) makes the n-th write
 * step (write, fsync, rename, ftruncate, unlink; counted over all code that
 * calls file_fault_step) end the process by SIGKILL. 0 = off. It is armed by
 * the programs from REMEM_TEST_KILL_AT in debug builds only.
 */
void file_fault_at(long number);
void file_fault_step(void);

#endif
