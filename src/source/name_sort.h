/* Names in the order of their bytes. */
#ifndef SOURCE_NAME_SORT_H
#define SOURCE_NAME_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct name_key {
	const char *name;
	void *item; /* the caller's */
	uint64_t a, b; /* its first bytes that matter, filled here */
};

/* Sorts n keys, behind which there is room for n more. Equal names stay in
 * their order. Returns where the sorted ones begin: k or k + n. */
const struct name_key *name_sort(struct name_key *k, size_t n);

#endif
