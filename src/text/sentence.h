/* Where to cut text that is too long for one passage: at sentences. */
#ifndef TEXT_SENTENCE_H
#define TEXT_SENTENCE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Bytes (1..len) of the next part of s, at most max_tokens of them: all if it
 * fits, else up to the end of a sentence, a clause or line, a word, or at
 * least between grapheme clusters, whichever is found first within the last
 * two thirds. Code is cut at blank lines, lines, blanks. Time does not depend
 * on len.
 */
size_t sentence_cut(const char *s, size_t len, size_t max_tokens, bool code);

#endif
