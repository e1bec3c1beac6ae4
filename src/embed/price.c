/*
 * List prices of embedding models, from the vendors' price pages. A price is
 * shown before a large run; what a proxy or a contract changes is not known.
 */
#include "embed/price.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/attr.h"
#include "embed/batch.h"

static const struct {
	const char *model;
	double usd;
} prices[] = {
	{ "text-embedding-3-small", 0.02 },
	{ "text-embedding-3-large", 0.13 },
	{ "text-embedding-ada-002", 0.10 },
	{ "mistral-embed", 0.10 },
	{ "codestral-embed", 0.15 },
	{ "gemini-embedding-001", 0.15 },
	{ "gemini-embedding-2", 0.20 }, /* of text */
	{ "gemini-embedding-2-preview", 0.20 },
	{ "voyage-4-large", 0.12 },
	{ "voyage-4", 0.06 },
	{ "voyage-4-lite", 0.02 },
	{ "voyage-3-large", 0.18 },
	{ "voyage-3.5", 0.06 },
	{ "voyage-3.5-lite", 0.02 },
	{ "voyage-code-3", 0.18 },
};

double price_of(const char *model)
{
	const char *slash = model ? strrchr(model, '/') : NULL;

	if (slash) /* openai/text-embedding-3-small */
		model = slash + 1;
	for (size_t i = 0; model && i < ARRAY_LEN(prices); i++)
		if (!strcasecmp(model, prices[i].model))
			return prices[i].usd;
	return -1;
}

double price_of_call(const char *provider, const char *model)
{
	static const char mark[] = " batch";
	size_t n = provider ? strlen(provider) : 0, m = sizeof(mark) - 1;
	double price = price_of(model);
	const struct batch_terms *t;
	char name[64];

	if (price <= 0 || n <= m || n - m >= sizeof(name) ||
	    strcmp(provider + n - m, mark) != 0)
		return price;
	memcpy(name, provider, n - m);
	name[n - m] = '\0';
	t = embed_batch_terms_of(name);
	return t ? price * t->share : price;
}
