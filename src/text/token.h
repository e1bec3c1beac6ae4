/*
 * A conservative estimate of model tokens, so that chunks never depend on a
 * model: about 4 bytes of Latin a token, 1 a CJK character, 1 for any other
 * character outside ASCII that a model may cut alone (full-width signs, box
 * drawing, emoji: 1 a character, 2 outside the BMP).
 */
#ifndef TEXT_TOKEN_H
#define TEXT_TOKEN_H

#include <stddef.h>

size_t token_estimate(const char *s, size_t len);
/* Longest prefix (ends between grapheme clusters where one fits, else between
 * characters; at least one character if len > 0) of at most max tokens. */
size_t token_prefix(const char *s, size_t len, size_t max);

#endif
