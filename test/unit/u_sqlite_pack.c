/* Passages packed into one value, and read back from whole and broken bytes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/clock.h"
#include "store/sqlite_pack.h"

static const struct store_passage some[] = {
	{ .start = 0, .len = 12, .kind = PASSAGE_ITEM, .observed = DATE_NONE,
	  .origin = "agent" },
	{ .start = 20, .len = 70000, .kind = PASSAGE_MESSAGE, .continues = true,
	  .script = (enum script)(SCRIPT_COUNT - 1), .observed = -20000,
	  .origin = "agent", .importance = 10, .project = "",
	  .status = "superseded", .triggers = "网关, gateway" },
	/* before the end of the one before, on an earlier line */
	{ .start = 5, .len = 0, .observed = 20500, .origin = "owner" },
	{ .start = 5, .len = 1, .observed = DATE_NONE },
	{ .start = 4000000000u, .len = 7, .observed = DATE_NONE,
	  .origin = "owner" },
};
static const int lines[][2] = { { 0, 1 }, { 3, 900 }, { 1, 1 }, { 1, 2 },
				{ 70000, 1 } };
static const int64_t headings[] = { 0, 7, 1, 0, (int64_t)1 << 40 };

static void pack_some(struct buf *b)
{
	struct pack_writer w = { b, 0, 0, NULL };

	for (size_t i = 0; i < ARRAY_LEN(some); i++)
		pack_passage(&w, &some[i], lines[i][0], lines[i][1],
			     headings[i]);
	assert_int_equal(b->failed, 0);
}

static void same_string(const char *a, const char *b)
{
	assert_int_equal(!a, !b);
	if (a)
		assert_string_equal(a, b);
}

static void test_sqlite_pack__comes_back_as_it_was(void **state)
{
	struct arena a = ARENA_INIT;
	struct buf b = BUF_INIT(0);
	struct pack_reader r = { .line = 0 };
	struct store_passage p;
	int64_t heading;

	(void)state;
	pack_some(&b);
	r.at = (const unsigned char *)b.ptr;
	r.end = r.at + b.len;
	for (size_t i = 0; i < ARRAY_LEN(some); i++) {
		const struct store_passage *want = &some[i];

		memset(&p, 0, sizeof(p));
		assert_true(pack_next(&r, &a, &p, &heading));
		assert_int_equal(p.start, want->start);
		assert_int_equal(p.len, want->len);
		assert_int_equal(p.line_first, lines[i][0]);
		assert_int_equal(p.line_last, lines[i][0] + lines[i][1] - 1);
		assert_int_equal(heading, headings[i]);
		assert_int_equal(p.kind, want->kind);
		assert_int_equal(p.script, want->script);
		assert_int_equal(p.continues, want->continues);
		assert_int_equal(p.importance, want->importance);
		assert_int_equal(p.observed, want->observed);
		same_string(p.project, want->project);
		same_string(p.status, want->status);
		same_string(p.origin, want->origin);
		same_string(p.triggers, want->triggers);
	}
	assert_false(pack_next(&r, &a, &p, &heading));
	arena_release(&a);
	buf_release(&b);
}

/* Every byte cut off, every byte changed: no read beyond the end, and numbers
 * that their types can hold. */
static void test_sqlite_pack__broken_bytes_end_it(void **state)
{
	struct arena a = ARENA_INIT;
	struct buf b = BUF_INIT(0);

	(void)state;
	pack_some(&b);
	for (size_t len = 0; len <= b.len; len++) {
		for (int change = 0; change < 256; change += 15) {
			unsigned char *own = malloc(len + 1);
			struct pack_reader r = { own, own + len, 0, 0, NULL };
			struct store_passage p;
			int64_t heading;
			int n = 0;

			assert_non_null(own);
			memcpy(own, b.ptr, len);
			if (len)
				own[len - 1] ^= (unsigned char)change;
			memset(&p, 0, sizeof(p));
			while (pack_next(&r, &a, &p, &heading)) {
				assert_true(p.script < SCRIPT_COUNT);
				assert_true(p.line_last >= p.line_first);
				assert_true(p.len <= UINT32_MAX - p.start);
				assert_true(++n <= (int)len);
			}
			free(own);
		}
		arena_reset(&a);
	}
	arena_release(&a);
	buf_release(&b);
}
