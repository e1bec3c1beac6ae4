/* The embedder around a provider in memory: packing, limits, retries, checks. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/trouble.h"
#include "base/utf8.h"
#include "embed/check.h"
#include "embed/embedder.h"
#include "embed/retry.h"
#include "embed_fake.h"

#define MAX 32768

struct world {
	struct fake fake;
	struct embed_config c;
	struct embedder *e;
	struct remem_err err;
	struct embed_item items[MAX];
	char texts[MAX][320];
	size_t n;

	int done[MAX], refused[MAX]; /* how often */
	bool wrong; /* a vector that is not its text's */
	char reason[300];
	int stop_after, calls;
	int64_t ledger_calls, ledger_tokens, left, held;
	int cancel_after, asked;
};

static struct world *w;

static int make(void **state)
{
	(void)state;
	w = calloc(1, sizeof(*w));
	fake_init(&w->fake);
	w->c = (struct embed_config){
		.provider = "openai-compatible",
		.model = "测试-model",
		.base_url = "http://127.0.0.1:1/v1",
		.api_key = "sk-secret-1234567",
		.wait_scale = 1e-4,
		.transport = fake_transport,
		.transport_ctx = &w->fake,
	};
	return 0;
}

static void open_world(void)
{
	assert_int_equal(embedder_open(&w->e, &w->c, &w->err), 0);
}

static void end_world(void)
{
	embedder_free(w->e);
	fake_release(&w->fake);
	free(w);
	w = NULL;
}

static void add(const char *text)
{
	size_t i = w->n++;

	snprintf(w->texts[i], sizeof(w->texts[i]), "%s", text);
	w->items[i] = (struct embed_item){ w->texts[i], strlen(w->texts[i]),
					   (int64_t)i, NULL };
}

static void add_many(size_t n)
{
	char text[320];

	for (size_t i = 0; i < n; i++) {
		snprintf(text, sizeof(text), i % 2 ? "note number %zu about"
			 " nothing" : "第 %zu 条笔记，没有内容", i);
		add(text);
	}
}

static bool is_vector_of(const float *v, int dims, const char *text)
{
	float want[4096];

	fake_vector(want, dims, text, strlen(text));
	return check_cosine(v, want, dims) > 0.9999;
}

static int on_done(void *ctx, const struct embed_item *const *items,
		   const float *vecs, size_t n, int dims)
{
	(void)ctx;
	for (size_t i = 0; i < n; i++) {
		const float *v = vecs + i * (size_t)dims;
		double sum = 0;

		for (int k = 0; k < dims; k++)
			sum += (double)v[k] * v[k];
		w->done[items[i]->tag]++;
		if (fabs(sum - 1) > 1e-4 ||
		    !is_vector_of(v, dims, items[i]->text))
			w->wrong = true;
	}
	return w->stop_after && ++w->calls >= w->stop_after;
}

static void on_refused(void *ctx, const struct embed_item *item,
		       const char *reason)
{
	(void)ctx;
	w->refused[item->tag]++;
	snprintf(w->reason, sizeof(w->reason), "%s", reason);
}

static bool on_cancel(void *ctx)
{
	(void)ctx;
	return w->cancel_after && ++w->asked >= w->cancel_after;
}

static int documents(void)
{
	return embedder_documents(w->e, w->items, w->n, on_done, on_refused,
				  on_cancel, NULL, &w->err);
}

/* Every item once: done, or refused if it holds what. */
static void check_all(const char *what)
{
	for (size_t i = 0; i < w->n; i++) {
		int refused = what && strstr(w->texts[i], what) ? 1 : 0;

		assert_int_equal(w->refused[i], refused);
		assert_int_equal(w->done[i], !refused);
	}
	assert_false(w->wrong);
}

/* Items for which done() was called. */
static size_t count_done(void)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++)
		n += w->done[i] ? 1 : 0;
	return n;
}

/* ---- what it is ------------------------------------------------------- */

static void test_embed__auto_never_goes_to_a_remote_provider(void **state)
{
	make(state);
	w->c.provider = "auto";
	w->c.builtin_enabled = false;
	open_world();
	assert_string_equal(embedder_info(w->e)->provider, "none");
	assert_non_null(embedder_off(w->e));
	embedder_free(w->e);
	w->c.builtin_enabled = true;
	w->c.model_path = "/nonexistent";
	open_world();
	assert_string_equal(embedder_info(w->e)->provider, "builtin");
	assert_false(embedder_info(w->e)->remote);
	assert_int_equal(w->fake.requests, 0);
	end_world();
}

static void test_embed__an_unknown_provider_is_refused(void **state)
{
	make(state);
	w->c.provider = "嵌入";
	assert_int_equal(embedder_open(&w->e, &w->c, &w->err), REMEM_EINVAL);
	assert_non_null(strstr(w->err.message, "嵌入"));
	end_world();
}

