/* The tokenizer: the reference's ids, odd text, hostile tables. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"
#include "encoder/unigram.h"
#include "model_build.h"

static struct gguf real;
static struct unigram u;

/* Opened once: the file is mapped, nothing is to be released in between. */
static const struct unigram *tokenizer(void)
{
	struct remem_err err = { 0 };

	if (!u.nodes && (gguf_open(&real, model_path(), &err) ||
			 unigram_init(&u, &real, &err)))
		fail_msg("%s (make setup makes it)", err.message);
	return &u;
}

/* All ids, in portions of `portion`; *n is how many. Freed by the caller. */
static int32_t *ids_of(const struct unigram *with, const char *text, size_t len,
		       size_t portion, size_t *n)
{
	struct unigram_run *r = malloc(sizeof(*r));
	int32_t *ids = malloc((len * 6 + 16) * sizeof(*ids));
	size_t got;

	assert_non_null(r);
	assert_non_null(ids);
	*n = 0;
	unigram_start(r, with, text, len);
	while ((got = unigram_next(r, ids + *n, portion)))
		*n += got;
	free(r);
	return ids;
}

static void expect(const char *text, size_t len, const int32_t *want, size_t n)
{
	size_t got;
	int32_t *ids = ids_of(tokenizer(), text, len, 510, &got);

	assert_int_equal(got, n);
	if (n)
		assert_memory_equal(ids, want, n * sizeof(*want));
	free(ids);
}

#define EXPECT(text, ...)                                                  \
	do {                                                               \
		static const int32_t want[] = { __VA_ARGS__ };             \
		expect(text, sizeof(text) - 1, want,                       \
		       sizeof(want) / sizeof(*want));                      \
	} while (0)

static void check_line(yyjson_val *r)
{
	const char *prefix = json_str(r, "prefix", "");
	yyjson_val *text = yyjson_obj_get(r, "text");
	yyjson_val *want = yyjson_obj_get(r, "ids"), *id;
	size_t len = yyjson_get_len(text), n, i, count;
	char *whole = malloc(strlen(prefix) + len + 1);
	int32_t *ids;

	assert_non_null(whole);
	memcpy(whole, prefix, strlen(prefix));
	memcpy(whole + strlen(prefix), yyjson_get_str(text), len);
	ids = ids_of(tokenizer(), whole, strlen(prefix) + len, 7, &n);
	assert_int_equal(n, json_int(r, "tokens", -1));
	if (yyjson_is_arr(want))
		yyjson_arr_foreach(want, i, count, id)
			assert_int_equal(ids[i], yyjson_get_int(id));
	free(ids);
	free(whole);
}

static void test_unigram__ids_are_those_of_the_reference(void **state)
{
	FILE *f = fopen("test/fixtures/e5-small.jsonl", "r");
	struct remem_err err = { 0 };
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;
	int lines = 0;

	(void)state;
	assert_non_null(f);
	while ((len = getline(&line, &cap, f)) > 0) {
		yyjson_doc *doc;

		assert_int_equal(json_read(&doc, line, (size_t)len, false,
					   "reference", &err), 0);
		check_line(yyjson_doc_get_root(doc));
		yyjson_doc_free(doc);
		lines++;
	}
	free(line);
	fclose(f);
	assert_int_equal(lines, 152);
}

static void test_unigram__blanks_make_no_tokens(void **state)
{
	(void)state;
	expect("", 0, NULL, 0);
	expect(" \t\r\n\xe3\x80\x80 ", 8, NULL, 0);
	EXPECT("query: ", 41, 1294, 12);
	EXPECT("  query:\n\n ", 41, 1294, 12);
}

static void test_unigram__broken_bytes_are_blanks(void **state)
{
	size_t a_len, b_len;
	int32_t *a = ids_of(tokenizer(), "公园\xff\xfe散步\xe4\xb8", 16, 99,
			    &a_len);
	int32_t *b = ids_of(tokenizer(), "公园  散步 ", 15, 99, &b_len);

	(void)state;
	assert_int_equal(a_len, b_len);
	assert_memory_equal(a, b, a_len * sizeof(*a));
	free(a);
	free(b);
	EXPECT("que\0ry:\x01 ", 41, 1294, 12);
}

static void test_unigram__special_tokens_in_text_are_text(void **state)
{
	static const char *const texts[] = { "<s>", "</s>", "<mask>", "<pad>",
					     "<unk>", "<s>中文</s>" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		size_t n;
		int32_t *ids = ids_of(tokenizer(), texts[i], strlen(texts[i]),
				      99, &n);

		assert_true(n > 1);
		for (size_t k = 0; k < n; k++)
			assert_true(ids[k] > 3 && ids[k] < 250001);
		free(ids);
	}
}

