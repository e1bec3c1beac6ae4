/*
 * Script classes: which writing system a character or a text is in. Vectors
 * of a multilingual model cluster by language first; one mean vector a class
 * is taken off (search). Stored as numbers in the index: only append.
 */
#ifndef TEXT_SCRIPT_H
#define TEXT_SCRIPT_H

#include <stddef.h>
#include <stdint.h>

enum script {
	SCRIPT_NONE, /* digits, punctuation, symbols: no opinion */
	SCRIPT_LATIN,
	SCRIPT_HAN,
	SCRIPT_KANA,
	SCRIPT_HANGUL,
	SCRIPT_CYRILLIC,
	SCRIPT_GREEK,
	SCRIPT_ARABIC,
	SCRIPT_HEBREW,
	SCRIPT_DEVANAGARI,
	SCRIPT_THAI,
	SCRIPT_OTHER,
	SCRIPT_COUNT
};

enum script script_of(uint32_t cp);
/*
 * The script of the larger part of a text, a Han, kana or Hangul character
 * counting as much as about two Latin letters; Han text with a tenth or more
 * of kana is SCRIPT_KANA (Japanese). SCRIPT_LATIN when nothing has a script.
 */
enum script script_of_text(const char *s, size_t len);
const char *script_name(enum script s); /* "latin", "han", ... */

#endif
