/*
 * Any text through any tables. The first byte says how many words of tables
 * follow; what is left is the text. A table of zero words is a small sane one.
 * Portions of tokens must not matter.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/unigram.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define WORDS 256

/* Pieces: a, ab, the blank mark U+2581, 中 (e4 b8 ad). */
static const uint32_t sane[] = {
	1 << 10, 'a' | 256 | 4 << 10, 0xe2 | 5 << 10, 0xe4 | 512 | 6 << 10,
	'b' | 256 | 512, 0x96 | 512 | 7 << 10, 0xb8 | 512 | 8 << 10,
	0x81 | 256 | 512, 0xad | 256 | 512
};

static void set_tables(struct unigram *u, const uint32_t *nodes, size_t n,
		       const uint32_t *ids, const float *scores)
{
	static const uint32_t map[] = { 0, 0, '\n', ' ', 0xfffd, ' ' };
	static uint32_t ranks[WORDS];
	uint32_t ends = 0;
	size_t at;

	memset(u, 0, sizeof(*u));
	for (size_t i = 0; i < n; i++) {
		if (i % 32 == 0)
			ranks[i / 32] = ends;
		ends += nodes[i] >> 8 & 1;
	}
	u->nodes = nodes;
	u->n_nodes = n;
	u->ids = ids;
	u->n_ids = n;
	u->ranks = ranks;
	u->n_ranks = (n + 31) / 32;
	u->scores = scores;
	u->n_scores = n;
	u->map.pairs = map;
	u->map.count = 3;
	u->unknown = 0;
	u->unknown_score = -30;
	at = nodes[0] >> 10;
	for (int i = 0; i < 256 && at && at < n; i++, at++) {
		u->root[nodes[at] & 255] = (uint32_t)at;
		if (nodes[at] >> 9 & 1)
			break;
	}
}

static size_t run(const struct unigram *u, const char *text, size_t len,
		  int32_t *ids, size_t cap, size_t portion)
{
	static struct unigram_run r;
	size_t n = 0, got;

	unigram_start(&r, u, text, len);
	while (n < cap && (got = unigram_next(&r, ids + n, cap - n < portion ?
					      cap - n : portion)))
		n += got;
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint32_t nodes[WORDS], ids[WORDS];
	static float scores[WORDS];
	static int32_t one[1 << 16], other[1 << 16];
	struct unigram u;
	size_t n = size ? data[0] : 0, used = 1 + n * 4, a, b;
	const char *text;

	if (!size)
		return 0;
	if (used > size) {
		n = 0;
		used = 1;
	}
	memset(scores, 0, sizeof(scores));
	if (n)
		memcpy(nodes, data + 1, n * 4);
	else
		memcpy(nodes, sane, sizeof(sane));
	n = n ? n : sizeof(sane) / sizeof(*sane);
	for (size_t i = 0; i < n; i++) {
		ids[i] = nodes[i] >> 12 & 1 ? nodes[i] : (uint32_t)i;
		memcpy(&scores[i], &nodes[n - 1 - i], 4);
		if (used == 1)
			scores[i] = -1 - (float)i;
	}
	set_tables(&u, nodes, n, ids, scores);
	text = (const char *)data + used;
	a = run(&u, text, size - used, one, 1 << 16, 510);
	b = run(&u, text, size - used, other, 1 << 16, 3);
	if (a != b || memcmp(one, other, a * sizeof(*one)))
		abort();
	for (size_t i = 0; i < a; i++)
		if (one[i] < 0 || (size_t)one[i] >= n)
			abort();
	return 0;
}
