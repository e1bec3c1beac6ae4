/* LM Studio on this machine, or where baseUrl says. */
#include "embed/openai_form.h"

static const struct openai_form lmstudio_form = {
	.base_url = "http://127.0.0.1:1234/v1",
	.model = "text-embedding-nomic-embed-text-v1.5",
};

OPENAI_FORM_OPEN(lmstudio)

const struct embed_provider provider_lmstudio = {
	.name = "lmstudio",
	.max_items = 64,
	.max_tokens = 8000,
	.max_input_tokens = 2048,
	OPENAI_FORM_OPS(lmstudio),
};
