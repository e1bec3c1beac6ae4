/* What holds for every row of chat.def, against a server on loopback that
 * speaks each vendor's dialect and refuses what is not its own. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/http.h"
#include "chat/chat.h"

#define KEY "sk-secret-1234"

static struct {
	int port, calls;
	int64_t tokens, answer_tokens, budget, held;
} w;

/* At first use; it ends with this process, which holds its standard input. */
static void need_server(void)
{
	const char *root = getenv("REMEM_SOURCE_ROOT");
	int to[2], from[2];
	char path[1024], text[16] = "";
	pid_t pid;

	if (w.port)
		return;
	snprintf(path, sizeof(path), "%s/test/server/chat.py",
		 root ? root : ".");
	assert_int_equal(pipe(to) || pipe(from), 0);
	pid = fork();
	if (!pid) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		close(to[1]);
		close(from[0]);
		execlp("python3", "python3", path, (char *)NULL);
		_exit(127);
	}
	assert_true(pid > 0);
	close(to[0]);
	close(from[1]);
	for (size_t n = 0; !strchr(text, '\n'); n++)
		assert_int_equal(read(from[0], text + n, 1), 1);
	close(from[0]);
	w.port = atoi(text);
	assert_true(w.port > 0);
}

static void settle(void *ctx, const struct spend *s)
{
	assert_string_equal(s->provider, ctx);
	assert_string_equal(s->model, "m1");
	assert_int_equal(s->items, 1);
	assert_true(s->took_ms >= 0);
	assert_true(s->status < 300 || !s->tokens);
	assert_true(s->answer_tokens <= s->tokens);
	w.calls++;
	w.tokens += s->tokens;
	w.answer_tokens += s->answer_tokens;
	w.held -= s->held;
}

static int hold(void *ctx, struct spend *s, struct remem_err *err)
{
	(void)ctx;
	if (w.budget && s->tokens > w.budget)
		return fail(err, REMEM_ELIMIT, "the budget is used up");
	s->held = 1;
	w.held++;
	return 0;
}

static void drop(void *ctx, const struct spend *s)
{
	(void)ctx;
	w.held -= s->held;
}

static int count(const char *key)
{
	struct http_request req = { 0 };
	struct http_reply reply;
	struct http *h;
	char url[256];
	int n;

	snprintf(url, sizeof(url), "http://127.0.0.1:%d/count/%s", w.port, key);
	req.url = url;
	assert_int_equal(http_new(&h, NULL), 0);
	assert_int_equal(http_perform(h, &req, &reply, 1, NULL, NULL, NULL), 0);
	n = atoi(buf_str(&reply.body));
	http_reply_release(&reply);
	http_free(h);
	return n;
}

static const struct chat_message asked[] = {
	{ "system", "be short", 8 },
	{ "user", "记住：我喜欢 tabs", 23 },
	{ "assistant", "ok", 2 },
	{ "user", "go on", 5 },
};

struct row {
	const char *name, *options;
	bool json;
	int rc, requests;
	const char *says; /* the answer, or a part of the error */
	int timeout_ms;
};

#define OBJECT "{\"name\": \"n1\", \"summary\": \"\\u8bb0\\u5fc6\"}"

/* Asks once; *requests: what the server saw. */
static int ask(struct buf *out, int *requests, const char *provider,
	       const struct row *row, struct remem_err *err)
{
	static const char *const fields[] = { "name", "summary", NULL };
	struct chat_request r = { .messages = asked, .n = 4,
				  .json = row->json, .fields = fields,
				  .timeout_ms = row->timeout_ms };
	struct chat_config c = { .provider = provider, .model = "m1",
				 .api_key = KEY, .wait_scale = 0.001,
				 .spend = { hold, settle, drop,
					    (void *)(uintptr_t)provider } };
	char url[256], key[200];
	struct chat *chat;
	int rc;

	need_server();
	snprintf(key, sizeof(key), "%s,tag=%s,%s", provider, row->name,
		 row->options);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/%s%s", w.port, key,
		 !strcmp(provider, "openai-compatible") ? "/v1" :
		 !strcmp(provider, "gemini") ? "/v1beta/" : "/");
	c.base_url = url;
	w.calls = 0;
	w.tokens = w.answer_tokens = 0;
	assert_int_equal(chat_open(&chat, &c, err), 0);
	rc = chat_ask(chat, &r, out, err);
	chat_free(chat);
	*requests = count(key);
	return rc;
}

