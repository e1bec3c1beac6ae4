/*
 * Gemini's batches: half the price, meant to be done within 24 hours. The file
 * goes to the address of uploads, the job is started by a method of the model,
 * and is an operation from then on. Its display name is the job's name.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "embed/batch.h"
#include "embed/gemini.h"

static void head(const struct embed_batch *b, struct buf *out,
		 const char *name)
{
	(void)b;
	buf_addf(out, "--%s\r\nContent-Type: application/json; "
		 "charset=UTF-8\r\n\r\n{\"file\":{\"displayName\":\"%s\","
		 "\"mimeType\":\"application/jsonl\"}}\r\n--%s\r\n"
		 "Content-Type: application/jsonl\r\n\r\n", BATCH_BOUNDARY,
		 name, BATCH_BOUNDARY);
}

static const char *model_of(const struct embed_batch *b)
{
	return b->info->model;
}

static void line(const struct embed_batch *b, struct json *j, const char *key,
		 const char *text, size_t len)
{
	const char *type = b->c->document_input_type;
	char model[200];

	snprintf(model, sizeof(model), "models/%s", model_of(b));
	if (!type && !gemini_takes_prefixes(model_of(b)))
		type = "RETRIEVAL_DOCUMENT";
	json_obj(j);
	json_kstr(j, "key", key);
	json_key(j, "request");
	gemini_put_text(j, &(struct gemini_text){ .model = model,
						  .type = type,
						  .dims = b->c->dims,
						  .text = text,
						  .len = len });
	json_end(j);
}

/* The address of the other interface, which has /openai behind, will do. */
static int base_len(const char *base)
{
	static const char tail[] = "/openai";
	size_t n = strlen(base), m = sizeof(tail) - 1;

	return (int)(n > m && !memcmp(base + n - m, tail, m) ? n - m : n);
}

static const char *path(struct embed_batch *b, const char *tail)
{
	return arena_printf(&b->a, "%.*s/%s", base_len(b->base), b->base,
			    tail);
}

/* https://HOST/v1beta with a word before its last part: /upload/v1beta. An
 * address without a path has it behind the host, which stays as it is. */
static const char *beside(struct embed_batch *b, const char *word,
			  const char *tail)
{
	const char *host = strstr(b->base, "://");
	int n = base_len(b->base), k = n;
	int least = host ? (int)(host + 3 - b->base) : n;

	while (k > least && b->base[k - 1] != '/')
		k--;
	if (k <= least)
		return arena_printf(&b->a, "%.*s/%s/%s", n, b->base, word,
				    tail);
	return arena_printf(&b->a, "%.*s%s/%.*s/%s", k, b->base, word, n - k,
			    b->base + k, tail);
}

static void upload(struct embed_batch *b, struct http_request *r)
{
	r->url = beside(b, "upload", "files?uploadType=multipart");
}

static void create(struct embed_batch *b, struct http_request *r,
		   struct buf *body, const char *name, const char *file)
{
	const char *tail = arena_printf(&b->a,
					"models/%s:asyncBatchEmbedContent",
					model_of(b));
	struct json j;

	r->url = tail ? path(b, tail) : NULL;
	json_begin(&j, body);
	json_obj(&j);
	json_key(&j, "batch");
	json_obj(&j);
	json_kstr(&j, "displayName", name);
	json_key(&j, "inputConfig");
	json_obj(&j);
	json_kstr(&j, "fileName", file);
	json_end(&j);
	json_end(&j);
	json_end(&j);
}

static void look(struct embed_batch *b, struct http_request *r, const char *id)
{
	r->url = path(b, id);
}

static void list(struct embed_batch *b, struct http_request *r,
		 const char *after)
{
	r->url = path(b, "batches?pageSize=100");
	if (r->url && after)
		r->url = arena_printf(&b->a, "%s&pageToken=%s", r->url, after);
}

static void cancel(struct embed_batch *b, struct http_request *r,
		   const char *id)
{
	r->url = arena_printf(&b->a, "%s:cancel", path(b, id));
}

static void fetch(struct embed_batch *b, struct http_request *r,
		  const char *file)
{
	const char *tail = arena_printf(&b->a, "%s:download?alt=media", file);

	r->url = tail ? beside(b, "download", tail) : NULL;
}

