/*
 * Voyage's batches: two thirds of the price, done within 12 hours. Lines hold
 * the texts alone; what all have in common stands in the job. 100,000 texts
 * and 1 GB a job are allowed; ours are smaller, as OpenAI's.
 */
#include "embed/batch.h"
#include "embed/post.h"

static void line(const struct embed_batch *b, struct json *j, const char *key,
		 const char *text, size_t len)
{
	(void)b;
	json_obj(j);
	json_kstr(j, "custom_id", key);
	json_key(j, "body");
	json_obj(j);
	json_key(j, "input");
	json_arr(j);
	post_text(j, text, len);
	json_arr_end(j);
	json_end(j);
	json_end(j);
}

static void create(struct embed_batch *b, struct http_request *r,
		   struct buf *body, const char *name, const char *file)
{
	const char *type = b->c->document_input_type;
	struct json j;

	json_begin(&j, body);
	batch_files_create(b, r, &j, name, file, "12h");
	json_key(&j, "request_params");
	json_obj(&j);
	json_kstr(&j, "model", b->info->model);
	json_kstr(&j, "input_type", type && type[0] ? type : "document");
	if (b->c->dims > 0)
		json_kint(&j, "output_dimension", b->c->dims);
	json_end(&j);
	json_end(&j);
}

const struct batch_vendor batch_voyage = {
	.terms = { .lines = 50000, .bytes = (size_t)64 << 20,
		   .window_hours = 12, .share = 0.67 },
	.base_url = "https://api.voyageai.com/v1",
	.line = line,
	.create = create,
	BATCH_FILES_OPS,
};
