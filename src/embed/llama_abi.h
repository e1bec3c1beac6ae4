/*
 * What is used of llama.cpp's interface, release 0.4.0, declared for dlopen().
 * Two structures are passed by value, so their layout is what decides whether
 * a release can be used. test/abi/llama.c compares all of it with the headers;
 * the worker compares the defaults that the library fills in with those that
 * are known. Fields that are not used have
 * no meaning here but their place.
 */
#ifndef EMBED_LLAMA_ABI_H
#define EMBED_LLAMA_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct abi_override;

struct abi_model_params {
	void *devices;
	const void *buffer_types;
	int32_t n_gpu_layers;
	int32_t split_mode, load_mode, lazy_mode;
	int32_t main_gpu;
	const float *tensor_split;
	void *progress;
	void *progress_ctx;
	const struct abi_override *overrides;
	bool vocab_only, check_tensors, use_extra_bufts, no_host, no_alloc;
	bool load_mtp;
};

struct abi_context_params {
	uint32_t n_ctx, n_batch, n_ubatch, n_seq_max;
	uint32_t n_rs_seq, n_outputs_max, n_outputs_max_per_seq;
	int32_t n_threads, n_threads_batch;
	int32_t ctx_type, rope_scaling_type, pooling_type, attention_type;
	int32_t flash_attn_type;
	float rope_freq_base, rope_freq_scale;
	float yarn_ext_factor, yarn_attn_factor, yarn_beta_fast;
	float yarn_beta_slow;
	uint32_t yarn_orig_ctx;
	float defrag_thold;
	void *eval, *eval_ctx;
	int32_t type_k, type_v;
	void *abort, *abort_ctx;
	bool embeddings, offload_kqv, no_perf, op_offload, swa_full;
	bool kv_unified;
	void *samplers;
	size_t n_samplers;
	void *other;
};

struct abi_batch {
	int32_t n_tokens;
	int32_t *token;
	float *embd;
	int32_t *pos;
	int32_t *n_seq_id;
	int32_t **seq_id;
	int8_t *logits;
};

/* A key of the file that is to have another value; key "" ends a list. */
struct abi_override {
	int32_t kind;
	char key[128];
	union {
		int64_t integer;
		double number;
		bool flag;
		char string[128];
	} value;
};

#define ABI_OVERRIDE_INTEGER 0
#define ABI_OVERRIDE_STRING 3
#define ABI_LOAD_MMAP 1
#define ABI_LOG_ERROR 4

struct llama_model;
struct llama_context;
struct llama_memory_i;
struct llama_vocab;

typedef void (*abi_log_fn)(int level, const char *text, void *ctx);

/* Functions by their names: X(result, name, arguments). */
#define ABI_FUNCTIONS(X)                                                       \
	X(const char *, llama_version, (void))                                 \
	X(void, llama_backend_init, (void))                                    \
	X(struct abi_model_params, llama_model_default_params, (void))         \
	X(struct abi_context_params, llama_context_default_params, (void))     \
	X(struct llama_model *, llama_model_load_from_file,                    \
	  (const char *path, struct abi_model_params p))                       \
	X(struct llama_context *, llama_init_from_model,                       \
	  (struct llama_model *m, struct abi_context_params p))                \
	X(const struct llama_vocab *, llama_model_get_vocab,                   \
	  (const struct llama_model *m))                                       \
	X(int32_t, llama_vocab_n_tokens, (const struct llama_vocab *v))        \
	X(int32_t, llama_model_n_embd_out, (const struct llama_model *m))      \
	X(int32_t, llama_model_n_ctx_train, (const struct llama_model *m))     \
	X(int32_t, llama_tokenize,                                             \
	  (const struct llama_vocab *v, const char *text, int32_t len,         \
	   int32_t *tokens, int32_t max, bool add_special, bool parse_special)) \
	X(struct llama_memory_i *, llama_get_memory,                           \
	  (const struct llama_context *c))                                     \
	X(void, llama_memory_clear,                                            \
	  (struct llama_memory_i *memory, bool data))                          \
	X(int32_t, llama_decode,                                               \
	  (struct llama_context *c, struct abi_batch b))                       \
	X(float *, llama_get_embeddings_seq,                                   \
	  (struct llama_context *c, int32_t seq))                              \
	X(float *, llama_get_logits, (struct llama_context *c))                \
	/* of ggml's library, found through llama.cpp's */                     \
	X(void, ggml_backend_load_all_from_path, (const char *folder))         \
	X(void, ggml_backend_load_all, (void))                                 \
	X(size_t, ggml_backend_dev_count, (void))

#define ABI_ENUM_FUNCTIONS(X)                                                  \
	X(void, llama_log_set, (abi_log_fn fn, void *ctx))                     \
	X(int32_t, llama_pooling_type, (const struct llama_context *c))

struct abi {
#define X(result, name, arguments) result (*name) arguments;
	ABI_FUNCTIONS(X)
	ABI_ENUM_FUNCTIONS(X)
#undef X
};

#endif