static void discard(struct embed_batch *b, struct http_request *r,
		    const char *file)
{
	r->url = path(b, file);
}

static const char *file_of(yyjson_val *root)
{
	const char *name = json_str(yyjson_obj_get(root, "file"), "name",
				    NULL);

	return name ? name : json_str(root, "name", NULL);
}

static yyjson_val *meta_of(yyjson_val *job)
{
	yyjson_val *meta = yyjson_obj_get(job, "metadata");

	return yyjson_is_obj(meta) ? meta : job;
}

/* The answers' file stands in one of these places. */
static const char *output_of(yyjson_val *job)
{
	yyjson_val *const at[] = {
		yyjson_obj_get(job, "response"),
		yyjson_obj_get(meta_of(job), "output"),
		yyjson_obj_get(job, "output"),
		yyjson_obj_get(job, "dest"),
	};

	for (size_t i = 0; i < ARRAY_LEN(at); i++) {
		const char *file = json_str(at[i], "responsesFile", NULL);

		if (!file)
			file = json_str(at[i], "fileName", NULL);
		if (file)
			return file;
	}
	return NULL;
}

/* Counts are 64-bit numbers, which this vendor writes as strings. */
static int64_t count_of(yyjson_val *stats, const char *key)
{
	const char *s = json_str(stats, key, NULL);
	long long n = 0;

	if (s && sscanf(s, "%lld", &n) == 1)
		return n > 0 ? n : 0;
	return json_int(stats, key, 0);
}

static void read_job(struct batch_status *s, yyjson_val *job)
{
	yyjson_val *meta = meta_of(job), *error = yyjson_obj_get(job, "error");
	yyjson_val *stats = yyjson_obj_get(meta, "batchStats");

	batch_copy_id(s->id, json_str(job, "name", NULL));
	s->state = batch_state_of(json_str(meta, "state", NULL));
	/* An operation that is over says so, whatever its state's word is. */
	if (s->state == BATCH_RUNNING && json_bool(job, "done", false))
		s->state = yyjson_is_obj(error) ? BATCH_FAILED : BATCH_DONE;
	batch_copy_id(s->output, output_of(job));
	s->total = count_of(stats, "requestCount");
	s->done = count_of(stats, "successfulRequestCount");
	snprintf(s->reason, sizeof(s->reason), "%s",
		 json_str(error, "message", ""));
}

static yyjson_val *jobs_of(yyjson_val *root)
{
	yyjson_val *list = yyjson_obj_get(root, "operations");

	return list ? list : yyjson_obj_get(root, "batches");
}

static const char *name_of(yyjson_val *job)
{
	return json_str(meta_of(job), "displayName", NULL);
}

static const char *next_of(yyjson_val *root)
{
	return json_str(root, "nextPageToken", NULL);
}

static const char *error_of(yyjson_val *v)
{
	yyjson_val *e = yyjson_obj_get(v, "error");

	if (!e || yyjson_is_null(e))
		return NULL;
	return json_str(e, "message", "an error without a message");
}

static void result(struct batch_result *r, yyjson_val *line)
{
	static const struct reply_shape shape = { .one = "embedding",
						  .vector = "values" };
	yyjson_val *key = yyjson_obj_get(line, "key");
	yyjson_val *response = yyjson_obj_get(line, "response");

	if (!yyjson_is_str(key))
		return;
	r->key = yyjson_get_str(key);
	r->len = yyjson_get_len(key);
	r->shape = &shape;
	r->root = yyjson_is_obj(response) ? response : line;
	r->error = error_of(line);
	if (!r->error)
		r->error = error_of(response);
}

const struct batch_vendor batch_gemini = {
	.terms = { .lines = 50000, .bytes = (size_t)64 << 20,
		   .window_hours = 24, .share = 0.5 },
	.base_url = "https://generativelanguage.googleapis.com/v1beta",
	.key_header = "x-goog-api-key",
	.form_type = "multipart/related",
	.head = head,
	.line = line,
	.upload = upload,
	.create = create,
	.look = look,
	.list = list,
	.cancel = cancel,
	.fetch = fetch,
	.discard = discard,
	.file = file_of,
	.read = read_job,
	.jobs = jobs_of,
	.name = name_of,
	.next = next_of,
	.result = result,
};
