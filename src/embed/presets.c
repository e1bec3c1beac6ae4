/* Providers that are nothing but a row of presets.def. */
#include "embed/openai_form.h"

#define PRESET(id, word, url, own_model, env, items, input, b64, ...)         \
	static const struct openai_form id##_form = {                         \
		.base_url = url,                                              \
		.model = own_model,                                           \
		.key_env = env,                                               \
		.base64 = b64,                                                \
		__VA_ARGS__,                                                  \
	};                                                                    \
	OPENAI_FORM_OPEN(id)                                                  \
	static const struct embed_provider id##_provider = {                  \
		.name = word,                                                 \
		.key_env = env,                                               \
		.max_items = items,                                           \
		.max_tokens = 8000,                                           \
		.max_input_tokens = input,                                    \
		OPENAI_FORM_OPS(id),                                          \
	};
#include "embed/presets.def"
#undef PRESET

const struct embed_provider *const embed_presets[] = {
#define PRESET(id, ...) &id##_provider,
#include "embed/presets.def"
#undef PRESET
	NULL
};
