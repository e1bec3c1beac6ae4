/*
 * The classes of lines for a run of the index, which asks for every line of
 * every note it cuts: what is stored is read once, and looked up in memory.
 */
#ifndef MEMORY_ORIGIN_INDEX_H
#define MEMORY_ORIGIN_INDEX_H

#include "index/index.h"
#include "memory/origin.h"

struct origin_set { /* lines by hash, the worst class of each in front */
	struct line_row *rows;
	size_t count, cap;
};

struct origin_index {
	/* filled in by the caller; opens the state for reading, *out NULL if
	 * there is none; the reader is closed here */
	int (*open)(void *ctx, struct state **out, enum remem_origin *edits,
		    struct remem_err *err);
	void *ctx;
	/* kept by origin_index.c */
	struct index_origins ops;
	struct state *state;
	struct arena all, file;
	struct origin_set worse, known;
	enum remem_origin edits, best; /* best: of the path */
};

/* What index_opts.origins takes. */
const struct index_origins *origin_index_ops(struct origin_index *o);
void origin_index_release(struct origin_index *o);

#endif
