/*
 * Compares src/embed/llama_abi.h with llama.cpp's own headers: layout of each
 * structure that is passed by value, signature of each function, numbers.
 * Compiling it is the test.
 */
#include <ggml-backend.h>
#include <llama.h>

#include "embed/llama_abi.h"

#define SAME_SIZE(ours, theirs) \
	_Static_assert(sizeof(struct ours) == sizeof(struct theirs), #ours)
#define SAME(ours, a, theirs, b)                                              \
	_Static_assert(offsetof(struct ours, a) == offsetof(struct theirs, b), \
		       #a);                                                   \
	_Static_assert(sizeof(((struct ours *)0)->a) ==                       \
			       sizeof(((struct theirs *)0)->b), #a)

#define MODEL(a, b) SAME(abi_model_params, a, llama_model_params, b)
SAME_SIZE(abi_model_params, llama_model_params);
MODEL(devices, devices);
MODEL(buffer_types, tensor_buft_overrides);
MODEL(n_gpu_layers, n_gpu_layers);
MODEL(split_mode, split_mode);
MODEL(load_mode, load_mode);
MODEL(main_gpu, main_gpu);
MODEL(tensor_split, tensor_split);
MODEL(progress, progress_callback);
MODEL(progress_ctx, progress_callback_user_data);
MODEL(overrides, kv_overrides);
MODEL(vocab_only, vocab_only);
MODEL(check_tensors, check_tensors);
MODEL(use_extra_bufts, use_extra_bufts);
MODEL(no_host, no_host);
MODEL(no_alloc, no_alloc);
MODEL(load_mtp, load_mtp);

#define CONTEXT(a, b) SAME(abi_context_params, a, llama_context_params, b)
SAME_SIZE(abi_context_params, llama_context_params);
CONTEXT(n_ctx, n_ctx);
CONTEXT(n_batch, n_batch);
CONTEXT(n_ubatch, n_ubatch);
CONTEXT(n_seq_max, n_seq_max);
CONTEXT(n_threads, n_threads);
CONTEXT(n_threads_batch, n_threads_batch);
CONTEXT(pooling_type, pooling_type);
CONTEXT(attention_type, attention_type);
CONTEXT(flash_attn_type, flash_attn_type);
CONTEXT(yarn_ext_factor, yarn_ext_factor);
CONTEXT(defrag_thold, defrag_thold);
CONTEXT(type_k, type_k);
CONTEXT(type_v, type_v);
CONTEXT(abort, abort_callback);
CONTEXT(embeddings, embeddings);
CONTEXT(offload_kqv, offload_kqv);
CONTEXT(no_perf, no_perf);
CONTEXT(swa_full, swa_full);
CONTEXT(kv_unified, kv_unified);
CONTEXT(samplers, samplers);
CONTEXT(n_samplers, n_samplers);

#define BATCH(a, b) SAME(abi_batch, a, llama_batch, b)
SAME_SIZE(abi_batch, llama_batch);
BATCH(n_tokens, n_tokens);
BATCH(token, token);
BATCH(embd, embd);
BATCH(pos, pos);
BATCH(n_seq_id, n_seq_id);
BATCH(seq_id, seq_id);
BATCH(logits, logits);

#define OVERRIDE(a, b) SAME(abi_override, a, llama_model_kv_override, b)
SAME_SIZE(abi_override, llama_model_kv_override);
OVERRIDE(kind, tag);
OVERRIDE(key, key);
OVERRIDE(value.integer, val_i64);
OVERRIDE(value.string, val_str);

_Static_assert(ABI_OVERRIDE_INTEGER == (int)LLAMA_KV_OVERRIDE_TYPE_INT, "");
_Static_assert(ABI_OVERRIDE_STRING == (int)LLAMA_KV_OVERRIDE_TYPE_STR, "");
_Static_assert(ABI_LOAD_MMAP == (int)LLAMA_LOAD_MODE_MMAP, "");
_Static_assert(ABI_LOG_ERROR == (int)GGML_LOG_LEVEL_ERROR, "");
_Static_assert(sizeof(enum ggml_log_level) == sizeof(int), "");
_Static_assert(sizeof(enum llama_pooling_type) == sizeof(int32_t), "");

/* The structures are alike, so a signature may name theirs for ours. */
#define abi_model_params llama_model_params
#define abi_context_params llama_context_params
#define abi_batch llama_batch
#define X(result, name, arguments) result (*same_##name) arguments = name;
ABI_FUNCTIONS(X)
#undef X
/* An enumeration of theirs is a plain number with us. */
#define X(result, name, arguments) \
	void (*there_##name)(void) = (void (*)(void))name;
ABI_ENUM_FUNCTIONS(X)
#undef X
