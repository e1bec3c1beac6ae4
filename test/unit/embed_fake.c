/* A provider in memory. */
#include "embed_fake.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/utf8.h"

#define DIMS_MAX 4096

void fake_init(struct fake *f)
{
	memset(f, 0, sizeof(*f));
	pthread_mutex_init(&f->lock, NULL);
	f->retry_after_ms = -1;
	f->knows_base64 = f->knows_dims = true;
}

void fake_release(struct fake *f)
{
	pthread_mutex_destroy(&f->lock);
}

void fake_vector(float *out, int dims, const char *text, size_t len)
{
	uint64_t h = 1469598103934665603u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)text[i]) * 1099511628211u;
	for (int i = 0; i < dims; i++) {
		h ^= h << 13;
		h ^= h >> 7;
		h ^= h << 17;
		out[i] = (float)((double)(h >> 40) / 16777216.0 - 0.5);
	}
}

static bool holds(const char *text, const char *what)
{
	return what && strstr(text, what) != NULL;
}

static void put_base64(struct buf *b, const float *v, int dims)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklm"
				     "nopqrstuvwxyz0123456789+/";
	const unsigned char *p = (const unsigned char *)v;
	size_t len = (size_t)dims * sizeof(float);

	buf_addc(b, '"');
	for (size_t i = 0; i < len; i += 3) {
		uint32_t n = (uint32_t)p[i] << 16;

		if (i + 1 < len)
			n |= (uint32_t)p[i + 1] << 8;
		if (i + 2 < len)
			n |= p[i + 2];
		buf_addc(b, digits[n >> 18]);
		buf_addc(b, digits[n >> 12 & 63]);
		buf_addc(b, i + 1 < len ? digits[n >> 6 & 63] : '=');
		buf_addc(b, i + 2 < len ? digits[n & 63] : '=');
	}
	buf_addc(b, '"');
}

static bool gives_nan(struct fake *f)
{
	if (f->nan_times < 0)
		return false;
	if (f->nan_times && !--f->nan_times)
		f->nan_times = -1;
	return true;
}

static void put_vector(struct fake *f, struct buf *b, const char *text,
		       const char *of, int dims)
{
	static _Thread_local float v[DIMS_MAX];

	fake_vector(v, dims, of, strlen(of));
	if (holds(text, f->zero))
		memset(v, 0, sizeof(v));
	if (f->base64) {
		put_base64(b, v, dims);
		return;
	}
	for (int i = 0; i < dims; i++) {
		buf_addc(b, i ? ',' : '[');
		if (!i && holds(text, f->nan) && gives_nan(f))
			buf_adds(b, "NaN");
		else
			buf_addf(b, "%.9g", (double)v[i]);
	}
	buf_addc(b, ']');
}

static void put_answer(struct fake *f, struct buf *b, yyjson_val *input)
{
	size_t n = yyjson_arr_size(input);
	size_t count = f->bad == FAKE_FEW ? n - 1 : n;
	int dims = f->dims ? f->dims : 8;

	buf_adds(b, "{\"object\":\"list\",\"data\":[");
	for (size_t k = 0; k < count; k++) {
		size_t i = f->shuffled ? (k * 7 + 3) % n : k;
		size_t index = f->bad == FAKE_TWICE ? 0 :
			       f->bad == FAKE_BEYOND ? n + i : i;
		const char *text, *of;

		if (f->shuffled && n % 7 == 0)
			i = index = n - 1 - k;
		text = yyjson_get_str(yyjson_arr_get(input, i));
		of = f->mixed_up && i ? yyjson_get_str(yyjson_arr_get_first(
						input)) : text;
		buf_adds(b, k ? ",{" : "{");
		if (!f->no_index)
			buf_addf(b, "\"index\":%zu,", index);
		buf_adds(b, "\"embedding\":");
		put_vector(f, b, text, of, dims);
		buf_addc(b, '}');
	}
	buf_addf(b, "],\"usage\":{\"total_tokens\":%zu}}", n * 10);
}

static bool is_bad(const struct fake *f, yyjson_val *input)
{
	yyjson_val *v;
	size_t i, n;

	if (!f->bad_for)
		return f->bad != FAKE_GOOD;
	yyjson_arr_foreach(input, i, n, v)
		if (holds(yyjson_get_str(v), f->bad_for))
			return true;
	return false;
}

