/*
 * A merge sort over numbers made from the first 16 bytes behind what all names
 * have in common. With qsort() a call for each comparison was a quarter of the
 * instructions of a run without changes (10,000 notes in six folders: 5.9 of
 * 25 million).
 */
#include "source/name_sort.h"

#include <string.h>

#define RUN 8 /* short runs are cheaper to insert into than to merge */

static uint64_t eight_bytes(const char **s)
{
	const char *p = *s;
	uint64_t v = 0;
	int n = 0;

	while (n < 8 && p[n])
		v = v << 8 | (unsigned char)p[n++];
	*s += n;
	return n ? v << (8 * (8 - n)) : 0;
}

/* The length of what all names begin with. */
static size_t common_prefix(const struct name_key *k, size_t n)
{
	const char *x = k[0].name;
	size_t len = strlen(x);

	for (size_t i = 1; i < n && len; i++) {
		const char *y = k[i].name;
		size_t m = 0;

		while (m < len && x[m] == y[m])
			m++;
		len = m;
	}
	return len;
}

static bool goes_first(const struct name_key *x, const struct name_key *y)
{
	if (x->a != y->a)
		return x->a < y->a;
	if (x->b != y->b)
		return x->b < y->b;
	return strcmp(x->name, y->name) < 0;
}

static void insert_runs(struct name_key *k, size_t n)
{
	for (size_t from = 0; from < n; from += RUN) {
		size_t end = from + RUN < n ? from + RUN : n;

		for (size_t i = from + 1; i < end; i++) {
			struct name_key x = k[i];
			size_t at = i;

			for (; at > from && goes_first(&x, &k[at - 1]); at--)
				k[at] = k[at - 1];
			k[at] = x;
		}
	}
}

static void merge(struct name_key *to, const struct name_key *k, size_t from,
		  size_t mid, size_t end)
{
	size_t i = from, j = mid;

	for (size_t at = from; at < end; at++)
		to[at] = j == end || (i < mid && !goes_first(&k[j], &k[i])) ?
			 k[i++] : k[j++];
}

const struct name_key *name_sort(struct name_key *k, size_t n)
{
	struct name_key *room = k + n;
	size_t skip = n > 1 ? common_prefix(k, n) : 0;

	for (size_t i = 0; i < n && n > 1; i++) {
		const char *s = k[i].name + skip;

		k[i].a = eight_bytes(&s);
		k[i].b = eight_bytes(&s);
	}
	insert_runs(k, n);
	for (size_t run = RUN; run < n; run *= 2) {
		struct name_key *was = k;

		for (size_t from = 0; from < n; from += 2 * run) {
			size_t mid = from + run < n ? from + run : n;
			size_t end = mid + run < n ? mid + run : n;

			merge(room, k, from, mid, end);
		}
		k = room;
		room = was;
	}
	return k;
}
