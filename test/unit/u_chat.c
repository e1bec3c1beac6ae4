/* Asking a chat model: what servers answer, and what becomes of it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/http.h"
#include "base/json.h"
#include "chat/chat.h"

struct answer {
	int status, rc, retry_after_ms; /* 0: not said */
	const char *type, *body;
};

struct fake {
	const struct answer *answers; /* one a request, the last for ever */
	size_t n;
	int requests;
	char last[8192]; /* the body of the last request */
	char url[256];
	bool key;
	int timeout_ms;
	int64_t ledger_tokens, budget;
	int ledger_calls, ledger_status, held;
};

static void answer(void *ctx, const struct http_request *req,
		   struct http_reply *reply)
{
	struct fake *f = ctx;
	size_t i = (size_t)f->requests++;
	const struct answer *a = &f->answers[i < f->n ? i : f->n - 1];

	snprintf(f->last, sizeof(f->last), "%.*s", (int)req->body_len,
		 req->body);
	snprintf(f->url, sizeof(f->url), "%s", req->url);
	f->timeout_ms = req->timeout_ms;
	f->key = false;
	for (const char *const *h = req->headers; *h; h++)
		f->key |= !strcmp(*h, "Authorization: Bearer sk-secret-1234");
	reply->status = a->status;
	reply->rc = a->rc;
	reply->retry_after_ms = a->retry_after_ms ? a->retry_after_ms : -1;
	snprintf(reply->content_type, sizeof(reply->content_type), "%s",
		 a->type ? a->type : "application/json");
	if (a->rc)
		snprintf(reply->error, sizeof(reply->error), "cannot connect");
	buf_adds(&reply->body, a->body ? a->body : "");
}

static void settle(void *ctx, const struct spend *s)
{
	struct fake *f = ctx;

	assert_string_equal(s->provider, "openai-compatible");
	assert_string_equal(s->model, "m1");
	assert_int_equal(s->items, 1);
	assert_true(s->took_ms >= 0);
	f->ledger_tokens += s->tokens;
	f->ledger_calls++;
	f->ledger_status = s->status;
	f->held -= s->held;
}

/* The answer may be as long as it is allowed to be. */
static int hold(void *ctx, struct spend *s, struct remem_err *err)
{
	struct fake *f = ctx;

	assert_int_equal(s->answer_tokens, 2048);
	assert_true(s->tokens > 2048);
	if (f->budget < s->tokens)
		return fail(err, REMEM_ELIMIT, "the budget is used up");
	s->held = 1;
	f->held++;
	return 0;
}

static void drop(void *ctx, const struct spend *s)
{
	((struct fake *)ctx)->held -= s->held;
}

static struct chat_config config(struct fake *f)
{
	return (struct chat_config){
		.provider = "openai-compatible",
		.model = "m1",
		.base_url = "http://127.0.0.1:1/v1/",
		.api_key = "sk-secret-1234",
		.spend = { .settle = settle, .drop = drop, .ctx = f },
		.wait_scale = 0.001,
		.transport = answer,
		.transport_ctx = f,
	};
}

static const struct chat_message asked[] = {
	{ "system", "be short", 8 },
	{ "user", "记住：我喜欢 tabs", 23 },
};

/* Asks once; the answer or the error's message in out. */
static int ask(struct fake *f, const struct answer *answers, size_t n,
	       bool json, char *out, size_t cap, struct remem_err *err)
{
	struct chat_request r = { .messages = asked, .n = 2, .json = json };
	struct chat_config c = config(f);
	struct buf b = BUF_INIT(0);
	struct chat *chat;
	int rc;

	f->answers = answers;
	f->n = n;
	if (f->budget)
		c.spend.hold = hold;
	assert_int_equal(chat_open(&chat, &c, err), 0);
	assert_null(chat_off(chat));
	rc = chat_ask(chat, &r, &b, err);
	snprintf(out, cap, "%s", rc ? err->message : buf_str(&b));
	assert_true(!rc || !b.len);
	buf_release(&b);
	chat_free(chat);
	assert_int_equal(f->held, 0);
	return rc;
}

