/* What known models cost. */
#ifndef EMBED_PRICE_H
#define EMBED_PRICE_H

#define PRICE_DATE "2026-01" /* when the table was last looked at */

/* US dollars for a million tokens, -1 when the model is not known. */
double price_of(const char *model);

#endif
