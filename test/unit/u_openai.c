/* Requests and replies in OpenAI's form, and what providers say else. */
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
#include "embed/limits.h"
#include "embed/reply.h"
#include "base/trouble.h"

/* ---- replies ---------------------------------------------------------- */

static struct embed_reply reply;
static struct remem_err err;

static int parse(const char *body, size_t n)
{
	memset(&err, 0, sizeof(err));
	return openai_reply(&reply, n, body, strlen(body), &err);
}

static void check_refused(const char *body, size_t n, const char *words)
{
	assert_int_equal(parse(body, n), REMEM_EREMOTE);
	assert_null(reply.vecs);
	if (!strstr(err.message, words))
		print_message("# %s\n", err.message);
	assert_non_null(strstr(err.message, words));
}

static void test_openai__index_decides_the_order(void **state)
{
	(void)state;
	assert_int_equal(parse("{\"data\":[{\"index\":1,\"embedding\":[3,4]},"
			       "{\"index\":0,\"embedding\":[1,2]}],"
			       "\"usage\":{\"prompt_tokens\":7}}", 2), 0);
	assert_int_equal(reply.dims, 2);
	assert_int_equal(reply.tokens, 7);
	for (int i = 0; i < 4; i++)
		assert_true(reply.vecs[i] == (float)(i + 1));
	mem_free(reply.vecs);
	assert_int_equal(parse("{\"data\":[{\"embedding\":[1]},"
			       "{\"embedding\":[2]}]}", 2), 0);
	assert_true(reply.vecs[0] == 1 && reply.vecs[1] == 2);
	mem_free(reply.vecs);
}

static void test_openai__base64_is_little_endian_floats(void **state)
{
	static const char *const same[] = { "AACAPwAAAMA=", "AACAPwAAAMA" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		char body[200];

		snprintf(body, sizeof(body), "{\"data\":[{\"index\":0,"
			 "\"embedding\":\"%s\"}]}", same[i]);
		assert_int_equal(parse(body, 1), 0);
		assert_int_equal(reply.dims, 2);
		assert_true(reply.vecs[0] == 1 && reply.vecs[1] == -2);
		mem_free(reply.vecs);
	}
	check_refused("{\"data\":[{\"embedding\":\"AACAPwA=\"}]}", 1,
		      "no vector");
	check_refused("{\"data\":[{\"embedding\":\"\"}]}", 1, "no vector");
	check_refused("{\"data\":[{\"embedding\":\"记忆记忆AAAA\"}]}", 1,
		      "cannot be read");
}

static void test_openai__odd_numbers_become_nan(void **state)
{
	(void)state;
	assert_int_equal(parse("{\"data\":[{\"embedding\":[NaN,1]},"
			       "{\"embedding\":[-Infinity,2]},"
			       "{\"embedding\":[null,3]},"
			       "{\"embedding\":[1e300,3]},"
			       "{\"embedding\":null},"
			       "{\"embedding\":[5,6],\"x\":\"NaN \\\" inf\"}]}",
			       6), 0);
	for (int i = 0; i < 5; i++)
		assert_true(isnan(reply.vecs[2 * i]));
	assert_true(reply.vecs[10] == 5 && reply.vecs[11] == 6);
	mem_free(reply.vecs);
}

static void test_openai__what_is_no_answer_is_said(void **state)
{
	(void)state;
	check_refused("", 1, "nothing");
	check_refused("null", 1, "null");
	check_refused("<html>登录</html>", 1, "web page");
	check_refused("oops", 1, "not JSON");
	check_refused("{\"data\":[{\"embedding\":[1]", 1, "not JSON");
	check_refused("[]", 1, "no list");
	check_refused("{\"data\":{}}", 1, "no list");
	check_refused("{\"data\":[]}", 2, "0 vectors for 2 texts");
	check_refused("{\"data\":[1,2]}", 2, "no vector");
	check_refused("{\"data\":[{\"embedding\":[]}]}", 1, "no vector");
	check_refused("{\"data\":[{\"embedding\":[\"a\"]}]}", 1,
		      "cannot be read");
	check_refused("{\"data\":[{\"embedding\":null}]}", 1,
		      "without any vector");
	check_refused("{\"data\":[{\"embedding\":[1]},{\"embedding\":[1,2]}]}",
		      2, "1 and of 2");
	check_refused("{\"data\":[{\"index\":0,\"embedding\":[1]},"
		      "{\"index\":0,\"embedding\":[1]}]}", 2, "two vectors");
	check_refused("{\"data\":[{\"index\":7,\"embedding\":[1]}]}", 1,
		      "not sent");
	check_refused("{\"data\":[{\"index\":-1,\"embedding\":[1]}]}", 1,
		      "not sent");
	check_refused("{\"data\":[{\"index\":\"记\",\"embedding\":[1]}]}", 1,
		      "not sent");
	check_refused("{\"data\":[{\"index\":0,\"embedding\":[1]},"
		      "{\"embedding\":[1]}]}", 2, "some");
}

