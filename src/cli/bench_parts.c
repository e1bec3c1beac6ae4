/* What single parts of remem reach: terms, chunks, the builtin model. */
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "cli/bench_machine.h"
#include "encoder/encoder.h"
#include "encoder/kernel.h"
#include "text/note.h"
#include "text/term.h"

#define TEXT_NOTES 400

static volatile int64_t sink;

static int count_term(void *ctx, const struct term *t)
{
	*(int64_t *)ctx += t->len;
	return 0;
}

static double notes_cut(const struct buf *b)
{
	struct note_opts o = NOTE_OPTS_DEFAULT;
	struct arena a = ARENA_INIT;
	int64_t start = clock_mono_ns();
	struct note n;

	if (!note_parse(&n, &a, b->ptr, b->len, &o, NULL))
		sink += n.chunk_count;
	arena_release(&a);
	return (double)b->len / 1e6 / bench_seconds(start);
}

static void text(struct machine *m, enum bench_language language,
		 const char *terms, const char *chunks)
{
	struct buf b = BUF_INIT(0);
	int64_t n = 0, start;

	for (unsigned i = 0; i < TEXT_NOTES; i++)
		bench_note(&b, i, language);
	start = clock_mono_ns();
	term_cut(buf_str(&b), b.len, count_term, &n);
	bench_add(m, terms, (double)b.len / 1e6 / bench_seconds(start), "MB/s",
		  0);
	bench_add(m, chunks, notes_cut(&b), "MB/s",
		  bench_last(m, "sha-256"));
	sink += n;
	buf_release(&b);
}

/* ---- the builtin model ------------------------------------------------ */

#define QUESTIONS 20
#define PRODUCT_ROWS 1536
#define PRODUCT_INPUTS 384
#define PRODUCT_TOKENS 48
/* Multiply-adds of a token in all 72 matrices of the model. */
#define TOKEN_PRODUCTS (12.0 * (4 * 384 * 384 + 2 * 384 * 1536))

struct products {
	uint8_t nibbles[PRODUCT_ROWS * PRODUCT_INPUTS / 2];
	uint16_t scales[PRODUCT_ROWS * PRODUCT_INPUTS / KERNEL_BLOCK];
	float bias[PRODUCT_ROWS], out[PRODUCT_TOKENS * PRODUCT_ROWS];
	_Alignas(64) int8_t q[PRODUCT_TOKENS * KERNEL_PITCH];
	_Alignas(64) uint8_t panel[KERNEL_PANEL_BYTES(PRODUCT_INPUTS)];
	int32_t init[PRODUCT_TOKENS * KERNEL_BLOCK_PITCH];
	float scale[PRODUCT_TOKENS * KERNEL_BLOCK_PITCH];
};

/* The limit of the model: its matrix products, from the cache. */
static void products(struct machine *m)
{
	struct products *p = mem_zalloc_aligned(64, sizeof(*p));
	int64_t start;
	int n = 0;

	if (!p)
		return;
	{
		struct matrix w = { p->nibbles, p->scales, p->bias,
				    PRODUCT_ROWS, PRODUCT_INPUTS };
		struct acts a = { p->q, p->init, p->scale, PRODUCT_INPUTS,
				  p->panel };

		start = clock_mono_ns();
		do {
			kernel_best()->multiply(p->out, PRODUCT_ROWS, &w, &a,
						PRODUCT_TOKENS);
			n++;
		} while (bench_seconds(start) < 0.1);
	}
	bench_add(m, "matrix products alone", (double)n * PRODUCT_TOKENS *
		  PRODUCT_ROWS * PRODUCT_INPUTS / TOKEN_PRODUCTS /
		  bench_seconds(start), "tokens/s", 0);
	mem_free_aligned(p);
}

static int embed(struct encoder *e, const char *s, size_t len)
{
	float *v = mem_array((size_t)encoder_dims(e), sizeof(*v));
	int rc = v ? encoder_embed(e, &s, &len, 1, v, 1, NULL, NULL, NULL) :
		     REMEM_ENOMEM;

	mem_free(v);
	return rc;
}

static void questions(struct machine *m, struct encoder *e)
{
	static const char question[] =
		"query: who is responsible for the 支付网关 now?";
	const size_t len = sizeof(question) - 1;
	long tokens = encoder_tokens(e, question, len, NULL, 0, NULL) + 2;
	int64_t start = clock_mono_ns();

	embed(e, question, len);
	bench_add(m, "a question by the builtin model, first",
		  bench_seconds(start) * 1e3, "ms", 0);
	start = clock_mono_ns();
	for (int i = 0; i < QUESTIONS; i++)
		embed(e, question, len);
	bench_add(m, "a question by the builtin model",
		  bench_seconds(start) * 1e3 / QUESTIONS, "ms",
		  (double)tokens * 1e3 /
			  bench_last(m, "matrix products alone"));
}

/* Texts of about so many bytes, three to a token. */
static void texts(struct machine *m, struct encoder *e, const char *name,
		  size_t bytes)
{
	struct buf b = BUF_INIT(0);
	int64_t tokens = 0, spent = 0;

	for (unsigned i = 0; spent < 300000000; i++) {
		int64_t start;

		buf_reset(&b);
		bench_note(&b, i, BENCH_MIXED);
		buf_truncate(&b, bytes);
		start = clock_mono_ns();
		embed(e, buf_str(&b), b.len);
		spent += clock_mono_ns() - start;
		tokens += encoder_tokens(e, buf_str(&b), b.len, NULL, 0,
					 NULL) + 2;
	}
	bench_add(m, name, (double)tokens * 1e9 / (double)spent, "tokens/s",
		  bench_last(m, "matrix products alone"));
	buf_release(&b);
}

/* The path is asked of the library, as a program would. */
static const char *model_path(struct machine *m)
{
	struct remem *r = NULL;
	yyjson_doc *doc = NULL;
	const char *path = NULL;
	char *json = NULL;

	if (!bench_open(m, m->notes, &r) &&
	    !remem_models(r, "list", NULL, &json, &m->err) &&
	    !json_read(&doc, json, strlen(json), false, "models", &m->err)) {
		yyjson_val *list = yyjson_obj_get(yyjson_doc_get_root(doc),
						  "models");

		path = arena_strdup(&m->c->a, json_str(
			yyjson_arr_get_first(list), "path", ""));
	}
	yyjson_doc_free(doc);
	remem_free(json);
	remem_close(r);
	return path;
}

static void model(struct machine *m)
{
	const char *path = model_path(m);
	struct encoder *e = NULL;
	int64_t start = clock_mono_ns();

	if (!path || encoder_open(&e, path, NULL))
		return;
	bench_add(m, "load of the builtin model", bench_seconds(start) * 1e3,
		  "ms", 0);
	products(m);
	questions(m, e);
	texts(m, e, "builtin model, about 50 tokens", 150);
	texts(m, e, "builtin model, about 200 tokens", 600);
	texts(m, e, "builtin model, about 400 tokens", 1200);
	encoder_free(e);
}

void bench_parts(struct machine *m)
{
	text(m, BENCH_LATIN, "terms, Latin", "chunks, Latin");
	text(m, BENCH_HAN, "terms, Chinese", "chunks, Chinese");
	model(m);
}
