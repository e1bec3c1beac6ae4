/*
 * OpenAI's batches: half the price, done within 24 hours. A line is a whole
 * request. 50,000 texts and 200 MB a job are allowed; the file is held in
 * memory once while it is sent, so ours is smaller.
 */
#include "embed/batch.h"
#include "embed/post.h"

static void line(const struct embed_batch *b, struct json *j, const char *key,
		 const char *text, size_t len)
{
	json_obj(j);
	json_kstr(j, "custom_id", key);
	json_kstr(j, "method", "POST");
	json_kstr(j, "url", "/v1/embeddings");
	json_key(j, "body");
	json_obj(j);
	json_kstr(j, "model", b->info->model);
	json_key(j, "input");
	post_text(j, text, len);
	json_kstr(j, "encoding_format", "base64");
	if (b->c->dims > 0)
		json_kint(j, "dimensions", b->c->dims);
	json_end(j);
	json_end(j);
}

static void create(struct embed_batch *b, struct http_request *r,
		   struct buf *body, const char *name, const char *file)
{
	struct json j;

	json_begin(&j, body);
	batch_files_create(b, r, &j, name, file, "24h");
	json_end(&j);
}

const struct batch_vendor batch_openai = {
	.terms = { .lines = 50000, .bytes = (size_t)64 << 20,
		   .window_hours = 24, .share = 0.5 },
	.base_url = "https://api.openai.com/v1",
	.line = line,
	.create = create,
	BATCH_FILES_OPS,
};
