/* Changes to the store that are committed together, many at a time. */
#ifndef INDEX_WRITES_H
#define INDEX_WRITES_H

#include "store/store.h"

struct writes {
	struct store *s;
	bool open; /* a transaction */
	int items; /* in it; the caller's to count, with their bytes */
	size_t bytes;
};

/* Unless it is open. */
int writes_begin(struct writes *w, struct remem_err *err);
/* If it is open. */
int writes_commit(struct writes *w, struct remem_err *err);
/* The end of a run whose code is rc: what was done is kept after a success and
 * when it was stopped, else it is taken back. rc, or what the commit said. */
int writes_end(struct writes *w, int rc, struct remem_err *err);

#endif
