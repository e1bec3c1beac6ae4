/*
 * The default provider: our own encoder in the process, with one model file.
 * No network, no key, no worker. The file is mapped at first use, so that a
 * search by keywords alone never touches it.
 */
#include <string.h>

#include "base/alloc.h"
#include "embed/builtin_means.h"
#include "embed/provider.h"
#include "encoder/encoder.h"

#define DIMS 384

struct builtin {
	struct encoder *encoder; /* NULL until first use */
	const char *path;
	int threads;
};

static int builtin_open(void **self, struct embed_info *info,
			const struct embed_config *c, struct remem_err *err)
{
	struct builtin *b;

	if (!c->model_path) {
		fail(err, REMEM_ENOTFOUND, "the builtin model is not installed");
		fail_action(err, "run 'make setup', or put the model file into "
			    "the folder that 'remem models list' names");
		return REMEM_ENOTFOUND;
	}
	b = mem_zalloc(sizeof(*b));
	if (!b)
		return fail_nomem(err);
	b->path = c->model_path;
	b->threads = c->threads;
	info->model = "multilingual-e5-small-q4_0";
	info->dims = DIMS;
	info->query_prefix = "query: ";
	info->document_prefix = "passage: ";
	info->calibration = 0.5;
	info->means = builtin_means;
	*self = b;
	return 0;
}

static void builtin_close(void *self)
{
	struct builtin *b = self;

	if (!b)
		return;
	encoder_free(b->encoder);
	mem_free(b);
}

static int builtin_embed(void *self, const struct embed_request *r,
			 struct embed_reply *out, bool (*cancel)(void *),
			 void *ctx, struct remem_err *err)
{
	struct builtin *b = self;
	int rc;

	if (!b->encoder && (rc = encoder_open(&b->encoder, b->path, err)))
		return rc;
	if (encoder_dims(b->encoder) != DIMS)
		return fail(err, REMEM_EFORMAT, "'%s' has %d dimensions, not %d",
			    b->path, encoder_dims(b->encoder), DIMS);
	out->dims = DIMS;
	out->vecs = mem_array(r->n, DIMS * sizeof(float));
	if (!out->vecs)
		return fail_nomem(err);
	rc = encoder_embed(b->encoder, r->texts, r->lens, r->n, out->vecs,
			   r->n > 1 ? b->threads : 1, cancel, ctx, err);
	if (rc) {
		mem_free(out->vecs);
		out->vecs = NULL;
	}
	return rc;
}

const struct embed_provider provider_builtin = {
	.name = "builtin",
	.max_items = 64, /* a commit every second or so */
	.open = builtin_open,
	.close = builtin_close,
	.embed = builtin_embed,
};
