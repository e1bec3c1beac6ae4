/* The list that a walk makes: growing, sorted, one entry an inode. */
#ifndef SOURCE_LIST_H
#define SOURCE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "source/source.h"

struct list_stat {
	uint64_t dev, inode;
	int64_t size, mtime_ns, ctime_ns;
};

void list_stat_take(struct list_stat *out, const struct stat *st);
void list_stat_put(struct source_file *f, const struct list_stat *st);

struct list {
	struct arena *a; /* paths and the result */
	struct source_file *files;
	size_t count, cap;
	const char **unread;
	size_t unread_count, unread_cap;
	bool unordered; /* may hold a path twice: to be sorted */
	bool failed; /* no memory */
};

/* A new zeroed entry with its path copied; rel is what stands behind
 * prefix_len bytes. NULL without memory. */
struct source_file *list_add(struct list *l, const char *path,
			     size_t prefix_len, int root);
/* The same with a path that lives in the arena already. */
struct source_file *list_add_owned(struct list *l, const char *path,
				   size_t prefix_len, int root);
void list_unread(struct list *l, const char *prefix); /* borrowed */
/* Marks curated files, sorts, leaves one entry a path and one an inode. In any
 * order: does not sort what has no path twice. Whether it is left so. */
bool list_finish(struct list *l, bool any_order);
/* Gives the files to out, the rest through the arena, which may fail. */
void list_give(struct source_list *out, struct list *l);
void list_release(struct list *l);

/* Table of (device, inode) to a number. */
struct list_id {
	uint64_t dev, inode;
	uint32_t value, used;
};

struct list_ids {
	struct list_id *slots;
	size_t count, cap;
};

#define LIST_NEW UINT32_MAX

/* Puts value in if the key is new: LIST_NEW; else the value that is there.
 * LIST_NEW also when memory is out: the caller treats it as unseen. */
uint32_t list_ids_add(struct list_ids *t, uint64_t dev, uint64_t inode,
		      uint32_t value);
void list_ids_release(struct list_ids *t);

#endif