static const struct row rows[] = {
	{ "text", "say=text", 0, 0, 1, "好的, yes", 0 },
	{ "json", "say=json", 1, 0, 1, "\"name\"", 0 },
	{ "fence", "say=fenced", 1, 0, 1, OBJECT, 0 },
	{ "prose", "say=prose", 1, 0, 1, OBJECT, 0 },
	{ "words", "say=text", 1, REMEM_EREMOTE, 2, "not JSON", 0 },
	{ "empty", "say=empty", 0, REMEM_EREMOTE, 2, "nothing", 0 },
	/* paid for, and the same again: not asked twice */
	{ "cut", "say=cut", 0, REMEM_EREMOTE, 1, "cut off", 0 },
	{ "cut-json", "say=cut", 1, REMEM_EREMOTE, 1, "cut off", 0 },
	{ "html", "say=html", 0, REMEM_EREMOTE, 2, "web page", 0 },
	{ "half", "say=half", 0, REMEM_EREMOTE, 2, "not JSON", 0 },
	{ "error200", "say=error200", 0, REMEM_EREMOTE, -1, "words about", 0 },
	{ "e401", "say=401", 0, REMEM_EREMOTE, 1, "HTTP 401", 0 },
	{ "e402", "say=402", 0, REMEM_EREMOTE, 1, "HTTP 402", 0 },
	{ "e403", "say=403", 0, REMEM_EREMOTE, 1, "HTTP 403", 0 },
	{ "e404", "say=404", 0, REMEM_EREMOTE, 1, "HTTP 404", 0 },
	{ "e413", "say=413", 0, REMEM_EREMOTE, 1, "HTTP 413", 0 },
	{ "e429", "say=429", 0, REMEM_EREMOTE, 4, "too fast", 0 },
	{ "e429s", "say=429,after=2,times=2", 1, 0, 3, "\"name\"", 0 },
	/* more than a minute is not waited for */
	{ "e429l", "say=429,after=90", 0, REMEM_EREMOTE, 1, "too fast", 0 },
	{ "e429n", "say=429,after=soon", 0, REMEM_EREMOTE, 4, "too fast", 0 },
	{ "e500", "say=500", 0, REMEM_EREMOTE, 4, "HTTP 500", 0 },
	{ "e503", "say=503,times=1", 1, 0, 2, "\"name\"", 0 },
	{ "e529", "say=529", 0, REMEM_EREMOTE, 4, "HTTP 529", 0 },
	{ "trickle", "say=trickle", 0, REMEM_ETIMEOUT, 1, "in time", 200 },
	{ "huge", "say=huge", 0, REMEM_ELIMIT, 1, "larger than", 0 },
	{ "away", "say=away", 0, REMEM_EREMOTE, 1, "not followed", 0 },
	{ "reset", "say=reset,times=1", 1, 0, 2, "\"name\"", 0 },
	/* knows no JSON, and is asked for it in words alone */
	{ "plain", "plain,say=fenced", 1, 0, -1, OBJECT, 0 },
	{ "e422", "say=422", 0, REMEM_EREMOTE, -1, "HTTP 422", 0 },
	{ "e400", "say=400", 1, REMEM_EREMOTE, -1, "HTTP 400", 0 },
};

static void check(const char *provider, const struct row *row)
{
	struct buf out = BUF_INIT(0);
	struct remem_err err = { 0 };
	int requests, rc = ask(&out, &requests, provider, row, &err);
	const char *said = rc ? err.message : buf_str(&out);

	if (rc != row->rc || !strstr(said, row->says))
		fail_msg("%s, %s: %d '%s'", provider, row->name, rc, said);
	if (row->requests >= 0 ? requests != row->requests : requests > 4)
		fail_msg("%s, %s: %d requests", provider, row->name, requests);
	assert_int_equal(w.calls, requests);
	assert_int_equal(w.held, 0);
	if (!rc && w.calls == 1) {
		assert_int_equal(w.tokens, 42);
		assert_int_equal(w.answer_tokens, 12);
	}
	assert_null(strstr(err.message, KEY));
	assert_null(strstr(err.action, KEY));
	buf_release(&out);
}

static void test_contract_chat__every_answer_of_every_provider(void **state)
{
	(void)state;
	for (int i = 0; chat_provider_at(i); i++)
		for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++)
			check(chat_provider_at(i), &rows[k]);
}

/* Ollama has no word for it: what the model says is the answer. */
static void test_contract_chat__a_refusal_is_told_and_not_asked_again(
	void **state)
{
	static const struct row row = { "no", "say=refusal", 0, REMEM_EREMOTE,
					1, "refused", 0 };

	(void)state;
	for (int i = 0; chat_provider_at(i); i++)
		if (strcmp(chat_provider_at(i), "ollama"))
			check(chat_provider_at(i), &row);
}

static void test_contract_chat__the_budget_stops_before(void **state)
{
	static const struct row row = { "poor", "say=text", 0, REMEM_ELIMIT, 0,
					"budget", 0 };

	(void)state;
	w.budget = 3;
	for (int i = 0; chat_provider_at(i); i++)
		check(chat_provider_at(i), &row);
	w.budget = 0;
}

static void test_contract_chat__a_missing_key_is_told_at_once(void **state)
{
	struct chat_config c = { .model = "m1" };
	struct remem_err err = { 0 };
	struct chat *chat;

	(void)state;
	for (int i = 0; (c.provider = chat_provider_at(i)); i++) {
		int rc = chat_open(&chat, &c, &err);

		if (!strcmp(c.provider, "ollama"))
			assert_int_equal(rc, 0);
		else
			assert_int_equal(rc, REMEM_EINVAL);
		chat_free(chat);
	}
}

static void test_contract_chat__nobody_listens(void **state)
{
	struct chat_config c = { .model = "m1", .api_key = KEY,
				 .base_url = "http://127.0.0.1:1",
				 .wait_scale = 0.001 };
	struct chat_request r = { .messages = asked, .n = 2 };
	struct buf out = BUF_INIT(0);

	(void)state;
	for (int i = 0; (c.provider = chat_provider_at(i)); i++) {
		struct remem_err err = { 0 };
		struct chat *chat;

		assert_int_equal(chat_open(&chat, &c, &err), 0);
		assert_int_equal(chat_ask(chat, &r, &out, &err), REMEM_EREMOTE);
		assert_non_null(strstr(err.message, "cannot connect"));
		assert_non_null(strstr(err.action, "chat.baseUrl"));
		chat_free(chat);
	}
	buf_release(&out);
}
