/*
 * Anything that answers POST {base}/embeddings in OpenAI's form and has no row
 * of its own in presets.def.
 */
#include "embed/openai_form.h"

static const struct openai_form compatible_form = {
	.dims_field = "dimensions",
	.type_field = "input_type",
	.base64 = true,
};

OPENAI_FORM_OPEN(compatible)

const struct embed_provider provider_openai_compatible = {
	.name = "openai-compatible",
	.max_items = 2048, /* OpenAI's; smaller ones are learned */
	.max_tokens = 8000,
	.max_input_tokens = 8192,
	OPENAI_FORM_OPS(compatible),
};
