/*
 * What a provider takes, as far as it is known: limits that are set, and
 * bounds that are learned from what was taken and what was refused, whatever
 * the words of the refusal. Between the largest that was taken and the
 * smallest that was refused the next try is the middle.
 */
#ifndef EMBED_LIMITS_H
#define EMBED_LIMITS_H

#include <stdbool.h>
#include <stddef.h>

struct bound {
	size_t max; /* as set */
	size_t good; /* largest that was taken */
	size_t bad; /* smallest that was refused, SIZE_MAX: none */
};

struct limits {
	struct bound items, tokens; /* of a request */
	struct bound input; /* tokens of one text */
	size_t hint; /* items, named in a refusal; 0: none */
};

void limits_init(struct limits *l, size_t items, size_t tokens, size_t input);
/* What the next request may have; at least 1. settled: nothing new is tried
 * if something is known to be taken. */
size_t limits_items(const struct limits *l, bool settled);
size_t limits_tokens(const struct limits *l);
/* How many of its tokens a text may have: all, unless so many are too much. */
size_t limits_input(const struct limits *l, size_t tokens);
/* A request was taken; largest: tokens of its longest text. */
void limits_taken(struct limits *l, size_t items, size_t tokens,
		  size_t largest);
/* A request of several texts was refused; hint: a number of items that the
 * refusal named, 0: none. */
void limits_refused(struct limits *l, size_t items, size_t tokens,
		    size_t hint);
/* One text was refused and taken when it was shorter. */
void limits_input_refused(struct limits *l, size_t tokens);
/* A refusal had another cause: the bounds are again those of before. */
void limits_restore(struct limits *l, const struct limits *before);
/* More items than were ever taken, though some number is known to be refused. */
bool limits_tries(const struct limits *l, size_t items);
/* Most items that were taken, if more were refused; else 0. */
size_t limits_learned(const struct limits *l);

#endif
