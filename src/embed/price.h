/* What known models cost. */
#ifndef EMBED_PRICE_H
#define EMBED_PRICE_H

#define PRICE_DATE "2026-01" /* when the table was last looked at */

/* US dollars for a million tokens, -1 when the model is not known. */
double price_of(const char *model);
/* The same for a call as the ledger names it: "openai batch" is a job of
 * OpenAI's batch interface, which is cheaper. */
double price_of_call(const char *provider, const char *model);

#endif
