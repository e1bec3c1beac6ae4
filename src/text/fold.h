/*
 * Folding, character by character: what two spellings of one thing have in
 * common. The tables are made by tools/make-fold.py; see there for their
 * format and for what is folded. Reading goes over the source bytes without
 * copying: fold_look() gives the folded character at a place and the place
 * behind it. Combining marks that do not count are passed over, kana with
 * voiced marks and Hangul jamo are put together, expansions (fullwidth, ß,
 * ㍿) come one character at a time.
 */
#ifndef TEXT_FOLD_H
#define TEXT_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/utf8.h"

/* In the order of tools/make-fold.py. */
enum fold_kind {
	FOLD_SEP, /* blanks, punctuation, controls, what is no character */
	FOLD_WORD, /* letters of scripts with spaces */
	FOLD_DIGIT,
	FOLD_HAN,
	FOLD_HIRA,
	FOLD_KATA,
	FOLD_HANGUL,
	FOLD_SEA, /* Thai, Lao, Khmer, Burmese: no spaces */
	FOLD_SYM, /* emoji */
	FOLD_MARK, /* a mark that counts: vowel signs, viramas, Thai tones */
	FOLD_DROP, /* counts for nothing and separates nothing */
	FOLD_VOICE, /* kana voiced marks, as combining characters */
	FOLD_JAMO, /* conjoining; alone they are read as Hangul */
	FOLD_JOIN, /* _ . - / : # @ + */
	FOLD_APOS,
	FOLD_EXPAND
};

extern const uint32_t fold_pages[];
extern const uint32_t fold_entries[];
extern const uint32_t fold_pool[];

#define FOLD_CP(e) ((e)&0x1fffff)
#define FOLD_KIND(e) ((enum fold_kind)((e) >> 21 & 15))
#define FOLD_SCRIPT(e) ((e) >> 25 & 15)
#define FOLD_UPPER(e) ((e) >> 29 & 1)

static inline uint32_t fold_entry(uint32_t cp)
{
	return cp < 0x110000 ? fold_entries[fold_pages[cp >> 7] + (cp & 127)]
			     : 0;
}

struct fold_at {
	size_t at; /* byte of the source */
	uint32_t sub; /* which character of an expansion */
};

struct fold_ch {
	uint32_t cp; /* folded */
	uint8_t kind; /* enum fold_kind, never DROP, VOICE, JAMO, EXPAND */
	uint8_t script; /* enum script */
	bool upper; /* was a capital */
	size_t start, end; /* bytes it was made from */
	struct fold_at after;
};

/* The parts of fold_look() that are seldom needed. */
void fold_expand(struct fold_ch *ch, uint32_t entry, struct fold_at p,
		 size_t bytes);
void fold_compose(struct fold_ch *ch, const char *s, size_t len);

/* Decodes the character at s[0..left), malformed bytes one by one. */
static inline uint32_t fold_decode(const char *s, size_t left, size_t *bytes)
{
	const unsigned char *b = (const unsigned char *)s;
	uint32_t cp;

	if (b[0] < 0x80) {
		*bytes = 1;
		return b[0];
	}
	if (b[0] > 0xe0 && b[0] < 0xed && left >= 3 && (b[1] & 0xc0) == 0x80 &&
	    (b[2] & 0xc0) == 0x80) {
		*bytes = 3;
		return (b[0] & 15u) << 12 | (b[1] & 63u) << 6 | (b[2] & 63u);
	}
	*bytes = (size_t)utf8_decode(&cp, s, left);
	return cp;
}

/* True when a mark or jamo behind ch may have to be put together with it. */
static inline bool fold_composes(const struct fold_ch *ch, const char *s,
				 size_t len)
{
	unsigned char b =
		ch->after.at < len ? (unsigned char)s[ch->after.at] : 0;

	switch (ch->kind) {
	case FOLD_HIRA:
	case FOLD_KATA:
		return b == 0xe3 || b == 0xef;
	case FOLD_HANGUL: /* without a final consonant yet */
		return b >= 0x80 && (ch->cp - 0xac00) % 28 == 0;
	default:
		return ch->kind == FOLD_JAMO;
	}
}

/* Reads the folded character at p into *ch; false at the end of s[0..len). */
static inline bool fold_look(struct fold_ch *ch, const char *s, size_t len,
			     struct fold_at p)
{
	while (p.at < len) {
		size_t bytes;
		uint32_t cp = fold_decode(s + p.at, len - p.at, &bytes);
		uint32_t e = fold_entry(cp);

		ch->kind = (uint8_t)FOLD_KIND(e);
		ch->start = p.at;
		ch->end = p.at + bytes;
		if (UNLIKELY(ch->kind == FOLD_EXPAND)) {
			fold_expand(ch, e, p, bytes);
			if (!ch->after.sub && fold_composes(ch, s, len))
				fold_compose(ch, s, len);
			return true;
		}
		ch->after.at = ch->end;
		ch->after.sub = p.sub = 0;
		if (ch->kind == FOLD_DROP || ch->kind == FOLD_VOICE) {
			p.at = ch->end;
			continue;
		}
		ch->cp = FOLD_CP(e) ? FOLD_CP(e) : cp;
		ch->script = (uint8_t)FOLD_SCRIPT(e);
		ch->upper = FOLD_UPPER(e);
		if (UNLIKELY(fold_composes(ch, s, len)))
			fold_compose(ch, s, len);
		return true;
	}
	return false;
}

#endif