static void test_openai__every_allocation_of_a_reply_may_fail(void **state)
{
	static const char body[] = "{\"data\":[{\"embedding\":[NaN,1]}]}";
	int rc = REMEM_ENOMEM;

	(void)state;
	for (long k = 1; rc == REMEM_ENOMEM; k++) {
		alloc_fail_at(k);
		rc = parse(body, 1);
		alloc_fail_at(0);
		mem_free(reply.vecs);
	}
	assert_int_equal(rc, 0);
}

/* ---- requests --------------------------------------------------------- */

static const struct embed_provider *provider(void)
{
	return embed_provider_find("openai-compatible");
}

static void *open_with(const struct embed_config *c)
{
	struct embed_info info = { 0 };
	void *self = NULL;

	assert_int_equal(provider()->open(&self, &info, c, &err), 0);
	return self;
}

static void check_url(const char *base, const char *want)
{
	struct embed_config c = { .base_url = base, .model = "m" };
	const char *text = "记忆";
	size_t len = strlen(text);
	struct embed_request r = { EMBED_QUERY, &text, &len, 1, NULL };
	struct http_request http = { 0 };
	struct buf body = BUF_INIT(0);
	void *self = open_with(&c);

	assert_int_equal(provider()->build(self, &r, &http, &body, &err), 0);
	assert_string_equal(http.url, want);
	assert_string_equal(http.body, "{\"model\":\"m\",\"input\":[\"记忆\"],"
				       "\"encoding_format\":\"base64\"}");
	buf_release(&body);
	provider()->close(self);
}

static void test_openai__addresses_end_in_embeddings(void **state)
{
	(void)state;
	check_url("http://h/v1", "http://h/v1/embeddings");
	check_url("http://h/v1/", "http://h/v1/embeddings");
	check_url("http://h/v1/embeddings", "http://h/v1/embeddings");
	check_url("https://h/d?api-version=1",
		  "https://h/d/embeddings?api-version=1");
}

static size_t count_headers(const struct embed_config *c, char *all,
			    size_t size)
{
	const char *text = "x";
	size_t len = 1, n = 0;
	struct embed_request r = { EMBED_DOCUMENT, &text, &len, 1, NULL };
	struct http_request http = { 0 };
	struct buf body = BUF_INIT(0);
	void *self = open_with(c);

	assert_int_equal(provider()->build(self, &r, &http, &body, &err), 0);
	all[0] = '\0';
	for (; http.headers[n]; n++)
		snprintf(all + strlen(all), size - strlen(all), "%s\n",
			 http.headers[n]);
	buf_release(&body);
	provider()->close(self);
	return n;
}

static void test_openai__headers_of_the_settings_win(void **state)
{
	static const char *const headers[] = { "authorization: Basic abc",
					       "X-Team: 记忆", NULL };
	struct embed_config c = { .base_url = "http://h", .model = "m",
				  .api_key = "sk-1" };
	char all[500];

	(void)state;
	assert_int_equal(count_headers(&c, all, sizeof(all)), 2);
	assert_non_null(strstr(all, "Authorization: Bearer sk-1\n"));
	c.headers = headers;
	assert_int_equal(count_headers(&c, all, sizeof(all)), 3);
	assert_null(strstr(all, "Bearer"));
	assert_non_null(strstr(all, "X-Team: 记忆\n"));
	c.headers = NULL;
	c.api_key = NULL;
	assert_int_equal(count_headers(&c, all, sizeof(all)), 1);
}

static void test_openai__optional_fields_are_left_out_one_by_one(void **state)
{
	struct embed_config c = { .base_url = "http://h", .model = "m",
				  .dims = 256 };
	void *self = open_with(&c);

	(void)state;
	assert_true(provider()->simplify(self));
	assert_true(provider()->simplify(self));
	assert_false(provider()->simplify(self));
	provider()->close(self);
}

/* ---- what providers say ----------------------------------------------- */

static struct trouble trouble_of(int status, const char *body)
{
	struct http_reply http = { .status = status, .retry_after_ms = -1 };
	struct trouble t;

	buf_init(&http.body, 0);
	buf_adds(&http.body, body);
	trouble_read(&t, &http);
	http_reply_release(&http);
	return t;
}

