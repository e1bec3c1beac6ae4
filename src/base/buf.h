/*
 * Buffer: text being built, with a size limit given at birth. The contents
 * are always followed by a NUL that does not count. After the first failure
 * (no memory, limit passed) calls do nothing; buf_check() tells which.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct buf {
	char *ptr; /* never NULL after buf_str() */
	size_t len;
	size_t cap;
	size_t limit; /* most bytes it may hold, 0 = no limit */
	int failed; /* 0, REMEM_ENOMEM or REMEM_ELIMIT */
};

#define BUF_INIT(max) { NULL, 0, 0, (max), 0 }

void buf_init(struct buf *b, size_t limit);
void buf_release(struct buf *b);
void buf_reset(struct buf *b); /* empty, memory kept, failure forgotten */

void buf_add(struct buf *b, const void *p, size_t len);
void buf_adds(struct buf *b, const char *s);
void buf_addc(struct buf *b, char c);
void buf_addf(struct buf *b, const char *fmt, ...) ATTR_PRINTF(2, 3);
/* Makes room for len more bytes; where they go, or NULL after a failure. */
char *buf_reserve(struct buf *b, size_t len);
void buf_truncate(struct buf *b, size_t len);

/* NUL-terminated contents, "" when empty. Borrowed until the next change. */
const char *buf_str(const struct buf *b);
/* Contents to the caller, who frees them with mem_free(); NULL on failure. */
char *buf_detach(struct buf *b);
/* 0, or the failure worded. */
int buf_check(const struct buf *b, struct remem_err *err);

#endif
