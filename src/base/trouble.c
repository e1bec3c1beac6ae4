/* Reads what a provider says when it does not answer, and spaces retries. */
#define _GNU_SOURCE /* memmem, strcasestr */
#include "base/trouble.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/json.h"
#include "base/utf8.h"

#define BODY_MAX ((size_t)1 << 20) /* of an error; more is not read */
#define SAID_MAX 200
#define ECHO_BYTES 16 /* so much of a text in a message is a repetition */

#define WAIT_FIRST_MS 500
#define WAIT_MAX_MS 8000
#define RETRY_AFTER_MAX_MS 60000

static const char *const quota_words[] = {
	"insufficient_quota", "billing", "arrearage", "accountoverdue",
	"insufficient balance", "insufficient_balance", "insufficient credit",
	"insufficient_credit", "credit balance", "payment required",
	"余额不足", "余额已用", "欠费", "欠費", "餘額不足",
};

static const char *const rate_words[] = {
	"rate_limit", "rate limit", "ratelimit", "too many requests",
	"throttling", "resource_exhausted", "请求过于频繁", "限流",
};

static const char *const size_words[] = {
	"too long", "too large", "too many", "context length", "batch size",
	"exceed", "maximum", "larger than", "longer than", "token limit",
	"过长", "过大", "超过", "超出", "超長", "過長", "過大", "長すぎ",
	"너무",
};

static bool has_word(const char *s, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcasestr(s, words[i]))
			return true;
	return false;
}

static void take_code(struct trouble *t, const char *s)
{
	size_t n = 0;

	if (!s || t->code[0])
		return;
	while (s[n] && (isalnum((unsigned char)s[n]) || strchr("_.-", s[n])))
		n++;
	if (n && !s[n] && n < sizeof(t->code))
		memcpy(t->code, s, n + 1);
}

static void take_message(struct trouble *t, const char *s)
{
	if (!s || !s[0] || t->message[0])
		return;
	snprintf(t->message, sizeof(t->message), "%s", s);
	t->message[utf8_trim(t->message, strlen(t->message))] = '\0';
}

/* A status that stands in the body, when HTTP says 200. */
static void take_status(struct trouble *t, yyjson_val *v)
{
	int64_t status = json_int(v, "code", 0);

	if (!status)
		status = json_int(v, "status", 0);
	if (t->status < 300 && status >= 400 && status < 600)
		t->status = (int)status;
}

/* Google's RetryInfo: "details": [{"retryDelay": "7.5s"}] */
static void take_delay(struct trouble *t, yyjson_val *error)
{
	yyjson_val *list = yyjson_obj_get(error, "details"), *v;
	size_t i, n;

	if (!yyjson_is_arr(list))
		return;
	yyjson_arr_foreach(list, i, n, v) {
		double s = atof(json_str(v, "retryDelay", ""));

		if (s > 0 && s < 1e6 && t->retry_after_ms < 0)
			t->retry_after_ms = (int)(s * 1000);
	}
}

/* Members of an object where vendors put words about an error. */
static void take_words(struct trouble *t, yyjson_val *v)
{
	static const char *const messages[] = { "message", "msg", "error_msg",
						"detail", "error", "Message" };
	static const char *const codes[] = { "code", "type", "status",
					     "error_code", "error_type" };

	if (!yyjson_is_obj(v))
		return;
	for (size_t i = 0; i < ARRAY_LEN(codes); i++)
		take_code(t, json_str(v, codes[i], NULL));
	for (size_t i = 0; i < ARRAY_LEN(messages); i++)
		take_message(t, json_str(v, messages[i], NULL));
	take_status(t, v);
	take_delay(t, v);
}

/* FastAPI's: "detail": [{"msg": …}] */
static yyjson_val *first_of(yyjson_val *v)
{
	return yyjson_is_arr(v) ? yyjson_arr_get_first(v) : v;
}

static bool is_error(yyjson_val *v)
{
	return v && !yyjson_is_null(v) && !yyjson_is_false(v);
}

