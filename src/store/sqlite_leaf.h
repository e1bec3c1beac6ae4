/*
 * One segment of an FTS5 table with detail=none: a cursor over its terms, each
 * with the list of rows that hold it. FTS5's format, which it keeps readable
 * for all later versions:
 *
 *   leaf    first rowid at (2 bytes), end of the entries (2 bytes), entries,
 *           then varints: where each term stands, the later ones as distances
 *   term    length, bytes; later ones of a leaf: bytes shared with the one
 *           before, length of the rest, rest; its list follows at once
 *   list    rowids as varints, distances behind the first of list or leaf; 0
 *           behind one: taken back; two 0: taken back and put again
 *
 * A list that does not fit goes on at the beginning of the next leaf.
 */
#ifndef STORE_SQLITE_LEAF_H
#define STORE_SQLITE_LEAF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LEAF_TERM_MAX 256 /* ours have 66 bytes */

/* Of FTS5's tables. */
#define FTS5_FORMAT 4
#define FTS5_TOTALS_ROW 1
#define FTS5_STRUCTURE_ROW 10
#define FTS5_TERM_MARK '0' /* before each term: of the main index */
#define BAD_POSTINGS "bad postings" /* what is damaged, see sq_damaged() */

/* Where a leaf stands. */
static inline int64_t fts5_leaf_id(uint32_t segment, uint32_t page)
{
	return ((int64_t)segment << 37) + page;
}

struct leaf_row {
	uint32_t id;
	bool gone;
};

/* Gives leaf `page` into c->buf; what it returns is handed up. */
struct cursor;
typedef int leaf_load_fn(void *ctx, struct cursor *c, uint32_t page);

struct cursor {
	uint32_t segment, first, last; /* leaves */
	leaf_load_fn *load;
	void *ctx;
	unsigned char *buf; /* the leaf at hand */
	size_t len, cap;
	uint32_t page; /* 0: none */
	uint32_t end; /* of its entries */
	size_t index; /* where the place of the term after the next stands */
	uint32_t next; /* where the next term stands, 0: on no more of it */
	bool fresh; /* that is the first of the leaf */
	uint32_t at, stop; /* the list of the term at hand, on this leaf */
	uint64_t row; /* last one read */
	unsigned char term[LEAF_TERM_MAX];
	uint32_t term_len;
	bool live; /* at a term */
	bool broken; /* the bytes make no sense */
};

/*
 * To the first term not below key, looked for from leaf `page` on; on other
 * leaves only if further is set. Not live if there is none.
 */
int cursor_seek(struct cursor *c, uint32_t page, const void *key, size_t len,
		bool further);
/* To the term behind the list that was read. */
int cursor_next(struct cursor *c);
/* Up to max rows of the list at hand; *n 0 at its end. */
int cursor_rows(struct cursor *c, struct leaf_row *rows, size_t max, size_t *n);

/* A segment of the structure record. */
struct segment {
	uint32_t id, first, last;
};

/* The segments in use, newest first; -1 if the record is of another kind. */
int structure_read(struct segment *out, int max, const void *record,
		   size_t len);

#endif
