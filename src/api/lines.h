/* Some lines of a file, read as a stream. */
#ifndef API_LINES_H
#define API_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct lines {
	int64_t from; /* first line wanted, from 1 */
	int64_t count; /* lines wanted at most */
	int64_t offset; /* characters of the first line to leave out */
	int64_t max_chars; /* characters wanted at most */
	/* out */
	int64_t given; /* lines in the text, the last perhaps in part */
	bool truncated; /* there is more behind what was given */
	int64_t next_from, next_offset; /* where it goes on */
	bool at_end; /* the end of the file was seen: total is known */
	int64_t total;
};

/*
 * Appends the lines to out, each but the last with its line break (LF). The
 * time is that of reading up to the last line wanted, the memory that of what
 * is given. name is for messages.
 */
int lines_read(struct lines *l, struct buf *out, int fd, const char *name,
	       struct remem_err *err);

#endif
