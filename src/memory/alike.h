/*
 * Whether two short texts say the same: nearly all of their terms are shared,
 * and none of what makes a difference differs (numbers, identifiers, a "not").
 */
#ifndef MEMORY_ALIKE_H
#define MEMORY_ALIKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ALIKE_TERMS 96 /* of a text that is compared; a line has some twenty */

struct alike {
	uint32_t terms[ALIKE_TERMS]; /* hashes, sorted, each once */
	int n;
	uint32_t exact; /* of numbers, identifiers and negations */
};

void alike_make(struct alike *a, const char *text, size_t len);
/* At least four fifths of the terms of both. Texts without terms are alike
 * to none. */
bool alike_same(const struct alike *a, const struct alike *b);

#endif
