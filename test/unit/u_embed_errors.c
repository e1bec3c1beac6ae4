/*
 * What each bad answer costs: one table says what the provider answers, how
 * many requests that may take, and what is told. Twelve notes are one request
 * and one of the self check, so 2 is what an undisturbed run needs.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "embed_fake.h"

#define NOTES 12
#define ALWAYS -1
#define MINUTE_MS 60000

struct bad {
	int status, times; /* so often, then good answers */
	int retry_after_ms; /* 0: not said */
	const char *body;
	int requests; /* in all, exactly */
	bool ends; /* the run, with these words */
	const char *words;
};

static const struct bad table[] = {
	{ 408, 1, 0, "", 3, false, NULL },
	{ 409, 1, 0, "", 3, false, NULL },
	{ 425, 1, 0, "", 3, false, NULL },
	{ 429, 1, 0, "", 3, false, NULL },
	{ 429, 3, 7000, "", 5, false, NULL },
	{ 429, 5, 0, "{\"error\":{\"code\":\"rate_limit_exceeded\"}}", 7,
	  false, NULL },
	{ 500, 1, 0, "oops", 3, false, NULL },
	{ 502, 2, 0, "<html>bad gateway</html>", 4, false, NULL },
	{ 503, 3, 0, "", 5, false, NULL },
	{ 504, 1, 0, "", 3, false, NULL },
	{ 529, 1, 0, "{\"error\":{\"type\":\"overloaded_error\"}}", 3, false,
	  NULL },
	{ 401, ALWAYS, 0, "{\"error\":\"bad key sk-secret-1234567\"}", 1, true,
	  "HTTP 401" },
	{ 402, ALWAYS, 0, "{\"error\":\"余额不足\"}", 1, true, "HTTP 402" },
	{ 403, ALWAYS, 0, "", 1, true, "HTTP 403" },
	{ 404, ALWAYS, 0, "{\"error\":\"no such model\"}", 1, true,
	  "HTTP 404" },
	{ 405, ALWAYS, 0, "", 1, true, "HTTP 405" },
	{ 501, ALWAYS, 0, "", 1, true, "HTTP 501" },
	{ 429, ALWAYS, 0, "", 6, true, "too fast" },
	{ 429, ALWAYS, 2 * MINUTE_MS, "", 1, true, "too fast" },
	{ 429, ALWAYS, 0, "{\"error\":{\"code\":\"insufficient_quota\"}}", 1,
	  true, "account is exhausted" },
	{ 500, ALWAYS, 0, "", 6, true, "HTTP 500" },
	{ 529, ALWAYS, 0, "", 6, true, "HTTP 529" },
	/* From the start: the request, and a tiny one with and without base64. */
	{ 400, ALWAYS, 0, "{\"message\":\"参数错误\"}", 3, true, "HTTP 400" },
	{ 413, ALWAYS, 0, "", 3, true, "HTTP 413" },
	{ 422, ALWAYS, 0, "{\"detail\":[{\"msg\":\"x\"}]}", 3, true,
	  "HTTP 422" },
};

static int done[NOTES];

static int on_done(void *ctx, const struct embed_item *const *items,
		   const float *vecs, size_t n, int dims)
{
	(void)ctx;
	(void)vecs;
	(void)dims;
	for (size_t i = 0; i < n; i++)
		done[items[i]->tag]++;
	return 0;
}

static void on_refused(void *ctx, const struct embed_item *item,
		       const char *reason)
{
	(void)ctx;
	(void)item;
	fail_msg("refused: %s", reason);
}

static int64_t ledger_calls;

static void on_call(void *ctx, const struct spend *s)
{
	(void)ctx;
	/* A refusal is not paid for. */
	assert_true(s->status < 300 || !s->tokens);
	ledger_calls++;
}

static int run(struct fake *f, struct remem_err *err)
{
	struct embed_config c = {
		.provider = "openai-compatible",
		.model = "m",
		.base_url = "http://127.0.0.1:1/v1",
		.api_key = "sk-secret-1234567",
		.wait_scale = 1e-4,
		.transport = fake_transport,
		.transport_ctx = f,
		.spend = { .settle = on_call },
	};
	struct embed_item items[NOTES];
	char texts[NOTES][64];
	struct embedder *e;
	int rc;

	for (int i = 0; i < NOTES; i++) {
		snprintf(texts[i], sizeof(texts[i]), "第 %d 条笔记 note", i);
		items[i] = (struct embed_item){ texts[i], strlen(texts[i]), i,
						NULL };
	}
	assert_int_equal(embedder_open(&e, &c, err), 0);
	rc = embedder_documents(e, items, NOTES, on_done, on_refused, NULL,
				NULL, err);
	embedder_free(e);
	return rc;
}

static void check(const struct bad *b)
{
	struct remem_err err = { 0 };
	struct fake f;
	int rc;

	fake_init(&f);
	f.knows_base64 = true;
	f.status = b->status;
	f.times = b->times;
	f.body = b->body;
	f.retry_after_ms = b->retry_after_ms ? b->retry_after_ms : -1;
	memset(done, 0, sizeof(done));
	ledger_calls = 0;
	rc = run(&f, &err);
	if (f.requests != b->requests || !rc == b->ends)
		print_message("# %d %s: %d requests, %s\n", b->status, b->body,
			      f.requests, err.message);
	assert_int_equal(f.requests, b->requests);
	assert_int_equal(ledger_calls, f.requests);
	assert_true(!rc == !b->ends);
	for (int i = 0; i < NOTES; i++) /* none lost, none paid for twice */
		assert_int_equal(done[i], !b->ends);
	if (b->ends)
		assert_non_null(strstr(err.message, b->words));
	assert_null(strstr(err.message, "sk-secret"));
	fake_release(&f);
}

static void test_embed_errors__each_costs_what_the_table_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		check(&table[i]);
}
