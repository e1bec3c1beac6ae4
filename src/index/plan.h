/* Source against store: what is to be read, listed, touched and removed. */
#ifndef INDEX_PLAN_H
#define INDEX_PLAN_H

#include "base/arena.h"
#include "source/source.h"
#include "store/store.h"

struct plan_row { /* of the store */
	int64_t id;
	const char *path, *reason;
	bool skipped, curated;
	uint64_t dev, inode;
	int64_t size, mtime_ns, ctime_ns;
	unsigned char hash[SHA256_BYTES];
	bool taken; /* renamed: not to be removed */
};

enum plan_act {
	PLAN_READ, /* new, or its stamps differ */
	PLAN_LIST, /* skipped: only listed, with its reason */
	PLAN_WARN /* unchanged, but what is said of it is not */
};

struct plan_item {
	enum plan_act act;
	struct source_file *file;
	struct plan_row *row; /* NULL: the store has no such path */
};

struct plan {
	struct plan_row *rows; /* by path, without those that are settled */
	size_t row_count;
	struct plan_item *items; /* in order of paths */
	size_t item_count;
	struct plan_row **gone; /* rows without a file */
	size_t gone_count, gone_sorted; /* those in front are by hash */
	int64_t unchanged, kept;
};

/* s NULL: an empty store. All in the arena. */
int plan_make(struct plan *p, struct arena *a, struct source_list *l,
	      struct store *s, struct remem_err *err);
/* A row to be removed that holds these very bytes: the file was renamed. */
struct plan_row *plan_find_gone(const struct plan *p,
				const unsigned char hash[SHA256_BYTES],
				bool curated);

#endif
