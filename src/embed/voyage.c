/* Voyage AI: questions and notes are told apart by input_type. */
#include "embed/batch.h"
#include "embed/openai_form.h"

static const struct openai_form voyage_form = {
	.base_url = "https://api.voyageai.com/v1",
	.model = "voyage-4-large",
	.key_env = "VOYAGE_API_KEY",
	.dims_field = "output_dimension",
	.type_field = "input_type",
	.query_type = "query",
	.document_type = "document",
	.base64 = true,
};

OPENAI_FORM_OPEN(voyage)

const struct embed_provider provider_voyage = {
	.name = "voyage",
	.key_env = "VOYAGE_API_KEY",
	.in_auto = true,
	.max_items = 1000,
	.max_tokens = 8000,
	.max_input_tokens = 32000,
	.batch = &batch_voyage,
	OPENAI_FORM_OPS(voyage),
};
