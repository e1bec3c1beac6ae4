/*
 * Takes one write of the journal back, to the byte. An append is taken out
 * where its bytes stand now; a rewrite gives the file back as it was, with
 * what was added behind it since. What others changed in that very place is
 * never overwritten.
 */
#ifndef MEMORY_UNDO_H
#define MEMORY_UNDO_H

#include "base/arena.h"
#include "memory/memory.h"

struct undo {
	int64_t id;
	bool dry_run;
	struct remem_actor actor;
	/* set */
	const char *path, *op; /* of the record */
	const char *removed, *restored; /* the lines that go and come, in a */
	bool removes_file;
	int64_t journal; /* of this undo, 0 for a dry run */
};

/* REMEM_ENOTFOUND: no such record, or its old bytes are no longer kept;
 * REMEM_EINVAL: nothing was written by it, or it was taken back already;
 * REMEM_EBUSY: the file was changed in the same place. */
int undo_record(struct undo *u, struct arena *a, struct memory *m,
		struct remem_err *err);

#endif
