/* The builtin model: the reference's vectors, windows, threads, bad models. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cpu.h"
#include "base/json.h"
#include "base_tmp.h"
#include "encoder/encoder.h"
#include "encoder/kernel.h"
#include "model_build.h"

#define DIMS 384

/* Sanitizers make the kernels many times slower: fewer of the same texts. */
#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SPARSE 10
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SPARSE 10
#endif
#ifndef SPARSE
#define SPARSE 1
#endif

static struct encoder *open_real(void)
{
	struct encoder *e;
	struct remem_err err = { 0 };

	if (encoder_open(&e, model_path(), &err))
		fail_msg("%s (make setup makes it)", err.message);
	return e;
}

static double cosine(const float *a, const float *b, int n)
{
	double dot = 0, aa = 0, bb = 0;

	for (int i = 0; i < n; i++) {
		dot += (double)a[i] * b[i];
		aa += (double)a[i] * a[i];
		bb += (double)b[i] * b[i];
	}
	return dot / sqrt(aa * bb);
}

static void embed(struct encoder *e, const char *text, size_t len, float *out)
{
	struct remem_err err = { 0 };

	if (encoder_embed(e, &text, &len, 1, out, 1, NULL, NULL, &err))
		fail_msg("%s", err.message);
}

/* ---- the reference ---------------------------------------------------- */

static int base64_digit(int c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmn"
				     "opqrstuvwxyz0123456789+/";
	const char *p = c ? strchr(digits, c) : NULL;

	return p ? (int)(p - digits) : -1;
}

static void read_vector(float *out, const char *s)
{
	uint32_t bits = 0;
	int n = 0, have = 0, count = 0;
	uint8_t bytes[DIMS * 2];

	for (; base64_digit(*s) >= 0; s++) {
		bits = bits << 6 | (uint32_t)base64_digit(*s);
		have += 6;
		if (have < 8)
			continue;
		have -= 8;
		assert_true(count < DIMS * 2);
		bytes[count++] = (uint8_t)(bits >> have);
	}
	assert_int_equal(count, DIMS * 2);
	for (; n < DIMS; n++)
		out[n] = kernel_half((uint16_t)(bytes[2 * n] |
						bytes[2 * n + 1] << 8));
}

static void check_line(struct encoder *e, yyjson_val *r)
{
	const char *prefix = json_str(r, "prefix", "");
	yyjson_val *text = yyjson_obj_get(r, "text");
	size_t before = strlen(prefix), len = yyjson_get_len(text);
	char *whole = malloc(before + len + 1);
	float want[DIMS], got[DIMS];

	assert_non_null(whole);
	memcpy(whole, prefix, before);
	memcpy(whole + before, yyjson_get_str(text), len);
	embed(e, whole, before + len, got);
	read_vector(want, json_str(r, "vector_f16le", ""));
	if (cosine(want, got, DIMS) < 0.999)
		fail_msg("cosine %.5f of '%.*s'", cosine(want, got, DIMS),
			 (int)(before + len), whole);
	free(whole);
}

/* Every step-th of the lines of at most max_tokens. */
static int check_reference(long max_tokens, int step)
{
	FILE *f = fopen("test/fixtures/e5-small.jsonl", "r");
	struct encoder *e = open_real();
	struct remem_err err = { 0 };
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;
	int lines = 0, fitting = 0;

	assert_non_null(f);
	while ((len = getline(&line, &cap, f)) > 0) {
		yyjson_doc *doc;
		yyjson_val *r;

		assert_int_equal(json_read(&doc, line, (size_t)len, false,
					   "reference", &err), 0);
		r = yyjson_doc_get_root(doc);
		if (json_int(r, "tokens", 0) <= max_tokens &&
		    fitting++ % step == 0) {
			check_line(e, r);
			lines++;
		}
		yyjson_doc_free(doc);
	}
	free(line);
	fclose(f);
	encoder_free(e);
	return lines;
}

static void test_encoder__vectors_are_those_of_the_reference(void **state)
{
	(void)state;
	if (cpu_best() != CPU_PORTABLE)
		assert_true(check_reference(100000, SPARSE) >= 152 / SPARSE);
}

