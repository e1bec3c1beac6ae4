/*
 * term_cut(): dispatch by kind of character. Plain words of ASCII letters,
 * most of all Latin text, and runs of CJK characters have paths of their own
 * that look at each byte once; all else goes through segments (cut.h).
 */
#include "text/term.h"

#include <string.h>

#include "text/cut.h"
#include "text/stem.h"

#define LONG_VOWEL 0x30fcu /* kana: belongs to what is before it */
#define CLUSTER_MAX 18 /* bytes of a cluster that count: two make a term */

/* Index of the first byte in memory whose top bit is set in w (w != 0). */
static size_t first_byte(uint64_t w)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return (size_t)__builtin_clzll(w) / 8;
#elif defined(__GNUC__)
	return (size_t)__builtin_ctzll(w) / 8;
#else
	size_t n = 0;

	while (!(w >> (8 * n + 7) & 1))
		n++;
	return n;
#endif
}

static bool is_lower(char b)
{
	return (unsigned char)(b - 'a') < 26;
}

static bool is_upper(char b)
{
	return (unsigned char)(b - 'A') < 26;
}

static bool is_digit(char b)
{
	return (unsigned char)(b - '0') < 10;
}

/* First byte from i on that is no small letter; eight at a time, since the
 * length of a word cannot be predicted and a loop over it would be. */
static size_t skip_lower(const char *s, size_t i, size_t len)
{
	const uint64_t high = 0x8080808080808080u, ones = high >> 7;

	while (len - i >= 8) {
		uint64_t w, low, other;

		memcpy(&w, s + i, sizeof(w));
		low = w & ~high;
		/* top bits: at least 'a', not more than 'z', ASCII */
		other = ((low + ones * (0x80 - 'a')) &
			 ~(low + ones * (0x7f - 'z')) & ~w & high) ^
			high;
		if (other)
			return i + first_byte(other);
		i += 8;
	}
	while (i < len && is_lower(s[i]))
		i++;
	return i;
}

static bool is_sep(unsigned char b)
{
	return b < 0x80 && FOLD_KIND(fold_entries[b]) == FOLD_SEP;
}

/* The sign at s[i] joins nothing: a blank follows, or the end. */
static bool ends_at_sign(const struct cutter *c, size_t i)
{
	unsigned char b = (unsigned char)c->s[i];

	if (b >= 0x80 || FOLD_KIND(fold_entries[b]) != FOLD_JOIN ||
	    b == '+' || b == '#')
		return false;
	return i + 1 >= c->len || is_sep((unsigned char)c->s[i + 1]);
}

/* True when a plain word may end before s[i]: nothing there can join it. */
static inline bool ends_word(const struct cutter *c, size_t i)
{
	return i >= c->len || is_sep((unsigned char)c->s[i]) ||
	       ends_at_sign(c, i);
}

/* room: bytes that can be read at word */
static int put_plain(struct cutter *c, const char *word, size_t start,
		     size_t end, size_t room)
{
	size_t len = end - start, n;
	char out[STEM_MAX];
	const char *stem = NULL;
	int rc = cut_emit(c, word, len, TERM_WORD, start, end);

	if (len > 3 && stem_may(word, len))
		stem = len > 8 || room < 8 ? stem_english(&n, out, word, len) :
					     stem_short(&n, out, word, len);
	if (!rc && stem)
		rc = cut_emit(c, stem, n, TERM_STEM, start, end);
	c->at.at = end;
	c->pos++;
	c->run++;
	return rc;
}

/*
 * The plain word at c->at, all its letters small, all capitals, or the first
 * one a capital. Sets *done to false and reads nothing when it is not plain.
 */
static int cut_plain(struct cutter *c, bool *done)
{
	const char *s = c->s;
	size_t start = c->at.at, i = skip_lower(s, start + 1, c->len), next;
	char folded[TERM_MAX_BYTES];
	int rc;

	if (is_upper(s[start]) && i == start + 1)
		while (i < c->len && is_upper(s[i]))
			i++;
	next = i;
	if (c->len - i >= 2 && s[i] == '\'' && s[i + 1] == 's')
		next = i + 2; /* John's */
	*done = i - start <= TERM_MAX_BYTES && ends_word(c, next);
	if (!*done)
		return 0;
	if (is_lower(s[start])) {
		rc = put_plain(c, s + start, start, i, c->len - start);
	} else {
		for (size_t k = start; k < i; k++)
			folded[k - start] = (char)(s[k] | 0x20);
		rc = put_plain(c, folded, start, i, sizeof(folded));
	}
	c->at.at = next;
	return rc;
}

/* The same for a number. */
static int cut_number(struct cutter *c, bool *done)
{
	size_t start = c->at.at, i = start + 1;
	int rc;

	while (i < c->len && is_digit(c->s[i]))
		i++;
	*done = i - start <= TERM_MAX_BYTES && ends_word(c, i);
	if (!*done)
		return 0;
	rc = cut_emit(c, c->s + start, i - start, TERM_WORD | TERM_NUMBER,
		      start, i);
	c->at.at = i;
	c->pos++;
	c->run++;
	return rc;
}

