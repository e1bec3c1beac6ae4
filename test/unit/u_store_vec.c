/* Vector pools against plain arithmetic: means, shared vectors, the cache. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/stat.h>

#include "store/store.h"
#include "store_box.h"

#define MANY 1500 /* more than a block */

/* Lines in two scripts, each a passage of its own. */
static void fill_many(struct box *b, int from, int to)
{
	char path[64], text[128];

	begin(b);
	for (int i = from; i < to; i++) {
		snprintf(path, sizeof(path), "%04d.md", i);
		snprintf(text, sizeof(text), i % 3 ? "line number %d here\n" :
			 "第%d行文字在这里\n", i);
		put(b, path, text);
		arena_reset(&b->a);
	}
	commit(b);
}

/* The vectors of each script lie around their own mean. */
static void skewed(float *v, const char *text, enum script script)
{
	float mean[DIMS];

	vec_of(v, text, strlen(text));
	vec_of(mean, &script, sizeof(script));
	for (int i = 0; i < DIMS; i++)
		v[i] = 0.5f * v[i] + 0.85f * mean[i];
}

static void embed_skewed(struct box *b, int fp)
{
	struct store_passage *p;
	const char **texts;
	int n;

	do {
		must(b, b->o->pending(b->s, &b->a, fp, 200, &p, &texts, &n,
				      &b->err));
		begin(b);
		for (int i = 0; i < n; i++) {
			float v[DIMS];
			struct store_vec_item item = {
				&p[i].id, 1, { 0 }, p[i].script, v
			};

			skewed(v, texts[i], p[i].script);
			sha256_of(item.key, texts[i], strlen(texts[i]));
			must(b, b->o->vectors_put(b->s, fp, &item, 1,
						  &b->err));
		}
		commit(b);
		arena_reset(&b->a);
	} while (n);
}

static void get_means(struct box *b, int fp, const float **means)
{
	struct store_mean *m;
	int n;

	memset(means, 0, SCRIPT_COUNT * sizeof(*means));
	must(b, b->o->means(b->s, &b->a, fp, &m, &n, &b->err));
	for (int i = 0; i < n; i++)
		means[m[i].script] = m[i].mean;
}

static double centred_cosine(const float *q, const float *mq, const float *v,
			     const float *mv)
{
	double dot = 0, a = 0, b = 0;

	for (int i = 0; i < DIMS; i++) {
		double x = (double)q[i] - (mq ? mq[i] : 0);
		double y = (double)v[i] - (mv ? mv[i] : 0);

		dot += x * y;
		a += x * x;
		b += y * y;
	}
	return dot / sqrt(a * b);
}

static void test_store_vec__pool_is_as_if_all_were_compared(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		const float *means[SCRIPT_COUNT];
		struct store_scored hit[20];
		float q[DIMS], v[DIMS];
		int fp, n;

		fill_many(b, 0, MANY);
		fp = fingerprint(b, "m");
		embed_skewed(b, fp);
		assert_int_equal(pending(b, fp), 0);
		get_means(b, fp, means);
		assert_non_null(means[SCRIPT_LATIN]);
		assert_non_null(means[SCRIPT_HAN]);
		skewed(q, "a question", SCRIPT_LATIN);
		must(b, b->o->vector_pool(b->s, fp, q, means[SCRIPT_LATIN],
					  means, NULL, 20, hit, &n, &b->err));
		assert_int_equal(n, 20);
		for (int i = 0; i < n; i++) {
			struct store_chunk c;
			int64_t id;
			float score;
			double want;
			const struct store_passage *p;

			must(b, b->o->passage_chunks(b->s, &hit[i].id, 1, &id,
						     &b->err));
			must(b, b->o->chunks_get(b->s, &b->a, fp, &id, 1, &c,
						 &b->err));
			p = &c.passages[0];
			must(b, b->o->vector_get(b->s, fp, p->slot, v,
						 &b->err));
			want = centred_cosine(q, means[SCRIPT_LATIN], v,
					      means[p->script]);
			assert_true(fabs(want - hit[i].score) < 1e-4);
			must(b, b->o->vector_scores(b->s, fp, q,
						    means[SCRIPT_LATIN], means,
						    &p->slot, 1, &score,
						    &b->err));
			assert_true(fabs(want - score) < 1e-4);
		}
		/* Nothing better was overlooked. */
		for (uint32_t slot = 0; slot < MANY; slot++) {
			float score;

			must(b, b->o->vector_scores(b->s, fp, q,
						    means[SCRIPT_LATIN], means,
						    &slot, 1, &score,
						    &b->err));
			n -= score >= hit[19].score;
		}
		assert_int_equal(n, 0);
		no_problems(b);
	}
}

