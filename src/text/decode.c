/* Decoding of files: every step is one pass over the bytes. */
#include "text/decode.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/utf8.h"
#include "text/line.h"
#include "text/note.h"

#define LONG_LINE 65536 /* what editors and tools begin to choke on */
#define BAD_CHAR "\xef\xbf\xbd"
#define BAD_LEN 3

/* UTF-16: at most 3 bytes for each unit (a pair of units makes 4). */
static int decode_utf16(struct decoded *d, struct arena *a, const char *bytes,
			size_t len, bool big, struct remem_err *err)
{
	const unsigned char *p = (const unsigned char *)bytes;
	size_t units = len / 2, n = 0;
	char *out = arena_alloc(a, units * 3 + BAD_LEN + 1);

	if (!out)
		return fail_nomem(err);
	for (size_t i = 0; i < units; i++) {
		uint32_t c = big ? (uint32_t)p[2 * i] << 8 | p[2 * i + 1]
				 : (uint32_t)p[2 * i + 1] << 8 | p[2 * i];
		uint32_t low = 0;

		if (c >= 0xd800 && c < 0xdc00 && i + 1 < units)
			low = big ? (uint32_t)p[2 * i + 2] << 8 | p[2 * i + 3]
				  : (uint32_t)p[2 * i + 3] << 8 | p[2 * i + 2];
		if (low >= 0xdc00 && low < 0xe000) {
			c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
			i++;
		} else if (c >= 0xd800 && c < 0xe000) {
			d->warnings |= NOTE_INVALID_UTF8;
		}
		n += (size_t)utf8_encode(out + n, c);
	}
	if (len % 2) {
		d->warnings |= NOTE_INVALID_UTF8;
		memcpy(out + n, BAD_CHAR, BAD_LEN);
		n += BAD_LEN;
	}
	d->text = out;
	d->len = n;
	return 0;
}

static size_t count_bad(const char *s, size_t len)
{
	size_t bad = 0, i = 0;

	for (;;) {
		i += utf8_valid_prefix(s + i, len - i);
		if (i == len)
			return bad;
		bad++;
		i++;
	}
}

static int decode_utf8(struct decoded *d, struct arena *a, const char *bytes,
		       size_t len, struct remem_err *err)
{
	size_t bad = count_bad(bytes, len), i = 0, n = 0;
	char *out;

	if (!bad) {
		d->text = arena_strndup(a, bytes, len);
		d->len = len;
		return d->text ? 0 : fail_nomem(err);
	}
	d->warnings |= NOTE_INVALID_UTF8;
	out = arena_alloc(a, len + bad * (BAD_LEN - 1) + 1);
	if (!out)
		return fail_nomem(err);
	while (i < len) {
		size_t good = utf8_valid_prefix(bytes + i, len - i);

		memcpy(out + n, bytes + i, good);
		n += good;
		i += good;
		if (i == len)
			break;
		memcpy(out + n, BAD_CHAR, BAD_LEN);
		n += BAD_LEN;
		i++;
	}
	d->text = out;
	d->len = n;
	return 0;
}

/* A NUL would end a C string, and a text of SQLite for other programs. */
static void blank_nuls(struct decoded *d)
{
	char *t = (char *)d->text, *nul;
	size_t i = 0;

	while ((nul = memchr(t + i, '\0', d->len - i))) {
		*nul = ' ';
		i = (size_t)(nul - t) + 1;
		d->warnings |= NOTE_NUL;
	}
}

/* Makes line ends line feeds, in place: text only gets shorter. */
static void unify_lines(struct decoded *d)
{
	char *t = (char *)d->text;
	bool any_lf = memchr(t, '\n', d->len) != NULL;
	size_t i = 0, n = 0;

	while (i < d->len) {
		char *cr = memchr(t + i, '\r', d->len - i);
		size_t run = cr ? (size_t)(cr - t) - i : d->len - i;

		if (n != i)
			memmove(t + n, t + i, run);
		n += run;
		i += run;
		if (i == d->len)
			break;
		i++;
		if (i < d->len && t[i] == '\n') {
			d->warnings |= NOTE_CRLF;
		} else if (any_lf) {
			t[n++] = '\r';
		} else {
			d->warnings |= NOTE_CRLF;
			t[n++] = '\n';
		}
	}
	t[n] = '\0';
	d->len = n;
}

static void count_lines(struct decoded *d)
{
	size_t i = 0;

	while (i < d->len) {
		size_t end = line_end(d->text, i, d->len);

		if (end - i > LONG_LINE)
			d->warnings |= NOTE_LONG_LINE;
		d->lines++;
		i = end + 1;
	}
}

int decode_text(struct decoded *d, struct arena *a, const char *bytes,
		size_t len, struct remem_err *err)
{
	int rc;

	*d = (struct decoded){ "", 0, 0, 0 };
	if (len > DECODE_MAX_BYTES)
		return fail(err, REMEM_ELIMIT, "a note of more than 1 GiB");
	if (len >= 2 &&
	    (!memcmp(bytes, "\xff\xfe", 2) || !memcmp(bytes, "\xfe\xff", 2))) {
		d->warnings = NOTE_BOM | NOTE_UTF16;
		rc = decode_utf16(d, a, bytes + 2, len - 2, bytes[0] == '\xfe',
				  err);
	} else {
		if (len >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3)) {
			d->warnings = NOTE_BOM;
			bytes += 3;
			len -= 3;
		}
		rc = decode_utf8(d, a, len ? bytes : "", len, err);
	}
	if (rc)
		return rc;
	if (memchr(d->text, '\0', d->len))
		blank_nuls(d);
	if (memchr(d->text, '\r', d->len))
		unify_lines(d);
	count_lines(d);
	return 0;
}
