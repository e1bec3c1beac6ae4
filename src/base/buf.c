/* Growing text with a limit; see buf.h. */
#include "base/buf.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

void buf_init(struct buf *b, size_t limit)
{
	*b = (struct buf)BUF_INIT(limit);
}

void buf_release(struct buf *b)
{
	if (!b)
		return;
	mem_free(b->ptr);
	b->ptr = NULL;
	b->len = b->cap = 0;
}

void buf_reset(struct buf *b)
{
	b->len = 0;
	b->failed = 0;
	if (b->ptr)
		b->ptr[0] = '\0';
}

char *buf_reserve(struct buf *b, size_t len)
{
	size_t want;

	if (b->failed)
		return NULL;
	if (size_add(&want, b->len, len) ||
	    (b->limit && want > b->limit)) {
		b->failed = REMEM_ELIMIT;
		return NULL;
	}
	if (size_add(&want, want, 1) ||
	    !mem_grow(&b->ptr, &b->cap, want, 1)) {
		b->failed = REMEM_ENOMEM;
		return NULL;
	}
	return b->ptr + b->len;
}

void buf_add(struct buf *b, const void *p, size_t len)
{
	char *to = buf_reserve(b, len);

	if (!to)
		return;
	if (len)
		memcpy(to, p, len);
	b->len += len;
	b->ptr[b->len] = '\0';
}

void buf_adds(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_addc(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	char *to;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	to = buf_reserve(b, (size_t)n);
	if (!to)
		return;
	va_start(ap, fmt);
	vsnprintf(to, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)n;
}

void buf_truncate(struct buf *b, size_t len)
{
	if (len >= b->len)
		return;
	b->len = len;
	b->ptr[len] = '\0';
}

const char *buf_str(const struct buf *b)
{
	return b->ptr ? b->ptr : "";
}

char *buf_detach(struct buf *b)
{
	char *p = b->failed ? NULL : b->ptr;

	if (b->failed)
		mem_free(b->ptr);
	else if (!p)
		p = mem_strdup("");
	b->ptr = NULL;
	b->len = b->cap = 0;
	return p;
}

int buf_check(const struct buf *b, struct remem_err *err)
{
	if (b->failed == REMEM_ELIMIT)
		return fail(err, REMEM_ELIMIT, "text is larger than %zu bytes",
			    b->limit);
	return b->failed ? fail_nomem(err) : 0;
}
