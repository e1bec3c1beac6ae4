/*
 * A light English stemmer for retrieval: inflections and the commonest
 * derivations. Stems share one space with words, so a stem that is a word
 * ("runs" -> "run") meets that word as written.
 */
#ifndef TEXT_STEM_H
#define TEXT_STEM_H

#include <stddef.h>

#define STEM_MAX 32 /* longer words have no stem */

/*
 * Stem of a word of letters a-z into out (STEM_MAX bytes). Returns its
 * length, 0 when it is the word itself.
 */
size_t stem_english(char *out, const char *word, size_t len);

#endif
