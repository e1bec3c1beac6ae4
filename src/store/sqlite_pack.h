/*
 * Passages of a chunk as one value of its row: a search reads two thousand of
 * them, and nineteen columns a row cost more than all that is done with them.
 * What stands here stands in the table of passages too, which is for linking,
 * for filters and for people; only slots are nowhere else.
 *
 *   passage  varints: start, from the end of the one before on; len; line,
 *            from the line of the one before on; lines - 1; heading (the
 *            first and third with their sign in the lowest bit)
 *            then a byte of kind and script and one of flags; then what
 *            the flags name, in their order: importance (a byte), observed
 *            (a varint, date + 2^31), texts with their length before them
 */
#ifndef STORE_SQLITE_PACK_H
#define STORE_SQLITE_PACK_H

#include "base/buf.h"
#include "store/store.h"

struct pack_writer {
	struct buf *out;
	uint32_t end; /* of the passage before, as the others */
	int line;
	const char *origin;
};

/* Of p: start, len, kind, script, continues and the annotations. */
void pack_passage(struct pack_writer *w, const struct store_passage *p,
		  int line, int lines, int64_t heading);

struct pack_reader {
	const unsigned char *at, *end;
	uint32_t passage_end; /* of the one before, as the others */
	int line;
	const char *origin;
};

/* The next one; strings in the arena. False: there is none, or it makes no
 * sense. Sets of p what is packed; line_first counts from the chunk's. */
bool pack_next(struct pack_reader *r, struct arena *a, struct store_passage *p,
	       int64_t *heading);

#endif
