/*
 * Batches in OpenAI's form, which Voyage took over: a file goes to /files, a
 * job that names it to /batches, answers are files again. The job's name is
 * kept in its metadata, where a list of jobs shows it.
 */
#include <stdio.h>
#include <string.h>

#include "embed/batch.h"

#define LIST_MAX 100 /* jobs of a page: the most that is allowed */

void batch_files_head(const struct embed_batch *b, struct buf *out,
		      const char *name)
{
	(void)b;
	buf_addf(out, "--%s\r\nContent-Disposition: form-data; "
		 "name=\"purpose\"\r\n\r\nbatch\r\n--%s\r\n"
		 "Content-Disposition: form-data; name=\"file\"; "
		 "filename=\"%s.jsonl\"\r\nContent-Type: application/jsonl"
		 "\r\n\r\n", BATCH_BOUNDARY, BATCH_BOUNDARY, name);
}

static void to(struct embed_batch *b, struct http_request *r,
	       const char *path)
{
	r->url = path ? http_endpoint(&b->a, b->base, path) : NULL;
}

void batch_files_upload(struct embed_batch *b, struct http_request *r)
{
	to(b, r, "/files");
}

void batch_files_create(struct embed_batch *b, struct http_request *r,
			struct json *j, const char *name, const char *file,
			const char *window)
{
	to(b, r, "/batches");
	json_obj(j);
	json_kstr(j, "input_file_id", file);
	json_kstr(j, "endpoint", "/v1/embeddings");
	json_kstr(j, "completion_window", window);
	json_key(j, "metadata");
	json_obj(j);
	json_kstr(j, "remem", name);
	json_end(j);
}

void batch_files_look(struct embed_batch *b, struct http_request *r,
		      const char *id)
{
	to(b, r, arena_printf(&b->a, "/batches/%s", id));
}

void batch_files_list(struct embed_batch *b, struct http_request *r,
		      const char *after)
{
	to(b, r, "/batches");
	if (r->url)
		r->url = arena_printf(&b->a, "%s%climit=%d%s%s", r->url,
				      strchr(r->url, '?') ? '&' : '?',
				      LIST_MAX, after ? "&after=" : "",
				      after ? after : "");
}

void batch_files_cancel(struct embed_batch *b, struct http_request *r,
			const char *id)
{
	to(b, r, arena_printf(&b->a, "/batches/%s/cancel", id));
}

void batch_files_fetch(struct embed_batch *b, struct http_request *r,
		       const char *file)
{
	to(b, r, arena_printf(&b->a, "/files/%s/content", file));
}

void batch_files_discard(struct embed_batch *b, struct http_request *r,
			 const char *file)
{
	to(b, r, arena_printf(&b->a, "/files/%s", file));
}

const char *batch_files_file(yyjson_val *root)
{
	return json_str(root, "id", NULL);
}

void batch_files_read(struct batch_status *s, yyjson_val *root)
{
	yyjson_val *counts = yyjson_obj_get(root, "request_counts");
	yyjson_val *errors = yyjson_obj_get(root, "errors");
	yyjson_val *first = yyjson_arr_get_first(yyjson_obj_get(errors,
								"data"));

	batch_copy_id(s->id, json_str(root, "id", NULL));
	s->state = batch_state_of(json_str(root, "status", NULL));
	batch_copy_id(s->output, json_str(root, "output_file_id", NULL));
	batch_copy_id(s->errors, json_str(root, "error_file_id", NULL));
	s->total = json_int(counts, "total", 0);
	s->done = json_int(counts, "completed", 0);
	snprintf(s->reason, sizeof(s->reason), "%s",
		 json_str(first, "message", ""));
}

yyjson_val *batch_files_jobs(yyjson_val *root)
{
	return yyjson_obj_get(root, "data");
}

const char *batch_files_name(yyjson_val *job)
{
	return json_str(yyjson_obj_get(job, "metadata"), "remem", NULL);
}

const char *batch_files_next(yyjson_val *root)
{
	return json_bool(root, "has_more", false) ?
		       json_str(root, "last_id", NULL) : NULL;
}

static const char *error_of(yyjson_val *v)
{
	yyjson_val *e = yyjson_obj_get(v, "error");

	if (yyjson_is_str(e))
		return yyjson_get_str(e);
	if (yyjson_is_obj(e))
		return json_str(e, "message", "an error without a message");
	return NULL;
}

void batch_files_result(struct batch_result *r, yyjson_val *line)
{
	static const struct reply_shape shape = { .list = "data",
						  .vector = "embedding" };
	yyjson_val *key = yyjson_obj_get(line, "custom_id");
	yyjson_val *response = yyjson_obj_get(line, "response");
	yyjson_val *body = yyjson_obj_get(response, "body");
	int64_t status = json_int(response, "status_code", 200);

	if (!yyjson_is_str(key))
		return;
	r->key = yyjson_get_str(key);
	r->len = yyjson_get_len(key);
	r->shape = &shape;
	r->root = body;
	r->error = error_of(line);
	if (!r->error)
		r->error = error_of(body);
	if (!r->error && status >= 400)
		r->error = yyjson_is_str(body) ? yyjson_get_str(body) :
						 "refused without a reason";
	if (!r->error && !yyjson_is_obj(body))
		r->error = "an answer without a body";
}