#define SAID(text) "{\"choices\":[{\"finish_reason\":\"stop\",\"message\":" \
	"{\"role\":\"assistant\",\"content\":" text "}}]," \
	"\"usage\":{\"total_tokens\":42}}"

/* Sums of it are kept: what cannot be is not believed. */
static void test_chat__counts_are_within_reason(void **state)
{
	static const struct answer huge = {
		200, 0, 0, NULL, "{\"choices\":[{\"message\":{\"content\":"
		"\"x\"}}],\"usage\":{\"total_tokens\":"
		"9223372036854775807,\"completion_tokens\":-5}}"
	};
	struct fake f = { 0 };
	struct remem_err err = { 0 };
	char out[256];

	(void)state;
	assert_int_equal(ask(&f, &huge, 1, false, out, sizeof(out), &err), 0);
	assert_int_equal(f.ledger_tokens, 1000000000);
}

static void test_chat__asks_and_answers(void **state)
{
	static const struct answer good = { 200, 0, 0, NULL,
					    SAID("\" 好的 \\n\"") };
	struct fake f = { 0 };
	struct remem_err err = { 0 };
	char out[256];
	yyjson_doc *doc;
	yyjson_val *m;

	(void)state;
	assert_int_equal(ask(&f, &good, 1, false, out, sizeof(out), &err), 0);
	assert_string_equal(out, "好的");
	assert_string_equal(f.url, "http://127.0.0.1:1/v1/chat/completions");
	assert_true(f.key);
	assert_int_equal(f.ledger_calls, 1);
	assert_int_equal(f.ledger_tokens, 42);
	assert_int_equal(f.ledger_status, 200);
	assert_true(f.timeout_ms > 50000 && f.timeout_ms <= 60000);
	assert_int_equal(json_read(&doc, f.last, strlen(f.last), false, "x",
				   &err), 0);
	m = yyjson_arr_get(yyjson_obj_get(yyjson_doc_get_root(doc),
					  "messages"), 1);
	assert_string_equal(json_str(m, "role", ""), "user");
	assert_string_equal(json_str(m, "content", ""), asked[1].text);
	yyjson_doc_free(doc);
	assert_null(strstr(f.last, "sk-secret"));
}

