/* Posting lists as they are read from FTS5's own tables, against what FTS5
 * itself says: inside a transaction the store asks by MATCH. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/sqlite_leaf.h"
#include "store/store.h"
#include "store_box.h"

#define FILES 60
#define WORDS 24
#define HITS 6000

static uint64_t seed = 99;

static unsigned below(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

/* Words from common to rare, some several times. */
static void note_text(char *out, size_t cap)
{
	size_t n = 0;

	for (unsigned w = 0; w < WORDS; w++) {
		if (below(w + 1) > 1)
			continue;
		for (unsigned k = 0; k <= below(6); k++)
			n += (size_t)snprintf(out + n, cap - n, "词%u网%u w%u ",
					      w, w, w);
	}
	snprintf(out + n, cap - n, "end\n");
}

struct found {
	int64_t df;
	int n;
	struct store_scored hits[HITS];
};

static void look_up(struct found *f, struct box *b, const char *term,
		    bool prefix)
{
	struct store_term t = { .text = term, .weight = 1, .prefix = prefix };

	must(b, b->o->text_pool(b->s, &t, 1, NULL, HITS, f->hits, &f->n,
				&b->err));
	f->df = t.df;
}

static void same_as_match(struct box *b, const char *term, bool prefix)
{
	static struct found direct, match;

	look_up(&direct, b, term, prefix);
	begin(b);
	look_up(&match, b, term, prefix);
	b->o->rollback(b->s);
	assert_int_equal(direct.df, match.df);
	assert_int_equal(direct.n, match.n);
	for (int i = 0; i < match.n; i++) {
		assert_int_equal(direct.hits[i].id, match.hits[i].id);
		assert_true(direct.hits[i].score == match.hits[i].score);
	}
}

static void all_same(struct box *b)
{
	static const char *const prefixes[] = { "w", "词", "网", "w1", "e",
						"en", "x", "\xff" };
	char term[16];

	for (unsigned w = 0; w <= WORDS; w++) {
		snprintf(term, sizeof(term), "w%u", w);
		same_as_match(b, term, false);
		same_as_match(b, term, true);
	}
	same_as_match(b, "end", false);
	same_as_match(b, "词", false);
	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
		same_as_match(b, prefixes[i], true);
}

static void test_store_list__rows_are_those_of_match(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		char path[32], text[4096];

		for (int round = 0; round < 24; round++) {
			begin(b);
			for (int i = 0; i < 12; i++) {
				struct store_file f;
				bool found;

				snprintf(path, sizeof(path), "%02u.md",
					 below(FILES));
				note_text(text, sizeof(text));
				if (below(4)) {
					put(b, path, text);
					continue;
				}
				must(b, b->o->file_find(b->s, &b->a, path, &f,
							&found, &b->err));
				if (found)
					must(b, b->o->file_remove(b->s, f.id,
								  &b->err));
			}
			commit(b);
			if (round % 3 == 2)
				all_same(b);
		}
		must(b, b->o->maintain(b->s, 0, &b->err));
		all_same(b);
		box_reopen(b, STORE_READ);
		assert_true(find_in(b, "w0", false, NULL, NULL) > 0);
		assert_int_equal(find_in(b, "w", true, NULL, NULL),
				 find_in(b, "end", false, NULL, NULL));
	}
}

/* Lists longer than a leaf, over several segments, partly taken back. */
static void test_store_list__long_lists_go_on(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		char path[32], text[64];

		for (int from = 0; from < 5200; from += 2600) {
			begin(b);
			for (int i = from; i < from + 2600; i++) {
				snprintf(path, sizeof(path), "%04d.md", i);
				snprintf(text, sizeof(text),
					 "every every one%d\n", i);
				put(b, path, text);
			}
			commit(b);
		}
		same_as_match(b, "everi", false);
		same_as_match(b, "every", false);
		same_as_match(b, "one", true);
		must(b, b->o->maintain(b->s, 0, &b->err));
		same_as_match(b, "every", false);
		same_as_match(b, "one", true);
		begin(b);
		for (int i = 0; i < 600; i++) {
			snprintf(path, sizeof(path), "%04d.md", i * 7);
			put(b, path, "another\n");
		}
		commit(b);
		same_as_match(b, "every", false);
		same_as_match(b, "another", false);
		same_as_match(b, "one9", true);
	}
}

/* ---- bytes that make no sense ---- */

static int give(void *ctx, struct cursor *c, uint32_t page)
{
	(void)page;
	c->buf = ctx;
	return 0;
}

static void test_store_list__broken_leaves_end_it(void **state)
{
	unsigned char leaf[64];
	struct leaf_row rows[8];

	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct cursor c = { .first = 1, .last = 3, .load = give,
				    .ctx = leaf };
		size_t n = 1;

		for (size_t k = 0; k < sizeof(leaf); k++)
			leaf[k] = (unsigned char)below(below(3) ? 24 : 256);
		leaf[2] = 0;
		leaf[3] = (unsigned char)below(80);
		c.len = 4 + below(60);
		c.ctx = leaf;
		assert_int_equal(cursor_seek(&c, 1, "0a", below(3), i % 2), 0);
		for (int k = 0; k < 100 && c.live; k++) {
			assert_int_equal(cursor_rows(&c, rows, 8, &n), 0);
			if (!n)
				assert_int_equal(cursor_next(&c), 0);
		}
	}
}

static void test_store_list__structure_is_read_newest_first(void **state)
{
	static const unsigned char record[] = {
		0, 0, 0, 1, 2, 3, 9, /* levels, segments, writes */
		0, 2, 5, 1, 1, 7, 1, 4, /* level 0: the second is newer */
		0, 1, 2, 3, 0x81, 0x00 /* level 1 */
	};
	static const unsigned char other[] = { 0, 0, 0, 1, 0xff, 0, 0, 1, 0 };
	struct segment s[4];

	(void)state;
	assert_int_equal(structure_read(s, 4, record, sizeof(record)), 3);
	assert_int_equal(s[0].id, 7);
	assert_int_equal(s[1].id, 5);
	assert_int_equal(s[2].id, 2);
	assert_int_equal(s[2].first, 3);
	assert_int_equal(s[2].last, 128);
	for (size_t n = 0; n < sizeof(record); n++)
		assert_int_equal(structure_read(s, 4, record, n), -1);
	assert_int_equal(structure_read(s, 2, record, sizeof(record)), -1);
	assert_int_equal(structure_read(s, 4, other, sizeof(other)), -1);
}
