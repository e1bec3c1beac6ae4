/*
 * The stemmer. Steps, each at most once: plural; -ed, -ing; -ly; one
 * derivational ending; final letters. An ending goes only when enough of the
 * word is left, measured as the number of times a vowel is followed by a
 * consonant (the m of Porter's paper), which is a matter of a few bit
 * operations on the mask of vowels. doc/internals/terms.md compares it with
 * libstemmer's English: as good on the judged sets and many times as fast.
 */
#include "text/stem.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/attr.h"

#define LETTER(c) (1u << ((c) - 'a'))
#define VOWELS \
	(LETTER('a') | LETTER('e') | LETTER('i') | LETTER('o') | LETTER('u'))
#define ANY 0x3ffffffu

/* 16 KB a thread: most words of a text are found there. */
#define CACHE_SLOTS 1024
#define CACHE_SHIFT 54

const uint32_t stem_may_change[26] = {
	['d' - 'a'] = LETTER('e'),
	['e' - 'a'] = ANY,
	['g' - 'a'] = LETTER('n'),
	['l' - 'a'] = LETTER('u'),
	['n' - 'a'] = LETTER('o'),
	['r' - 'a'] = LETTER('e') | LETTER('o'),
	['s' - 'a'] = ANY & ~LETTER('u'),
	['t' - 'a'] = LETTER('a') | LETTER('n'),
	['y' - 'a'] = LETTER('l'),
	['z' - 'a'] = LETTER('i'),
};

/* The first len bytes of s, then end if it is not NUL. */
struct word {
	const char *s;
	size_t len;
	char end;
	uint32_t vowels; /* bit i: s[i] is a vowel; 0 until somebody asks */
};

static bool is_vowel(char c)
{
	return VOWELS >> (c - 'a') & 1;
}

/* The vowels of the first n letters; y is one behind a consonant. */
static uint32_t vowels_of(struct word *w, size_t n)
{
	uint32_t plain = 0, y = 0;

	for (size_t i = 0; !w->vowels && i < w->len; i++) {
		plain |= (uint32_t)is_vowel(w->s[i]) << i;
		y |= (uint32_t)(w->s[i] == 'y') << i;
	}
	w->vowels |= plain | (y & ~(plain << 1) & ~1u);
	return w->vowels & ((1u << n) - 1);
}

/* How often a vowel is followed by a consonant in the first n letters. */
static int measure(struct word *w, size_t n)
{
	uint32_t v = vowels_of(w, n);
	uint32_t ends = v & ~(v >> 1);
	int m = 0;

	if (n)
		ends &= ~(1u << (n - 1));
	for (; ends; ends &= ends - 1)
		m++;
	return m;
}

static bool ends(const struct word *w, const char *end, size_t n)
{
	return !w->end && w->len > n && !memcmp(w->s + w->len - n, end, n);
}

#define ENDS(w, lit) ends(w, lit, sizeof(lit) - 1)

static void replace_end(struct word *w, size_t n, char end)
{
	w->len -= n;
	w->end = end;
}

static void plural(struct word *w)
{
	char before = w->s[w->len - 2];

	if (before == 's' || before == 'u' || before == 'i')
		return;
	if (before == 'e' && w->len > 4) {
		if (w->s[w->len - 3] == 'i') {
			replace_end(w, 3, 'y');
			return;
		}
		if (ENDS(w, "sses") || ENDS(w, "xes") || ENDS(w, "shes") ||
		    ENDS(w, "ches") || ENDS(w, "zes")) {
			w->len -= 2;
			return;
		}
	}
	w->len--;
}

/* running -> run, controlled -> control; but falling -> fall. */
static void undouble(struct word *w)
{
	char a = w->s[w->len - 1];

	if (w->len < 3 || a != w->s[w->len - 2] || is_vowel(a) || a == 's' ||
	    a == 'z' || (a == 'l' && measure(w, w->len) < 2))
		return;
	w->len--;
}

static void past(struct word *w)
{
	size_t n = ENDS(w, "ing") ? 3 : ENDS(w, "ed") ? 2 : 0;

	if (ENDS(w, "ied") && w->len > 4) {
		replace_end(w, 3, 'y');
		return;
	}
	if (!n || ENDS(w, "eed") || w->len - n < 2 || !vowels_of(w, w->len - n))
		return;
	w->len -= n;
	if (w->len == 2)
		w->end = 'e'; /* using -> use */
	else
		undouble(w);
}

static void adverb(struct word *w)
{
	if (!ENDS(w, "ly") || w->len < 6 || w->s[w->len - 3] == 'p')
		return;
	if (w->s[w->len - 3] != 'i')
		w->len -= 2;
	else if (w->len >= 7)
		replace_end(w, 3, 'y');
}

struct ending {
	char end[8];
	uint8_t len, keep; /* keep: its first bytes that stay */
	uint8_t least; /* m of what is before it */
};