/* Bodies with a status of 200, and what they come to. */
static void test_chat__takes_no_answer_for_one(void **state)
{
	static const struct {
		bool json;
		const char *body, *says; /* says begins with '=': a success */
	} rows[] = {
		{ 0, SAID("[{\"type\":\"text\",\"text\":\"a\"},"
			  "{\"type\":\"text\",\"text\":\"b\"}]"), "=ab" },
		{ 0, SAID("\"<think>hm\\n</think>\\n\\nyes\""), "=yes" },
		{ 1, SAID("\"```json\\n{\\\"a\\\":1}\\n```\""), "={\"a\":1}" },
		{ 1, SAID("\"{\\\"a\\\":\""), "not JSON" },
		{ 1, SAID("\"sure, here it is\""), "not JSON" },
		{ 0, SAID("\"\""), "nothing" },
		{ 0, SAID("\"  \\n\""), "nothing" },
		{ 0, SAID("null"), "nothing" },
		{ 0, SAID("\"a\\u0000b\""), "no text" },
		{ 0, "", "nothing" },
		{ 0, "<html><body>Login</body></html>", "web page" },
		{ 0, "{\"choices\":[{\"message\":{\"content\":\"abc", "not JSON" },
		{ 0, "[]", "no message" },
		{ 0, "null", "no message" },
		{ 0, "{\"choices\":[]}", "no message" },
		{ 0, "{\"choices\":[{\"finish_reason\":\"length\",\"message\":"
		     "{\"content\":\"half a\"}}]}", "cut off" },
		{ 0, "{\"choices\":[{\"finish_reason\":\"content_filter\","
		     "\"message\":{\"content\":\"x\"}}]}", "filter" },
		{ 0, "{\"choices\":[{\"message\":{\"content\":null,"
		     "\"refusal\":\"no\"}}]}", "refused" },
		{ 0, "{\"error\":{\"message\":\"overloaded\",\"code\":503}}",
		  "overloaded" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct answer a = { 200, 0, 0, NULL, rows[i].body };
		struct fake f = { 0 };
		struct remem_err err = { 0 };
		char out[512];
		int rc = ask(&f, &a, 1, rows[i].json, out, sizeof(out), &err);

		if (rows[i].says[0] == '=') {
			assert_int_equal(rc, 0);
			assert_string_equal(out, rows[i].says + 1);
			continue;
		}
		assert_int_equal(rc, REMEM_EREMOTE);
		if (!strstr(out, rows[i].says))
			fail_msg("row %zu says '%s'", i, out);
		assert_true(f.requests <= 4);
		assert_int_equal(f.ledger_calls, f.requests);
	}
}

static void test_chat__tries_again_only_where_that_helps(void **state)
{
	static const struct {
		struct answer answers[4];
		size_t n;
		int rc, requests;
	} rows[] = {
		{ { { 500, 0, 0, NULL, "oops" },
		    { 429, 0, 20, NULL, "{\"error\":{\"message\":\"slow\"}}" },
		    { 0, REMEM_EREMOTE, 0, NULL, NULL },
		    { 200, 0, 0, NULL, SAID("\"ok\"") } }, 4, 0, 4 },
		{ { { 503, 0, 0, "text/html", "<html>" } }, 1,
		  REMEM_EREMOTE, 4 },
		/* asks for more than a minute */
		{ { { 429, 0, 90000, NULL, "" } }, 1, REMEM_EREMOTE, 1 },
		{ { { 429, 0, 0, NULL, "{\"error\":{\"code\":"
		      "\"insufficient_quota\"}}" } }, 1, REMEM_EREMOTE, 1 },
		{ { { 401, 0, 0, NULL, "{\"error\":{\"message\":"
		      "\"bad key sk-secret-1234\"}}" } }, 1, REMEM_EREMOTE, 1 },
		{ { { 404, 0, 0, NULL, "no such model" } }, 1,
		  REMEM_EREMOTE, 1 },
		/* a redirect is not followed */
		{ { { 302, REMEM_EREMOTE, 0, NULL, NULL } }, 1,
		  REMEM_EREMOTE, 1 },
		{ { { 0, REMEM_ELIMIT, 0, NULL, NULL } }, 1, REMEM_ELIMIT, 1 },
		/* knows neither max_tokens nor response_format */
		{ { { 400, 0, 0, NULL, "unknown parameter" },
		    { 400, 0, 0, NULL, "unknown parameter" },
		    { 422, 0, 0, NULL, "unknown parameter" },
		    { 200, 0, 0, NULL, SAID("\"{}\"") } }, 4, 0, 4 },
		{ { { 400, 0, 0, NULL, "no" } }, 1, REMEM_EREMOTE, 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fake f = { 0 };
		struct remem_err err = { 0 };
		char out[512];
		bool json = i == 8;

		assert_int_equal(ask(&f, rows[i].answers, rows[i].n, json, out,
				     sizeof(out), &err), rows[i].rc);
		assert_int_equal(f.requests, rows[i].requests);
		assert_null(strstr(out, "sk-secret"));
	}
}

static void test_chat__a_request_is_made_simpler_part_by_part(void **state)
{
	static const struct answer a[] = {
		{ 400, 0, 0, NULL, "no" }, { 400, 0, 0, NULL, "no" },
		{ 400, 0, 0, NULL, "no" }, { 200, 0, 0, NULL, SAID("\"{}\"") },
	};
	static const char *const has[] = { "\"max_tokens\"", "\"max_comp",
					   "\"max_comp", NULL };

	(void)state;
	for (size_t n = 1; n <= 4; n++) {
		struct fake f = { 0 };
		struct remem_err err = { 0 };
		struct answer some[4];
		char out[64];

		memcpy(some, a, sizeof(a));
		some[n - 1] = a[3];
		assert_int_equal(ask(&f, some, n, true, out, sizeof(out),
				     &err), 0);
		assert_int_equal(strstr(f.last, "max_tokens") != NULL, n == 1);
		assert_int_equal(has[n - 1] && strstr(f.last, has[n - 1]),
				 has[n - 1] != NULL);
		assert_int_equal(strstr(f.last, "response_format") != NULL,
				 n < 3);
	}
}

static void test_chat__spends_no_more_than_the_budget(void **state)
{
	static const struct answer good = { 200, 0, 0, NULL, SAID("\"ok\"") };
	struct fake f = { .budget = 3 };
	struct remem_err err = { 0 };
	char out[256];

	(void)state;
	assert_int_equal(ask(&f, &good, 1, false, out, sizeof(out), &err),
			 REMEM_ELIMIT);
	assert_int_equal(f.requests, 0);
	f.budget = 3000;
	assert_int_equal(ask(&f, &good, 1, false, out, sizeof(out), &err), 0);
}

static void test_chat__is_off_unless_it_is_set(void **state)
{
	static const char *const off[] = { NULL, "", "none" };
	struct chat_config c = { 0 };
	struct chat_request r = { .messages = asked, .n = 2 };
	struct buf b = BUF_INIT(0);
	struct remem_err err = { 0 };
	struct chat *chat;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		c.provider = off[i];
		assert_int_equal(chat_open(&chat, &c, &err), 0);
		assert_non_null(chat_off(chat));
		assert_int_equal(chat_ask(chat, &r, &b, &err), REMEM_ENOTSUP);
		chat_free(chat);
	}
	c.provider = "telepathy";
	assert_int_equal(chat_open(&chat, &c, &err), REMEM_EINVAL);
	c.provider = "openai-compatible";
	assert_int_equal(chat_open(&chat, &c, &err), REMEM_EINVAL);
	assert_non_null(strstr(err.message, "chat.baseUrl"));
	c.base_url = "ftp://x";
	c.model = "m";
	assert_int_equal(chat_open(&chat, &c, &err), REMEM_EINVAL);
	assert_null(chat);
	assert_non_null(strstr(err.message, "http"));
	c.provider = "telepathy";
	assert_int_equal(chat_open(&chat, &c, &err), REMEM_EINVAL);
	for (int i = 0; chat_provider_at(i); i++)
		assert_non_null(strstr(err.action, chat_provider_at(i)));
	buf_release(&b);
}

static void test_chat__ends_when_its_time_is_over(void **state)
{
	static const struct answer a = { 500, 0, 0, NULL, "oops" };
	struct fake f = { .answers = &a, .n = 1 };
	struct chat_config c = config(&f);
	struct chat_request r = { .messages = asked, .n = 2, .timeout_ms = 5 };
	struct buf b = BUF_INIT(0);
	struct remem_err err = { 0 };
	struct chat *chat;
	int64_t start = clock_mono_ns();

	(void)state;
	c.wait_scale = 1; /* half a second, which there is not */
	assert_int_equal(chat_open(&chat, &c, &err), 0);
	assert_int_equal(chat_ask(chat, &r, &b, &err), REMEM_EREMOTE);
	assert_int_equal(f.requests, 1);
	assert_true(clock_mono_ns() - start < 400000000);
	chat_free(chat);
	buf_release(&b);
}

static void test_chat__every_allocation_may_fail(void **state)
{
	static const struct answer good = { 200, 0, 0, NULL, SAID("\"ok\"") };
	struct chat_request r = { .messages = asked, .n = 2 };

	(void)state;
	for (long n = 1;; n++) {
		struct fake f = { .answers = &good, .n = 1 };
		struct chat_config c = config(&f);
		struct buf b = BUF_INIT(0);
		struct remem_err err = { 0 };
		struct chat *chat;
		int rc;

		alloc_fail_at(n);
		rc = chat_open(&chat, &c, &err);
		if (!rc)
			rc = chat_ask(chat, &r, &b, &err);
		alloc_fail_at(0);
		chat_free(chat);
		buf_release(&b);
		if (!rc)
			break;
		assert_true(rc == REMEM_ENOMEM || rc == REMEM_EREMOTE);
		assert_true(n < 1000);
	}
}