/* The slower ones on fewer lines. */
static void test_encoder__every_kernel_gives_them(void **state)
{
	static const char *const levels[] = { "amx", "avx512vnni", "avxvnni",
					      "avx2", "neon", "neondot" };

	(void)state;
	for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++)
		if (!cpu_limit(levels[i]))
			assert_true(check_reference(40, 3 * SPARSE) > 40 / SPARSE);
	cpu_limit(NULL);
}

static void test_encoder__portable_vectors_are_those_of_the_reference(
	void **state)
{
	(void)state;
	assert_int_equal(cpu_limit("portable"), 0);
	assert_true(check_reference(12, SPARSE > 1 ? 40 : 8) > 0);
	cpu_limit(NULL);
}

static void test_encoder__model_says_what_it_is(void **state)
{
	struct encoder *e = open_real();

	(void)state;
	assert_int_equal(encoder_dims(e), DIMS);
	assert_int_equal(encoder_max_tokens(e), 510);
	assert_string_equal(encoder_model(e), "multilingual-e5-small");
	assert_int_equal(strlen(encoder_id(e)), 64);
	encoder_free(e);
	encoder_free(NULL);
}

static void test_encoder__meaning_crosses_languages(void **state)
{
	static const char question[] = "query: where do we walk the dog";
	static const char answer[] = "passage: 我们每天早上在公园遛狗";
	static const char other[] = "passage: 服务器的超时改成四十五秒";
	struct encoder *e = open_real();
	float q[DIMS], a[DIMS], o[DIMS];

	(void)state;
	embed(e, question, strlen(question), q);
	embed(e, answer, strlen(answer), a);
	embed(e, other, strlen(other), o);
	assert_true(cosine(q, a, DIMS) > cosine(q, o, DIMS) + 0.02);
	encoder_free(e);
}

static void test_encoder__tokens_are_counted_beyond_the_room(void **state)
{
	static const char text[] = "query: 今天天气很好，我们去公园散步吧。";
	struct encoder *e = open_real();
	struct remem_err err = { 0 };
	int32_t ids[4] = { -1, -1, -1, -1 };

	(void)state;
	assert_int_equal(encoder_tokens(e, text, sizeof(text) - 1, ids, 3,
					&err), 13);
	assert_int_equal(ids[0], 41);
	assert_int_equal(ids[3], -1);
	assert_int_equal(encoder_tokens(e, text, sizeof(text) - 1, NULL, 0,
					&err), 13);
	assert_int_equal(encoder_tokens(e, NULL, 0, NULL, 0, &err), 0);
	encoder_free(e);
}

/* ---- many texts ------------------------------------------------------- */

#define TEXTS (SPARSE > 1 ? 20 : 40)
#define MOST_TEXTS 40

struct texts {
	char *text[MOST_TEXTS];
	size_t len[MOST_TEXTS];
};

/* Empty ones, short ones and ones of several windows, half of them Chinese. */
static void make_texts(struct texts *t)
{
	static const char *const parts[] = { "the meeting moved to Monday. ",
					     "会议改到星期一下午。" };

	for (size_t i = 0; i < TEXTS; i++) {
		const char *part = parts[i % 2];
		size_t times = i % 13 == 12 ? 60 : i * 7 % 12;

		t->len[i] = times * strlen(part);
		t->text[i] = malloc(t->len[i] + 1);
		assert_non_null(t->text[i]);
		for (size_t k = 0; k < times; k++)
			memcpy(t->text[i] + k * strlen(part), part,
			       strlen(part));
		if (times)
			t->text[i][0] = (char)('a' + i % 26);
	}
}

static void free_texts(struct texts *t)
{
	for (size_t i = 0; i < TEXTS; i++)
		free(t->text[i]);
}

static void test_encoder__batches_and_threads_change_nothing(void **state)
{
	static float one[MOST_TEXTS * DIMS], all[MOST_TEXTS * DIMS];
	struct encoder *e = open_real();
	struct remem_err err = { 0 };
	struct texts t;

	(void)state;
	make_texts(&t);
	for (size_t i = 0; i < TEXTS; i++)
		embed(e, t.text[i], t.len[i], one + i * DIMS);
	for (int threads = 0; threads <= 4; threads += 2) {
		memset(all, 0xff, sizeof(all));
		assert_int_equal(encoder_embed(e, (const char *const *)t.text,
					       t.len, TEXTS, all, threads,
					       NULL, NULL, &err), 0);
		for (size_t i = 0; i < TEXTS * DIMS; i++)
			assert_true(fabsf(one[i] - all[i]) < 1e-6f);
	}
	free_texts(&t);
	encoder_free(e);
}

