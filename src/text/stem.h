/*
 * A light English stemmer for retrieval: inflections and the commonest
 * derivations. Stems share one space with words, so a stem that is a word
 * ("runs" -> "run") meets that word as written.
 */
#ifndef TEXT_STEM_H
#define TEXT_STEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STEM_MAX 32 /* longer words have no stem */

/* For each last letter, those before it with which a word may have a stem. */
extern const uint32_t stem_may_change[26];

/* One look sends most words of two letters and more home: what ends in words
 * is hard to predict, and each question asked about it costs more than its
 * answer. */
static inline bool stem_may(const char *word, size_t len)
{
	return stem_may_change[word[len - 1] - 'a'] >> (word[len - 2] - 'a') &
	       1;
}

/*
 * The stem of a word of letters a-z: its bytes in *n, its text either the
 * front of word or made in out. NULL when it is the word itself.
 */
const char *stem_english(size_t *n, char out[STEM_MAX], const char *word,
			 size_t len);
/* The same for words of 4 to 8 letters, remembered by thread; eight bytes can
 * be read at word. */
const char *stem_short(size_t *n, char out[STEM_MAX], const char *word,
		       size_t len);

#endif
