/*
 * Any text as an entry: what is composed is whole lines of UTF-8, its values
 * can be read again, and nothing in it says whom it comes from. The hashes of
 * lines and words take any bytes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "memory/append.h"
#include "memory/origin.h"
#include "text/annotation.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define CHECK(x)                 \
	do {                     \
		if (!(x))        \
			abort(); \
	} while (0)

static void check_lines(const struct buf *b, int importance)
{
	const struct annotations *ann;
	struct arena a = ARENA_INIT;
	size_t end = b->len;

	CHECK(b->len && b->ptr[b->len - 1] == '\n');
	CHECK(utf8_valid(b->ptr, b->len));
	CHECK(!memchr(b->ptr, '\0', b->len));
	ann = annotation_take(&a, b->ptr, 0, &end);
	CHECK(ann && ann->importance == importance && !ann->origin);
	arena_release(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct memory m = { .line_bytes = 512, .text_bytes = 4096 };
	const char *s = (const char *)data;
	unsigned char hash[LINE_HASH_BYTES];
	struct buf out = BUF_INIT(0);
	struct entry e = { .text = s, .len = len, .importance = 1 };
	struct remem_err err;
	char head[80];

	if (len > 2) {
		size_t n = (size_t)data[0] % sizeof(head);

		e.importance = 1 + data[1] % 10;
		if (n > len)
			n = len;
		memcpy(head, s, n);
		head[n < sizeof(head) ? n : n - 1] = '\0';
		e.source = head;
	}
	if (!entry_compose(&out, &m, &e, &err))
		check_lines(&out, e.importance);
	else
		CHECK(err.message[0]);
	origin_line_hash(hash, s, len);
	origin_words_hash(hash, s, len);
	buf_release(&out);
	return 0;
}
