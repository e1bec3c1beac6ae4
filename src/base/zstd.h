/* Zstandard frames, by libzstd, which is loaded at first use. */
#ifndef BASE_ZSTD_H
#define BASE_ZSTD_H

#include "base/buf.h"

/*
 * Appends what the frames in [p, p + len) hold, at most max bytes.
 * REMEM_ENOTSUP: there is no libzstd; REMEM_ELIMIT: it is more;
 * REMEM_EFORMAT: it is none.
 */
int zstd_read(struct buf *out, const void *p, size_t len, size_t max,
	      struct remem_err *err);

#endif
