/*
 * From passages to chunks: runs of whole passages of at most chunk_tokens,
 * with the last passages of the chunk before as overlap.
 */
#ifndef TEXT_CHUNK_H
#define TEXT_CHUNK_H

#include "text/passage.h"

#define CHUNK_MIN_TOKENS 32
/* Room for what bounds on words and gaps do not count: markers, blanks. */
#define CHUNK_SLACK 16

/* 0, or REMEM_EINVAL with what is wrong with the options. */
int chunk_check(const struct note_opts *opts, struct remem_err *err);
/* Makes n->chunks; sets chunk of each passage. Fails in the arena. */
void chunk_make(const struct passages *p, const struct note_opts *opts);

#endif
