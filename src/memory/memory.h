/*
 * A workspace as its writers have it: the folder, its durable state, the lock
 * that lets one write at a time, and what they may do. Everything that changes
 * a note goes through append.h or rewrite.h, between memory_begin() and
 * memory_end(), which these two call themselves.
 */
#ifndef MEMORY_MEMORY_H
#define MEMORY_MEMORY_H

#include <stdbool.h>

#include "base/lock.h"
#include "remem.h"
#include "store/state.h"

struct memory {
	/* filled in by the caller; all borrowed */
	const char *root; /* of the workspace, absolute */
	const char *lock_path; /* in the state folder */
	struct state *state; /* open for writing */
	const char *zone; /* time zone of the user, "" for the system's */
	int64_t now_ms; /* 0: the clock */
	const char *read_only; /* why nothing may be written, NULL: it may */
	int lock_ms; /* to wait for other writers, 0: 10,000 */
	enum remem_origin edits; /* of lines that others put into a note */
	int64_t max_file_bytes; /* of a note, 0: 64 MiB */
	int line_bytes, text_bytes; /* of what is added at once; 0: 8,192 and
				       65,536 */
	int entries_per_minute; /* of a conversation; 0: no limit */
	int64_t bytes_per_day; /* of all but the owner; 0: no limit */
	int preimages; /* files kept as they were, 0: 50 */
	int64_t preimage_bytes; /* in all, 0: 64 MiB */
	/* kept by memory.c */
	int root_fd;
	struct lock lock;
	int depth;
};

/* Opens the folder. memory_close() also after a failure. */
int memory_open(struct memory *m, struct remem_err *err);
void memory_close(struct memory *m);

/*
 * May we write, then the lock; what another process began and did not finish
 * is settled first. They nest. REMEM_EPERM with the reason, REMEM_EBUSY.
 */
int memory_begin(struct memory *m, struct remem_err *err);
void memory_end(struct memory *m);

int64_t memory_now(const struct memory *m);
/* The user's day of now. */
int32_t memory_today(const struct memory *m);

/* settle.c: finishes or takes back what was begun; the lock is held. */
int memory_settle(struct memory *m, struct remem_err *err);

#endif