static void read_body(struct trouble *t, const struct buf *body)
{
	yyjson_doc *doc = NULL;
	yyjson_val *root, *error;

	if (body->len > BODY_MAX ||
	    json_read(&doc, buf_str(body), body->len, false, "reply", NULL))
		return;
	root = first_of(yyjson_doc_get_root(doc));
	error = yyjson_obj_get(root, "error");
	if (!is_error(error))
		error = yyjson_obj_get(root, "errors");
	t->in_body = is_error(error);
	if (t->in_body || t->status >= 300) {
		take_words(t, first_of(error));
		take_words(t, first_of(yyjson_obj_get(root, "detail")));
		take_words(t, root);
	}
	yyjson_doc_free(doc);
}

/* An error reply that is not JSON: a short plain text is its message. */
static void read_text(struct trouble *t, const struct http_reply *http)
{
	const char *s = buf_str(&http->body);

	if (strcasestr(http->content_type, "html") || s[strspn(s, " \r\n\t")] == '<')
		take_message(t, "a web page and no reply of a provider");
	else if (http->body.len < 400 && utf8_valid(s, http->body.len) &&
		 s[0] != '{' && s[0] != '[')
		take_message(t, s);
}

void trouble_read(struct trouble *t, const struct http_reply *http)
{
	memset(t, 0, sizeof(*t));
	t->status = http->status;
	t->retry_after_ms = http->retry_after_ms;
	/* A large body of a 200 is vectors, read once and not twice. */
	if (t->status < 300 && http->body.len > 4096)
		return;
	read_body(t, &http->body);
	if (t->status >= 300 && !t->message[0])
		read_text(t, http);
	if (!t->in_body && t->status < 300)
		return;
	t->quota = has_word(t->code, quota_words, ARRAY_LEN(quota_words)) ||
		   has_word(t->message, quota_words, ARRAY_LEN(quota_words));
	t->rate = has_word(t->code, rate_words, ARRAY_LEN(rate_words)) ||
		  has_word(t->message, rate_words, ARRAY_LEN(rate_words));
	t->size = has_word(t->code, size_words, ARRAY_LEN(size_words)) ||
		  has_word(t->message, size_words, ARRAY_LEN(size_words));
}

size_t trouble_number(const struct trouble *t, size_t below)
{
	size_t best = 0;

	for (const char *s = t->message; *s; s++) {
		size_t n = 0;

		if (!isdigit((unsigned char)*s))
			continue;
		for (; isdigit((unsigned char)*s); s++)
			n = n > below ? n : n * 10 + (size_t)(*s - '0');
		if (n >= 2 && n < below && n > best)
			best = n;
		if (!*s)
			break;
	}
	return best;
}

static bool repeats(const char *said, const char *const *texts,
		    const size_t *lens, size_t n)
{
	size_t len = strlen(said);

	for (size_t i = 0; i < n; i++) {
		size_t window = lens[i] < ECHO_BYTES ? lens[i] : ECHO_BYTES;

		/* Words of one or two letters are in every message. */
		for (size_t k = 0; window >= 4 && k + window <= len; k++)
			if (memmem(texts[i], lens[i], said + k, window))
				return true;
	}
	return false;
}

static void cut_out(char *s, const char *secret)
{
	size_t n = secret ? strlen(secret) : 0;
	char *at;

	while (n && (at = strstr(s, secret)))
		memmove(at, at + n, strlen(at + n) + 1);
}

void trouble_clean(char out[TROUBLE_SAID], const struct trouble *t,
		   const char *const *secrets, const char *const *texts,
		   const size_t *lens, size_t n)
{
	char s[sizeof(t->message)];
	size_t len;

	memcpy(s, t->message, sizeof(s));
	for (; secrets && *secrets; secrets++)
		cut_out(s, *secrets);
	for (char *p = s; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = ' ';
	len = strlen(s);
	out[0] = '\0';
	if (!repeats(s, texts, lens, n))
		snprintf(out, TROUBLE_SAID, "%.*s",
			 (int)utf8_cut(s, len, SAID_MAX), s);
}

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

int trouble_wait_ms(int attempt, int retry_after_ms, double scale,
		    uint64_t *random)
{
	double ms = WAIT_FIRST_MS, jitter;

	if (retry_after_ms > RETRY_AFTER_MAX_MS)
		return -1;
	for (int i = 0; i < attempt && ms < WAIT_MAX_MS; i++)
		ms *= 2;
	if (retry_after_ms >= 0)
		ms = retry_after_ms;
	jitter = 1 + (double)(next_random(random) >> 11) / 9007199254740992.0 / 5;
	return (int)(ms * jitter * (scale > 0 ? scale : 1) + 0.5);
}