/* NULL, or the body of a refusal. */
static const char *refusal(const struct fake *f, yyjson_val *root,
			   yyjson_val *input)
{
	yyjson_val *v;
	size_t i, n;

	if ((!f->knows_base64 && yyjson_obj_get(root, "encoding_format")) ||
	    (!f->knows_dims && yyjson_obj_get(root, "dimensions")))
		return "{\"error\":{\"message\":\"unknown field\"}}";
	if (f->max_items && yyjson_arr_size(input) > f->max_items)
		return f->body ? f->body :
		       "{\"error\":{\"message\":\"批量过大\"}}";
	yyjson_arr_foreach(input, i, n, v) {
		const char *text = yyjson_get_str(v);

		if (f->max_chars && utf8_count(text, strlen(text)) >
					    f->max_chars)
			return "{\"error\":{\"message\":\"输入过长\"}}";
		if (holds(text, f->poison))
			return "{\"error\":{\"message\":\"no\"}}";
	}
	return NULL;
}

static void answer_bad(struct fake *f, struct http_reply *reply,
		       yyjson_val *input)
{
	struct buf *b = &reply->body;

	switch (f->bad) {
	case FAKE_HTML:
		snprintf(reply->content_type, sizeof(reply->content_type),
			 "text/html");
		buf_adds(b, "<!doctype html><p>sign in</p>");
		break;
	case FAKE_NULL:
		buf_adds(b, "null");
		break;
	case FAKE_EMPTY:
		buf_adds(b, "{\"data\":[]}");
		break;
	case FAKE_ERROR:
		buf_adds(b, "{\"error\":{\"message\":\"model not loaded\"}}");
		break;
	case FAKE_GARBAGE:
		buf_adds(b, "\x01\x02 garbage");
		break;
	default:
		put_answer(f, b, input);
	}
}

static void note_request(struct fake *f, const struct http_request *req,
			 yyjson_val *root, yyjson_val *input)
{
	const char *type = json_str(root, "input_type", "");

	f->requests++;
	f->items += yyjson_arr_size(input);
	if (yyjson_arr_size(input) > f->most_items)
		f->most_items = yyjson_arr_size(input);
	f->type_query = f->type_query || !strcmp(type, "query");
	f->type_document = f->type_document || !strcmp(type, "document");
	for (const char *const *h = req->headers; h && *h; h++)
		f->key = f->key || !strncmp(*h, "Authorization: Bearer ", 22);
	snprintf(f->last, sizeof(f->last), "%s", req->body);
	snprintf(f->text, sizeof(f->text), "%s",
		 yyjson_get_str(yyjson_arr_get_first(input)));
}

static void answer(struct fake *f, struct http_reply *reply, yyjson_val *root,
		   yyjson_val *input)
{
	const char *no = refusal(f, root, input);

	reply->status = 200;
	if (f->status && f->times && f->good >= f->after) {
		f->times -= f->times > 0;
		reply->status = f->status;
		reply->retry_after_ms = f->retry_after_ms;
		buf_adds(&reply->body, f->body ? f->body : "");
	} else if (no) {
		f->refused++;
		reply->status = 400;
		buf_adds(&reply->body, no);
	} else if (is_bad(f, input)) {
		answer_bad(f, reply, input);
	} else {
		enum fake_reply bad = f->bad;

		f->good++;
		f->bad = FAKE_GOOD;
		put_answer(f, &reply->body, input);
		f->bad = bad;
	}
}

/* Gives others a moment to be sent, so that several are in flight. */
static void linger(void)
{
	nanosleep(&(struct timespec){ 0, 2000000 }, NULL);
}

void fake_transport(void *ctx, const struct http_request *req,
		    struct http_reply *reply)
{
	struct fake *f = ctx;
	yyjson_doc *doc = NULL;
	yyjson_val *root, *input;

	pthread_mutex_lock(&f->lock);
	if (++f->now > f->most_at_once)
		f->most_at_once = f->now;
	pthread_mutex_unlock(&f->lock);
	if (f->slow)
		linger();
	pthread_mutex_lock(&f->lock);
	f->now--;
	buf_init(&reply->body, 0);
	if (json_read(&doc, req->body, req->body_len, false, "request",
		      NULL)) {
		reply->rc = REMEM_ENOMEM;
		snprintf(reply->error, sizeof(reply->error), "out of memory");
		goto out;
	}
	root = yyjson_doc_get_root(doc);
	input = yyjson_obj_get(root, "input");
	note_request(f, req, root, input);
	answer(f, reply, root, input);
	yyjson_doc_free(doc);
	reply->rc = buf_check(&reply->body, NULL);
out:
	pthread_mutex_unlock(&f->lock);
}
