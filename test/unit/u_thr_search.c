/* Work of a search that is done in a thread beside: the scan of all vectors
 * while terms are looked up, and half of the cutting. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "search/search.h"
#include "store_box.h"

#define FILES 101
#define LINES 200 /* 20,200 vectors: enough for a thread */
#define K 50

static void put_lines(struct box *b)
{
	struct buf text = BUF_INIT(0);
	char path[32];

	begin(b);
	for (int i = 0; i < FILES; i++) {
		buf_reset(&text);
		for (int k = 0; k < LINES; k++)
			buf_addf(&text, "- 第%d行 about gateway number n%dx%d\n",
				 k, i, k);
		snprintf(path, sizeof(path), "%03d.md", i);
		put(b, path, buf_str(&text));
	}
	commit(b);
	buf_release(&text);
}

static void same_hits(const struct store_scored *x,
		      const struct store_scored *y, int n)
{
	for (int i = 0; i < n; i++) {
		assert_int_equal(x[i].id, y[i].id);
		assert_true(x[i].score == y[i].score);
	}
}

static void test_thr_search__scan_begun_ahead_finds_the_same(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		struct store_scored want[K], got[K];
		float q[DIMS], other[DIMS];
		int fp, n = 0;

		put_lines(b);
		fp = fingerprint(b, "model:64");
		assert_int_equal(embed_all(b, fp), FILES * LINES);
		box_reopen(b, STORE_READ);
		vec_of(q, "gateway", 7);
		vec_of(other, "other", 5);
		must(b, b->o->vector_pool(b->s, fp, q, NULL, NULL, NULL, K,
					  want, &n, &b->err));
		assert_int_equal(n, K);
		for (int i = 0; i < 5; i++) {
			must(b, b->o->read_begin(b->s, &b->err));
			b->o->vector_begin(b->s, fp, q, NULL, NULL, NULL, K);
			assert_true(find(b, "gateway") > 0);
			must(b, b->o->vector_pool(b->s, fp, q, NULL, NULL,
						  NULL, K, got, &n, &b->err));
			assert_int_equal(n, K);
			same_hits(want, got, K);
			/* Begun for nothing, and for another question. */
			b->o->vector_begin(b->s, fp, other, NULL, NULL, NULL,
					   K);
			if (i % 2)
				must(b, b->o->vector_pool(b->s, fp, q, NULL,
							  NULL, NULL, K, got,
							  &n, &b->err));
			same_hits(want, got, K);
			b->o->read_end(b->s);
		}
	}
}

static void test_thr_search__halves_make_the_same_answer(void **state)
{
	static const char query[] = "gateway 第7行 number n42x7";
	struct search_opts o = {
		.mode = REMEM_MODE_TEXT, .max_results = 6, .min_score = 0.35,
		.vector_weight = 0.7, .text_weight = 0.3,
		.candidate_multiplier = 4, .snippet_chars = 700,
		.filter = { .after = DATE_NONE, .before = DATE_NONE },
	};

	(void)state;
	EACH_BACKEND(b) {
		put_lines(b);
		box_reopen(b, STORE_READ);
		for (int i = 0; i < 10; i++) {
			struct search_answer out;

			must(b, search_run(&out, &b->a, b->s, query,
					   sizeof(query) - 1, &o, &b->err));
			assert_true(out.count > 0);
			assert_string_equal(out.hits[0].path, "042.md");
			assert_non_null(strstr(out.hits[0].snippet, "n42x7"));
		}
	}
}
