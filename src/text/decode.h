/*
 * A file's bytes as text: valid UTF-8 with line feeds.
 *
 *   byte order mark      left out; UTF-16 of either order is decoded by it
 *   CR LF                LF; a CR alone is a line end only in a file that has
 *                        no LF at all (old Macintosh), else it stays a blank
 *   bytes that are not UTF-8, lone surrogates   U+FFFD, one for each byte
 *   NUL                  a space: a tail of them, as a crash leaves it, is no
 *                        text
 *
 * So line numbers are those of the file on disk.
 */
#ifndef TEXT_DECODE_H
#define TEXT_DECODE_H

#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

/* Lines are counted in an int; no note is that large. */
#define DECODE_MAX_BYTES ((size_t)1 << 30)

struct decoded {
	const char *text; /* in the arena, without NUL but the one behind it */
	size_t len;
	int lines; /* a line feed at the very end opens no line */
	unsigned warnings; /* enum note_warning */
};

/* Fails for want of memory, or with REMEM_ELIMIT above DECODE_MAX_BYTES. */
int decode_text(struct decoded *d, struct arena *a, const char *bytes,
		size_t len, struct remem_err *err);

#endif