static void test_embed__missing_settings_switch_vectors_off(void **state)
{
	make(state);
	w->c.base_url = NULL;
	open_world();
	assert_non_null(strstr(embedder_off(w->e), "remote.baseUrl"));
	embedder_free(w->e);
	w->c.base_url = "ftp://127.0.0.1";
	open_world();
	assert_non_null(embedder_off(w->e));
	embedder_free(w->e);
	w->c.base_url = "http://127.0.0.1:1/v1";
	w->c.model = NULL;
	open_world();
	assert_non_null(strstr(embedder_off(w->e), "memorySearch.model"));
	add("note");
	assert_int_equal(documents(), REMEM_ENOTSUP);
	end_world();
}

static char *fingerprint(void)
{
	char *s;

	open_world();
	s = strdup(embedder_info(w->e)->fingerprint);
	embedder_free(w->e);
	w->e = NULL;
	return s;
}

static void test_embed__address_key_and_headers_are_no_identity(void **state)
{
	static const char *const headers[] = { "X-Team: 记忆", NULL };
	char *a, *b;

	make(state);
	a = fingerprint();
	w->c.base_url = "http://10.1.2.3:99/other/v1";
	w->c.api_key = NULL;
	w->c.headers = headers;
	w->c.concurrency = 9;
	b = fingerprint();
	assert_string_equal(a, b);
	free(b);
	w->c.dims = 256;
	b = fingerprint();
	assert_string_not_equal(a, b);
	free(b);
	w->c.dims = 0;
	w->c.document_prefix = "文档：";
	b = fingerprint();
	assert_string_not_equal(a, b);
	free(b);
	w->c.document_prefix = NULL;
	w->c.document_input_type = "document";
	b = fingerprint();
	assert_string_not_equal(a, b);
	free(b);
	free(a);
	end_world();
}

static void test_embed__a_fingerprint_stays_when_dims_are_learned(void **state)
{
	char *before;

	make(state);
	w->fake.dims = 96;
	open_world();
	before = strdup(embedder_info(w->e)->fingerprint);
	assert_true(before[0]);
	assert_int_equal(embedder_info(w->e)->dims, 0);
	add_many(3);
	assert_int_equal(documents(), 0);
	assert_int_equal(embedder_info(w->e)->dims, 96);
	assert_string_equal(embedder_info(w->e)->fingerprint, before);
	free(before);
	end_world();
}

static void test_embed__long_prefixes_are_told_apart(void **state)
{
	char a[600], b[600], *fa, *fb;

	make(state);
	memset(a, 'x', sizeof(a));
	a[599] = '\0';
	memcpy(b, a, sizeof(b));
	b[598] = 'y';
	w->c.query_prefix = a;
	fa = fingerprint();
	w->c.query_prefix = b;
	fb = fingerprint();
	assert_string_not_equal(fa, fb);
	free(fa);
	free(fb);
	end_world();
}

static void test_embed__prices_of_known_models(void **state)
{
	make(state);
	w->c.model = "openai/text-embedding-3-small";
	w->c.base_url = "https://api.openai.com/v1";
	open_world();
	assert_true(fabs(embedder_price(w->e) - 0.02) < 1e-9);
	embedder_free(w->e);
	w->c.base_url = "http://localhost:8080/v1";
	open_world();
	assert_true(embedder_price(w->e) < 0);
	embedder_free(w->e);
	w->c.base_url = "https://api.openai.com/v1";
	w->c.model = "some-model";
	open_world();
	assert_true(embedder_price(w->e) < 0);
	assert_true(embedder_tokens(w->e, "记忆", 6) >= 2);
	end_world();
}

static bool curl_is_loaded(void)
{
	char line[1000];
	bool found = false;
	FILE *f = fopen("/proc/self/maps", "r");

	while (f && fgets(line, sizeof(line), f))
		found = found || strstr(line, "libcurl");
	if (f)
		fclose(f);
	return found;
}

static void test_embed__libcurl_is_loaded_by_the_first_request(void **state)
{
	make(state);
	w->c.transport = NULL;
	open_world();
	assert_true(embedder_info(w->e)->remote);
	assert_false(curl_is_loaded());
	add("note");
	w->c.transport = NULL;
	assert_int_not_equal(documents(), 0);
	assert_true(curl_is_loaded());
	assert_non_null(strstr(w->err.message, "127.0.0.1"));
	assert_non_null(strstr(w->err.action, "baseUrl"));
	end_world();
}

/* ---- packing ---------------------------------------------------------- */

static void test_embed__documents_get_their_own_vectors(void **state)
{
	make(state);
	w->fake.shuffled = true;
	w->fake.base64 = true;
	open_world();
	add_many(500);
	assert_int_equal(documents(), 0);
	check_all(NULL);
	end_world();
}

