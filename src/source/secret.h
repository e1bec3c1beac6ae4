/*
 * Secrets in text: keys, tokens, passwords, private keys, credentials in
 * addresses. What is found is never given on, only its kind and place. Rules
 * are rows of secrets.def and a few shapes (assignments, headers, PEM). Time
 * is linear in the text.
 */
#ifndef SOURCE_SECRET_H
#define SOURCE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Also numbers of people: identity cards (checked by their last digit) and
 * mobile phones of China, payment cards (checked by Luhn). */
#define SECRET_PERSONAL 1u

struct secret_span {
	size_t start, end;
	const char *kind; /* "openai key", "password", …: may be shown */
};

/* The first one that begins at or behind from. */
bool secret_next(struct secret_span *out, const char *text, size_t len,
		 size_t from, unsigned flags);
/* Appends the text with each replaced by "[masked KIND]"; how many. */
size_t secret_mask(struct buf *out, const char *text, size_t len,
		   unsigned flags);

#endif