/* ASCII that no term begins with; # may belong to a number. */
static bool is_between(unsigned char b)
{
	enum fold_kind kind = FOLD_KIND(fold_entries[b & 0x7f]);

	return b < 0x80 && kind != FOLD_WORD && kind != FOLD_DIGIT && b != '#';
}

/* Plain words and what separates them, as long as nothing else comes. */
static int cut_words(struct cutter *c, bool *more)
{
	const char *s = c->s;
	bool done = true;
	int rc = 0;

	while (!rc && done) {
		size_t i = c->at.at;

		while (i < c->len && !is_lower(s[i]) &&
		       is_between((unsigned char)s[i]))
			i++;
		c->at.at = i;
		if (i >= c->len)
			break;
		if (is_lower(s[i]) || is_upper(s[i]))
			rc = cut_plain(c, &done);
		else if (is_digit(s[i]))
			rc = cut_number(c, &done);
		else
			break;
	}
	*more = c->at.at < c->len;
	return rc;
}

static int cut_segment(struct cutter *c)
{
	struct seg g;

	seg_read(&g, c);
	return seg_cut(&g, c);
}

/* A character with the marks that belong to it. */
struct cluster {
	char text[2 * CLUSTER_MAX];
	size_t len, start, end;
};

static void cluster_read(struct cluster *u, struct cutter *c,
			 struct fold_ch *ch, bool *more)
{
	u->start = ch->start;
	u->len = 0;
	do {
		if (u->len + 4 <= CLUSTER_MAX)
			u->len += (size_t)utf8_encode(u->text + u->len, ch->cp);
		u->end = ch->end;
		c->at = ch->after;
		*more = fold_look(ch, c->s, c->len, c->at);
	} while (*more && ch->kind == FOLD_MARK);
}

static bool same_run(const struct fold_ch *ch, uint8_t kind)
{
	return ch->kind == kind || (kind == FOLD_HIRA && ch->cp == LONG_VOWEL);
}

/* Overlapping pairs of a run of one kind; its last character alone as well. */
static int cut_run(struct cutter *c, struct fold_ch *ch)
{
	uint8_t kind = ch->kind;
	struct cluster a, b;
	bool more;
	int rc = 0;

	cluster_read(&a, c, ch, &more);
	while (!rc && more && same_run(ch, kind)) {
		cluster_read(&b, c, ch, &more);
		memcpy(a.text + a.len, b.text, CLUSTER_MAX);
		rc = cut_emit(c, a.text, a.len + b.len, TERM_PAIR, a.start,
			      b.end);
		c->pos++;
		a = b;
	}
	if (!rc)
		rc = cut_emit(c, a.text, a.len, TERM_SINGLE, a.start, a.end);
	c->pos++;
	c->run++;
	return rc;
}

static int cut_symbol(struct cutter *c, const struct fold_ch *ch)
{
	char text[4];
	int rc = cut_emit(c, text, (size_t)utf8_encode(text, ch->cp),
			  TERM_SINGLE, ch->start, ch->end);

	c->at = ch->after;
	c->pos++;
	c->run++;
	return rc;
}

/* '#' directly before a number belongs to it. */
static bool number_sign(const struct cutter *c, const struct fold_ch *ch)
{
	struct fold_ch next;

	return ch->cp == '#' && fold_look(&next, c->s, c->len, ch->after) &&
	       next.kind == FOLD_DIGIT;
}

static int cut_next(struct cutter *c, struct fold_ch *ch)
{
	switch (ch->kind) {
	case FOLD_WORD:
	case FOLD_DIGIT:
		return cut_segment(c);
	case FOLD_HAN:
	case FOLD_HIRA:
	case FOLD_KATA:
	case FOLD_SEA:
		return cut_run(c, ch);
	case FOLD_HANGUL:
		return hangul_cut(c, ch);
	case FOLD_SYM:
		return cut_symbol(c, ch);
	case FOLD_JOIN:
		if (number_sign(c, ch))
			return cut_segment(c);
	}
	c->at = ch->after;
	return 0;
}

int term_cut(const char *text, size_t len, term_fn fn, void *ctx)
{
	struct cutter c = { text, len, { 0, 0 }, fn, ctx, 0, 0 };
	struct fold_ch ch;
	bool more = true;
	int rc = 0;

	while (!rc && c.at.at < len) {
		if (c.at.sub == 0 && (unsigned char)text[c.at.at] < 0x80) {
			rc = cut_words(&c, &more);
			if (rc || !more)
				break;
		}
		if (!fold_look(&ch, text, len, c.at))
			break;
		rc = cut_next(&c, &ch);
	}
	return rc;
}
