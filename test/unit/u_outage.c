/*
 * A day without the provider, played with the injected clock: each minute a
 * search by a process of its own, each hour a note and a run of the index in
 * the background. What is durable is the record of the provider and the index.
 */
#include "workspace.h"

#include "base/clock.h"
#include "embed_fake.h"
#include "index/index.h"
#include "search/search.h"
#include "text/term.h"

#define MINUTE INT64_C(60000)
#define DAY (24 * 60) /* minutes */
#define START INT64_C(1795939200000)

static struct {
	struct ws ws;
	struct fake fake;
	struct embed_health record; /* as the durable data keep it */
	int retry_wait_ms; /* the setting, 0: its default */
	struct index_opts index;
	struct index_report report;
	struct arena a;
	struct remem_err err;
	char dir[600];
	int found; /* searches that found the note by its words */
} w;

static void load(void *ctx, struct embed_health *h)
{
	(void)ctx;
	if (w.record.times)
		*h = w.record;
}

static void save(void *ctx, const struct embed_health *h)
{
	(void)ctx;
	if (h)
		w.record = *h;
	else
		memset(&w.record, 0, sizeof(w.record));
}

static struct embedder *process(void)
{
	struct embed_config c = { .provider = "openai-compatible",
				  .model = "m", .base_url = "http://h/v1",
				  .health_load = load, .health_save = save,
				  .retry_wait_ms = w.retry_wait_ms,
				  .transport = fake_transport,
				  .transport_ctx = &w.fake };
	struct embedder *e;

	assert_int_equal(embedder_open(&e, &c, &w.err), 0);
	return e;
}

static void index_now(void)
{
	w.index.embedder = process();
	assert_int_equal(index_run(&w.report, &w.a, &w.index, &w.err), 0);
	embedder_free(w.index.embedder);
}

static void search_now(struct search_answer *out, const char *query)
{
	struct store_opts so = { .dir = w.dir, .mode = STORE_READ,
				 .term_version = TERM_VERSION,
				 .note_version = NOTE_VERSION };
	struct search_opts o = { .mode = REMEM_MODE_HYBRID, .max_results = 6,
				 .min_score = -1, .vector_weight = 0.7,
				 .text_weight = 0.3, .candidate_multiplier = 4,
				 .snippet_chars = 200 };
	const struct store_ops *ops = store_backend("sqlite");
	struct embedder *e = process();
	struct store *s;

	o.embedder = e;
	o.filter.after = o.filter.before = DATE_NONE;
	assert_int_equal(ops->open(&s, &so, &w.err), 0);
	assert_int_equal(search_run(out, &w.a, s, query, strlen(query), &o,
				    &w.err), 0);
	ops->close(s);
	embedder_free(e);
}

static void begin(void)
{
	struct note_opts note = NOTE_OPTS_DEFAULT;

	memset(&w, 0, sizeof(w));
	ws_begin(&w.ws);
	fake_init(&w.fake);
	snprintf(w.dir, sizeof(w.dir), "%s/index", w.ws.tmp.dir);
	w.index = (struct index_opts){ .dir = w.dir, .backend = "sqlite",
				       .source = &w.ws.o, .note = note };
	ws_put(&w.ws, "MEMORY.md", "# Memory\n\n- the gateway waits\n- 网关等待\n");
	clock_set(START);
}

static void end(void)
{
	clock_set(-1);
	arena_release(&w.a);
	fake_release(&w.fake);
	ws_end(&w.ws);
}

/* One minute of the outage. */
static void minute(int i)
{
	struct search_answer a;
	char path[64], text[64];

	arena_reset(&w.a);
	clock_set(START + i * MINUTE);
	if (i % 60 == 30) {
		snprintf(path, sizeof(path), "memory/hour-%d.md", i / 60);
		snprintf(text, sizeof(text), "- hour %d 第%d小时\n", i / 60,
			 i / 60);
		ws_put(&w.ws, path, text);
		index_now();
		assert_non_null(w.report.degraded);
		assert_true(w.report.vectors_pending > 0);
	}
	search_now(&a, "gateway");
	assert_int_equal(a.mode, REMEM_MODE_TEXT);
	assert_string_equal(a.degraded_reason, "provider");
	assert_non_null(strstr(a.degraded_detail, "HTTP 503"));
	w.found += a.count > 0;
}

static void test_outage__a_day_costs_few_requests_and_nothing_is_lost(
	void **state)
{
	struct search_answer a;
	int before;

	(void)state;
	begin();
	index_now();
	assert_true(w.report.complete);
	w.fake.status = 503;
	w.fake.times = -1;
	w.fake.body = "";
	w.fake.retry_after_ms = 1;
	before = w.fake.requests;
	for (int i = 0; i < DAY; i++)
		minute(i);
	assert_int_equal(w.found, DAY);
	/* One each five minutes, some more at first. */
	assert_true(w.fake.requests - before <= DAY / 5 + 20);
	assert_true(w.fake.requests - before >= DAY / 10);
	print_message("# %d requests in a day's outage, %d searches\n",
		      w.fake.requests - before, DAY);

	/* It is back: within five minutes by itself, without a word. */
	w.fake.times = 0;
	clock_set(START + (DAY + 5) * MINUTE);
	search_now(&a, "gateway");
	assert_int_equal(a.mode, REMEM_MODE_HYBRID);
	assert_null(a.degraded_reason);
	assert_int_equal(w.record.times, 0);
	index_now();
	assert_null(w.report.degraded);
	assert_int_equal(w.report.vectors_pending, 0);
	assert_int_equal(w.report.vectors_done, 24);
	end();
}

/* A clock that was put back leaves nobody alone for a year. */
static void test_outage__a_record_of_the_future_does_not_count(void **state)
{
	struct embedder *e;

	(void)state;
	begin();
	w.record = (struct embed_health){ START, START + DAY * MINUTE, 3,
					  REMEM_EREMOTE, "down", "" };
	e = process();
	assert_false(embedder_cooling(e, NULL));
	embedder_free(e);
	w.record.until_ms = START + 4 * MINUTE;
	e = process();
	assert_true(embedder_cooling(e, NULL));
	embedder_wake(e);
	assert_false(embedder_cooling(e, NULL));
	embedder_free(e);
	/* Where one is left alone for longer, records are longer too. */
	w.retry_wait_ms = 5000;
	w.record.until_ms = START + 50 * MINUTE;
	e = process();
	assert_true(embedder_cooling(e, NULL));
	embedder_free(e);
	end();
}
