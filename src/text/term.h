/*
 * Terms: the one function that cuts notes, transcripts, queries and fallback
 * searches alike, so that a query whose parts stand in a text finds it.
 *
 *   NFKC, case folded, full width to half, Traditional to Simplified, Latin
 *   diacritics folded; a break at every change of script
 *   Latin words      exact form, and the English stem beside it
 *   identifiers      whole (ERR_PAY_4021, v1.2.3, gateway.timeout_ms), and in
 *                    parts (camelCase and digits too)
 *   numbers, two-letter words   kept
 *   Han, kana        overlapping pairs; the last character of every run also
 *                    alone, so that a prefix search for one character finds
 *                    each place it stands in
 *   Hangul           the word, the word without its particle, and from three
 *                    syllables on its pairs, so that compounds are found
 *   Thai, Khmer, …   pairs of characters with their marks, as Han
 *   emoji            one term each
 *
 * TERM_VERSION is kept with the index: other terms, another index.
 */
#ifndef TEXT_TERM_H
#define TEXT_TERM_H

#include <stddef.h>
#include <stdint.h>

#define TERM_VERSION 1
#define TERM_MAX_BYTES 64 /* longer terms are cut between characters */

enum term_flags {
	TERM_WORD = 1 << 0, /* a whole word as written (folded) */
	TERM_STEM = 1 << 1, /* its stem, or a Hangul word without particle */
	TERM_PAIR = 1 << 2, /* two CJK characters */
	TERM_SINGLE = 1 << 3, /* one CJK character */
	TERM_ID = 1 << 4, /* an identifier or a joined name, whole; with
			   * TERM_WORD when it is of letters alone: GitHub */
	TERM_PART = 1 << 5, /* a part of the identifier before; with TERM_ID
			     * one that has parts itself: term.c of src/term.c */
	TERM_NUMBER = 1 << 6
};

struct term {
	const char *text; /* folded; borrowed for the call */
	uint32_t len;
	uint32_t flags;
	size_t start, end; /* bytes of the source it was made from */
	uint32_t pos; /* counts up; stem, whole and parts share one */
	uint32_t run; /* number of the CJK run or word; pairs of a run share it */
};

/* A result other than 0 stops the cutting and is returned. */
typedef int (*term_fn)(void *ctx, const struct term *t);

/* Cuts any bytes (invalid UTF-8 separates). Returns 0 or what fn returned. */
int term_cut(const char *text, size_t len, term_fn fn, void *ctx);

/*
 * Folds text as term_cut does (NFKC, case, width, Traditional, diacritics)
 * but keeps everything, for comparing whole names and phrases. Returns bytes
 * written, at most cap (never cut inside a character).
 */
size_t term_fold(char *out, size_t cap, const char *text, size_t len);

#endif
