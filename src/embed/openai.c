/* OpenAI. */
#include "embed/batch.h"
#include "embed/openai_form.h"

static const struct openai_form own_form = {
	.base_url = "https://api.openai.com/v1",
	.model = "text-embedding-3-small",
	.key_env = "OPENAI_API_KEY",
	.dims_field = "dimensions",
	.base64 = true,
};

OPENAI_FORM_OPEN(own)

const struct embed_provider provider_openai = {
	.name = "openai",
	.key_env = "OPENAI_API_KEY",
	.in_auto = true,
	.max_items = 2048,
	.max_tokens = 8000,
	.max_input_tokens = 8191,
	.batch = &batch_openai,
	OPENAI_FORM_OPS(own),
};
