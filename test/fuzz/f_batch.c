/*
 * What a batch interface answers: the state of a job, a page of jobs, files of
 * answers. Ids that are kept may stand in an address; a line has a vector of
 * the dimensions that are known, or a reason. The first byte chooses the vendor
 * and how the bytes are cut into pieces.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "embed/batch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const uint8_t *bytes;
static size_t count, piece;

static void transport(void *ctx, const struct http_request *req,
		      struct http_reply *reply)
{
	(void)ctx;
	memset(reply, 0, sizeof(*reply));
	reply->status = 200;
	reply->retry_after_ms = -1;
	buf_init(&reply->body, 0);
	if (!req->take) {
		buf_add(&reply->body, bytes, count);
		return;
	}
	for (size_t i = 0; i < count; i += piece) {
		size_t n = count - i < piece ? count - i : piece;

		if (req->take(req->take_ctx, (const char *)bytes + i, n))
			return;
	}
}

static void check_id(const char *id)
{
	if (strlen(id) >= BATCH_ID || strstr(id, "..") || strchr(id, '?') ||
	    strchr(id, ' ') || strchr(id, '\n'))
		abort();
}

static void check_status(const struct batch_status *s)
{
	check_id(s->id);
	check_id(s->output);
	check_id(s->errors);
	if (s->state > BATCH_CANCELLED)
		abort();
}

static int on_line(void *ctx, const char *key, size_t len, const float *vec,
		   int dims, int64_t tokens, const char *error)
{
	int *known = ctx;

	(void)tokens;
	if (!key || key[len] || !vec == !error)
		abort();
	if (!vec)
		return 0;
	if (dims < 1 || (*known && *known != dims))
		abort();
	*known = dims;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char *const providers[] = { "openai", "voyage", "gemini",
						 "openai" };
	struct embed_config c = { .base_url = "http://127.0.0.1:1/v1",
				  .wait_scale = 1e-6,
				  .transport = transport };
	struct embedder *e = NULL;
	struct embed_batch *b = NULL;
	struct batch_status s;
	int known = 0;
	struct batch_sink sink = { on_line, NULL, &known };
	int64_t bad;

	if (!len)
		return 0;
	c.provider = providers[data[0] & 3];
	piece = 1 + (data[0] >> 2);
	bytes = data + 1;
	count = len - 1;
	if (embedder_open(&e, &c, NULL) || embed_batch_new(&b, e, NULL))
		abort();
	if (!embed_batch_look(b, "x", &s, NULL, NULL, NULL))
		check_status(&s);
	if (!embed_batch_find(b, "remem-1", &s, NULL, NULL, NULL))
		check_status(&s);
	(void)embed_batch_fetch(b, "x", &sink, &bad, NULL);
	embed_batch_free(b);
	embedder_free(e);
	return 0;
}