static void test_store_vec__no_slot_has_no_score(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		uint32_t slots[3] = { STORE_NO_SLOT, 0, 123456 };
		float q[DIMS], out[3];
		int fp;

		put_alone(b, "a.md", "一行\n");
		fp = fingerprint(b, "m");
		vec_of(q, "x", 1);
		must(b, b->o->vector_scores(b->s, fp, q, NULL, NULL, slots, 3,
					    out, &b->err));
		assert_true(isnan(out[0]) && isnan(out[1]) && isnan(out[2]));
		embed_all(b, fp);
		must(b, b->o->vector_scores(b->s, fp, q, NULL, NULL, slots, 3,
					    out, &b->err));
		assert_true(isnan(out[0]) && !isnan(out[1]) && isnan(out[2]));
		assert_int_equal(b->o->vector_get(b->s, fp, 9, q, &b->err),
				 REMEM_ENOTFOUND);
	}
}

static void test_store_vec__bad_vectors_are_refused(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		float v[DIMS] = { 0 };
		struct store_vec_item item = { NULL, 0, { 1 }, SCRIPT_HAN, v };
		struct store_scored hit[2];
		int fp = fingerprint(b, "m"), n;

		begin(b);
		assert_int_equal(b->o->vectors_put(b->s, fp, &item, 1, &b->err),
				 REMEM_EINVAL);
		v[3] = NAN;
		assert_int_equal(b->o->vectors_put(b->s, fp, &item, 1, &b->err),
				 REMEM_EINVAL);
		item.vec = NULL;
		assert_int_equal(b->o->vectors_put(b->s, fp, &item, 1, &b->err),
				 REMEM_ENOTFOUND);
		b->o->rollback(b->s);
		must(b, b->o->vector_pool(b->s, fp, v, NULL, NULL, NULL, 2, hit,
					  &n, &b->err));
		assert_int_equal(n, 0);
		assert_int_equal(b->o->vector_pool(b->s, 77, v, NULL, NULL,
						   NULL, 2, hit, &n, &b->err),
				 REMEM_ENOTFOUND);
	}
}

static void test_store_vec__equal_inputs_share_one_vector(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		struct store_scored hit[8];
		struct store_set *set;
		int fp, n;

		begin(b);
		put(b, "a.md", "同一句话\n\nother\n");
		put(b, "sub/b.md", "同一句话\n");
		put(b, "sub/c.md", "同一句话\n");
		commit(b);
		fp = fingerprint(b, "m");
		embed_all(b, fp);
		n = nearest(b, fp, "同一句话", NULL, hit, 8);
		assert_int_equal(n, 4);
		assert_true(hit[2].score > 0.99f && hit[3].score < 0.9f);
		assert_true(hit[0].id < hit[1].id && hit[1].id < hit[2].id);
		must(b, b->o->filter(b->s, &(struct store_filter){
			.path = "sub/" }, &set, &b->err));
		assert_int_equal(nearest(b, fp, "同一句话", set, hit, 8), 2);
		b->o->filter_free(set);
		/* One of them goes, the others keep it. */
		begin(b);
		put(b, "a.md", "other\n");
		commit(b);
		assert_int_equal(nearest(b, fp, "同一句话", NULL, hit, 8), 3);
		assert_true(hit[1].score > 0.99f);
		no_problems(b);
	}
}

static void test_store_vec__a_known_key_costs_no_vector(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		struct store_passage *p;
		const char **texts;
		struct store_vec_item item = { .passage_count = 1 };
		int fp, n;
		bool have;

		put_alone(b, "a.md", "一句话\n");
		fp = fingerprint(b, "m");
		embed_all(b, fp);
		put_alone(b, "a.md", "gone\n");
		put_alone(b, "b.md", "一句话\n");
		must(b, b->o->pending(b->s, &b->a, fp, 9, &p, &texts, &n,
				      &b->err));
		assert_int_equal(n, 2);
		for (int i = 0; i < n; i++) {
			sha256_of(item.key, texts[i], strlen(texts[i]));
			must(b, b->o->vectors_have(b->s, fp, &item.key, 1,
						   &have, &b->err));
			assert_int_equal(have, texts[i][0] != 'g');
			item.passages = &p[i].id;
			if (!have)
				continue;
			begin(b);
			must(b, b->o->vectors_put(b->s, fp, &item, 1,
						  &b->err));
			commit(b);
		}
		assert_int_equal(pending(b, fp), 1);
		no_problems(b);
	}
}

