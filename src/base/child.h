/*
 * A child process that is talked to for as long as both live: its standard
 * input and output are the two directions of one socket, what it writes to
 * standard error is kept in memory. It may die at any moment without harm to
 * us: no signal is raised by writing to it.
 */
#ifndef BASE_CHILD_H
#define BASE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

struct child {
	pid_t pid; /* 0: none runs */
	int fd, errors; /* valid while pid is not 0 */
};

struct child_wait { /* how long and whether a call may wait */
	int64_t until_ns; /* of clock_mono_ns() */
	bool (*cancel)(void *ctx); /* asked about 20 times a second, or NULL */
	void *ctx;
};

/* argv[0] is looked up in PATH if it has no slash. REMEM_ENOTFOUND: there is
 * no such program; REMEM_EIO. c is zeroed or ended before. */
int child_start(struct child *c, const char *const *argv,
		struct remem_err *err);
/*
 * All len bytes, or REMEM_EREMOTE (it has ended), REMEM_ETIMEOUT,
 * REMEM_ECANCELLED. After a failed write the stream is at no known place; a
 * read goes on with the same *got, which is 0 at first.
 */
int child_write(struct child *c, const void *p, size_t len,
		const struct child_wait *w, struct remem_err *err);
int child_read(struct child *c, void *p, size_t len, size_t *got,
	       const struct child_wait *w, struct remem_err *err);
/*
 * Kills it if it still runs, and waits for its end. why (may be NULL) gets how
 * it ended, with the last line of its standard error: one line of UTF-8.
 */
void child_end(struct child *c, struct buf *why);

#endif
