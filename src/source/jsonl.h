/*
 * Lines of a growing file, one at a time, each with its number and place.
 * Read with pread(): the file may shrink meanwhile, which ends it. A line
 * beyond the bound is passed over without being held. LF and CRLF end a line;
 * a CR alone does not.
 */
#ifndef SOURCE_JSONL_H
#define SOURCE_JSONL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/err.h"
#include "base/hash.h"

#define JSONL_MAX_LINE (16u << 20)

struct jsonl {
	int fd;
	const char *name; /* for messages */
	char *buf; /* bytes of the file from base on */
	size_t cap, len, at;
	size_t step; /* of the next read, growing */
	int64_t base;
	int64_t line; /* of the last one given */
	int64_t start, end; /* of the last one given; end behind its break */
	size_t max_line;
	bool eof;
	yyjson_doc *doc; /* of the last one parsed */
};

enum jsonl_result {
	JSONL_LINE,
	JSONL_LONG, /* passed over */
	JSONL_PARTIAL, /* what is left has no line break yet */
	JSONL_END
};

/* Takes fd. The next line is number line + 1 and begins at offset. */
void jsonl_init(struct jsonl *j, int fd, const char *name, int64_t offset,
		int64_t line, size_t max_line);
/* Back to such a place. */
void jsonl_seek(struct jsonl *j, int64_t offset, int64_t line);
/* The next line without its break, in room that may be changed, with bytes of
 * padding behind it; borrowed until the next call. */
int jsonl_next(struct jsonl *j, enum jsonl_result *res, char **line,
	       size_t *len, struct remem_err *err);
/* Parses such a line in place. NULL and a reason if it is no JSON. Strings may
 * hold invalid UTF-8 and NULs; depth is not bounded: do not recurse. */
yyjson_val *jsonl_parse(struct jsonl *j, char *line, size_t len,
			const char **reason);
void jsonl_release(struct jsonl *j);

/*
 * Sum over samples of the first size bytes: the first and last KiB and pieces
 * between. Another file, or one written anew, gives another sum (or false: it
 * is shorter); a file that only grew gives the same.
 */
bool jsonl_sum(unsigned char out[SHA256_BYTES], int fd, int64_t size);

#endif
