/*
 * The journal: every write of memory and every automatic recall, oldest first,
 * in a chain of hashes. It is the table `journal` of state.sqlite.
 *
 * The hash of a record is the SHA-256 of: the hash before it, then id, time
 * and bytes (8 bytes each, little-endian), then actor, session, op, path,
 * before, after, origin and detail, each with its length (4 bytes) in front.
 * `before` and `after` are the SHA-256 of the whole file, empty where there
 * was none. journal_head holds id and hash of the last record, so that a tail
 * that was cut off is missed; journal_base those of the last one that a
 * compaction took away, from where the chain then begins.
 */
#ifndef STORE_STATE_JOURNAL_H
#define STORE_STATE_JOURNAL_H

#include "base/hash.h"
#include "store/state.h"

struct journal_row {
	int64_t id, at_ms; /* 0: the next; now */
	const char *actor; /* "cli", "mcp", "hook:claude-code", "lib", … */
	const char *session; /* or NULL */
	const char *op; /* "append", "rewrite", "undo", "recall", … */
	const char *path; /* below the workspace, or NULL */
	const unsigned char *before, *after; /* SHA256_BYTES, NULL: no file */
	int64_t bytes; /* that were added, or of the new file */
	const char *origin; /* "owner", "agent", … */
	const char *detail; /* one JSON object, or NULL */
	/* set when a row is read */
	const unsigned char *prev, *hash;
};

/* *id may be NULL. Inside the open transaction, or in one of its own. */
int state_journal_add(struct state *s, const struct journal_row *row,
		      int64_t *id, struct remem_err *err);

struct journal_query {
	const char *op, *path; /* or NULL */
	const char *like; /* text in path or detail, or NULL */
	const char *session;
	int64_t id; /* only this one, 0: all */
	int64_t since_ms;
	int limit; /* the newest of them, 0: all */
};

/* Oldest first; stops at a result other than 0, which is returned. What a row
 * points to lives for the call. */
int state_journal_each(struct state *s, const struct journal_query *q,
		       int (*fn)(void *ctx, const struct journal_row *row),
		       void *ctx, struct remem_err *err);

struct journal_state {
	int64_t records, first, last; /* ids, 0: none */
	int64_t compacted; /* id of the last one taken away, 0: none */
	int64_t broken; /* id of the first broken record, 0: none */
	char why[160]; /* what is wrong with it, "" */
};

/* Reads the whole chain. A broken one is no error of the call. */
int state_journal_verify(struct state *s, struct journal_state *out,
			 struct remem_err *err);
/*
 * Takes away records up to id `upto`, and adds one of op "compact" that says
 * so and holds the hash with which the chain now begins. A chain that is
 * broken is left as it is: REMEM_ECORRUPT.
 */
int state_journal_compact(struct state *s, int64_t upto, int64_t now_ms,
			  int64_t *removed, struct remem_err *err);

#endif