/* 20,600 passages of about 78 tokens, half of them Chinese. */
static void add_passages(size_t n)
{
	static const char *const latin = "The gateway restarts at night and "
		"then loads its settings again from the folder of the user; "
		"a port that is taken ends it with a plain message and status "
		"1, as it has always done so far, and a list of what was "
		"loaded stands in its log for whoever looks there the next "
		"morning after a bad night";
	static const char *const han = "网关每晚重启一次，然后重新读取用户目录里"
		"的设置；端口被占用时会给出清楚的提示。第二天早上，值班的人"
		"可以在日志里看到加载了哪些文件，以及为什么有些没有加载。";
	char text[320];

	for (size_t i = 0; i < n; i++) {
		const char *s = i % 2 ? latin : han;
		size_t len = utf8_cut(s, strlen(s), 300);

		/* Lengths differ as those of real notes do. */
		len = utf8_cut(s, len, len - i * 7919 % 60);
		snprintf(text, sizeof(text), "%zu %.*s", i, (int)len, s);
		add(text);
	}
}

static void test_embed__requests_are_packed_to_8000_tokens(void **state)
{
	int64_t tokens = 0;
	int least;

	make(state);
	open_world();
	add_passages(20600);
	for (size_t i = 0; i < w->n; i++)
		tokens += embedder_tokens(w->e, w->items[i].text,
					  w->items[i].len);
	least = (int)((tokens + 7999) / 8000);
	assert_int_equal(documents(), 0);
	check_all(NULL);
	/* One is the self check. */
	assert_true(w->fake.requests <= least + least / 50 + 3);
	assert_true(w->fake.requests <= 210);
	print_message("# %d requests for 20,600 passages, %lld tokens\n",
		      w->fake.requests, (long long)tokens);
	end_world();
}

static void test_embed__several_are_in_flight(void **state)
{
	make(state);
	w->fake.slow = true;
	w->c.max_batch_items = 10;
	open_world();
	add_many(400);
	assert_int_equal(documents(), 0);
	check_all(NULL);
	assert_true(w->fake.most_at_once > 1);
	assert_true(w->fake.most_at_once <= 4);
	end_world();
}

static void test_embed__one_item_and_one_at_a_time_when_asked(void **state)
{
	make(state);
	w->c.max_batch_items = 1;
	w->c.concurrency = 1;
	open_world();
	add_many(20);
	assert_int_equal(documents(), 0);
	check_all(NULL);
	assert_int_equal(w->fake.requests, 20);
	assert_int_equal(w->fake.most_items, 1);
	assert_int_equal(w->fake.most_at_once, 1);
	end_world();
}

static void test_embed__an_empty_text_is_refused_unsent(void **state)
{
	make(state);
	w->c.max_batch_items = 1;
	open_world();
	add("note");
	add("");
	assert_int_equal(documents(), 0);
	assert_int_equal(w->done[0], 1);
	assert_int_equal(w->refused[1], 1);
	assert_int_equal(w->fake.requests, 1);
	end_world();
}

/* ---- learned limits --------------------------------------------------- */

static void learn_items(size_t cap, const char *words, int most_refused)
{
	void *none = NULL;
	size_t learned;

	make(&none);
	w->fake.max_items = cap;
	w->fake.body = words;
	open_world();
	add_many(1200);
	assert_int_equal(documents(), 0);
	check_all(NULL);
	learned = (size_t)embedder_info(w->e)->learned_items;
	assert_true(learned <= cap && learned >= cap - cap / 4);
	assert_true(w->fake.refused <= most_refused);
	end_world();
}

static void test_embed__an_item_cap_is_learned_in_any_words(void **state)
{
	static const size_t caps[] = { 1, 2, 10, 16, 20, 64, 100 };

	(void)state;
	for (size_t i = 0; i < sizeof(caps) / sizeof(*caps); i++)
		learn_items(caps[i], "{\"message\":\"参数无效\"}", 20);
	learn_items(10, "не так", 20);
	learn_items(25, "", 20);
}

static void test_embed__a_cap_that_is_named_is_taken(void **state)
{
	(void)state;
	learn_items(10, "{\"code\":\"InvalidParameter\",\"message\":\"批量"
		    "大小不能超过 10\"}", 4);
	learn_items(32, "{\"error\":\"batch size 200 > maximum allowed batch "
		    "size 32\"}", 4);
}

static void test_embed__a_remembered_cap_is_kept(void **state)
{
	make(state);
	w->fake.max_items = 10;
	w->c.learned_items = 10;
	open_world();
	add_many(100);
	assert_int_equal(documents(), 0);
	assert_int_equal(w->fake.refused, 0);
	assert_int_equal(embedder_info(w->e)->learned_items, 10);
	end_world();
}

static void test_embed__one_refused_text_costs_itself_alone(void **state)
{
	make(state);
	w->fake.poison = "毒";
	open_world();
	add_many(150);
	add("一条有毒的笔记");
	add_many(150);
	assert_int_equal(documents(), 0);
	check_all("毒");
	assert_non_null(strstr(w->reason, "400"));
	/* It says nothing about how many fit into a request. */
	assert_int_equal(embedder_info(w->e)->learned_items, 0);
	end_world();
}

