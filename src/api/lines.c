/*
 * Lines as a stream. A reader gives pieces of text that end between
 * characters and never between CR and LF; a small machine counts lines in them
 * and copies those wanted. Lines before the first one wanted are only searched
 * for their ends.
 */
#include "api/lines.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/utf8.h"

#define BLOCK 65536u
#define HELD_MAX 4u /* bytes of an unfinished character, or a CR */

enum coding { UTF8, UTF16_LE, UTF16_BE };

struct reader {
	int fd;
	const char *name;
	enum coding coding;
	char eol;
	bool first, eof;
	unsigned char *raw; /* BLOCK + HELD_MAX */
	size_t have; /* bytes in raw */
	size_t used; /* of them given out as the last piece */
	struct buf wide; /* a piece that was UTF-16 */
};

struct copier {
	struct lines *l;
	struct buf *out;
	int64_t line, column; /* where we are; columns count from 0 */
	int64_t chars; /* copied */
	bool open; /* the line has a byte */
	bool stopped;
	char eol;
};

static int fill(struct reader *r, struct remem_err *err)
{
	memmove(r->raw, r->raw + r->used, r->have - r->used);
	r->have -= r->used;
	r->used = 0;
	while (!r->eof && r->have < BLOCK) {
		ssize_t n = read(r->fd, r->raw + r->have, BLOCK - r->have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail_errno(err, REMEM_EIO, errno,
					  "cannot read '%s'", r->name);
		r->eof = n == 0;
		r->have += (size_t)n;
	}
	return 0;
}

/* A CR ends lines only in a file without any LF (old Macintosh). */
static int find_line_end(struct reader *r, struct remem_err *err)
{
	unsigned char *block;
	off_t at = (off_t)r->have;
	ssize_t n;

	r->eol = '\n';
	if (r->coding != UTF8 || memchr(r->raw, '\n', r->have) ||
	    !memchr(r->raw, '\r', r->have))
		return 0;
	if (!(block = mem_alloc(BLOCK)))
		return fail_nomem(err);
	r->eol = '\r';
	while ((n = pread(r->fd, block, BLOCK, at)) > 0) {
		at += n;
		if (memchr(block, '\n', (size_t)n)) {
			r->eol = '\n';
			break;
		}
	}
	mem_free(block);
	return 0;
}

static int look_at_start(struct reader *r, struct remem_err *err)
{
	const unsigned char *p = r->raw;

	r->first = false;
	if (r->have >= 2 && p[0] == 0xff && p[1] == 0xfe)
		r->coding = UTF16_LE;
	else if (r->have >= 2 && p[0] == 0xfe && p[1] == 0xff)
		r->coding = UTF16_BE;
	if (r->coding != UTF8)
		r->used = 2;
	else if (r->have >= 3 && !memcmp(p, "\xef\xbb\xbf", 3))
		r->used = 3;
	memmove(r->raw, r->raw + r->used, r->have - r->used);
	r->have -= r->used;
	r->used = 0;
	return find_line_end(r, err);
}

/* How many bytes at the end must wait for those behind them. */
static size_t unfinished(const unsigned char *p, size_t n)
{
	if (n && p[n - 1] == '\r')
		return 1;
	for (size_t k = 1; k <= 3 && k <= n; k++) {
		unsigned char c = p[n - k];
		size_t need = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;

		if ((c & 0xc0) != 0x80)
			return need > k ? k : 0;
	}
	return 0;
}

static uint32_t unit(const struct reader *r, size_t i)
{
	const unsigned char *p = r->raw + i;

	return r->coding == UTF16_BE ? (uint32_t)p[0] << 8 | p[1] :
				       (uint32_t)p[1] << 8 | p[0];
}

/* As much of raw as is whole characters; an odd byte at the end is a bad one.*/
static void widen(struct reader *r)
{
	size_t i = 0;

	buf_reset(&r->wide);
	while (r->have - i >= 2) {
		uint32_t c = unit(r, i), low;
		char text[4];

		if (!r->eof && r->have - i < 4 &&
		    ((c >= 0xd800 && c < 0xdc00) || c == '\r'))
			break;
		i += 2;
		low = c >= 0xd800 && c < 0xdc00 && r->have - i >= 2 ?
			      unit(r, i) : 0;
		if (low >= 0xdc00 && low < 0xe000) {
			c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
			i += 2;
		}
		buf_add(&r->wide, text, (size_t)utf8_encode(text, c));
	}
	if (r->eof && i < r->have) {
		buf_adds(&r->wide, "\xef\xbf\xbd");
		i = r->have;
	}
	r->used = i;
}

/* The next piece; *len 0 at the end. */
static int next_piece(struct reader *r, const char **text, size_t *len,
		      struct remem_err *err)
{
	int rc = fill(r, err);

	if (!rc && r->first && !(rc = look_at_start(r, err)))
		rc = fill(r, err);
	if (rc)
		return rc;
	if (r->coding != UTF8) {
		widen(r);
		*text = buf_str(&r->wide);
		*len = r->wide.len;
		return buf_check(&r->wide, err);
	}
	r->used = r->have;
	if (!r->eof)
		r->used -= unfinished(r->raw, r->have);
	*text = (const char *)r->raw;
	*len = r->used;
	return 0;
}

static void stop(struct copier *c, int64_t line, int64_t offset)
{
	c->stopped = true;
	c->l->truncated = true;
	c->l->next_from = line;
	c->l->next_offset = offset;
}

static void end_line(struct copier *c)
{
	c->line++;
	c->column = 0;
	c->open = false;
}

/* Over the lines before the first one wanted. */
static size_t skip(struct copier *c, const char *p, size_t n)
{
	size_t i = 0;

	while (i < n && c->line < c->l->from) {
		const char *end = memchr(p + i, c->eol, n - i);

		c->open = true;
		if (!end)
			return n;
		i = (size_t)(end - p) + 1;
		end_line(c);
	}
	return i;
}

/* The first byte of a wanted line; false when there is no room for it. */
static bool open_line(struct copier *c)
{
	if (c->line >= c->l->from + c->l->count ||
	    (c->l->given && c->chars + 1 >= c->l->max_chars)) {
		stop(c, c->line, 0);
		return false;
	}
	if (c->l->given++) {
		buf_addc(c->out, '\n');
		c->chars++;
	}
	c->open = true;
	return true;
}

static size_t copy_char(struct copier *c, const char *p, size_t n)
{
	uint32_t cp;
	size_t k = (size_t)utf8_decode(&cp, p, n);
	char text[4];

	if (c->line == c->l->from && c->column < c->l->offset) {
		c->column++;
		return k;
	}
	if (c->chars >= c->l->max_chars) {
		stop(c, c->line, c->column);
		return 0;
	}
	buf_add(c->out, text, (size_t)utf8_encode(text, cp));
	c->chars++;
	c->column++;
	return k;
}

static void feed(struct copier *c, const char *p, size_t n)
{
	size_t i = skip(c, p, n);

	while (i < n && !c->stopped) {
		if (!c->open && !open_line(c))
			return;
		if (p[i] == c->eol) {
			end_line(c);
			i++;
		} else if (p[i] == '\r' && i + 1 < n && p[i + 1] == '\n') {
			i++;
		} else {
			i += copy_char(c, p + i, n - i);
		}
	}
}

int lines_read(struct lines *l, struct buf *out, int fd, const char *name,
	       struct remem_err *err)
{
	struct reader r = { .fd = fd, .name = name, .first = true,
			    .wide = BUF_INIT(0) };
	struct copier c = { .l = l, .out = out, .line = 1 };
	const char *text;
	size_t len;
	int rc;

	if (!(r.raw = mem_alloc(BLOCK + HELD_MAX)))
		return fail_nomem(err);
	do {
		if ((rc = next_piece(&r, &text, &len, err)))
			break;
		c.eol = r.eol;
		feed(&c, text, len);
	} while (len && !c.stopped);
	if (!rc && !c.stopped) {
		l->at_end = true;
		l->total = c.line - 1 + (c.open ? 1 : 0);
	}
	if (!rc)
		rc = buf_check(out, err);
	buf_release(&r.wide);
	mem_free(r.raw);
	return rc;
}
