/*
 * Batch interfaces: a file of many texts is handed over, the vectors are
 * fetched hours later, for less money. A vendor is a struct batch_vendor, one
 * file each; batch.c does for all of them what they have in common. Nothing
 * here remembers a job: that is done by index/jobs.c.
 */
#ifndef EMBED_BATCH_H
#define EMBED_BATCH_H

#include <yyjson.h>

#include "base/json.h"
#include "embed/reply.h"

#define BATCH_ID 256 /* of a job, of a file, with NUL */

enum batch_state {
	BATCH_NONE, /* there is no such job */
	BATCH_RUNNING,
	BATCH_DONE,
	BATCH_FAILED, /* as a whole */
	BATCH_EXPIRED, /* not done within its window */
	BATCH_CANCELLED
};

struct batch_status {
	enum batch_state state;
	char id[BATCH_ID];
	/* Files with answers and with errors, "" if there are none. */
	char output[BATCH_ID], errors[BATCH_ID];
	char reason[256]; /* why it failed; "" */
	int64_t total, done; /* texts, as far as it is said */
};

/* A line of a file of answers. */
struct batch_result {
	const char *key; /* the line's own name */
	size_t len;
	const char *error; /* why there is no vector, NULL: there is one */
	yyjson_val *root; /* where the vector is looked for */
	const struct reply_shape *shape;
};

/* What a vendor takes and what it costs. */
struct batch_terms {
	int lines; /* of one job */
	size_t bytes; /* of its file */
	int window_hours;
	double share; /* of the list price */
};

struct embed_batch {
	struct embedder *e;
	const struct batch_vendor *v;
	const struct embed_config *c;
	const struct embed_info *info;
	struct arena a;
	const char *base;
	const char *const *headers;
	const char *const *form_headers; /* of an upload */
	/* Of the latest call. */
	int status; /* of HTTP, 0: there was no reply */
	int retry_after_ms; /* -1: not said */
	uint64_t random;
};

struct batch_vendor {
	struct batch_terms terms;
	const char *base_url;
	const char *key_header; /* NULL: Authorization: Bearer */
	const char *form_type; /* of an upload: multipart/… */

	/* The upload's body: what stands before the lines, a line (without its
	 * end), and what stands behind them. */
	void (*head)(const struct embed_batch *b, struct buf *out,
		     const char *name);
	void (*line)(const struct embed_batch *b, struct json *j,
		     const char *key, const char *text, size_t len);

	/* Requests: url, and body if there is one, in the arena or in body. */
	void (*upload)(struct embed_batch *b, struct http_request *r);
	void (*create)(struct embed_batch *b, struct http_request *r,
		       struct buf *body, const char *name, const char *file);
	void (*look)(struct embed_batch *b, struct http_request *r,
		     const char *id);
	/* after: as next() said, NULL: from the start. */
	void (*list)(struct embed_batch *b, struct http_request *r,
		     const char *after);
	void (*cancel)(struct embed_batch *b, struct http_request *r,
		       const char *id);
	void (*fetch)(struct embed_batch *b, struct http_request *r,
		      const char *file);
	void (*discard)(struct embed_batch *b, struct http_request *r,
			const char *file);

	/* Replies: strings are borrowed, NULL where there is none. */
	const char *(*file)(yyjson_val *root);
	void (*read)(struct batch_status *s, yyjson_val *root);
	yyjson_val *(*jobs)(yyjson_val *root);
	const char *(*name)(yyjson_val *job);
	const char *(*next)(yyjson_val *root);
	void (*result)(struct batch_result *r, yyjson_val *line);
};

extern const struct batch_vendor batch_openai, batch_voyage, batch_gemini;

/* NULL: the provider has no batch interface. */
const struct batch_terms *embed_batch_terms(struct embedder *e);
/* The same by name, for tables. */
const struct batch_terms *embed_batch_terms_of(const char *provider);
/* REMEM_ENOTSUP when there is none, or the embedder is off. */
int embed_batch_new(struct embed_batch **out, struct embedder *e,
		    struct remem_err *err);
void embed_batch_free(struct embed_batch *b);
/* Where its jobs are: an account at an address. */
const char *embed_batch_base(const struct embed_batch *b);

/* The body of an upload: begin, then lines. */
void embed_batch_begin(const struct embed_batch *b, struct buf *out,
		       const char *name);
int embed_batch_line(const struct embed_batch *b, struct buf *out,
		     const char *key, const struct embed_item *item,
		     struct remem_err *err);
/* Tokens that are counted for a line. */
int64_t embed_batch_tokens(const struct embed_batch *b,
			   const struct embed_item *item);

