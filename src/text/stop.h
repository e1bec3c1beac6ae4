/*
 * Stop words: function words and question words that weigh less in a
 * question. By language, so that a word of one does not vanish from another.
 * Lists are of our own and hold folded forms.
 */
#ifndef TEXT_STOP_H
#define TEXT_STOP_H

#include <stdbool.h>
#include <stddef.h>

enum stop_language { /* of words in Latin letters */
		     STOP_EN,
		     STOP_ES,
		     STOP_PT,
		     STOP_DE,
		     STOP_FR,
		     STOP_LATIN_COUNT,
		     STOP_RU = STOP_LATIN_COUNT,
		     STOP_KO
};

/* True when the folded word is a stop word of the language. */
bool stop_word(enum stop_language lang, const char *word, size_t len);

/*
 * Longest entry of the Chinese list that s begins with: its bytes, 0 if there
 * is none. *stop is false for words that only contain a function character
 * (目的, 了解) and count as any other.
 */
size_t stop_han(const char *s, size_t len, bool *stop);

/* True for a character that says too little to be asked for by itself. */
bool stop_han_alone(const char *s, size_t len);

/*
 * Bytes of a run of hiragana that are Japanese particles and endings: from
 * its front (*head; only where it follows another script, after_word) and
 * from its back (*tail).
 */
void stop_kana(const char *s, size_t len, bool after_word, size_t *head,
	       size_t *tail);

#endif
