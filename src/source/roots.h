/* The roots of a walk: the workspace and each extra path, opened. */
#ifndef SOURCE_ROOTS_H
#define SOURCE_ROOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "source/source.h"

/* What belongs to a root beside its public part, in the same order. */
struct root_more {
	const char *shown; /* of a single file; else the root's prefix */
	const char *pattern; /* NULL: notes by their name */
	uint64_t dev, inode; /* of the folder */
	bool extra;
};

/*
 * Opens all roots. Only a workspace that is gone or closed to us fails. An
 * extra path that is not there has a problem; it is incomplete (its rows stay)
 * when the folder above it is missing too, as on a disk that is not plugged
 * in. The descriptors are closed by roots_close().
 */
int roots_open(struct source_root **roots, struct root_more **more, int *count,
	       struct arena *a, const struct source_opts *o,
	       struct remem_err *err);
void roots_close(struct source_root *roots, int count);

/* Whether a file of this name would be listed below the root; rel is its path
 * there, needed for a pattern only. *media: NULL, or why it is listed only. */
bool root_wants(const char **media, const struct root_more *m, const char *rel,
		const char *name);

/* path as seen from the folder from (both absolute, tidy): "x/y", "../x", or
 * "" when they are the same. In the arena. */
char *roots_relative(struct arena *a, const char *from, const char *path);

#endif
