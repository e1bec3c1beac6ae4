/* UTF-8: checking, stepping, cutting only between characters. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True for well-formed UTF-8 (no surrogates, no overlong forms, NUL is fine). */
bool utf8_valid(const char *s, size_t len);
/* Length of the longest well-formed prefix. */
size_t utf8_valid_prefix(const char *s, size_t len);
/*
 * Decodes one character at s (len >= 1) into *cp; returns its bytes, 1..4.
 * A malformed byte gives U+FFFD and 1.
 */
int utf8_decode(uint32_t *cp, const char *s, size_t len);
/* Encodes cp into out (room for 4); returns bytes. Invalid cp: U+FFFD. */
int utf8_encode(char *out, uint32_t cp);
/* Largest n <= max such that s[0..n) ends between characters. */
size_t utf8_cut(const char *s, size_t len, size_t max);
/* len without a character that is only begun at the end of s. */
size_t utf8_trim(const char *s, size_t len);
/* Characters (code points) in valid or invalid text. */
size_t utf8_count(const char *s, size_t len);
/* Byte offset of character n, len when there are fewer. */
size_t utf8_offset(const char *s, size_t len, size_t n);

#endif
