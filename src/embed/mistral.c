/* Mistral AI; codestral-embed takes a number of dimensions. */
#include "embed/openai_form.h"

static const struct openai_form mistral_form = {
	.base_url = "https://api.mistral.ai/v1",
	.model = "mistral-embed",
	.key_env = "MISTRAL_API_KEY",
	.dims_field = "output_dimension",
};

OPENAI_FORM_OPEN(mistral)

const struct embed_provider provider_mistral = {
	.name = "mistral",
	.key_env = "MISTRAL_API_KEY",
	.in_auto = true,
	.max_items = 512,
	.max_tokens = 8000,
	.max_input_tokens = 8192,
	OPENAI_FORM_OPS(mistral),
};
