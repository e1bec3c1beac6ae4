/*
 * Writes one segment of an FTS5 table with detail=none, in the format of
 * sqlite_leaf.h: terms in the order of their bytes, each with its rows in
 * ascending order. Leaves have the size that FTS5 gives them. The index over
 * them has an entry for every leaf that a term begins on: the shortest text
 * above all terms before, so that a term is looked for on the leaf of the
 * last entry not above it. The lists of leaves within long lists, which FTS5
 * makes to pass over rows, are left out; nobody passes over rows.
 */
#ifndef STORE_SQLITE_SEGMENT_H
#define STORE_SQLITE_SEGMENT_H

#include "base/err.h"
#include "store/sqlite_leaf.h"

#define LEAF_BYTES 4050 /* of FTS5: its setting pgsz */
#define STRUCTURE_MAX_SEGMENTS 256
#define STRUCTURE_MAX_LEVELS 64

struct segment_out {
	void *ctx; /* of the two that store; what they return is handed up */
	int (*leaf)(void *ctx, uint32_t segment, uint32_t page,
		    const void *data, size_t len, struct remem_err *err);
	int (*entry)(void *ctx, uint32_t segment, const void *term, size_t len,
		     uint32_t page, struct remem_err *err);
	uint32_t segment, page; /* the leaf being written, from 1 */
	unsigned char buf[LEAF_BYTES + LEAF_TERM_MAX + 64];
	unsigned char index[LEAF_BYTES + 64]; /* goes behind it */
	size_t len, index_len;
	size_t place; /* of its last term, 0: none yet */
	bool list_first; /* the next row is the first of list or leaf */
	uint64_t row;
	unsigned char term[LEAF_TERM_MAX]; /* the last one */
	size_t term_len;
	unsigned char key[LEAF_TERM_MAX]; /* entry of the leaf key_page */
	size_t key_len;
	uint32_t key_page; /* 0: it is stored */
};

/* The callbacks and their ctx stay. */
void segment_begin(struct segment_out *w, uint32_t segment);
/* At most LEAF_TERM_MAX bytes. */
int segment_term(struct segment_out *w, const void *term, size_t len,
		 struct remem_err *err);
int segment_row(struct segment_out *w, uint64_t row, struct remem_err *err);
/* *last: the last leaf, 0 if there is none. */
int segment_end(struct segment_out *w, uint32_t *last, struct remem_err *err);

/* The record of all segments, the lowest level first, within a level the
 * newest last. */
struct structure {
	unsigned char cookie[4];
	uint64_t writes;
	int levels, count;
	struct {
		uint64_t merging;
		int count;
	} level[STRUCTURE_MAX_LEVELS];
	struct segment segments[STRUCTURE_MAX_SEGMENTS];
};

/* In sqlite_leaf.c. False if it is of another kind, or holds more. */
bool structure_decode(struct structure *s, const void *record, size_t len);
/* Returns its bytes, at most STRUCTURE_MAX_BYTES. */
#define STRUCTURE_MAX_BYTES \
	(32 + 20 * STRUCTURE_MAX_LEVELS + 30 * STRUCTURE_MAX_SEGMENTS)
size_t structure_encode(unsigned char *out, const struct structure *s);
/* The newest of a level; false if there is no room. */
bool structure_add(struct structure *s, int level, const struct segment *add);
/* Takes out all of a level. */
void structure_clear(struct structure *s, int level);
/* All of them, the oldest first; returns their number. */
int structure_by_age(struct segment out[STRUCTURE_MAX_SEGMENTS],
		     const struct structure *s);
/* An id that no segment has. */
uint32_t structure_free_id(const struct structure *s);

/* As SQLite writes them; at most 9 bytes. Returns their number. */
size_t varint_put(unsigned char *out, uint64_t v);
/* In sqlite_leaf.c. The place behind it, 0 if it is cut off. */
size_t varint_get(const unsigned char *p, size_t at, size_t end, uint64_t *out);

#endif
