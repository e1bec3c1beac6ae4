/* Secrets that stand in notes: where, and of what kind, never what. */
#ifndef MEMORY_LEAK_H
#define MEMORY_LEAK_H

#include "source/source.h"

typedef void (*leak_fn)(void *ctx, const char *path, int line,
			const char *kind);

/* Those of a text; how many. fn is told of the first `most` of them. */
int64_t leak_in_text(const char *path, const char *text, size_t len,
		     int64_t most, leak_fn fn, void *ctx);
/* Those of all files that are indexed. A file that cannot be read now is
 * passed over: its reason is shown elsewhere. */
int64_t leak_each(struct source_list *list, int64_t most, leak_fn fn,
		  void *ctx);

#endif
