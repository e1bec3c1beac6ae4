/*
 * Text as the unigram model wants to see it: NFKC, then the model's own map
 * (controls dropped, tabs and line ends to blanks). Characters come one by one
 * out of a small window, so that memory does not depend on the text.
 */
#ifndef ENCODER_NORMALIZE_H
#define ENCODER_NORMALIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A starter with its marks is normalised at once. Unicode's stream-safe format
 * allows 30 marks; a longer run is cut, which bounds the sorting of marks.
 */
#define NORMALIZE_MARKS 48
/* Most code points that one becomes under NFKC (U+FDFA), with room. */
#define NORMALIZE_GROWTH 24

struct normalize_map {
	const uint32_t *pairs; /* (from, to), sorted by from; to 0: dropped */
	size_t count;
};

struct normalize {
	const struct normalize_map *map;
	const char *text;
	size_t len, at;
	int32_t out[NORMALIZE_MARKS + 2 * NORMALIZE_GROWTH];
	int n_out, next_out;
};

void normalize_init(struct normalize *n, const struct normalize_map *map,
		    const char *text, size_t len);
/* Next character; false at the end. Malformed bytes come as U+FFFD. */
bool normalize_next(struct normalize *n, uint32_t *cp);

#endif
