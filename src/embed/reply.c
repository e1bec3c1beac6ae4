/*
 * Replies come from the network: every count, index and length is checked, and
 * nothing is kept of a reply that is wrong.
 */
#include "embed/reply.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/json.h"

#define DIMS_MAX 16384

/* ---- base64 ----------------------------------------------------------- */

/* Bytes that s decodes to, without its padding; len loses the padding. */
static size_t base64_bytes(const char *s, size_t *len)
{
	while (*len && s[*len - 1] == '=')
		--*len;
	return *len / 4 * 3 + (*len % 4 ? *len % 4 - 1 : 0);
}

static float float_of(const unsigned char b[4])
{
	uint32_t bits = (uint32_t)b[0] | (uint32_t)b[1] << 8 |
			(uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

/* Little-endian floats; false on a byte that is not base64. */
static bool base64_floats(float *out, const char *s, size_t len)
{
	unsigned char b[4];
	uint32_t bits = 0;
	int have = 0, n = 0;

	for (size_t i = 0; i < len; i++) {
		int d = base64_digit((unsigned char)s[i]);

		if (d < 0)
			return false;
		bits = bits << 6 | (uint32_t)d;
		have += 6;
		if (have < 8)
			continue;
		have -= 8;
		b[n++] = (unsigned char)(bits >> have);
		if (n < 4)
			continue;
		*out++ = float_of(b);
		n = 0;
	}
	return true;
}

/* ---- JSON that is not quite JSON -------------------------------------- */

static size_t odd_number(const char *s, size_t len)
{
	static const char *const words[] = { "-Infinity", "Infinity", "NaN",
					     "nan",       "-inf",     "inf" };

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		size_t n = strlen(words[i]);

		if (n <= len && !memcmp(s, words[i], n))
			return n;
	}
	return 0;
}

/* Writes null for NaN and Infinity outside strings; false: there are none. */
static bool mend(struct buf *out, const char *s, size_t len)
{
	bool in_string = false, found = false;

	for (size_t i = 0; i < len; i++) {
		size_t n = in_string ? 0 : odd_number(s + i, len - i);

		if (n) {
			buf_adds(out, "null");
			found = true;
			i += n - 1;
			continue;
		}
		if (in_string && s[i] == '\\' && i + 1 < len)
			buf_addc(out, s[i++]);
		else if (s[i] == '"')
			in_string = !in_string;
		buf_addc(out, s[i]);
	}
	return found;
}

int reply_json(yyjson_doc **doc, const char *body, size_t len,
	       struct remem_err *err)
{
	struct buf mended = BUF_INIT(0);
	int rc = json_read(doc, body, len, false, "reply", err);

	if (rc == REMEM_EFORMAT && mend(&mended, body, len) &&
	    !(rc = buf_check(&mended, err)))
		rc = json_read(doc, buf_str(&mended), mended.len, false,
			       "reply", err);
	buf_release(&mended);
	return rc;
}

/* ---- the parts -------------------------------------------------------- */

/* Dimensions of one embedding, 0 for null, -1 when it is none. */
static int dims_of(yyjson_val *v)
{
	size_t n, len;

	if (yyjson_is_null(v))
		return 0;
	if (yyjson_is_arr(v)) {
		n = yyjson_arr_size(v);
	} else if (yyjson_is_str(v)) {
		len = yyjson_get_len(v);
		n = base64_bytes(yyjson_get_str(v), &len);
		if (n % sizeof(float))
			return -1;
		n /= sizeof(float);
	} else {
		return -1;
	}
	return n && n <= DIMS_MAX ? (int)n : -1;
}

static bool read_vector(float *out, yyjson_val *v, int dims)
{
	size_t i, n, len;
	yyjson_val *x;

	if (yyjson_is_null(v)) {
		for (int k = 0; k < dims; k++)
			out[k] = NAN;
		return true;
	}
	if (yyjson_is_str(v)) {
		len = yyjson_get_len(v);
		base64_bytes(yyjson_get_str(v), &len);
		return base64_floats(out, yyjson_get_str(v), len);
	}
	yyjson_arr_foreach(v, i, n, x) {
		double d = yyjson_is_num(x) ? yyjson_get_num(x) : (double)NAN;

		if (!yyjson_is_num(x) && !yyjson_is_null(x))
			return false;
		out[i] = fabs(d) <= 3e38 ? (float)d : NAN;
	}
	return true;
}

/* Puts each item of the list where its index says; all without one: in order. */
static int order_items(yyjson_val **at, yyjson_val *list, size_t count,
		       struct remem_err *err)
{
	size_t i, n, without = 0;
	yyjson_val *v;

	yyjson_arr_foreach(list, i, n, v) {
		yyjson_val *index = yyjson_obj_get(v, "index");
		int64_t k = index ? json_int(v, "index", -1) : (int64_t)i;

		without += !index;
		if (k < 0 || (uint64_t)k >= count)
			return fail(err, REMEM_EREMOTE, "the provider answered "
				    "a vector for a text that was not sent");
		if (at[k])
			return fail(err, REMEM_EREMOTE, "the provider answered "
				    "two vectors for one text");
		at[k] = v;
	}
	if (without && without < count)
		return fail(err, REMEM_EREMOTE, "the provider numbered some of "
			    "its vectors only");
	return 0;
}

static int find_dims(int *dims, yyjson_val *const *at, size_t n,
		     struct remem_err *err)
{
	*dims = 0;
	for (size_t i = 0; i < n; i++) {
		int d = at[i] ? dims_of(at[i]) : -1;

		if (d < 0)
			return fail(err, REMEM_EREMOTE, "the provider answered "
				    "something that is no vector");
		if (d && *dims && d != *dims)
			return fail(err, REMEM_EREMOTE, "the provider answered "
				    "vectors of %d and of %d dimensions", *dims,
				    d);
		if (d)
			*dims = d;
	}
	return *dims ? 0 : fail(err, REMEM_EREMOTE, "the provider answered "
				"without any vector");
}

static int read_all(struct embed_reply *out, yyjson_val **at, size_t n,
		    struct remem_err *err)
{
	int rc;

	if ((rc = find_dims(&out->dims, at, n, err)))
		return rc;
	out->vecs = mem_array(n, (size_t)out->dims * sizeof(float));
	if (!out->vecs)
		return fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		if (!read_vector(out->vecs + i * (size_t)out->dims, at[i],
				 out->dims))
			return fail(err, REMEM_EREMOTE, "the provider answered "
				    "a vector that cannot be read");
	return 0;
}

/* The items in the order of the texts. */
static int find_items(yyjson_val **at, const struct reply_shape *shape,
		      yyjson_val *root, size_t n, struct remem_err *err)
{
	yyjson_val *list = shape->list ? yyjson_obj_get(root, shape->list) :
					 NULL;
	yyjson_val *one = shape->one && n == 1 ?
		yyjson_obj_get(root, shape->one) : NULL;

	if (one) {
		at[0] = one;
		return 0;
	}
	if (shape->inner && yyjson_is_obj(list))
		list = yyjson_obj_get(list, shape->inner);
	if (!yyjson_is_arr(list))
		return fail(err, REMEM_EREMOTE, "the provider's reply has no "
			    "list of vectors ('%s')",
			    shape->list ? shape->list : shape->one);
	if (yyjson_arr_size(list) != n)
		return fail(err, REMEM_EREMOTE, "the provider answered %zu "
			    "vectors for %zu texts", yyjson_arr_size(list), n);
	return order_items(at, list, n, err);
}

/* More than any request has: it is a number of somebody else's, and sums of it
 * must not overflow. */
#define TOKENS_MAX 1000000000

/* Vendors count in one of these places, or not at all. */
static int64_t tokens_of(yyjson_val *root)
{
	yyjson_val *usage = yyjson_obj_get(root, "usage");
	yyjson_val *google = yyjson_obj_get(root, "usageMetadata");
	const int64_t counts[] = {
		json_int(usage, "total_tokens", 0),
		json_int(usage, "prompt_tokens", 0),
		json_int(google, "totalTokenCount", 0),
		json_int(google, "promptTokenCount", 0),
		json_int(root, "prompt_eval_count", 0),
		json_int(root, "inputTextTokenCount", 0),
	};

	for (size_t i = 0; i < ARRAY_LEN(counts); i++)
		if (counts[i] > 0)
			return counts[i] < TOKENS_MAX ? counts[i] : TOKENS_MAX;
	return 0;
}

static int read_root(struct embed_reply *out, const struct reply_shape *shape,
		     yyjson_val *root, size_t n, struct remem_err *err)
{
	yyjson_val **at;
	int rc;

	if (yyjson_is_null(root))
		return fail(err, REMEM_EREMOTE,
			    "the provider answered null instead of vectors");
	at = mem_zarray(n, sizeof(yyjson_val *));
	if (!at)
		return fail_nomem(err);
	rc = find_items(at, shape, root, n, err);
	for (size_t i = 0; !rc && shape->vector && i < n; i++)
		at[i] = yyjson_obj_get(at[i], shape->vector);
	if (!rc)
		rc = read_all(out, at, n, err);
	mem_free(at);
	out->tokens = tokens_of(root);
	return rc;
}

int reply_root(struct embed_reply *out, const struct reply_shape *shape,
	       yyjson_val *root, size_t n, struct remem_err *err)
{
	int rc;

	memset(out, 0, sizeof(*out));
	rc = read_root(out, shape, root, n, err);
	if (rc) {
		mem_free(out->vecs);
		memset(out, 0, sizeof(*out));
	}
	return rc;
}

static bool is_page(const char *body, size_t len)
{
	size_t i = 0;

	while (i < len && strchr(" \r\n\t", body[i]) && body[i])
		i++;
	return i < len && body[i] == '<';
}

int reply_read(struct embed_reply *out, const struct reply_shape *shape,
	       size_t n, const char *body, size_t len, struct remem_err *err)
{
	struct remem_err why = { 0 };
	yyjson_doc *doc = NULL;
	int rc;

	memset(out, 0, sizeof(*out));
	if (!len)
		return fail(err, REMEM_EREMOTE, "the provider answered nothing");
	rc = reply_json(&doc, body, len, &why);
	if (rc == REMEM_ENOMEM)
		return fail_nomem(err);
	if (rc)
		return fail(err, REMEM_EREMOTE, "the provider answered %s",
			    is_page(body, len) ?
				    "with a web page instead of vectors" :
				    "with something that is not JSON");
	rc = reply_root(out, shape, yyjson_doc_get_root(doc), n, err);
	yyjson_doc_free(doc);
	return rc;
}

int openai_reply(struct embed_reply *out, size_t n, const char *body,
		 size_t len, struct remem_err *err)
{
	static const struct reply_shape shape = { .list = "data",
						  .vector = "embedding" };

	return reply_read(out, &shape, n, body, len, err);
}
