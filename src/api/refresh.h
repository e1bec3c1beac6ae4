/* What a search does about files that have changed: a bounded sync. */
#ifndef API_REFRESH_H
#define API_REFRESH_H

#include "api/handle.h"

struct refresh {
	bool never; /* do not look */
	bool text_only; /* vectors are not wanted for this answer */
	int deadline_ms; /* of the whole search, 0: none */
	/* out */
	bool stale; /* the index is behind the files */
	const char *why; /* in the arena: what is behind and what to do */
};

/*
 * Opens the reader of r, after bringing the index up to date within the
 * settings' budgets. Where that cannot be done the index as it is stays open
 * and stale says so; with no index at all r->store is NULL. A clean index is
 * not written to. Fails for an index of a newer remem and when memory is out.
 */
int refresh_index(struct refresh *y, struct remem *r, struct arena *a,
		       struct remem_err *err);
/* After REMEM_ECORRUPT from a reader: builds the text anew. */
int refresh_rebuild(struct refresh *y, struct remem *r, struct arena *a,
		 struct remem_err *err);

#endif
