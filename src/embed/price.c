/*
 * List prices of models. A price is shown before a large run and counted
 * against the budget; what a proxy or a contract changes is not known.
 */
#include "embed/price.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/attr.h"
#include "embed/batch.h"

static const struct price {
	const char *model;
	double in, out;
	const char *month;
} prices[] = {
#define PRICE(model, in, out, month) { model, in, out, month },
#define FREE(provider)
#include "embed/prices.def"
#undef PRICE
#undef FREE
};

static const char *const own[] = {
#define PRICE(model, in, out, month)
#define FREE(provider) provider,
#include "embed/prices.def"
#undef PRICE
#undef FREE
};

/* "claude-haiku-4-5-20251001", "gpt-5-2025-08-07", "…-latest": the day of a
 * model does not change its price. */
static bool is_same(const char *model, const char *name)
{
	size_t n = strlen(name);
	const char *rest = model + n;

	if (strncasecmp(model, name, n) != 0)
		return false;
	if (!*rest || !strcmp(rest, "-latest"))
		return true;
	n = strspn(rest, "-0123456789");
	return *rest == '-' && !rest[n] && n >= 9;
}

static const struct price *find(const char *model)
{
	const char *slash = model ? strrchr(model, '/') : NULL;

	if (slash) /* openai/text-embedding-3-small */
		model = slash + 1;
	for (size_t i = 0; model && i < ARRAY_LEN(prices); i++)
		if (is_same(model, prices[i].model))
			return &prices[i];
	return NULL;
}

double price_of(const char *model)
{
	const struct price *p = find(model);

	return p ? p->in : -1;
}

static bool is_own(const char *provider)
{
	for (size_t i = 0; provider && i < ARRAY_LEN(own); i++)
		if (!strcmp(provider, own[i]))
			return true;
	return false;
}

/* The part of the list price that a provider's name in the ledger stands for. */
static double share_of(const char *provider)
{
	static const char mark[] = " batch";
	size_t n = provider ? strlen(provider) : 0, m = sizeof(mark) - 1;
	const struct batch_terms *t;
	char name[64];

	if (n <= m || n - m >= sizeof(name) ||
	    strcmp(provider + n - m, mark) != 0)
		return 1;
	memcpy(name, provider, n - m);
	name[n - m] = '\0';
	t = embed_batch_terms_of(name);
	return t ? t->share : 1;
}

double price_of_call(const char *provider, const char *model, int64_t tokens,
		     int64_t answer_tokens)
{
	const struct price *p = find(model);

	if (is_own(provider))
		return 0;
	if (!p)
		return -1;
	if (answer_tokens > tokens)
		answer_tokens = tokens;
	return share_of(provider) *
	       (p->in * (double)(tokens - answer_tokens) +
		p->out * (double)answer_tokens) / 1e6;
}