static void test_embed__a_long_text_is_halved_until_it_fits(void **state)
{
	char text[190] = "";

	make(state);
	w->fake.max_chars = 40;
	open_world();
	for (int i = 0; i < 60; i++)
		strcat(text, i % 2 ? "字" : "句");
	add(text);
	add_many(40);
	add(text);
	assert_int_equal(documents(), 0);
	w->wrong = false; /* it has the vector of its beginning */
	check_all(NULL);
	assert_int_equal(embedder_info(w->e)->learned_items, 0);
	end_world();
}

static void test_embed__a_server_that_refuses_all_ends_the_run(void **state)
{
	make(state);
	w->fake.status = 400;
	w->fake.times = -1;
	w->fake.body = "{\"error\":{\"message\":\"no such model\"}}";
	open_world();
	add_many(2000);
	assert_int_equal(documents(), REMEM_EREMOTE);
	assert_non_null(strstr(w->err.message, "no such model"));
	assert_true(w->fake.requests < 10);
	for (size_t i = 0; i < w->n; i++)
		assert_int_equal(w->refused[i], 0);
	end_world();
}

static void test_embed__refusals_after_good_answers_list_nothing(void **state)
{
	make(state);
	w->fake.status = 400;
	w->fake.times = -1;
	w->fake.after = 5;
	w->c.max_batch_items = 20;
	open_world();
	add_many(400);
	assert_int_equal(documents(), REMEM_EREMOTE);
	for (size_t i = 0; i < w->n; i++)
		assert_int_equal(w->refused[i], 0);
	end_world();
}

/* ---- fields that a server does not know ------------------------------- */

static void test_embed__base64_is_left_out_where_it_is_unknown(void **state)
{
	make(state);
	w->fake.knows_base64 = false;
	open_world();
	add_many(30);
	assert_int_equal(documents(), 0);
	check_all(NULL);
	assert_null(strstr(w->fake.last, "encoding_format"));
	assert_int_equal(embedder_info(w->e)->learned_items, 0);
	end_world();
}

static void test_embed__dimensions_that_are_unknown_must_be_right(void **state)
{
	make(state);
	w->fake.knows_dims = false;
	w->c.dims = 8;
	open_world();
	add_many(30);
	assert_int_equal(documents(), 0);
	check_all(NULL);
	embedder_free(w->e);
	w->c.dims = 4;
	open_world();
	assert_int_equal(documents(), REMEM_EREMOTE);
	assert_non_null(strstr(w->err.message, "8 dimensions, not 4"));
	assert_non_null(strstr(w->err.action, "outputDimensionality 8"));
	end_world();
}

/* ---- failures that pass ----------------------------------------------- */

static void test_embed__server_errors_are_tried_again(void **state)
{
	static const int statuses[] = { 500, 502, 503, 529, 408 };

	for (size_t i = 0; i < sizeof(statuses) / sizeof(*statuses); i++) {
		make(state);
		w->fake.status = statuses[i];
		w->fake.times = 3;
		open_world();
		add_many(100);
		assert_int_equal(documents(), 0);
		check_all(NULL);
		end_world();
	}
}

static void test_embed__a_server_that_is_down_ends_the_run(void **state)
{
	make(state);
	w->fake.status = 503;
	w->fake.times = -1;
	w->fake.after = 3;
	w->c.max_batch_items = 20;
	open_world();
	add_many(400);
	assert_int_equal(documents(), REMEM_EREMOTE);
	assert_non_null(strstr(w->err.message, "503"));
	assert_true(count_done() >= 20);
	assert_true(w->fake.requests < 40);
	end_world();
}

static void test_embed__too_fast_slows_all_down(void **state)
{
	make(state);
	w->fake.status = 429;
	w->fake.times = 5;
	w->fake.after = 3;
	w->fake.retry_after_ms = 7000;
	w->fake.slow = true;
	w->c.max_batch_items = 10;
	open_world();
	add_many(300);
	assert_int_equal(documents(), 0);
	check_all(NULL);
	end_world();
}

static void test_embed__too_fast_for_ever_ends_the_run(void **state)
{
	make(state);
	w->fake.status = 429;
	w->fake.times = -1;
	w->fake.body = "{\"error\":{\"message\":\"请求过于频繁\"}}";
	open_world();
	add_many(10);
	assert_int_equal(documents(), REMEM_EREMOTE);
	assert_int_equal(w->fake.requests, RETRY_RATE_TRIES);
	assert_non_null(strstr(w->err.message, "请求过于频繁"));
	end_world();
}

static void test_embed__an_hour_is_not_waited_for(void **state)
{
	make(state);
	w->fake.status = 429;
	w->fake.times = -1;
	w->fake.retry_after_ms = 3600000;
	open_world();
	add_many(10);
	assert_int_equal(documents(), REMEM_EREMOTE);
	assert_int_equal(w->fake.requests, 1);
	end_world();
}

