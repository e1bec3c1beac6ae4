/*
 * llama.cpp at its best for this work: one thread, one sequence a call, flash
 * attention on, a context of 512 tokens.
 */
#include "peer.h"

#include <llama.h>
#include <ggml-backend.h>
#include <stdio.h>

static struct llama_model *model;
static struct llama_context *context;
static struct llama_batch batch;

static void quiet(enum ggml_log_level level, const char *text, void *data)
{
	(void)data;
	if (level == GGML_LOG_LEVEL_ERROR)
		fputs(text, stderr);
}

bool peer_start(const char *libs, const char *variant)
{
	char path[4096];

	llama_log_set(quiet, NULL);
	if (!variant) {
		ggml_backend_load_all_from_path(libs);
	} else {
		snprintf(path, sizeof(path), "%s/libggml-cpu-%s.so", libs,
			 variant);
		if (!ggml_backend_load(path))
			return false;
	}
	llama_backend_init();
	return true;
}

bool peer_open(const char *path)
{
	struct llama_model_params mp = llama_model_default_params();
	struct llama_context_params cp = llama_context_default_params();

	model = llama_model_load_from_file(path, mp);
	if (!model)
		return false;
	cp.embeddings = true;
	cp.n_ctx = cp.n_batch = cp.n_ubatch = 512;
	cp.n_seq_max = 1;
	cp.n_threads = cp.n_threads_batch = 1;
	cp.pooling_type = LLAMA_POOLING_TYPE_UNSPECIFIED;
	cp.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_ENABLED;
	context = llama_init_from_model(model, cp);
	batch = llama_batch_init(512, 0, 1);
	return context != NULL;
}

const float *peer_embed(const int32_t *ids, int n)
{
	llama_memory_t memory = llama_get_memory(context);

	if (memory)
		llama_memory_clear(memory, true);
	batch.n_tokens = n;
	for (int i = 0; i < n; i++) {
		batch.token[i] = ids[i];
		batch.pos[i] = i;
		batch.n_seq_id[i] = 1;
		batch.seq_id[i][0] = 0;
		batch.logits[i] = 1;
	}
	if (llama_decode(context, batch))
		return NULL;
	return llama_get_embeddings_seq(context, 0);
}

void peer_close(void)
{
	if (context) {
		llama_batch_free(batch);
		llama_free(context);
		llama_model_free(model);
	}
}
