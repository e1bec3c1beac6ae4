/* See jsonl.h. */
#include "source/jsonl.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/json.h"

#define READ_BYTES (256u << 10)
#define FIRST_BYTES (8u << 10) /* few want more than the beginning or the end */
#define PADDING 8 /* what the parser wants is 4 */
#define SAMPLE_EDGE 1024
#define SAMPLES 30
#define SAMPLE_BYTES 256

void jsonl_init(struct jsonl *j, int fd, const char *name, int64_t offset,
		int64_t line, size_t max_line)
{
	memset(j, 0, sizeof(*j));
	j->fd = fd;
	j->name = name;
	j->max_line = max_line ? max_line : JSONL_MAX_LINE;
	jsonl_seek(j, offset, line);
}

static void drop_doc(struct jsonl *j)
{
	yyjson_doc_free(j->doc);
	j->doc = NULL;
}

void jsonl_seek(struct jsonl *j, int64_t offset, int64_t line)
{
	drop_doc(j);
	j->len = j->at = 0;
	j->base = offset;
	j->line = line;
	j->start = j->end = offset;
	j->eof = false;
	j->step = FIRST_BYTES;
}

void jsonl_release(struct jsonl *j)
{
	drop_doc(j);
	mem_free(j->buf);
	j->buf = NULL;
	if (j->fd >= 0)
		close(j->fd);
	j->fd = -1;
}

static int make_room(struct jsonl *j, struct remem_err *err)
{
	size_t cap = j->cap ? j->cap : READ_BYTES;
	char *p;

	if (j->at) {
		memmove(j->buf, j->buf + j->at, j->len - j->at);
		j->base += (int64_t)j->at;
		j->len -= j->at;
		j->at = 0;
	}
	while (cap - j->len < READ_BYTES / 2)
		cap *= 2;
	if (cap == j->cap)
		return 0;
	p = mem_realloc(j->buf, cap + PADDING);
	if (!p)
		return fail_nomem(err);
	j->buf = p;
	j->cap = cap;
	return 0;
}

static int read_more(struct jsonl *j, struct remem_err *err)
{
	size_t want;
	ssize_t n;
	int rc = make_room(j, err);

	if (rc)
		return rc;
	want = j->cap - j->len < j->step ? j->cap - j->len : j->step;
	j->step = j->step < j->cap ? 2 * j->step : j->step;
	do
		n = pread(j->fd, j->buf + j->len, want,
			  j->base + (int64_t)j->len);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return fail_errno(err, REMEM_EIO, errno, "cannot read '%s'",
				  j->name);
	j->eof = !n;
	j->len += (size_t)n;
	return 0;
}

/* The rest of a line that is too long. */
static int pass_over(struct jsonl *j, enum jsonl_result *res,
		     struct remem_err *err)
{
	char *nl = NULL;
	int rc;

	while (!nl) {
		j->at = j->len;
		if ((rc = read_more(j, err)))
			return rc;
		if (j->eof) {
			*res = JSONL_PARTIAL;
			return 0;
		}
		nl = memchr(j->buf + j->at, '\n', j->len - j->at);
	}
	j->at = (size_t)(nl - j->buf) + 1;
	j->end = j->base + (int64_t)j->at;
	j->line++;
	*res = JSONL_LONG;
	return 0;
}

static void give(struct jsonl *j, char **line, size_t *len, size_t size)
{
	*line = j->buf + j->at;
	if (!j->base && !j->at && size >= 3 &&
	    !memcmp(*line, "\xef\xbb\xbf", 3)) {
		*line += 3;
		size -= 3;
	}
	*len = size && (*line)[size - 1] == '\r' ? size - 1 : size;
}

int jsonl_next(struct jsonl *j, enum jsonl_result *res, char **line,
	       size_t *len, struct remem_err *err)
{
	size_t seen = 0;
	char *nl;
	int rc;

	drop_doc(j);
	j->start = j->end = j->base + (int64_t)j->at;
	for (;;) {
		size_t left = j->len - j->at;

		nl = left > seen ? memchr(j->buf + j->at + seen, '\n',
					  left - seen) : NULL;
		if (nl || j->eof)
			break;
		seen = left;
		if (left > j->max_line)
			return pass_over(j, res, err);
		if ((rc = read_more(j, err)))
			return rc;
	}
	if (!nl) {
		*res = j->len > j->at ? JSONL_PARTIAL : JSONL_END;
		if (*res == JSONL_PARTIAL)
			give(j, line, len, j->len - j->at);
		/* What is appended later is seen by another call. */
		j->eof = false;
		return 0;
	}
	give(j, line, len, (size_t)(nl - (j->buf + j->at)));
	j->at = (size_t)(nl - j->buf) + 1;
	j->end = j->base + (int64_t)j->at;
	j->line++;
	*res = *len > j->max_line ? JSONL_LONG : JSONL_LINE;
	return 0;
}

yyjson_val *jsonl_parse(struct jsonl *j, char *line, size_t len,
			const char **reason)
{
	yyjson_read_err e;
	char behind[PADDING];

	drop_doc(j);
	*reason = "it is no JSON";
	if (!len)
		return NULL;
	memcpy(behind, line + len, PADDING);
	memset(line + len, 0, PADDING);
	j->doc = yyjson_read_opts(line, len, YYJSON_READ_INSITU |
				  YYJSON_READ_ALLOW_INVALID_UNICODE,
				  json_alc(), &e);
	memcpy(line + len, behind, PADDING);
	if (!j->doc && e.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
		*reason = "there is not enough memory for it";
	return yyjson_doc_get_root(j->doc);
}

/* ---- the same file? --------------------------------------------------- */

static bool sum_piece(struct sha256 *h, int fd, int64_t at, size_t len)
{
	char piece[SAMPLE_EDGE];
	size_t got = 0;

	while (got < len) {
		ssize_t n = pread(fd, piece + got, len - got,
				  at + (int64_t)got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		got += (size_t)n;
	}
	sha256_add(h, piece, len);
	return true;
}

bool jsonl_sum(unsigned char out[SHA256_BYTES], int fd, int64_t size)
{
	size_t edge = size < SAMPLE_EDGE ? (size_t)size : SAMPLE_EDGE;
	int64_t between = size - 2 * SAMPLE_EDGE;
	struct sha256 h;

	sha256_init(&h);
	sha256_add(&h, &size, sizeof(size));
	if (!sum_piece(&h, fd, 0, edge) ||
	    !sum_piece(&h, fd, size - (int64_t)edge, edge))
		return false;
	for (int i = 0; i < SAMPLES && between > 0; i++) {
		int64_t step = between / SAMPLES;
		size_t len = step < SAMPLE_BYTES ? (size_t)step : SAMPLE_BYTES;

		if (!sum_piece(&h, fd, SAMPLE_EDGE + i * step, len))
			return false;
	}
	sha256_done(&h, out);
	return true;
}