static void test_embed__waits_double_and_follow_the_provider(void **state)
{
	static const int want[] = { 500, 1000, 2000, 4000, 8000, 8000 };
	uint64_t random = 1;

	(void)state;
	for (int i = 0; i < 6; i++)
		for (int k = 0; k < 100; k++) {
			int ms = trouble_wait_ms(i, -1, 0, &random);

			assert_in_range(ms, want[i], want[i] * 12 / 10);
		}
	assert_in_range(trouble_wait_ms(0, 7000, 0, &random), 7000, 8400);
	assert_in_range(trouble_wait_ms(4, 60000, 0, &random), 60000, 72000);
	assert_int_equal(trouble_wait_ms(0, 60001, 0, &random), -1);
	assert_in_range(trouble_wait_ms(0, 7000, 0.001, &random), 7, 9);
}

/* The setting is of waits that we choose, not of those we are told. */
static void test_embed__the_setting_does_not_shorten_what_is_asked(void **state)
{
	struct embed_config c = { .retry_wait_ms = 50 };
	uint64_t random = 1;

	(void)state;
	assert_in_range(trouble_wait_ms(0, -1, embed_wait_scale(&c, -1),
					&random), 50, 60);
	assert_in_range(trouble_wait_ms(0, 7000, embed_wait_scale(&c, 7000),
					&random), 7000, 8400);
}

static void test_embed__an_empty_account_is_asked_once(void **state)
{
	static const char *const bodies[] = {
		"{\"error\":{\"code\":\"insufficient_quota\",\"message\":\"You "
		"exceeded your current quota\"}}",
		"{\"error\":{\"type\":\"billing_hard_limit_reached\"}}",
		"{\"code\":\"Arrearage\",\"message\":\"x\"}",
		"{\"code\":30001,\"message\":\"余额不足，请充值\"}",
	};

	for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++) {
		make(state);
		w->fake.status = i == 2 ? 400 : 429;
		w->fake.times = -1;
		w->fake.after = 2;
		w->fake.body = bodies[i];
		w->c.max_batch_items = 10;
		w->c.concurrency = 1;
		open_world();
		add_many(500);
		assert_int_equal(documents(), REMEM_EREMOTE);
		assert_non_null(strstr(w->err.message, "exhausted"));
		assert_int_equal(w->fake.requests, 3);
		assert_int_equal(count_done(), 10);
		end_world();
	}
}

static void test_embed__a_wrong_key_ends_the_run_unquoted(void **state)
{
	make(state);
	w->fake.status = 401;
	w->fake.times = -1;
	w->fake.body = "{\"error\":{\"code\":\"invalid_api_key\",\"message\":"
		       "\"Incorrect API key: sk-se*****67\"}}";
	open_world();
	add_many(10);
	assert_int_equal(documents(), REMEM_EREMOTE);
	assert_int_equal(w->fake.requests, 1);
	assert_non_null(strstr(w->err.message, "401, invalid_api_key"));
	assert_null(strstr(w->err.message, "sk-se"));
	assert_non_null(strstr(w->err.action, "apiKey"));
	end_world();
}

static void test_embed__messages_hold_no_key_and_no_text(void **state)
{
	static const char *const headers[] = { "X-Auth: header-secret", NULL };

	make(state);
	w->c.headers = headers;
	w->fake.status = 404;
	w->fake.times = -1;
	w->fake.body = "{\"error\":{\"message\":\"key sk-secret-1234567 and "
		       "header-secret\\nlead nowhere\"}}";
	open_world();
	add("昨天在上海见了李雷，谈了很久");
	assert_int_equal(documents(), REMEM_EREMOTE);
	assert_null(strstr(w->err.message, "secret"));
	assert_null(strchr(w->err.message, '\n'));
	assert_non_null(strstr(w->err.message, "lead nowhere"));
	embedder_free(w->e);
	w->fake.body = "{\"error\":{\"message\":\"bad input: 昨天在上海见了李雷"
		       "，谈了很久\"}}";
	open_world();
	assert_int_equal(documents(), REMEM_EREMOTE);
	assert_null(strstr(w->err.message, "上海"));
	assert_non_null(strstr(w->err.message, "404"));
	end_world();
}

/* ---- replies that are no answers -------------------------------------- */

static void bad_reply(enum fake_reply bad, const char *words)
{
	void *none = NULL;

	make(&none);
	w->fake.bad = bad;
	open_world();
	add_many(40);
	assert_int_equal(documents(), REMEM_EREMOTE);
	assert_non_null(strstr(w->err.message, words));
	assert_int_equal(count_done(), 0);
	assert_true(w->fake.requests < 15);
	end_world();
}

static void test_embed__replies_that_are_wrong_end_with_the_truth(void **state)
{
	(void)state;
	bad_reply(FAKE_HTML, "web page");
	bad_reply(FAKE_NULL, "null");
	bad_reply(FAKE_EMPTY, "0 vectors for 1 texts");
	bad_reply(FAKE_ERROR, "model not loaded");
	bad_reply(FAKE_GARBAGE, "not JSON");
	bad_reply(FAKE_BEYOND, "not sent");
}

