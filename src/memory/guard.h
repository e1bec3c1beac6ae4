/* Whether, where and how much may be written. */
#ifndef MEMORY_GUARD_H
#define MEMORY_GUARD_H

#include <stddef.h>

#include "base/arena.h"
#include "memory/memory.h"

/* REMEM_EPERM with the reason: read-only by setting, or the file system is. */
int guard_writable(const struct memory *m, struct remem_err *err);

/*
 * The note that `to` means, below the workspace: NULL, "" or "today" (the note
 * of the user's day now), "MEMORY", "USER", or "memory/x.md" at any depth.
 * REMEM_EPERM for any other place. In the arena.
 */
int guard_place(const char **path, struct arena *a, const struct memory *m,
		const char *to, struct remem_err *err);

/* UTF-8 without NUL and control characters but tab and line feed, and no more
 * of it than is allowed; REMEM_EFORMAT, REMEM_ELIMIT, REMEM_EINVAL if empty. */
int guard_text(const struct memory *m, const char *text, size_t len,
	       struct remem_err *err);

/* Counts an entry against the limits of its conversation and of the day, in
 * the open transaction. REMEM_ELIMIT. */
int guard_rate(struct memory *m, const struct remem_actor *actor,
	       enum remem_origin origin, size_t bytes, struct remem_err *err);

#endif
