/* Which known word somebody meant who wrote another one. */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stddef.h>

#define NEAREST_MAX 160 /* words as long as that are like no other */

/* Edits between two words without regard to case; NEAREST_MAX if one of them
 * is too long to tell. */
int word_distance(const char *a, size_t n, const char *b, size_t m);

/*
 * The word most like it among name(ctx, 0), name(ctx, 1), … up to NULL; NULL
 * if none is near: two letters may be wrong, and a quarter of a longer word.
 * Empty names are passed over.
 */
const char *word_nearest(const char *word,
			 const char *(*name)(void *ctx, int i), void *ctx);

#endif
