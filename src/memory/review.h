/*
 * The inbox for curated notes. What is less than an agent's own word, and what
 * reads like an order to an assistant unless the owner says it, never goes
 * into MEMORY.md or USER.md by itself: it is kept aside until a person applies
 * or rejects it.
 */
#ifndef MEMORY_REVIEW_H
#define MEMORY_REVIEW_H

#include "memory/append.h"
#include "store/state_review.h"

#define REVIEW_MOST 1000 /* proposals that wait; nobody reads more */

/* NULL when it may be written at once, else why it waits. */
const char *review_reason(const char *path, const char *text, size_t len,
			  enum remem_origin origin);

struct review_put {
	const char *path, *reason;
	const struct append *w;
	enum remem_origin origin;
	const unsigned char *words; /* NULL: the text says nothing */
};

struct review_done {
	int64_t id, journal; /* 0: none */
	bool known; /* it waits already */
	bool rejected; /* a person did not want it: it is not kept again */
};

/* Keeps a proposal, with its record in the journal. REMEM_ELIMIT. */
int review_propose(struct review_done *out, struct memory *m,
		   const struct review_put *p, struct remem_err *err);

/* Strings in the arena. REMEM_ENOTFOUND. */
int review_get(struct review_row *out, struct arena *a, struct state *s,
	       int64_t id, struct remem_err *err);
/*
 * Writes a proposal into its note; from then on it counts as an agent's word,
 * and the journal says whose it was. by: who approves, for the journal.
 */
int review_apply(struct append_done *out, struct arena *a, struct memory *m,
		 const struct review_row *row, const char *by, bool dry_run,
		 struct remem_err *err);
/* Takes it away for good: the same words are not proposed again. */
int review_reject(int64_t *journal, struct memory *m,
		  const struct review_row *row, const char *by,
		  struct remem_err *err);

#endif