static void test_embed__a_server_of_one_text_a_request_is_borne(void **state)
{
	make(state);
	w->fake.bad = FAKE_TWICE;
	open_world();
	add_many(40);
	assert_int_equal(documents(), 0);
	check_all(NULL);
	end_world();
}

static void test_embed__a_bad_reply_for_one_text_costs_that_text(void **state)
{
	make(state);
	w->fake.bad = FAKE_EMPTY;
	w->fake.bad_for = "坏";
	open_world();
	add_many(60);
	add("坏的");
	add_many(60);
	assert_int_equal(documents(), 0);
	check_all("坏");
	end_world();
}

static void test_embed__nan_is_asked_for_again_alone(void **state)
{
	make(state);
	w->fake.nan = "坏";
	w->fake.nan_times = 1;
	open_world();
	add_many(9);
	add("坏的");
	assert_int_equal(documents(), 0);
	check_all(NULL);
	/* The batch, and that one. */
	assert_int_equal(w->fake.requests, 2);
	end_world();
}

static void test_embed__nan_and_zeros_are_never_kept(void **state)
{
	make(state);
	w->fake.nan = "坏";
	w->fake.zero = "零";
	open_world();
	add_many(9);
	add("坏的");
	add("零");
	add_many(9);
	assert_int_equal(documents(), 0);
	assert_int_equal(w->refused[9], 1);
	assert_int_equal(w->refused[10], 1);
	assert_int_equal(count_done(), 18);
	assert_true(strstr(w->reason, "zeros") ||
		    strstr(w->reason, "not finite"));
	end_world();
}

static void test_embed__dimensions_may_not_change(void **state)
{
	make(state);
	open_world();
	add_many(4);
	assert_int_equal(documents(), 0);
	w->fake.dims = 16;
	assert_int_equal(documents(), REMEM_EREMOTE);
	assert_non_null(strstr(w->err.message, "16 dimensions, not 8"));
	end_world();
}

static void test_embed__stored_dimensions_are_expected(void **state)
{
	make(state);
	open_world();
	assert_int_equal(embedder_expect(w->e, 64, &w->err), 0);
	add_many(4);
	assert_int_equal(documents(), REMEM_EREMOTE);
	assert_int_equal(count_done(), 0);
	assert_int_equal(embedder_expect(w->e, 32, &w->err), REMEM_EREMOTE);
	end_world();
}

static void test_embed__any_number_of_dimensions(void **state)
{
	static const int dims[] = { 1, 64, 384, 1024, 2560, 4096 };

	for (size_t i = 0; i < sizeof(dims) / sizeof(*dims); i++) {
		make(state);
		w->fake.dims = dims[i];
		w->fake.base64 = i % 2;
		open_world();
		add_many(5);
		assert_int_equal(documents(), 0);
		assert_int_equal(embedder_info(w->e)->dims, dims[i]);
		check_all(NULL);
		end_world();
	}
}

static void test_embed__mixed_up_batches_are_noticed(void **state)
{
	make(state);
	w->fake.mixed_up = true;
	open_world();
	add_many(50);
	assert_int_equal(documents(), 0);
	check_all(NULL);
	assert_int_equal(w->fake.requests, 52);
	end_world();
}

/* ---- ends ------------------------------------------------------------- */

static void test_embed__cancel_ends_a_wait(void **state)
{
	int64_t start;

	make(state);
	w->c.wait_scale = 1;
	w->fake.status = 503;
	w->fake.times = -1;
	w->fake.retry_after_ms = 60000;
	w->cancel_after = 2;
	open_world();
	add_many(10);
	start = clock_mono_ns();
	assert_int_equal(documents(), REMEM_ECANCELLED);
	assert_true(clock_mono_ns() - start < 5000000000);
	end_world();
}

static void test_embed__what_is_done_may_stop_the_run(void **state)
{
	make(state);
	w->stop_after = 1;
	w->c.max_batch_items = 5;
	w->c.concurrency = 1;
	open_world();
	add_many(100);
	assert_int_equal(documents(), REMEM_ECANCELLED);
	assert_true(count_done() < 20);
	end_world();
}

static int on_hold(void *ctx, struct spend *s, struct remem_err *err)
{
	(void)ctx;
	assert_true(s->tokens > 0 && s->timeout_ms > 0);
	if (w->left < s->tokens) {
		fail(err, REMEM_ELIMIT, "used up");
		fail_action(err, "raise budget.dailyTokens");
		return REMEM_ELIMIT;
	}
	w->left -= s->tokens;
	s->held = s->tokens;
	w->held++;
	return 0;
}

static void on_settle(void *ctx, const struct spend *s)
{
	(void)ctx;
	assert_string_equal(s->provider, "openai-compatible");
	assert_string_equal(s->model, "测试-model");
	assert_true(s->items > 0 && s->took_ms >= 0);
	assert_int_equal(s->status, 200);
	w->ledger_calls++;
	w->ledger_tokens += s->tokens;
	w->left += s->held - s->tokens;
	w->held--;
}