/* Tokens that today's budget leaves, INT64_MAX: it has no bound. */
int64_t embed_batch_left(const struct embed_batch *b);

typedef bool (*batch_cancel_fn)(void *ctx);

/*
 * Each of these is one or a few requests. REMEM_EREMOTE, ETIMEOUT and the like
 * with the reason; b->status and b->retry_after_ms say more. Only the upload is
 * tried more than once.
 */
int embed_batch_upload(struct embed_batch *b, struct buf *body,
		       char file[BATCH_ID], batch_cancel_fn cancel, void *ctx,
		       struct remem_err *err);
/*
 * Hands the job over. *unsure: it may be there all the same, which
 * embed_batch_find() tells, or may be asked for again.
 */
int embed_batch_create(struct embed_batch *b, const char *name,
		       const char *file, struct batch_status *out,
		       bool *unsure, batch_cancel_fn cancel, void *ctx,
		       struct remem_err *err);
/* The job of that name; state BATCH_NONE when it is not among them. */
int embed_batch_find(struct embed_batch *b, const char *name,
		     struct batch_status *out, batch_cancel_fn cancel,
		     void *ctx, struct remem_err *err);
/* BATCH_NONE: the provider does not know it any more. */
int embed_batch_look(struct embed_batch *b, const char *id,
		     struct batch_status *out, batch_cancel_fn cancel,
		     void *ctx, struct remem_err *err);
int embed_batch_cancel(struct embed_batch *b, const char *id,
		       batch_cancel_fn cancel, void *ctx,
		       struct remem_err *err);
/* Takes a file that is of no use any more away; what fails is no matter. */
void embed_batch_discard(struct embed_batch *b, const char *file);

struct batch_sink {
	/* A line: its key, and vec with dims floats (normalised), or why there
	 * is none. Another result than 0 ends it, and is returned. */
	int (*line)(void *ctx, const char *key, size_t len, const float *vec,
		    int dims, int64_t tokens, const char *error);
	batch_cancel_fn cancel;
	void *ctx;
};

/*
 * Reads a file of answers as it comes, so that its size matters little. Lines
 * that cannot be read are counted in *bad. After a failure all lines so far
 * were given.
 */
int embed_batch_fetch(struct embed_batch *b, const char *file,
		      const struct batch_sink *sink, int64_t *bad,
		      struct remem_err *err);

/* ---- for the vendors (batch_files.c) ---------------------------------- */

/* /files and /batches as OpenAI made them. */
void batch_files_head(const struct embed_batch *b, struct buf *out,
		      const char *name);
void batch_files_upload(struct embed_batch *b, struct http_request *r);
void batch_files_look(struct embed_batch *b, struct http_request *r,
		      const char *id);
void batch_files_list(struct embed_batch *b, struct http_request *r,
		      const char *after);
void batch_files_cancel(struct embed_batch *b, struct http_request *r,
			const char *id);
void batch_files_fetch(struct embed_batch *b, struct http_request *r,
		       const char *file);
void batch_files_discard(struct embed_batch *b, struct http_request *r,
			 const char *file);
const char *batch_files_file(yyjson_val *root);
void batch_files_read(struct batch_status *s, yyjson_val *root);
yyjson_val *batch_files_jobs(yyjson_val *root);
const char *batch_files_name(yyjson_val *job);
const char *batch_files_next(yyjson_val *root);
void batch_files_result(struct batch_result *r, yyjson_val *line);
/* The job's request without its end: what is a vendor's own may follow. */
void batch_files_create(struct embed_batch *b, struct http_request *r,
			struct json *j, const char *name, const char *file,
			const char *window);

#define BATCH_FILES_OPS                                                       \
	.form_type = "multipart/form-data", .head = batch_files_head,         \
	.upload = batch_files_upload, .look = batch_files_look,               \
	.list = batch_files_list, .cancel = batch_files_cancel,               \
	.fetch = batch_files_fetch, .discard = batch_files_discard,           \
	.file = batch_files_file, .read = batch_files_read,                   \
	.jobs = batch_files_jobs, .name = batch_files_name,                   \
	.next = batch_files_next, .result = batch_files_result

#define BATCH_BOUNDARY "remem-4d0b1c7e9a6f4f5e8d2a"
/* The state that a word names, whatever is put before it; unknown ones are
 * taken for a job that is still at work. */
enum batch_state batch_state_of(const char *word);
/* A copy, "" when it does not fit or is no identifier that may stand in an
 * address. */
void batch_copy_id(char out[BATCH_ID], const char *id);

#endif
