/*
 * Errors. A function that can fail returns 0 or a negative REMEM_E... code
 * (include/remem.h) and fills the caller's struct remem_err, which may be
 * NULL. Whoever detects an error words it; callers pass it up or add context.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "remem.h"

#include "base/attr.h"

/* Words the error and returns code, so that reporting is one statement. */
int fail(struct remem_err *err, int code, const char *fmt, ...)
	ATTR_PRINTF(3, 4);

/* Like fail(), with ": " and the text of errnum (an errno value) appended. */
int fail_errno(struct remem_err *err, int code, int errnum, const char *fmt,
	       ...) ATTR_PRINTF(4, 5);

/* Sets what the user can do about the error; shown on the next line. */
void fail_action(struct remem_err *err, const char *fmt, ...)
	ATTR_PRINTF(2, 3);

/* Puts "context: " before the message that is there. Returns err->code, or
 * REMEM_EIO without err: callers that have a code return their own. */
int fail_add(struct remem_err *err, const char *fmt, ...) ATTR_PRINTF(2, 3);

/* Out of memory, always worded the same; with the limit, if there is one. */
int fail_nomem(struct remem_err *err);
/* Sets as action that the process may take more memory, if that is bounded. */
void fail_limit_action(struct remem_err *err);

/* The stable name of a code for JSON: "invalid", "io", "corrupt", ... */
const char *err_type(int code);

/*
 * Guards a place where going on could damage a user's file. Debug builds
 * abort, release builds return REMEM_EBUG and nothing is written.
 */
#ifdef NDEBUG
#define BUG_IF(cond, err)                                               \
	do {                                                            \
		if (cond)                                               \
			return fail(err, REMEM_EBUG, "bug at %s:%d: %s", \
				    __FILE__, __LINE__, #cond);         \
	} while (0)
#else
#define BUG_IF(cond, err) assert(!(cond))
#endif

#endif
