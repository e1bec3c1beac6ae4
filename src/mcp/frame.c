/* Lines of a stream; see frame.h. */
#include "mcp/frame.h"

#include <string.h>

/* A message of the usual size leaves its memory to the next. */
#define KEEP_BYTES (1u << 20)

void frame_init(struct frame *f, size_t limit)
{
	memset(f, 0, sizeof(*f));
	f->limit = limit;
	/* One more byte than a line may have tells that it is too long. */
	buf_init(&f->line, 0);
}

void frame_release(struct frame *f)
{
	buf_release(&f->line);
}

static bool is_blank(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (s[i] != ' ' && s[i] != '\t' && s[i] != '\r')
			return false;
	return true;
}

static void forget(struct frame *f)
{
	if (f->line.cap > KEEP_BYTES || f->line.failed)
		buf_release(&f->line);
	buf_reset(&f->line);
}

static void give(struct frame *f, frame_fn fn, void *ctx)
{
	size_t len = f->line.len;

	if (f->skipping)
		f->skipping = false;
	else if (!is_blank(buf_str(&f->line), len))
		fn(ctx, buf_str(&f->line), len, false);
	forget(f);
}

/* A part of a line, without its end. */
static int add(struct frame *f, const char *data, size_t len, frame_fn fn,
	       void *ctx, struct remem_err *err)
{
	int rc;

	if (f->skipping)
		return 0;
	if (len <= f->limit && f->line.len <= f->limit - len) {
		buf_add(&f->line, data, len);
		rc = buf_check(&f->line, err);
		if (!rc)
			return 0;
		f->skipping = true;
		forget(f);
		return rc;
	}
	buf_add(&f->line, data, len < 1024 ? len : 1024);
	fn(ctx, buf_str(&f->line), f->line.len, true);
	f->skipping = true;
	forget(f);
	return 0;
}

int frame_feed(struct frame *f, const char *data, size_t len, frame_fn fn,
	       void *ctx, struct remem_err *err)
{
	int rc = 0, one;

	while (len) {
		const char *nl = memchr(data, '\n', len);
		size_t n = nl ? (size_t)(nl - data) : len;

		one = add(f, data, n, fn, ctx, err);
		rc = rc ? rc : one;
		if (!nl)
			break;
		give(f, fn, ctx);
		data += n + 1;
		len -= n + 1;
	}
	return rc;
}

void frame_end(struct frame *f, frame_fn fn, void *ctx)
{
	if (f->line.len)
		give(f, fn, ctx);
	f->skipping = false;
}