/* Of one kind of character, over many windows. */
static size_t count_of(const char *piece, size_t times)
{
	size_t len = strlen(piece), n;
	char *text = malloc(len * times);
	int32_t *ids;

	assert_non_null(text);
	for (size_t i = 0; i < times; i++)
		memcpy(text + i * len, piece, len);
	ids = ids_of(tokenizer(), text, len * times, 510, &n);
	free(ids);
	free(text);
	return n;
}

static void test_unigram__long_words_of_anything_end(void **state)
{
	(void)state;
	/* the blank mark and one unknown token */
	assert_int_equal(count_of("\xea\x99\xae", 100000), 2);
	assert_int_equal(count_of("\xf3\xb0\x80\x80", 100000), 2);
	assert_true(count_of("中", 100000) > 10000);
	assert_true(count_of("a", 300000) > 10000);
	assert_true(count_of("\xef\xb7\xba", 20000) > 20000); /* U+FDFA */
	assert_true(count_of("\xcc\x81\xcc\xa3", 100000) > 0); /* marks */
	assert_true(count_of("e\xcc\x81", 50000) > 1000);
	assert_true(count_of("\xe1\x84\x80\xe1\x85\xa1", 50000) > 1000);
}

/* The best cut of all pieces by its definition, over the whole text at once. */
static double best_score(const struct unigram *with, const char *text,
			 size_t len)
{
	struct normalize in;
	unsigned char *p = malloc(len * 8 + 8);
	double *best;
	size_t n = 0;
	uint32_t cp;
	double result;

	assert_non_null(p);
	memcpy(p, "\xe2\x96\x81", 3);
	n = 3;
	normalize_init(&in, &with->map, text, len);
	while (normalize_next(&in, &cp)) {
		if (cp == ' ')
			cp = 0x2581;
		n += (size_t)utf8_encode((char *)p + n, cp);
	}
	best = malloc((n + 1) * sizeof(*best));
	assert_non_null(best);
	for (size_t i = 0; i <= n; i++)
		best[i] = i ? -1e30 : 0;
	for (size_t i = 0; i < n; i++) {
		size_t node = with->root[p[i]];

		for (size_t at = i + 1; node && best[i] > -1e29; at++) {
			size_t child = with->nodes[node] >> 10, rank = 0;

			if (with->nodes[node] >> 8 & 1) {
				float s;

				rank = with->ranks[node / 32];
				for (size_t k = node / 32 * 32; k < node; k++)
					rank += with->nodes[k] >> 8 & 1;
				s = with->scores[with->ids[rank]];
				best[at] = fmax(best[at], best[i] + s);
			}
			node = 0;
			for (; at < n && child; child++) {
				if ((with->nodes[child] & 255) == p[at])
					node = child;
				if (with->nodes[child] >> 9 & 1)
					break;
			}
		}
	}
	result = best[n];
	free(best);
	free(p);
	return result;
}

/* Windows cut long words; the cut must cost nothing. */
static void test_unigram__windows_give_the_best_cut(void **state)
{
	static const char *const parts[] = {
		"今天", "天气", "很好", "我们", "去", "公园", "散步", "吧", "，",
		"記憶", "体", "系统", "的", "了", "是", "数据", "库", "学习"
	};
	const struct unigram *with = tokenizer();
	char text[12000];
	uint32_t seed = 7;
	size_t len = 0, n;
	double sum = 0;
	int32_t *ids;

	(void)state;
	while (len < sizeof(text) - 16) {
		const char *s;

		seed = seed * 1664525u + 1013904223u;
		s = parts[(seed >> 16) % 18];
		memcpy(text + len, s, strlen(s));
		len += strlen(s);
	}
	ids = ids_of(with, text, len, 510, &n);
	for (size_t i = 0; i < n; i++)
		sum += (double)with->scores[ids[i]];
	assert_true(fabs(sum - best_score(with, text, len)) < 0.01);
	free(ids);
}

