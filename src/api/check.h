/* Whether files differ from the index, looked at beside other work. */
#ifndef API_CHECK_H
#define API_CHECK_H

#include "api/handle.h"

struct check;

/*
 * Begins to compare disk and index, in a thread with a reader of its own when
 * beside is set, else at once in r's. NULL when memory is out.
 */
struct check *check_begin(struct remem *r, bool beside);
/* Whether it goes on in a thread; false for NULL. */
bool check_is_beside(const struct check *c);
/* Waits for it and frees it. *dirty: files that differ. The code of the
 * comparison, worded in err. c may be NULL: REMEM_ENOMEM. */
int check_end(struct check *c, int64_t *dirty, struct remem_err *err);

#endif
