/*
 * What a run leaves for the next one: one sum over the stamps of all that the
 * index holds, and which files could not be read and are to be tried again.
 */
#ifndef INDEX_KEPT_H
#define INDEX_KEPT_H

#include "index/plan.h"

#define KEPT_MAX_AGAIN 64 /* with more, each run compares file by file */

struct kept {
	bool known; /* a run left it */
	uint64_t sum[2];
	int64_t again[KEPT_MAX_AGAIN]; /* ids of files, not in the sum */
	int again_count; /* over KEPT_MAX_AGAIN: not all are kept */
};

void kept_load(struct kept *k, struct store *s, struct arena *a);
/* Within a transaction. Not known: the next run compares file by file. */
int kept_save(const struct kept *k, struct store *s, struct remem_err *err);
void kept_again(struct kept *k, int64_t id); /* could not be read */

/* The sum over a whole walk, without files that are gone or unread. */
void kept_sum(uint64_t sum[2], const struct source_list *l);
/* The change that a plan for some paths has made. k still says which files
 * could not be read before. */
void kept_apply(struct kept *k, const struct plan *p);

/*
 * Whether a whole walk, of this sum, found what the index holds: it is the
 * kept one, and files that could not be read still cannot. Such are counted in
 * *unread and, if said is not NULL, told.
 */
bool kept_settled(const struct kept *k, const uint64_t sum[2],
		  struct store *s, struct arena *a, struct source_list *l,
		  bool follow_links, int64_t *unread,
		  void (*said)(void *ctx, const char *path, const char *reason),
		  void *ctx);

#endif
