/* See topk.h. */
#include "store/topk.h"

#include <math.h>
#include <stdlib.h>

int scored_order(const void *a, const void *b)
{
	const struct store_scored *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static bool worse(const struct store_scored *a, const struct store_scored *b)
{
	return scored_order(a, b) > 0;
}

void topk_init(struct topk *t, struct store_scored *room, int k)
{
	t->heap = room;
	t->count = 0;
	t->k = k;
	t->floor = k > 0 ? -INFINITY : INFINITY;
}

static void sift_down(struct topk *t)
{
	struct store_scored *h = t->heap, x = h[0];
	int i = 0;

	for (;;) {
		int c = 2 * i + 1;

		if (c >= t->count)
			break;
		if (c + 1 < t->count && worse(&h[c + 1], &h[c]))
			c++;
		if (!worse(&h[c], &x))
			break;
		h[i] = h[c];
		i = c;
	}
	h[i] = x;
}

static void sift_up(struct topk *t)
{
	struct store_scored *h = t->heap;
	int i = t->count - 1;
	struct store_scored x = h[i];

	for (; i > 0 && worse(&x, &h[(i - 1) / 2]); i = (i - 1) / 2)
		h[i] = h[(i - 1) / 2];
	h[i] = x;
}

void topk_push(struct topk *t, int64_t id, float score)
{
	struct store_scored x = { id, score };

	if (!(score >= t->floor) || t->k <= 0)
		return;
	if (t->count < t->k) {
		t->heap[t->count++] = x;
		sift_up(t);
	} else if (worse(&t->heap[0], &x)) {
		t->heap[0] = x;
		sift_down(t);
	}
	if (t->count == t->k)
		t->floor = t->heap[0].score;
}

void topk_add(struct topk *t, const struct topk *other)
{
	for (int i = 0; i < other->count; i++)
		topk_push(t, other->heap[i].id, other->heap[i].score);
}

void topk_finish(struct topk *t)
{
	qsort(t->heap, (size_t)t->count, sizeof(*t->heap), scored_order);
}
