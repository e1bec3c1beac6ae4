/* What a search does about files that have changed: a bounded sync. */
#ifndef API_REFRESH_H
#define API_REFRESH_H

#include "api/handle.h"

struct check; /* a look at the disk that is under way */

struct refresh {
	bool never; /* do not look */
	bool session; /* a conversation begins; else a search */
	bool text_only; /* vectors are not wanted for this answer */
	int deadline_ms; /* of the whole search, 0: none */
	remem_progress_fn progress; /* of the sync; may end the search */
	void *progress_ctx;
	/* out */
	bool cancelled; /* progress has ended it: REMEM_ECANCELLED */
	bool stale; /* the index is behind the files */
	const char *why; /* in the arena: what is behind and what to do */
	struct check *check;
};

/*
 * Opens the reader of r and begins to look for changed files: at once, or for
 * a large index beside the search. With no index, or a damaged one, it is made
 * first. Where that cannot be done the index as it is stays open and stale
 * says so; with no index at all r->store is NULL. A clean index is not written
 * to. Fails for an index of a newer remem and when memory is out;
 * refresh_end() is needed in any case.
 */
int refresh_begin(struct refresh *y, struct remem *r, struct arena *a,
		  struct remem_err *err);
/*
 * Waits for the look at the disk and indexes what has changed, within the
 * settings' budgets. *again: the index is another one now, so that an answer
 * given before is old.
 */
int refresh_end(struct refresh *y, bool *again, struct remem *r,
		struct arena *a, struct remem_err *err);
/* After REMEM_ECORRUPT from a reader: builds the index anew. */
int refresh_rebuild(struct refresh *y, struct remem *r, struct arena *a,
		    struct remem_err *err);

#endif