static void test_openai__errors_of_many_vendors_are_read(void **state)
{
	static const struct {
		const char *body, *code, *message;
	} cases[] = {
		{ "{\"error\":{\"code\":\"c1\",\"message\":\"m1\"}}", "c1",
		  "m1" },
		{ "{\"error\":\"m2\"}", "", "m2" },
		{ "{\"code\":\"InvalidParameter\",\"message\":\"批量过大\"}",
		  "InvalidParameter", "批量过大" },
		{ "{\"detail\":[{\"type\":\"missing\",\"msg\":\"m3\"}]}",
		  "missing", "m3" },
		{ "{\"detail\":\"m4\"}", "", "m4" },
		{ "[{\"error\":{\"status\":\"INVALID\",\"message\":\"m5\"}}]",
		  "INVALID", "m5" },
		{ "{\"error\":\"m6\",\"error_type\":\"Validation\"}",
		  "Validation", "m6" },
		{ "just words", "", "just words" },
		{ "<html>no</html>", "",
		  "a web page and no reply of a provider" },
		{ "{\"error\":{\"code\":\"a b <x>\",\"message\":\"m\"}}", "",
		  "m" },
		{ "", "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct trouble t = trouble_of(400, cases[i].body);

		assert_string_equal(t.code, cases[i].code);
		assert_string_equal(t.message, cases[i].message);
		assert_false(t.quota || t.rate);
	}
}

static void test_openai__an_error_with_200_has_its_own_status(void **state)
{
	struct trouble t;

	(void)state;
	t = trouble_of(200, "{\"error\":{\"code\":429,\"message\":\"x\"}}");
	assert_true(t.in_body);
	assert_int_equal(t.status, 429);
	t = trouble_of(200, "{\"error\":null,\"data\":[]}");
	assert_false(t.in_body);
	t = trouble_of(429, "{\"error\":{\"status\":\"RESOURCE_EXHAUSTED\","
		       "\"details\":[{\"retryDelay\":\"7.5s\"}]}}");
	assert_int_equal(t.retry_after_ms, 7500);
	assert_true(t.rate);
}

static void test_openai__numbers_in_a_refusal(void **state)
{
	struct trouble t;

	(void)state;
	t = trouble_of(400, "{\"message\":\"input 的长度应在 1 到 64 之间\"}");
	assert_int_equal(trouble_number(&t, 100), 64);
	assert_int_equal(trouble_number(&t, 64), 0);
	assert_int_equal(trouble_number(&t, 1), 0);
	t = trouble_of(400, "{\"message\":\"99999999999999999999999 > 10\"}");
	assert_int_equal(trouble_number(&t, 50), 10);
}

static void test_openai__messages_are_cleaned(void **state)
{
	static const char *const secrets[] = { "sk-12345", NULL };
	const char *text = "李雷在上海的电话";
	size_t len = strlen(text);
	struct trouble t = { .message = "line\none sk-12345 sk-12345 end" };
	char out[TROUBLE_SAID];

	(void)state;
	trouble_clean(out, &t, secrets, &text, &len, 1);
	assert_string_equal(out, "line one   end");
	snprintf(t.message, sizeof(t.message), "got 李雷在上海的电话");
	trouble_clean(out, &t, secrets, &text, &len, 1);
	assert_string_equal(out, "");
	for (size_t i = 0; i + 4 < sizeof(t.message); i += 3)
		memcpy(t.message + i, "长\0", 4);
	trouble_clean(out, &t, NULL, &text, &len, 1);
	assert_int_equal(strlen(out), 198);
}

/* ---- limits ----------------------------------------------------------- */

static void test_openai__limits_close_in_on_a_cap(void **state)
{
	struct limits l;
	int refused = 0;

	(void)state;
	limits_init(&l, 2048, 8000, 0);
	for (int i = 0; i < 40; i++) {
		size_t n = limits_items(&l, false);

		if (n > 37) {
			limits_refused(&l, n, n * 10, 0);
			refused++;
		} else {
			limits_taken(&l, n, n * 10, 10);
		}
	}
	assert_int_equal(limits_items(&l, false), 37);
	assert_int_equal(limits_learned(&l), 37);
	assert_true(refused < 12);
}

static void test_openai__a_token_cap_is_not_an_item_cap(void **state)
{
	struct limits l, before;

	(void)state;
	limits_init(&l, 100, 8000, 0);
	limits_taken(&l, 100, 1000, 10);
	before = l;
	limits_refused(&l, 80, 7000, 0);
	assert_int_equal(limits_items(&l, false), 100);
	assert_int_equal(limits_tokens(&l), 4000);
	limits_restore(&l, &before);
	assert_int_equal(limits_tokens(&l), 8000);
}

static void test_openai__long_texts_are_cut_to_what_was_taken(void **state)
{
	struct limits l;

	(void)state;
	limits_init(&l, 100, 8000, 8192);
	assert_int_equal(limits_input(&l, 9000), 8192);
	limits_taken(&l, 1, 400, 400);
	limits_input_refused(&l, 800);
	assert_int_equal(limits_input(&l, 900), 400);
	assert_int_equal(limits_input(&l, 700), 700);
	/* What was taken before is not too long. */
	limits_input_refused(&l, 300);
	assert_int_equal(limits_input(&l, 700), 700);
}
