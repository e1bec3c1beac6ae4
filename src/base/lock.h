/*
 * Locks between processes: an open-file-description lock (fcntl) on a file.
 * They end with their process, so no stale lock is possible.
 */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <stdbool.h>

#include "base/err.h"

struct lock {
	int fd; /* -1 when not held */
};

#define LOCK_INIT { -1 }

/* Waits up to timeout_ms (-1 for ever, 0 not at all). REMEM_EBUSY in time. */
int lock_take(struct lock *l, const char *path, int timeout_ms,
	      struct remem_err *err);
void lock_release(struct lock *l);

#endif
