/* The best k of a stream: a bounded heap with a threshold. Higher scores win,
 * equal ones by the lower id; NaN never enters. */
#ifndef STORE_TOPK_H
#define STORE_TOPK_H

#include "store/store.h"

struct topk {
	struct store_scored *heap; /* the worst on top; cap k */
	int count, k;
	float floor; /* what must be reached to enter, -INFINITY at first */
};

void topk_init(struct topk *t, struct store_scored *room, int k);
void topk_push(struct topk *t, int64_t id, float score);
/* All that another one holds. */
void topk_add(struct topk *t, const struct topk *other);
/* Sorted, best first; the heap is gone. */
void topk_finish(struct topk *t);
/* qsort order: best first. */
int scored_order(const void *a, const void *b);

#endif
