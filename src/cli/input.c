/* Standard input: all of it, or line by line. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

#define INPUT_MAX_BYTES ((size_t)64 << 20)
#define BLOCK 65536
/* A line is a query or a text to embed; longer ones are cut. */
#define LINE_MAX_BYTES ((size_t)8 << 20)

static ssize_t read_some(char *to, size_t n)
{
	ssize_t got;

	do
		got = read(STDIN_FILENO, to, n);
	while (got < 0 && errno == EINTR);
	return got;
}

int cli_read_all(struct cli *c, struct buf *out)
{
	for (;;) {
		char *to = buf_reserve(out, BLOCK);
		ssize_t n = to ? read_some(to, BLOCK) : 0;

		if (n <= 0 || out->len > INPUT_MAX_BYTES) {
			if (!to || out->len > INPUT_MAX_BYTES)
				return cli_usage(c, "standard input is longer "
						 "than 64 MB");
			return n ? cli_usage(c, "cannot read standard input") :
				   EXIT_DONE;
		}
		out->len += (size_t)n;
		out->ptr[out->len] = '\0';
	}
}

static void fill(struct line_reader *r)
{
	char *to;
	ssize_t n;

	if (r->at) {
		memmove(r->b.ptr, r->b.ptr + r->at, r->b.len - r->at);
		buf_truncate(&r->b, r->b.len - r->at);
		r->at = 0;
	}
	to = buf_reserve(&r->b, BLOCK);
	n = to ? read_some(to, BLOCK) : 0;
	if (n <= 0) {
		r->eof = true;
		return;
	}
	r->b.len += (size_t)n;
	r->b.ptr[r->b.len] = '\0';
}

/* Drops the rest of a line that is too long. */
static void skip_line(struct line_reader *r)
{
	for (;;) {
		const char *nl = r->b.len ? memchr(r->b.ptr, '\n', r->b.len) :
					    NULL;

		if (nl || r->eof) {
			r->at = nl ? (size_t)(nl - r->b.ptr) + 1 : r->b.len;
			return;
		}
		r->at = r->b.len;
		fill(r);
	}
}

bool cli_read_line(struct line_reader *r, const char **line, size_t *len,
		   bool *too_long)
{
	size_t seen = 0;

	*too_long = false;
	for (;;) {
		const char *from = r->b.len ? r->b.ptr + r->at : "";
		size_t have = r->b.len - r->at;
		const char *nl = have > seen ?
			memchr(from + seen, '\n', have - seen) : NULL;

		if (nl || (r->eof && have)) {
			*line = from;
			*len = nl ? (size_t)(nl - from) : have;
			r->at += *len + (nl != NULL);
			if (*len && from[*len - 1] == '\r')
				--*len;
			return true;
		}
		if (r->eof)
			return false;
		if (have > LINE_MAX_BYTES) {
			r->at = r->b.len;
			*too_long = true;
			*line = "";
			*len = 0;
			skip_line(r);
			return true;
		}
		seen = have;
		fill(r);
	}
}