static void test_embed__the_budget_ends_the_run(void **state)
{
	make(state);
	w->c.spend = (struct spender){ .hold = on_hold, .settle = on_settle };
	w->left = 1000;
	w->c.max_batch_items = 10;
	open_world();
	add_many(1000);
	assert_int_equal(documents(), REMEM_ELIMIT);
	assert_non_null(strstr(w->err.action, "budget.dailyTokens"));
	/* Less than a request is known by estimate only. */
	assert_true(w->left >= -200);
	assert_int_equal(w->ledger_calls, w->fake.requests);
	assert_int_equal(w->held, 0);
	/* As the provider counted them. */
	assert_int_equal(w->ledger_tokens, w->fake.items * 10);
	assert_true(count_done() > 0);
	end_world();
}

/* ---- questions -------------------------------------------------------- */

static int query(const char *text, size_t len, int deadline_ms)
{
	float *v = NULL;
	int dims = 0;
	int rc = embedder_query(w->e, text, len, deadline_ms, &v, &dims,
				&w->err);

	if (!rc && (!v || dims != 8))
		rc = 1;
	mem_free(v);
	return rc;
}

static void test_embed__questions_have_their_own_prefix(void **state)
{
	make(state);
	w->c.query_prefix = "问：";
	w->c.document_prefix = "文：";
	w->c.query_input_type = "query";
	w->c.document_input_type = "document";
	open_world();
	assert_int_equal(query("几点", 6, 0), 0);
	assert_string_equal(w->fake.text, "问：几点");
	assert_true(w->fake.type_query && !w->fake.type_document);
	w->fake.bad = FAKE_GOOD;
	add("十点");
	assert_int_equal(embedder_documents(w->e, w->items, 1, on_done,
					    on_refused, NULL, NULL, &w->err),
			 0);
	assert_string_equal(w->fake.text, "文：十点");
	assert_true(w->fake.type_document);
	end_world();
}

static void test_embed__a_huge_question_is_cut(void **state)
{
	size_t n = 100000;
	char *text = malloc(n + 1);

	make(state);
	for (size_t i = 0; i + 2 < n; i += 3)
		memcpy(text + i, "问", 3);
	n = n / 3 * 3;
	w->fake.max_chars = 300;
	open_world();
	assert_int_equal(query(text, n, 0), 0);
	assert_true(utf8_valid(w->fake.text, strlen(w->fake.text)));
	assert_true(w->fake.requests < 5);
	free(text);
	end_world();
}

static void test_embed__a_question_waits_no_longer_than_it_may(void **state)
{
	int64_t start;

	make(state);
	w->c.wait_scale = 1;
	w->fake.status = 429;
	w->fake.times = -1;
	w->fake.retry_after_ms = 30000;
	open_world();
	start = clock_mono_ns();
	assert_int_equal(query("几点", 6, 200), REMEM_EREMOTE);
	assert_true(clock_mono_ns() - start < 2000000000);
	assert_int_equal(w->fake.requests, 1);
	end_world();
}

static void test_embed__a_question_is_tried_again(void **state)
{
	int64_t took;

	make(state);
	w->fake.status = 500;
	w->fake.times = 2;
	open_world();
	assert_int_equal(query("几点", 6, 0), 0);
	assert_int_equal(w->fake.requests, 3);
	assert_true(w->fake.key);
	assert_int_equal(embedder_probe(w->e, &took, &w->err), 0);
	end_world();
}

/* A question that gets no answer; how many requests that took. */
static int ask_in_vain(void)
{
	int before = w->fake.requests, dims;
	float *v;

	assert_int_not_equal(embedder_query(w->e, "问题", 6, 0, &v, &dims,
					    &w->err), 0);
	assert_null(v);
	return w->fake.requests - before;
}

static void test_embed__a_provider_that_is_down_is_left_alone(void **state)
{
	int64_t end, took_ms;
	float *v = NULL;
	int dims;

	make(state);
	w->c.wait_scale = 0.01; /* 50 ms, then 100 ms */
	w->fake.status = 500;
	w->fake.times = -1;
	w->fake.body = "";
	open_world();
	assert_true(ask_in_vain() > 1);
	assert_int_equal(ask_in_vain(), 0);
	assert_non_null(strstr(w->err.message, "HTTP 500"));
	assert_non_null(strstr(w->err.message, "asked again in"));
	/* The probe of the doctor does not wait, and tells that it is back. */
	w->fake.times = 0;
	assert_int_equal(embedder_probe(w->e, &took_ms, &w->err), 0);
	assert_int_equal(embedder_query(w->e, "问题", 6, 0, &v, &dims,
					&w->err), 0);
	mem_free(v);
	/* Down once more: after its time one question finds it up again. */
	w->fake.times = -1;
	ask_in_vain();
	w->fake.times = 0;
	end = clock_mono_ns() + 10 * INT64_C(1000000000);
	while (embedder_query(w->e, "问题", 6, 0, &v, &dims, &w->err) &&
	       clock_mono_ns() < end)
		;
	assert_non_null(v);
	mem_free(v);
	end_world();
}

