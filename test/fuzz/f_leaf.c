/*
 * FTS5's leaves as a cursor reads them: the first byte says how long a leaf
 * is, the next two how long the key; leaves follow one another.
 */
#include <stdint.h>
#include <string.h>

#include "store/sqlite_leaf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

struct leaves {
	const uint8_t *data;
	size_t len, each;
	unsigned char room[256];
};

static int load(void *ctx, struct cursor *c, uint32_t page)
{
	struct leaves *l = ctx;
	size_t at = (page - 1) * l->each;
	size_t n = at < l->len ? l->len - at : 0;

	c->len = n < l->each ? n : l->each;
	c->buf = l->room;
	if (c->len)
		memcpy(l->room, l->data + at, c->len);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct segment segments[8];
	struct leaves l = { .data = data + 3, .len = len - 3 };
	struct leaf_row rows[32];
	struct cursor c = { .first = 1, .load = load, .ctx = &l };
	size_t key, n;

	if (len < 8)
		return 0;
	structure_read(segments, 8, data, len);
	l.each = data[0] ? data[0] : 1;
	c.last = (uint32_t)(l.len / l.each + 1);
	key = data[1] < l.len ? data[1] : l.len;
	cursor_seek(&c, 1, data + 3, key, data[2] & 1);
	for (int i = 0; i < 10000 && c.live; i++) {
		cursor_rows(&c, rows, 32, &n);
		if (!n)
			cursor_next(&c);
	}
	return 0;
}
