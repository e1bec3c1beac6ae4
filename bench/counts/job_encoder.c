/* The builtin model: a question of 17 tokens, and a batch of passages. */
#include <stdio.h>
#include <string.h>

#include "encoder/encoder.h"
#include "jobs.h"

#define MODEL "build/share/remem/models/multilingual-e5-small-q4_0.gguf"
#define TEXTS 8
#define DIMS 384

static const char question[] = "query: where did we put the spare key of the "
			       "office in Berlin";
static struct encoder *e;
static char texts[TEXTS][512];
static float out[TEXTS * DIMS];

static void embed(const char *const *t, size_t n)
{
	struct remem_err err;
	size_t lens[TEXTS];

	for (size_t i = 0; i < n; i++)
		lens[i] = strlen(t[i]);
	if (encoder_embed(e, t, lens, n, out, 1, NULL, NULL, &err))
		job_die("embed", err.message);
}

void job_encoder_query_begin(const char *d)
{
	const char *t = question;
	struct remem_err err;

	(void)d;
	if (encoder_open(&e, MODEL, &err))
		job_die(MODEL, err.message);
	embed(&t, 1);
}

void job_encoder_query(void)
{
	const char *t = question;

	embed(&t, 1);
}

void job_encoder_batch_begin(const char *d)
{
	static const char *const words[] = { " gateway", " timeout", " the",
		"数据库", "缓存失效", " deployed", "今天", " orderly" };

	job_encoder_query_begin(d);
	for (int i = 0; i < TEXTS; i++) {
		strcpy(texts[i], "passage:");
		for (int w = 0; w < 10 + 3 * i; w++)
			strcat(texts[i], words[job_random() % 8]);
	}
}

void job_encoder_batch(void)
{
	const char *t[TEXTS];

	for (int i = 0; i < TEXTS; i++)
		t[i] = texts[i];
	embed(t, TEXTS);
}
