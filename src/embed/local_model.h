/*
 * What a GGUF file says about itself, and what the table of models
 * (local_model.def) adds: prefixes, pooling, whether its vectors may be cut
 * short. Only the head of the file is read; nothing in it is believed.
 */
#ifndef EMBED_LOCAL_MODEL_H
#define EMBED_LOCAL_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* Pooling, numbers of the format. */
enum local_pooling {
	POOL_UNSAID = -1,
	POOL_NONE,
	POOL_MEAN,
	POOL_CLS,
	POOL_LAST,
	POOL_RANK
};

struct local_model {
	char arch[48], name[128];
	char id[17]; /* of the weights: same bytes, same id, wherever they lie */
	int64_t bytes;
	int dims; /* inside; some models give fewer or more outside */
	int max_tokens; /* that it was trained for */
	int64_t vocabulary;
	int layers;
	enum local_pooling pooling;
	bool tables; /* ours are in the file: llama.cpp needs no vocabulary */
	bool nfkc; /* its tokenizer wants NFKC, and brings no map for it */
	bool shortens; /* its vectors may be cut after any dimension */
	const char *query_prefix, *document_prefix;
};

/* REMEM_ENOTFOUND, EIO; EFORMAT for a file that is no model for embeddings. */
int local_model_read(struct local_model *m, const char *path,
		     struct remem_err *err);
const char *local_pooling_name(enum local_pooling p);
/* Tokens that are embedded at once: longer texts are cut into windows. */
int local_model_window(const struct local_model *m);
/* Bytes of memory that it will need, the file's own included: an estimate. */
int64_t local_model_memory(const struct local_model *m);
/* Tokens a second on one thread, from its shape: an estimate. */
int64_t local_model_speed(const struct local_model *m);
/* Bytes that the machine and the control groups around this process have to
 * give (local_memory.c); -1: unknown. root is put before each path: "" for the
 * machine itself. */
int64_t local_memory_free(const char *root);

#endif
