/*
 * The stemmer. Steps, each at most once: plural; -ed, -ing, -ly; one
 * derivational ending; final e. An ending goes only when enough of the word
 * is left, measured as the number of times a vowel is followed by a
 * consonant (the m of Porter's paper). Compared with libstemmer's English
 * and with plural folding alone in doc/internals/terms.md.
 */
#include "text/stem.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Bit n for letter 'a' + n. */
#define VOWELS (1u << 0 | 1u << 4 | 1u << 8 | 1u << 14 | 1u << 20)

struct word {
	char *s;
	size_t len;
};

static bool vowel_at(const char *s, size_t i)
{
	if (VOWELS >> (s[i] - 'a') & 1)
		return true;
	return s[i] == 'y' && i > 0 && !(VOWELS >> (s[i - 1] - 'a') & 1);
}

static bool has_vowel(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (vowel_at(s, i))
			return true;
	return false;
}

/* How often a vowel is followed by a consonant. */
static int measure(const char *s, size_t len)
{
	bool before = false;
	int m = 0;

	for (size_t i = 0; i < len; i++) {
		bool now = vowel_at(s, i);

		m += before && !now;
		before = now;
	}
	return m;
}

static bool ends(const struct word *w, const char *end, size_t n)
{
	return w->len > n && !memcmp(w->s + w->len - n, end, n);
}

#define ENDS(w, lit) ends(w, lit, sizeof(lit) - 1)

static void plural(struct word *w)
{
	char before;

	if (w->s[w->len - 1] != 's')
		return;
	before = w->s[w->len - 2];
	if (before == 's' || before == 'u' || before == 'i')
		return;
	if (before == 'e' && w->len > 4) {
		if (w->s[w->len - 3] == 'i') {
			w->len -= 2;
			w->s[w->len - 1] = 'y';
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

	if (w->len < 3 || a != w->s[w->len - 2] || vowel_at(w->s, w->len - 1) ||
	    a == 's' || a == 'z')
		return;
	if (a == 'l' && measure(w->s, w->len) < 2)
		return;
	w->len--;
}

static void past(struct word *w)
{
	size_t n;

	if (ENDS(w, "ied") && w->len > 4) {
		w->len -= 2;
		w->s[w->len - 1] = 'y';
		return;
	}
	if (ENDS(w, "eed"))
		return;
	n = ENDS(w, "ing") ? 3 : ENDS(w, "ed") ? 2 : 0;
	if (!n || w->len - n < 2 || !has_vowel(w->s, w->len - n))
		return;
	w->len -= n;
	if (w->len == 2)
		w->s[w->len++] = 'e'; /* using -> use */
	else
		undouble(w);
}

static void adverb(struct word *w)
{
	if (!ENDS(w, "ly") || w->len < 6 || w->s[w->len - 3] == 'p')
		return;
	if (w->s[w->len - 3] == 'i') {
		if (w->len < 7)
			return;
		w->len -= 2;
		w->s[w->len - 1] = 'y';
		return;
	}
	w->len -= 2;
}

struct ending {
	const char *end;
	uint8_t len, keep; /* keep: its first bytes that stay */
	uint8_t least; /* m of what is before it */
};

/* Longer before shorter where one ends with the other. */
static const struct ending endings[] = {
	{ "ization", 7, 2, 1 }, { "isation", 7, 2, 1 },
	{ "ification", 9, 2, 1 }, { "ation", 5, 2, 1 }, { "ator", 4, 2, 1 },
	{ "sion", 4, 1, 1 }, { "tion", 4, 1, 1 }, { "ment", 4, 0, 2 },
	{ "ness", 4, 0, 1 }, { "able", 4, 0, 2 }, { "ible", 4, 0, 2 },
	{ "ance", 4, 0, 2 }, { "ence", 4, 0, 2 }, { "ful", 3, 0, 1 },
	{ "ive", 3, 0, 2 }, { "er", 2, 0, 2 },
};

static void derived(struct word *w)
{
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		const struct ending *e = &endings[i];

		if (!ends(w, e->end, e->len))
			continue;
		if (measure(w->s, w->len - e->len) >= e->least)
			w->len -= e->len - (size_t)e->keep;
		break;
	}
}

static void final_letters(struct word *w)
{
	if (ENDS(w, "ate") && measure(w->s, w->len - 3) >= 2)
		w->len -= 3;
	else if (ENDS(w, "at") && measure(w->s, w->len - 2) >= 2)
		w->len -= 2;
	else if ((ENDS(w, "ize") || ENDS(w, "ise")) &&
		 measure(w->s, w->len - 3) >= 2)
		w->len -= 3;
	else if ((ENDS(w, "iz") || ENDS(w, "is")) &&
		 measure(w->s, w->len - 2) >= 2)
		w->len -= 2;
	else if (w->s[w->len - 1] == 'e' && w->len > 3)
		w->len--;
}

size_t stem_english(char *out, const char *word, size_t len)
{
	struct word w = { out, len };

	if (len < 4 || len >= STEM_MAX)
		return 0;
	memcpy(out, word, len);
	plural(&w);
	past(&w);
	adverb(&w);
	derived(&w);
	final_letters(&w);
	if (w.len == len && !memcmp(out, word, len))
		return 0;
	return w.len;
}
