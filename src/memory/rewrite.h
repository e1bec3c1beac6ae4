/*
 * The one way by which a note is changed other than at its end: a temporary
 * file, synced and renamed, its mode kept. The old bytes are kept in the state
 * before anything happens, so that undo gives them back exactly.
 */
#ifndef MEMORY_REWRITE_H
#define MEMORY_REWRITE_H

#include "base/arena.h"
#include "base/buf.h"
#include "memory/memory.h"

/* Reads a note of the workspace as the writers may: no link, regular, not too
 * large. *found false when there is none. Its hash is what rewrite wants. */
int rewrite_read(struct buf *out, unsigned char hash[32], bool *found,
		 struct memory *m, const char *path, struct remem_err *err);

struct rewrite {
	const char *path; /* below the workspace: a place for notes */
	const unsigned char *expect; /* hash the caller read; NULL: no file */
	const void *bytes; /* of the new file; NULL: it is removed */
	size_t len;
	const char *op; /* "rewrite", "undo", "promote", "forget", … */
	const char *detail; /* more members of its detail */
	enum remem_origin origin; /* of lines that are new */
	struct remem_actor actor;
	bool no_preimage; /* the old bytes must not be kept: forgetting */
};

/* *journal may be NULL. REMEM_EBUSY: the file is another one than the caller
 * read, and nothing was changed; others as for append_lines(). */
int rewrite_file(int64_t *journal, struct memory *m, const struct rewrite *w,
		 struct remem_err *err);

#endif
