/*
 * The vectors of one fingerprint, in a file made for scanning. Slots are given
 * out in order and never used for another vector: a reader of an old snapshot
 * still finds what it names. Space comes back by writing a new file.
 *
 *   page 0     magic, version, byte order, dimensions
 *   block b    1024 rows of int8, padded to 64, then 1024 struct vec_meta
 *
 * 384 dimensions take exactly 400 bytes a vector. Numbers are in the order of
 * the machine; a file of another order is refused, and made again.
 */
#ifndef STORE_VECFILE_H
#define STORE_VECFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define VEC_BLOCK 1024
#define VEC_DIMS_MAX 16384
#define VEC_ALIVE 1 /* flags: some passage may be linked to it */
#define VEC_SHARED UINT32_MAX /* owner: passages of more than one file */

struct vec_meta {
	float scale; /* row * scale is the vector */
	float inv_norm; /* 1 / |vector - mean of its script|, a hint */
	uint32_t owner; /* file id, or VEC_SHARED */
	uint8_t script, flags;
	uint16_t day; /* since 1970, of the last link or unlink */
};

struct vecfile {
	int fd, dims;
	size_t padded, block_bytes;
	bool writable, dirty;
	unsigned char *map; /* read-only, whole file; NULL: no block yet */
	size_t map_bytes, blocks;
	char *path;
};

/*
 * Opens path; with write it is made if it is not there. REMEM_ENOTFOUND,
 * REMEM_ECORRUPT for a file that is no such file or of other dimensions.
 */
int vecfile_open(struct vecfile **out, const char *path, int dims, bool write,
		 struct remem_err *err);
void vecfile_free(struct vecfile *v);
/* Sees what has been added since. */
int vecfile_refresh(struct vecfile *v, struct remem_err *err);
/* NULL when there is no such slot. */
const int8_t *vecfile_row(const struct vecfile *v, size_t slot);
const struct vec_meta *vecfile_meta(const struct vecfile *v, size_t slot);
/* The rows and the metas of a block. */
const int8_t *vecfile_block(const struct vecfile *v, size_t block);
const struct vec_meta *vecfile_metas(const struct vecfile *v, size_t block);

/* Writing; nothing is durable before vecfile_sync(). row is padded. */
int vecfile_put(struct vecfile *v, size_t slot, const int8_t *row,
		const struct vec_meta *m, struct remem_err *err);
int vecfile_put_meta(struct vecfile *v, size_t slot, const struct vec_meta *m,
		     struct remem_err *err);
/* All metas of a block, VEC_BLOCK of them. */
int vecfile_put_metas(struct vecfile *v, size_t block,
		      const struct vec_meta *m, struct remem_err *err);
int vecfile_sync(struct vecfile *v, struct remem_err *err);

size_t vec_padded(int dims);
/* The scale, or 0 when v is zero or not finite. row: padded bytes. */
float vec_quantise(int8_t *row, const float *v, int dims);

#endif