/* By last letter; longer before shorter where one ends with the other. */
static const struct ending endings[] = {
	{ "ization", 7, 2, 1 }, { "isation", 7, 2, 1 }, { "ation", 5, 2, 1 },
	{ "sion", 4, 1, 1 },	{ "tion", 4, 1, 1 },	{ "ment", 4, 0, 2 },
	{ "ness", 4, 0, 1 },	{ "able", 4, 0, 2 },	{ "ible", 4, 0, 2 },
	{ "ance", 4, 0, 2 },	{ "ence", 4, 0, 2 },	{ "ive", 3, 0, 2 },
	{ "ator", 4, 2, 1 },	{ "er", 2, 0, 2 },	{ "ful", 3, 0, 1 },
};

/* The rows of a last letter, chosen by the last two so that most words are
 * done with at once. */
static size_t rows_of(char before, char last, size_t *count)
{
	size_t first = 0, n = 0;

	switch (last) {
	case 'n':
		first = 0, n = before == 'o' ? 5 : 0;
		break;
	case 't':
		first = 5, n = before == 'n';
		break;
	case 's':
		first = 6, n = before == 's';
		break;
	case 'e':
		first = 7;
		n = before == 'l' || before == 'c' || before == 'v' ? 5 : 0;
		break;
	case 'r':
		first = 12, n = before == 'e' || before == 'o' ? 2 : 0;
		break;
	case 'l':
		first = 14, n = before == 'u';
		break;
	}
	*count = n;
	return first;
}

static void derived(struct word *w)
{
	size_t count, i;

	if (w->end)
		return;
	i = rows_of(w->s[w->len - 2], w->s[w->len - 1], &count);
	if (count == 5 && i == 0 && w->len > 11 && ENDS(w, "ification")) {
		replace_end(w, 7, 'y');
		return;
	}
	for (count += i; i < count; i++) {
		const struct ending *e = &endings[i];

		if (!ends(w, e->end, e->len))
			continue;
		if (measure(w, w->len - e->len) >= e->least)
			w->len -= (size_t)e->len - e->keep;
		return;
	}
}

static void final_letters(struct word *w)
{
	char last = w->s[w->len - 1], before = w->s[w->len - 2];
	bool e = last == 'e';
	size_t n = e ? 3 : 2;

	if (w->end || w->len < 4)
		return;
	if (e) {
		last = before;
		before = w->s[w->len - 3];
	}
	if (((last == 't' && before == 'a') ||
	     ((last == 'z' || last == 's') && before == 'i')) &&
	    measure(w, w->len - n) >= 2)
		w->len -= n; /* operate, organize, analysis */
	else if (e)
		w->len--;
}

const char *stem_english(size_t *n, char out[STEM_MAX], const char *word,
			 size_t len)
{
	struct word w = { word, len, '\0', 0 };

	if (len < 4 || len >= STEM_MAX || !stem_may(word, len))
		return NULL;
	if (word[len - 1] == 's')
		plural(&w);
	switch (w.end ? 'y' : word[w.len - 1]) {
	case 'd':
	case 'g':
		past(&w);
		break;
	case 'y':
		adverb(&w);
		break;
	}
	derived(&w);
	final_letters(&w);
	*n = w.len + (w.end != '\0');
	if (!w.end)
		return w.len < len ? word : NULL;
	memcpy(out, word, w.len);
	out[w.len] = w.end;
	return *n == len && !memcmp(out, word, len) ? NULL : out;
}

/* Results for short words, by the eight bytes they fill. */
struct cached {
	uint64_t word; /* padded with NULs; 0: empty */
	uint8_t n; /* bytes of the stem, 0 for none */
	char end; /* its last byte, where that is not the word's */
};

static _Thread_local struct cached cache[CACHE_SLOTS];

/* The first len bytes at s, of which eight can be read; others zero. */
static uint64_t load_word(const char *s, size_t len)
{
	static const unsigned char ones[16] = { 255, 255, 255, 255,
						255, 255, 255, 255 };
	uint64_t word, mask;

	memcpy(&word, s, 8);
	memcpy(&mask, ones + 8 - len, 8);
	return word & mask;
}

const char *stem_short(size_t *n, char out[STEM_MAX], const char *word,
		       size_t len)
{
	uint64_t key = load_word(word, len);
	struct cached *c = &cache[key * 0x9e3779b97f4a7c15u >> CACHE_SHIFT];

	if (c->word != key) {
		const char *stem = stem_english(n, out, word, len);

		c->word = key;
		c->n = stem ? (uint8_t)*n : 0;
		c->end = stem ? stem[*n - 1] : '\0';
	}
	*n = c->n;
	if (!c->n)
		return NULL;
	if (c->end == word[c->n - 1])
		return word;
	memcpy(out, word, 8);
	out[c->n - 1] = c->end;
	return out;
}
