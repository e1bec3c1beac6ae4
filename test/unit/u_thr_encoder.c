/* One encoder used by several threads at once, and with threads of its own. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base_tmp.h"
#include "encoder/encoder.h"
#include "model_build.h"

#define TEXTS 60
#define DIMS 64

static const char *const texts[] = { "ab the 中文", "记忆 abab", "", "a b c",
				     "the the the 中文 中 文 记忆 ab ab ab ab" };

struct caller {
	struct encoder *e;
	int threads;
	float out[TEXTS * DIMS];
	int rc;
};

static void *call(void *arg)
{
	struct caller *c = arg;
	const char *t[TEXTS];
	size_t lens[TEXTS];

	for (size_t i = 0; i < TEXTS; i++) {
		t[i] = texts[i % 5];
		lens[i] = strlen(t[i]);
	}
	c->rc = encoder_embed(c->e, t, lens, TEXTS, c->out, c->threads, NULL,
			      NULL, NULL);
	return NULL;
}

static void test_thr_encoder__callers_share_a_model(void **state)
{
	static struct caller callers[3];
	struct remem_err err = { 0 };
	struct gguf_build b;
	struct encoder *e;
	pthread_t ids[3];
	struct tmp t;

	(void)state;
	tmp_begin(&t);
	build_model(&b);
	build_write(b.p, b.len, tmp_path(&t, "m.gguf"));
	assert_int_equal(encoder_open(&e, t.path, &err), 0);
	for (int i = 0; i < 3; i++) {
		callers[i].e = e;
		callers[i].threads = 1 + i * 2;
		assert_int_equal(pthread_create(&ids[i], NULL, call,
						&callers[i]), 0);
	}
	for (int i = 0; i < 3; i++) {
		assert_int_equal(pthread_join(ids[i], NULL), 0);
		assert_int_equal(callers[i].rc, 0);
		for (size_t k = 0; k < TEXTS * DIMS; k++)
			assert_true(callers[i].out[k] - callers[0].out[k] <
				    1e-5f);
	}
	encoder_free(e);
	build_release(&b);
	tmp_end(&t);
}

static bool stop_third(void *ctx)
{
	return ++*(int *)ctx >= 3; /* asked by one thread at a time */
}

static void test_thr_encoder__cancel_ends_all_threads(void **state)
{
	const char *t[TEXTS];
	size_t lens[TEXTS];
	struct remem_err err = { 0 };
	float out[TEXTS * DIMS];
	struct gguf_build b;
	struct encoder *e;
	struct tmp tmp;

	(void)state;
	tmp_begin(&tmp);
	build_model(&b);
	build_write(b.p, b.len, tmp_path(&tmp, "m.gguf"));
	assert_int_equal(encoder_open(&e, tmp.path, &err), 0);
	for (size_t i = 0; i < TEXTS; i++) {
		t[i] = texts[4];
		lens[i] = strlen(t[i]);
	}
	for (int i = 0; i < 20; i++) {
		int asked = 0;

		assert_int_equal(encoder_embed(e, t, lens, TEXTS, out, 4,
					       stop_third, &asked, &err),
				 REMEM_ECANCELLED);
	}
	encoder_free(e);
	build_release(&b);
	tmp_end(&tmp);
}
