/* What single parts of remem reach: terms, the scan, the builtin model. */
#include <string.h>

#include "base/alloc.h"
#include "cli/bench_machine.h"
#include "encoder/encoder.h"
#include "store/scan.h"
#include "text/term.h"

#define SCAN_ROWS 200000u
#define SCAN_DIMS 384u

static volatile int64_t sink;

static double limit_of(const struct machine *m, const char *name)
{
	for (size_t i = 0; i < m->count; i++)
		if (!strcmp(m->rows[i].name, name))
			return m->rows[i].value;
	return 0;
}

static int count_term(void *ctx, const struct term *t)
{
	*(int64_t *)ctx += t->len;
	return 0;
}

static void terms(struct machine *m)
{
	struct buf b = BUF_INIT(0);
	int64_t n = 0, start;

	for (unsigned i = 0; i < 500; i++)
		bench_note(&b, i);
	start = clock_mono_ns();
	term_cut(buf_str(&b), b.len, count_term, &n);
	bench_add(m, "terms", (double)b.len / 1e6 / bench_seconds(start),
		  "MB/s", 0);
	sink = n;
	buf_release(&b);
}

static void scan(struct machine *m)
{
	const struct scan_kernel *k = scan_kernel();
	size_t bytes = (size_t)SCAN_ROWS * SCAN_DIMS;
	int8_t *rows = mem_zalloc_aligned(64, bytes);
	int32_t *out = mem_zarray(SCAN_ROWS, sizeof(*out));
	_Alignas(64) int8_t q[SCAN_DIMS];
	double best = 0;

	if (rows && out) {
		memset(rows, 3, bytes);
		memset(q, 2, sizeof(q));
		for (int turn = 0; turn < 3; turn++) {
			int64_t start = clock_mono_ns();
			double rate;

			k->dots(out, rows, SCAN_ROWS, SCAN_DIMS, q);
			rate = (double)bytes / 1e9 / bench_seconds(start);
			best = rate > best ? rate : best;
			sink += out[turn];
		}
		bench_add(m, "scan of int8 vectors", best, "GB/s",
			  limit_of(m, "memory read, one thread"));
	}
	mem_free_aligned(rows);
	mem_free(out);
}

static int embed(struct encoder *e, const char *text, size_t len)
{
	float *v = mem_array((size_t)encoder_dims(e), sizeof(*v));
	int rc = v ? encoder_embed(e, &text, &len, 1, v, 1, NULL, NULL, NULL) :
		     REMEM_ENOMEM;

	mem_free(v);
	return rc;
}

static void speed(struct machine *m, struct encoder *e)
{
	static const char question[] = "query: who is responsible for 支付?";
	struct buf b = BUF_INIT(0);
	int64_t start, tokens = 0;

	start = clock_mono_ns();
	embed(e, question, sizeof(question) - 1);
	bench_add(m, "a question by the builtin model, first",
		  bench_seconds(start) * 1e3, "ms", 0);
	start = clock_mono_ns();
	embed(e, question, sizeof(question) - 1);
	bench_add(m, "a question by the builtin model",
		  bench_seconds(start) * 1e3, "ms", 0);
	start = clock_mono_ns();
	for (unsigned i = 0; i < 50 && bench_seconds(start) < 3; i++) {
		buf_reset(&b);
		bench_note(&b, i);
		buf_truncate(&b, 600); /* about 200 tokens */
		embed(e, buf_str(&b), b.len);
		tokens += encoder_tokens(e, buf_str(&b), b.len, NULL, 0, NULL);
	}
	bench_add(m, "builtin model, one thread",
		  (double)tokens / bench_seconds(start), "tokens/s", 0);
	buf_release(&b);
}

/* The path is asked of the library, as a program would. */
static const char *model_path(struct machine *m, char out[4096])
{
	struct remem_open_opts o;
	struct remem *r = NULL;
	char *json = NULL, *at, *end;

	out[0] = '\0';
	if (cli_open_opts(m->c, &o))
		return out;
	o.workspace = m->notes;
	if (!remem_open(&r, &o, &m->err) &&
	    !remem_models(r, "list", NULL, &json, &m->err) &&
	    (at = strstr(json, "\"path\":\"")) &&
	    (end = strchr(at + 8, '"')) && end - at - 8 < 4096) {
		memcpy(out, at + 8, (size_t)(end - at) - 8);
		out[end - at - 8] = '\0';
	}
	remem_free(json);
	remem_close(r);
	return out;
}

static void model(struct machine *m)
{
	char path[4096];
	struct encoder *e = NULL;
	int64_t start;

	if (!model_path(m, path)[0])
		return;
	start = clock_mono_ns();
	if (encoder_open(&e, path, NULL))
		return;
	bench_add(m, "load of the builtin model", bench_seconds(start) * 1e3,
		  "ms", 0);
	speed(m, e);
	encoder_free(e);
}

void bench_parts(struct machine *m)
{
	terms(m);
	scan(m);
	model(m);
}
