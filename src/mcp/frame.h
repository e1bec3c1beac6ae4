/*
 * Messages out of a stream of bytes: one a line, whatever pieces they come in.
 * A line beyond the limit is told once and passed over to its end, so that
 * the stream goes on behind it.
 */
#ifndef MCP_FRAME_H
#define MCP_FRAME_H

#include "base/buf.h"

struct frame {
	struct buf line; /* the one that has begun */
	size_t limit;
	bool skipping; /* inside a line that is too long */
};

/* too_long: line is only its beginning. Blank lines are not given. */
typedef void (*frame_fn)(void *ctx, const char *line, size_t len,
			 bool too_long);

void frame_init(struct frame *f, size_t limit);
void frame_release(struct frame *f);
/* Gives each line that is ended by these bytes. REMEM_ENOMEM loses the line
 * that had begun; the stream can go on. */
int frame_feed(struct frame *f, const char *data, size_t len, frame_fn fn,
	       void *ctx, struct remem_err *err);
/* The input has ended: what stands without a line end is a line too. */
void frame_end(struct frame *f, frame_fn fn, void *ctx);

#endif
