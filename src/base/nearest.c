/* Levenshtein's distance with one row of memory. */
#include "base/nearest.h"

#include <string.h>

static int smaller(int a, int b)
{
	return a < b ? a : b;
}

static int lower(char c)
{
	return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

int word_distance(const char *a, size_t n, const char *b, size_t m)
{
	int row[NEAREST_MAX + 1];

	if (n >= NEAREST_MAX || m >= NEAREST_MAX)
		return NEAREST_MAX;
	for (size_t j = 0; j <= m; j++)
		row[j] = (int)j;
	for (size_t i = 1; i <= n; i++) {
		int diagonal = row[0];

		row[0] = (int)i;
		for (size_t j = 1; j <= m; j++) {
			int up = row[j];
			int same = lower(a[i - 1]) == lower(b[j - 1]);

			row[j] = smaller(diagonal + !same,
					 smaller(up, row[j - 1]) + 1);
			diagonal = up;
		}
	}
	return row[m];
}

const char *word_nearest(const char *word,
			 const char *(*name)(void *ctx, int i), void *ctx)
{
	const char *best = NULL, *s;
	size_t n = strlen(word);
	int least = 2 + (int)(n / 4);

	for (int i = 0; n < NEAREST_MAX && (s = name(ctx, i)); i++) {
		int d = *s ? word_distance(word, n, s, strlen(s)) : NEAREST_MAX;

		if (d < least) {
			least = d;
			best = s;
		}
	}
	return best;
}