static void test_embed__a_question_without_a_vector_says_why(void **state)
{
	make(state);
	w->fake.zero = "几";
	open_world();
	assert_int_equal(query("几点", 6, 0), REMEM_EREMOTE);
	assert_non_null(strstr(w->err.message, "zeros"));
	assert_int_equal(w->fake.requests, 2);
	end_world();
}

static void test_embed__nul_and_broken_text_are_sent_as_text(void **state)
{
	static const char text[] = "a\0b \xed\xa0\xbc c\xff 记";

	make(state);
	open_world();
	assert_int_equal(query(text, sizeof(text) - 1, 0), 0);
	assert_null(strstr(w->fake.last, "\\u0000"));
	assert_true(utf8_valid(w->fake.last, strlen(w->fake.last)));
	assert_string_equal(w->fake.text, "a b \xef\xbf\xbd\xef\xbf\xbd"
					  "\xef\xbf\xbd c\xef\xbf\xbd 记");
	end_world();
}

/* ---- no memory -------------------------------------------------------- */

static void test_embed__every_allocation_may_fail(void **state)
{
	int rc = REMEM_ENOMEM;

	for (long k = 1; rc == REMEM_ENOMEM && k < 2000; k++) {
		make(state);
		w->fake.max_items = 3;
		add_many(8);
		alloc_fail_at(k);
		rc = embedder_open(&w->e, &w->c, &w->err);
		if (!rc)
			rc = query("几点", 6, 0);
		if (!rc)
			rc = documents();
		alloc_fail_at(0);
		assert_true(rc == 0 || rc == REMEM_ENOMEM);
		if (!rc)
			check_all(NULL);
		end_world();
	}
	assert_int_equal(rc, 0);
}

static char sent_body[4096];
static int pictures, pictures_status;

static void keep_body(void *ctx, const struct http_request *req,
		      struct http_reply *reply)
{
	static const char good[] = "{\"embeddings\":[{\"values\":[1,2,3]}],"
				   "\"embedding\":{\"values\":[1,2,3]}}";

	bool picture = strstr(req->body, "inlineData");

	(void)ctx;
	pictures += picture;
	if (picture)
		snprintf(sent_body, sizeof(sent_body), "%s", req->body);
	memset(reply, 0, sizeof(*reply));
	reply->status = picture ? pictures_status : 200;
	reply->retry_after_ms = -1;
	buf_init(&reply->body, 0);
	buf_adds(&reply->body, good);
}

static int no_vectors(void *ctx, const struct embed_item *const *items,
		      const float *vecs, size_t n, int dims)
{
	(void)ctx, (void)items, (void)vecs, (void)n, (void)dims;
	return 0;
}

static void test_embed__a_picture_goes_with_its_bytes(void **state)
{
	static const char *const want[] = { "\"data\":\"iVBORw==\"",
					    "\"data\":\"iVBORwA=\"",
					    "\"data\":\"iVBORwAA\"" };
	struct embed_config c = { .provider = "gemini", .api_key = "a-key",
				  .model = "gemini-embedding-2",
				  .base_url = "http://127.0.0.1:1/v1beta",
				  .transport = keep_body };
	struct embedder *e;

	(void)state;
	pictures_status = 200;
	assert_int_equal(embedder_open(&e, &c, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		const struct embed_media m = { "image/png", "\x89PNG\0\0",
					       4 + i, 1 };
		const struct embed_item item = { "a", 1, 0, &m };

		assert_int_equal(embedder_documents(e, &item, 1, no_vectors,
						    NULL, NULL, NULL, NULL),
				 0);
		assert_non_null(strstr(sent_body, want[i]));
	}
	embedder_free(e);
}

static void count_refused(void *ctx, const struct embed_item *item,
			  const char *reason)
{
	(void)item, (void)reason;
	++*(int *)ctx;
}

/* Its name is not made shorter, and texts are not believed to be too long. */
static void test_embed__a_refused_picture_is_sent_once(void **state)
{
	struct embed_config c = { .provider = "gemini", .api_key = "a-key",
				  .model = "gemini-embedding-2",
				  .base_url = "http://127.0.0.1:1/v1beta",
				  .transport = keep_body };
	const struct embed_media m = { "image/png", "\x89PNG", 4, 258 };
	char name[2000];
	const struct embed_item item = { name, sizeof(name), 0, &m };
	struct embedder *e;
	int refused = 0;

	(void)state;
	memset(name, 'a', sizeof(name));
	pictures = 0;
	pictures_status = 400;
	assert_int_equal(embedder_open(&e, &c, NULL), 0);
	assert_int_equal(embedder_documents(e, &item, 1, no_vectors,
					    count_refused, NULL, &refused,
					    NULL), 0);
	assert_int_equal(pictures, 1);
	assert_int_equal(refused, 1);
	embedder_free(e);
}
