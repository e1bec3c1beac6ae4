/*
 * Child processes: run one to its end with text in and text out, or start one
 * that outlives us. No shell is involved.
 */
#ifndef BASE_PROC_H
#define BASE_PROC_H

#include <stddef.h>

#include "base/buf.h"

struct proc_opts {
	const char *dir; /* where it runs; NULL: where we are */
	const char *in; /* its standard input */
	size_t in_len;
	int timeout_ms; /* 0: none */
	struct buf *errors; /* what of its standard error is kept; NULL: none */
	const char *const *env; /* "NAME=value", NULL-terminated; NULL: ours */
};

/*
 * Runs argv[0] (looked up in PATH if it has no slash; argv ends with NULL) and
 * appends its standard output to out, whose limit bounds it. Of its standard
 * error as much is kept as fits into errors. In time it is killed with its
 * process group.
 *
 * *status is the exit code, or 128 + the signal that ended it: a program that
 * ran is a success. REMEM_ENOTFOUND: no such program or folder;
 * REMEM_ETIMEOUT; REMEM_ELIMIT: it wrote too much and was killed; REMEM_EIO.
 */
int proc_run_opts(struct buf *out, const char *const *argv,
		  const struct proc_opts *opts, int *status,
		  struct remem_err *err);
/* The same with the options that are mostly wanted. */
int proc_run(struct buf *out, const char *const *argv, const char *in,
	     size_t in_len, int timeout_ms, int *status,
	     struct remem_err *err);

struct proc_detach_opts {
	const char *dir; /* where it runs; NULL: where we are */
	const char *log; /* file its outputs are added to; NULL: nowhere */
	const char *const *env; /* as in struct proc_opts */
};

/*
 * Starts argv[0] on its own: in a session of its own, without our descriptors,
 * with an empty input; it goes on when we end and is not waited for. Returns
 * when the program runs. REMEM_ENOTFOUND: no such program; REMEM_EIO.
 */
int proc_detach(const char *const *argv, const struct proc_detach_opts *opts,
		struct remem_err *err);

#endif
