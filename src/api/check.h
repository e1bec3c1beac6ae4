/* Whether files differ from the index, looked at beside other work. */
#ifndef API_CHECK_H
#define API_CHECK_H

#include "api/handle.h"

struct check;

/*
 * Begins to look at the disk, in a thread when beside is set; r has its store
 * open. NULL when memory is out.
 */
struct check *check_begin(struct remem *r, bool beside);
/* Whether it goes on in a thread; false for NULL. */
bool check_is_beside(const struct check *c);
/* Helps to end it, compares with the store of r and frees it. *dirty: files
 * that differ; *moved: the index was brought up to date by somebody else since
 * the beginning. The code of what failed, worded in err. c may be NULL:
 * REMEM_ENOMEM. */
int check_end(struct check *c, int64_t *dirty, bool *moved, struct remem *r,
	      struct remem_err *err);

#endif