static void test_encoder__vectors_have_length_1(void **state)
{
	struct encoder *e = open_real();
	float v[DIMS], w[DIMS];
	double sum = 0;

	(void)state;
	embed(e, "", 0, v);
	embed(e, " \n\t", 3, w);
	for (int i = 0; i < DIMS; i++)
		sum += (double)v[i] * v[i];
	assert_true(fabs(sum - 1) < 1e-5);
	assert_memory_equal(v, w, sizeof(v));
	encoder_free(e);
}

static void test_encoder__no_text_is_no_work(void **state)
{
	struct encoder *e = open_real();
	struct remem_err err = { 0 };

	(void)state;
	assert_int_equal(encoder_embed(e, NULL, NULL, 0, NULL, 0, NULL, NULL,
				       &err), 0);
	encoder_free(e);
}

/* ---- over the tiny model ---------------------------------------------- */

static struct encoder *open_bytes(struct tmp *t, const void *p, size_t len,
				  int *rc, struct remem_err *err)
{
	struct encoder *e;

	build_write(p, len, tmp_path(t, "m.gguf"));
	*rc = encoder_open(&e, t->path, err);
	assert_true(*rc ? !e && err->message[0] : !!e);
	return e;
}

static void test_encoder__text_beyond_the_cap_is_not_read(void **state)
{
	size_t len = ENCODER_TEXT_BYTES + 300000;
	char *text = malloc(len);
	struct remem_err err = { 0 };
	struct gguf_build b;
	struct encoder *e;
	float v[64], w[64];
	struct tmp t;
	int rc;

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i + 3 <= len; i += 3)
		memcpy(text + i, i % 900 ? "中" : "ab ", 3);
	tmp_begin(&t);
	build_model(&b);
	e = open_bytes(&t, b.p, b.len, &rc, &err);
	assert_int_equal(rc, 0);
	embed(e, text, len, v);
	memset(text + ENCODER_TEXT_BYTES, 'b', 300000);
	embed(e, text, len, w);
	assert_memory_equal(v, w, sizeof(v));
	encoder_free(e);
	build_release(&b);
	tmp_end(&t);
	free(text);
}

struct asked {
	int times, until;
};

static bool say_stop(void *ctx)
{
	struct asked *a = ctx;

	return ++a->times >= a->until;
}

static void test_encoder__it_can_be_cancelled(void **state)
{
	struct encoder *e = open_real();
	struct remem_err err = { 0 };
	struct texts t;
	static float out[MOST_TEXTS * DIMS];

	(void)state;
	make_texts(&t);
	for (int until = 1; until < 30; until += 14) {
		for (int threads = 1; threads <= 3; threads += 2) {
			struct asked a = { 0, until };

			assert_int_equal(
				encoder_embed(e, (const char *const *)t.text,
					      t.len, TEXTS, out, threads,
					      say_stop, &a, &err),
				REMEM_ECANCELLED);
			assert_true(a.times >= until);
		}
	}
	free_texts(&t);
	encoder_free(e);
}

static void test_encoder__failing_memory_is_reported(void **state)
{
	static const char *const texts[] = { "ab the 中文", "记忆", "" };
	static const size_t lens[] = { 13, 6, 0 };
	struct remem_err err = { 0 };
	struct gguf_build b;
	struct encoder *e;
	float out[3 * 64];
	struct tmp t;
	int rc = REMEM_ENOMEM;

	(void)state;
	tmp_begin(&t);
	build_model(&b);
	build_write(b.p, b.len, tmp_path(&t, "m.gguf"));
	for (long n = 1; rc; n++) {
		assert_true(n < 200);
		alloc_fail_at(n);
		rc = encoder_open(&e, t.path, &err);
		if (!rc) {
			rc = encoder_tokens(e, texts[0], 13, NULL, 0, &err) < 0;
			rc = encoder_embed(e, texts, lens, 3, out, 2, NULL,
					   NULL, &err) || rc ? REMEM_ENOMEM : 0;
		}
		alloc_fail_at(0);
		assert_true(rc == 0 || rc == REMEM_ENOMEM);
		encoder_free(e);
	}
	build_release(&b);
	tmp_end(&t);
}