static void test_store_vec__newest_are_embedded_first(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		struct store_file f = { .path = "MEMORY.md", .curated = true,
					.date = DATE_NONE };
		struct note_opts o = NOTE_OPTS_DEFAULT;
		struct store_passage *p;
		const char **texts;
		struct note note;
		int fp, n;

		begin(b);
		put_at(b, "x/2026-01-01.md", "old\n", 20454);
		put_at(b, "x/2026-03-01.md", "新的\n", 20513);
		put_at(b, "x/topic.md", "undated\n", DATE_NONE);
		must(b, note_parse(&note, &b->a, "curated\n", 8, &o, &b->err));
		must(b, b->o->file_put(b->s, &f, &note, &b->err));
		commit(b);
		fp = fingerprint(b, "m");
		must(b, b->o->pending(b->s, &b->a, fp, 9, &p, &texts, &n,
				      &b->err));
		assert_int_equal(n, 4);
		assert_string_equal(texts[0], "curated");
		assert_string_equal(texts[1], "新的");
		assert_string_equal(texts[2], "old");
		assert_string_equal(texts[3], "undated");
	}
}

static void remove_files(struct box *b, int64_t from, int64_t to)
{
	begin(b);
	for (int64_t id = from; id <= to; id++)
		must(b, b->o->file_remove(b->s, id, &b->err));
	commit(b);
}

/* The cache is bounded by what it is told, too. */
static void test_store_vec__the_cache_is_bounded(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		int64_t before;
		int fp;

		fill_many(b, 0, MANY);
		fp = fingerprint(b, "m");
		embed_all(b, fp);
		before = info(b).bytes_vectors;
		remove_files(b, 1, MANY / 2);
		must(b, b->o->maintain(b->s, 1, &b->err));
		assert_true(info(b).bytes_vectors < before * 11 / 20);
		no_problems(b);
	}
}

static void test_store_vec__the_cache_and_the_file_shrink(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		struct store_scored hit[4];
		struct store_mean *means;
		int64_t before, rows = 0;
		int fp, n;

		fill_many(b, 0, MANY);
		fp = fingerprint(b, "m");
		embed_all(b, fp);
		before = info(b).bytes_vectors;
		/* A few that are gone may come back. */
		remove_files(b, 1, MANY / 10);
		must(b, b->o->maintain(b->s, 5000, &b->err));
		assert_true(info(b).bytes_vectors >= before);
		no_problems(b);
		/* The most that are gone are not kept beside the rest. */
		remove_files(b, MANY / 10 + 1, MANY - 100);
		must(b, b->o->maintain(b->s, 5000, &b->err));
		assert_true(info(b).bytes_vectors < before / 5);
		assert_int_equal(info(b).embedded, 100);
		no_problems(b);
		assert_int_equal(nearest(b, fp, "line number 1499 here", NULL,
					 hit, 4), 4);
		assert_true(hit[0].score > 0.99f);
		must(b, b->o->means(b->s, &b->a, fp, &means, &n, &b->err));
		for (int i = 0; i < n; i++)
			rows += means[i].count;
		assert_int_equal(rows, 100);
		/* A reader opened before the move finds them too. */
		fill_many(b, 2000, 2300);
		embed_all(b, fp);
		no_problems(b);
		box_reopen(b, STORE_READ);
		assert_int_equal(nearest(b, fp, "line number 2299 here", NULL,
					 hit, 1), 1);
		assert_true(hit[0].score > 0.99f);
	}
}

static void test_store_vec__a_snapshot_outlives_compaction(void **state)
{
	(void)state;
	EACH_BACKEND(b) {
		struct store_opts o = { b->dir, STORE_READ, 0, TERM_VERSION,
					NOTE_VERSION, false };
		struct box old = *b;
		struct store_scored hit[4];
		int fp;

		fill_many(b, 0, MANY);
		fp = fingerprint(b, "m");
		embed_all(b, fp);
		must(b, b->o->open(&old.s, &o, &b->err));
		must(b, b->o->read_begin(old.s, &b->err));
		begin(b);
		for (int64_t id = 1; id <= MANY - 100; id++)
			must(b, b->o->file_remove(b->s, id, &b->err));
		commit(b);
		must(b, b->o->maintain(b->s, 50, &b->err));
		fill_many(b, 3000, 3400);
		embed_all(b, fp);
		for (int i = 1; i < MANY; i += 301) {
			char text[64];

			snprintf(text, sizeof(text), i % 3 ?
				 "line number %d here" : "第%d行文字在这里", i);
			assert_int_equal(nearest(&old, fp, text, NULL, hit, 1),
					 1);
			/* Vectors whose marks went are not in the pool, but
			 * none is taken for another. */
			if (i >= MANY - 100)
				assert_true(hit[0].score > 0.99f);
		}
		b->o->read_end(old.s);
		assert_int_equal(nearest(&old, fp, "line number 3100 here",
					 NULL, hit, 1), 1);
		assert_true(hit[0].score > 0.99f);
		b->o->close(old.s);
	}
}
