/* What known models cost: prices.def. */
#ifndef EMBED_PRICE_H
#define EMBED_PRICE_H

#include <stdint.h>

#define PRICE_DATE "2026-10" /* when the table was last looked at */

/* US dollars for a million tokens that are sent, -1 when the model is not
 * known. */
double price_of(const char *model);
/*
 * US dollars of a call as the ledger names it; -1 when the price is not known.
 * "openai batch" is a job of OpenAI's batch interface, which is cheaper;
 * answer_tokens are those of tokens that a model wrote.
 */
double price_of_call(const char *provider, const char *model, int64_t tokens,
		     int64_t answer_tokens);

#endif