static void test_unigram__portions_do_not_matter(void **state)
{
	static const char text[] = "Deploy 到 production 前要先跑 pytest -q，"
		"然后 git push。ꙮꙮ 😀 naïve café";
	size_t n, m;
	int32_t *whole = ids_of(tokenizer(), text, sizeof(text) - 1, 510, &n);

	(void)state;
	for (size_t portion = 1; portion < 40; portion++) {
		int32_t *ids = ids_of(tokenizer(), text, sizeof(text) - 1,
				      portion, &m);

		assert_int_equal(m, n);
		assert_memory_equal(ids, whole, n * sizeof(*ids));
		free(ids);
	}
	free(whole);
}

/* ---- over a tiny vocabulary ------------------------------------------- */

static void test_unigram__tiny_tables_work(void **state)
{
	/* blank, a, blank, 中文, 记, unknown */
	static const int32_t want[] = { 4, 5, 4, 16, 18, 3 };
	struct remem_err err = { 0 };
	struct gguf_build b;
	struct gguf g;
	struct unigram tiny;
	size_t n;
	int32_t *ids;

	(void)state;
	build_model(&b);
	assert_int_equal(gguf_parse(&g, b.p, b.len, &err), 0);
	assert_int_equal(unigram_init(&tiny, &g, &err), 0);
	ids = ids_of(&tiny, "a 中文记x忆", strlen("a 中文记x忆"), 99, &n);
	assert_int_equal(n, sizeof(want) / sizeof(*want));
	assert_memory_equal(ids, want, sizeof(want));
	free(ids);
	gguf_release(&g);
	build_release(&b);
}

/* Loops, ids out of range, NaN: any tables of a fitting size are survived. */
static void test_unigram__hostile_tables_are_survived(void **state)
{
	static const char text[] = "the ab 中文 记忆 \xe2\x96\x81 abababab";
	struct remem_err err = { 0 };
	struct gguf_build b;
	struct gguf g;
	struct unigram tiny;
	uint32_t seed = 3;

	(void)state;
	build_model(&b);
	assert_int_equal(gguf_parse(&g, b.p, b.len, &err), 0);
	for (int round = 0; round < 3000; round++) {
		uint32_t *nodes, *ids;
		float *scores;
		size_t n;

		assert_int_equal(unigram_init(&tiny, &g, &err), 0);
		nodes = malloc(tiny.n_nodes * 4);
		ids = malloc(tiny.n_ids * 4);
		scores = malloc(tiny.n_scores * 4);
		assert_true(nodes && ids && scores);
		memcpy(nodes, tiny.nodes, tiny.n_nodes * 4);
		memcpy(ids, tiny.ids, tiny.n_ids * 4);
		memcpy(scores, tiny.scores, tiny.n_scores * 4);
		for (int i = 0; i < 4; i++) {
			seed = seed * 1664525u + 1013904223u;
			nodes[(seed >> 8) % tiny.n_nodes] ^=
				1u << (seed >> 3) % 32;
			ids[(seed >> 4) % tiny.n_ids] ^= 1u << (seed >> 9) % 32;
			memcpy(scores + (seed >> 7) % tiny.n_scores, &seed, 4);
		}
		tiny.nodes = nodes;
		tiny.ids = ids;
		tiny.scores = scores;
		free(ids_of(&tiny, text, sizeof(text) - 1, 5, &n));
		free(nodes);
		free(ids);
		free(scores);
	}
	gguf_release(&g);
	build_release(&b);
}

static void test_unigram__tables_that_do_not_fit_are_refused(void **state)
{
	static const char *const keys[] = {
		"remem.tokenizer.trie.nodes", "remem.tokenizer.trie.ids",
		"remem.tokenizer.trie.ranks", "remem.tokenizer.map",
		"tokenizer.ggml.scores", "tokenizer.ggml.unknown_token_id",
		"remem.tokenizer.unknown_score"
	};
	struct remem_err err = { 0 };
	struct gguf_build b;
	struct unigram tiny;
	struct gguf g;

	(void)state;
	build_model(&b);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		struct gguf_key *k;

		assert_int_equal(gguf_parse(&g, b.p, b.len, &err), 0);
		k = (struct gguf_key *)gguf_find(&g, keys[i]);
		k->name = "gone";
		k->name_len = 4;
		assert_int_equal(unigram_init(&tiny, &g, &err), REMEM_EFORMAT);
		assert_non_null(strstr(err.message, keys[i]));
		gguf_release(&g);
	}
	assert_int_equal(gguf_parse(&g, b.p, b.len, &err), 0);
	((struct gguf_key *)gguf_find(&g, keys[2]))->count--;
	assert_int_equal(unigram_init(&tiny, &g, &err), REMEM_EFORMAT);
	gguf_release(&g);
	build_release(&b);
}