/* Matrices may lie in the file as small or as large items. */
static void test_encoder__forms_of_the_file_give_the_same_vectors(void **state)
{
	const char *text = "the gateway";
	const size_t len = strlen(text);
	float vecs[2][64];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct gguf_build b;
		struct encoder *e;
		struct tmp t;

		build_small_items = i;
		build_model(&b);
		build_small_items = false;
		tmp_begin(&t);
		build_write(b.p, b.len, tmp_path(&t, "m.gguf"));
		build_release(&b);
		assert_int_equal(encoder_open(&e, tmp_path(&t, "m.gguf"), NULL),
				 0);
		assert_int_equal(encoder_embed(e, &text, &len, 1, vecs[i], 1,
					       NULL, NULL, NULL), 0);
		encoder_free(e);
		tmp_end(&t);
	}
	assert_memory_equal(vecs[0], vecs[1], sizeof(vecs[0]));
}

static void test_encoder__missing_model_is_not_found(void **state)
{
	struct encoder *e;
	struct remem_err err = { 0 };

	(void)state;
	assert_int_equal(encoder_open(&e, "/nowhere/模型.gguf", &err),
			 REMEM_ENOTFOUND);
	assert_null(e);
	assert_non_null(strstr(err.message, "/nowhere/模型.gguf"));
}

static void test_encoder__cut_models_are_refused(void **state)
{
	struct remem_err err = { 0 };
	struct gguf_build b;
	struct tmp t;
	int rc;

	(void)state;
	tmp_begin(&t);
	build_model(&b);
	for (size_t len = 0; len < b.len; len += 1 + len / 40) {
		assert_null(open_bytes(&t, b.p, len, &rc, &err));
		assert_int_equal(rc, REMEM_EFORMAT);
	}
	build_release(&b);
	tmp_end(&t);
}

/* Opened or refused, embedded or refused, but always answered. */
static void test_encoder__changed_models_are_survived(void **state)
{
	static const char *const texts[] = { "ab the 中文 x", "记忆 abab" };
	static const size_t lens[] = { 15, 11 };
	struct remem_err err = { 0 };
	struct gguf_build b;
	float out[2 * 1024];
	struct tmp t;
	uint32_t seed = 5;

	(void)state;
	tmp_begin(&t);
	build_model(&b);
	for (int i = 0; i < 1500 / SPARSE; i++) {
		struct encoder *e;
		size_t at;
		unsigned char old;
		int rc;

		seed = seed * 1664525u + 1013904223u;
		at = (seed >> 4) % b.len;
		if (i % 3) /* more often in the header */
			at %= 1500;
		old = b.p[at];
		b.p[at] = (unsigned char)(seed >> 24);
		e = open_bytes(&t, b.p, b.len, &rc, &err);
		if (e) {
			rc = encoder_embed(e, texts, lens, 2, out, 1, NULL,
					   NULL, &err);
			assert_true(!rc || rc == REMEM_EFORMAT);
		}
		encoder_free(e);
		b.p[at] = old;
	}
	build_release(&b);
	tmp_end(&t);
}

static void test_encoder__other_models_are_refused_with_advice(void **state)
{
	struct remem_err err = { 0 };
	struct gguf_build b = { 0 };
	struct tmp t;
	int rc;

	(void)state;
	tmp_begin(&t);
	build_string(&b, "general.architecture", "bert");
	build_finish(&b);
	open_bytes(&t, b.p, b.len, &rc, &err);
	assert_int_equal(rc, REMEM_EFORMAT);
	assert_non_null(strstr(err.action, "make-model.py"));
	build_release(&b);
	build_string(&b, "general.architecture", "llama");
	build_finish(&b);
	open_bytes(&t, b.p, b.len, &rc, &err);
	assert_int_equal(rc, REMEM_EFORMAT);
	assert_non_null(strstr(err.message, "llama"));
	build_release(&b);
	tmp_end(&t);
}
