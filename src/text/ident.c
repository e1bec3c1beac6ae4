/*
 * Segments: read, and cut into words, numbers and identifiers.
 *
 * An identifier is given whole and in parts, level by level, so that each
 * name inside it can be asked for: src/carrier_adapter.go:218 gives
 * carrier_adapter.go, carrier_adapter, carrier, adapter, go, 218 and src.
 *
 *   level  splits at
 *   0      / : # @
 *   1      . unless between digits
 *   2      - +
 *   3      . between digits
 *   4      _
 *   5      changes of case, letters to digits, an apostrophe
 */
#include "text/cut.h"

#include <string.h>

#include "text/stem.h"

#define LEVEL_LAST 5
/* More changes than that in one word: a hash or key, its bits mean nothing. */
#define CHANGES_MAX 8
#define HEX_CHANGES 3
#define JOIN_MAX 3

/* Levels at which a joining sign may split. */
static unsigned levels_of(uint32_t sign)
{
	switch (sign) {
	case '/':
	case ':':
	case '#':
	case '@':
		return 1 << 0;
	case '.':
		return 1 << 1 | 1 << 3;
	case '-':
	case '+':
		return 1 << 2;
	default:
		return 1 << 4;
	}
}

static void seg_add(struct seg *g, const struct fold_ch *ch, uint8_t cls)
{
	size_t n = 1;

	if (ch->cp < 0x80)
		g->text[g->len] = (char)ch->cp;
	else
		n = (size_t)utf8_encode(g->text + g->len, ch->cp);
	if (cls == SEG_JOIN)
		g->levels |= levels_of(ch->cp);
	for (size_t i = 0; i < n; i++) {
		g->cls[g->len + i] = i ? (uint8_t)(cls | SEG_TAIL) : cls;
		g->from[g->len + i] = (uint32_t)(ch->start - g->base);
		g->to[g->len + i] = (uint32_t)(ch->end - g->base);
	}
	g->len += n;
}

/* Joining signs that stand together: std::string, ../x, __init__; no -- */
static bool joins(const struct fold_ch *sign, int count)
{
	bool same = true;

	if (count == 1)
		return true;
	for (int i = 0; i + 1 < count; i++) {
		if (sign[i].cp == '/' && sign[i + 1].cp == '/')
			return false; /* http://: the name begins behind */
		same = same && sign[i].cp == sign[i + 1].cp;
	}
	return !same || sign[0].cp == '_' || (sign[0].cp == ':' && count == 2);
}

/* Reads joining signs if a letter or digit of the same script follows. */
static bool read_join(struct seg *g, struct cutter *c, struct fold_ch *ch,
		      uint8_t script)
{
	struct fold_ch sign[JOIN_MAX], next = *ch;
	int count = 0;

	while (next.kind == FOLD_JOIN) {
		if (count == JOIN_MAX)
			return false;
		sign[count++] = next;
		if (!fold_look(&next, c->s, c->len, next.after))
			return false;
	}
	if (next.kind != FOLD_DIGIT &&
	    (next.kind != FOLD_WORD || (script && next.script != script)))
		return false;
	if (!joins(sign, count))
		return false;
	for (int i = 0; i < count; i++)
		seg_add(g, &sign[i], SEG_JOIN);
	*ch = next;
	return true;
}

/*
 * ch is an apostrophe behind a letter. John's loses the ending, don't loses
 * the sign, l'homme and O'Brien are split. False: the word ends here.
 */
static bool read_apostrophe(struct cutter *c, struct fold_ch *ch,
			    uint8_t script, uint8_t *mark)
{
	struct fold_ch a, b;
	bool more;

	*mark = 0;
	if (!fold_look(&a, c->s, c->len, ch->after) || a.kind != FOLD_WORD ||
	    a.script != script)
		return false;
	more = fold_look(&b, c->s, c->len, a.after) &&
	       (b.kind == FOLD_WORD || b.kind == FOLD_DIGIT);
	if (!more && a.cp == 's') {
		c->at = a.after;
		return false;
	}
	if (more && !(a.cp == 'r' && b.cp == 'e') &&
	    !(a.cp == 'v' && b.cp == 'e') && !(a.cp == 'l' && b.cp == 'l'))
		*mark = SEG_BREAK;
	*ch = a;
	return true;
}

/* C++, g++, C#, F#: signs that belong to a short name. */
static void read_name_end(struct seg *g, struct cutter *c)
{
	struct fold_ch a, b;

	if (g->len > 3 || (g->cls[g->len - 1] & SEG_DIGIT) ||
	    !fold_look(&a, c->s, c->len, c->at) || a.kind != FOLD_JOIN)
		return;
	if (a.cp == '#' && g->len == 1) {
		seg_add(g, &a, SEG_JOIN);
		c->at = a.after;
	} else if (a.cp == '+' && fold_look(&b, c->s, c->len, a.after) &&
		   b.cp == '+') {
		seg_add(g, &a, SEG_JOIN);
		seg_add(g, &b, SEG_JOIN);
		c->at = b.after;
	}
}

void seg_read(struct seg *g, struct cutter *c)
{
	struct fold_ch ch;
	uint8_t script = 0, mark = 0;

	g->base = c->at.at;
	g->len = 0;
	g->levels = 0;
	if (!fold_look(&ch, c->s, c->len, c->at))
		return;
	if (ch.kind == FOLD_JOIN) { /* #1393 */
		seg_add(g, &ch, SEG_JOIN);
		c->at = ch.after;
	}
	while (g->len < SEG_MAX && fold_look(&ch, c->s, c->len, c->at)) {
		uint8_t last = g->len ? g->cls[g->len - 1] : 0;

		if (ch.kind == FOLD_JOIN && !read_join(g, c, &ch, script))
			break;
		if (ch.kind == FOLD_APOS &&
		    (!(last & SEG_LETTER) ||
		     !read_apostrophe(c, &ch, script, &mark)))
			break;
		if (ch.kind == FOLD_WORD) {
			if (script && ch.script != script)
				break;
			script = ch.script;
			seg_add(g, &ch,
				(uint8_t)(SEG_LETTER | mark |
					  (ch.upper ? SEG_UPPER : 0)));
		} else if (ch.kind == FOLD_DIGIT) {
			seg_add(g, &ch, SEG_DIGIT);
		} else if (ch.kind == FOLD_MARK && last & SEG_LETTER) {
			seg_add(g, &ch, SEG_LETTER | SEG_TAIL);
		} else {
			break;
		}
		mark = 0;
		c->at = ch.after;
	}
	if (g->len)
		read_name_end(g, c);
}

/* ---- cutting ---------------------------------------------------------- */

static int put(const struct seg *g, struct cutter *c, size_t a, size_t b,
	       uint32_t flags)
{
	return cut_emit(c, g->text + a, b - a, flags, g->base + g->from[a],
			g->base + g->to[b - 1]);
}

/* Largest end <= b that keeps a term within its bound and characters whole. */
static size_t bounded(const struct seg *g, size_t a, size_t b)
{
	size_t end = b;

	if (b - a <= TERM_MAX_BYTES)
		return b;
	end = a + TERM_MAX_BYTES;
	while (end > a + TERM_MAX_BYTES - 4 && (g->cls[end] & SEG_TAIL))
		end--;
	return end;
}

static bool all_digits(const struct seg *g, size_t a, size_t b)
{
	for (size_t i = a; i < b; i++)
		if (!(g->cls[i] & SEG_DIGIT))
			return false;
	return true;
}

/* Letters without inner structure, or digits: with its stem, in pieces when
 * it is too long. */
static int put_word(const struct seg *g, struct cutter *c, size_t a, size_t b,
		    uint32_t flags)
{
	bool digits = all_digits(g, a, b);
	char out[STEM_MAX];
	const char *stem;
	size_t n;
	int rc = 0;

	if (digits)
		flags |= TERM_NUMBER;
	for (size_t at = a; !rc && at < b;) {
		size_t end = bounded(g, at, b);

		rc = put(g, c, at, end, flags);
		at = end;
	}
	if (rc || digits || (flags & TERM_ID) || b - a >= STEM_MAX)
		return rc;
	for (size_t i = a; i < b; i++)
		if ((unsigned)(g->text[i] - 'a') > 25)
			return 0;
	stem = stem_english(&n, out, g->text + a, b - a);
	if (stem)
		rc = cut_emit(c, stem, n, TERM_STEM | (flags & TERM_PART),
			      g->base + g->from[a], g->base + g->to[b - 1]);
	return rc;
}

/* True when [i-1 | i] is a place where one word of a name ends. */
static bool change_at(const struct seg *g, size_t i, size_t b)
{
	uint8_t p = g->cls[i - 1], q = g->cls[i];

	if (q & SEG_TAIL)
		return false;
	if (q & SEG_BREAK)
		return true;
	if ((p ^ q) & SEG_DIGIT)
		return true;
	if (!(q & SEG_UPPER))
		return false;
	if (!(p & SEG_UPPER))
		return true; /* timeOut */
	/* HTTPServer; but not URLs */
	return i + 1 < b && g->cls[i + 1] == SEG_LETTER &&
	       !(g->text[i + 1] == 's' && i + 2 == b);
}

static int count_changes(const struct seg *g, size_t a, size_t b)
{
	bool hex = true;
	int n = 0;

	for (size_t i = a; i < b; i++) {
		n += i > a && change_at(g, i, b);
		hex = hex && ((g->cls[i] & SEG_DIGIT) ||
			      (g->text[i] >= 'a' && g->text[i] <= 'f'));
	}
	if (n > CHANGES_MAX || (hex && n >= HEX_CHANGES && b - a >= 7))
		return 0;
	return n;
}

static bool splits(const struct seg *g, size_t i, size_t b, int level)
{
	bool digits;

	if (!(g->cls[i] & SEG_JOIN) ||
	    !(levels_of((uint8_t)g->text[i]) >> level & 1))
		return false;
	if (g->text[i] != '.')
		return true;
	digits = i > 0 && i + 1 < b && (g->cls[i - 1] & SEG_DIGIT) &&
		 (g->cls[i + 1] & SEG_DIGIT);
	return level == (digits ? 3 : 1);
}

/* The first level at which [a, b) falls apart; LEVEL_LAST + 1 if none. */
static int level_of(const struct seg *g, size_t a, size_t b, int level)
{
	for (; level < LEVEL_LAST; level++)
		for (size_t i = a; g->levels >> level & 1 && i < b; i++)
			if (splits(g, i, b, level))
				return level;
	return level == LEVEL_LAST && count_changes(g, a, b) ? LEVEL_LAST
							     : LEVEL_LAST + 1;
}

static int put_parts(const struct seg *g, struct cutter *c, size_t a, size_t b,
		     int level);

/* One part [a, b) of something larger, and what it consists of. */
static int put_part(const struct seg *g, struct cutter *c, size_t a, size_t b,
		    int level)
{
	int next = level_of(g, a, b, level), rc;

	if (next > LEVEL_LAST)
		return put_word(g, c, a, b, TERM_PART);
	rc = put(g, c, a, bounded(g, a, b), TERM_PART | TERM_ID);
	return rc ? rc : put_parts(g, c, a, b, next);
}

/* v1.2.3 is asked for as 1.2.3 too. */
static int put_version(const struct seg *g, struct cutter *c, size_t a,
		       size_t b)
{
	if (b - a < 4 || g->text[a] != 'v' || !(g->cls[a + 1] & SEG_DIGIT))
		return 0;
	return put(g, c, a + 1, bounded(g, a + 1, b), TERM_PART | TERM_ID);
}

/* file.go:218 is asked for without its line when it has folders as well;
 * else the part is one already. */
static int put_without_line(const struct seg *g, struct cutter *c, size_t a,
			    size_t b)
{
	size_t colon = b;

	while (colon > a && (g->cls[colon - 1] & SEG_DIGIT))
		colon--;
	if (colon == b || colon < a + 2 || g->text[colon - 1] != ':')
		return 0;
	for (size_t i = a; i < colon - 1; i++)
		if (splits(g, i, b, 0))
			return put(g, c, a, bounded(g, a, colon - 1),
				   TERM_PART | TERM_ID);
	return 0;
}

static int put_parts(const struct seg *g, struct cutter *c, size_t a, size_t b,
		     int level)
{
	size_t from = a;
	int rc = 0;

	if (level == 0)
		rc = put_without_line(g, c, a, b);
	else if (level == 3)
		rc = put_version(g, c, a, b);
	for (size_t i = a; !rc && i <= b; i++) {
		bool sign = i < b && splits(g, i, b, level);
		bool cut = i == b || sign ||
			   (level == LEVEL_LAST && i > a && change_at(g, i, b));

		if (!cut)
			continue;
		/* one letter beside a change of case says nothing: iPhone */
		if (i > from && !(level == LEVEL_LAST && i - from == 1 &&
				  (g->cls[from] & SEG_LETTER)))
			rc = put_part(g, c, from, i, level + 1);
		from = sign ? i + 1 : i;
	}
	return rc;
}

/* Whether the name is written of letters alone: GitHub, O'Brien. */
static bool all_letters(const struct seg *g)
{
	for (size_t i = 0; i < g->len; i++)
		if (!(g->cls[i] & SEG_LETTER))
			return false;
	return true;
}

/* APIs, PDFs: the capitals are the word. */
static bool plural_capitals(const struct seg *g)
{
	return g->len >= 3 && g->len <= TERM_MAX_BYTES &&
	       g->text[g->len - 1] == 's' && g->cls[g->len - 1] == SEG_LETTER &&
	       g->cls[g->len - 2] == (SEG_LETTER | SEG_UPPER);
}

int seg_cut(const struct seg *g, struct cutter *c)
{
	int level, rc;

	if (!g->len)
		return 0;
	level = level_of(g, 0, g->len, 0);
	if (level > LEVEL_LAST && plural_capitals(g)) {
		rc = put(g, c, 0, g->len, TERM_WORD);
		if (!rc)
			rc = put(g, c, 0, g->len - 1, TERM_STEM);
	} else if (level > LEVEL_LAST) {
		bool mixed = !all_digits(g, 0, g->len) && !all_letters(g);

		rc = put_word(g, c, 0, g->len, mixed ? TERM_ID : TERM_WORD);
	} else if (all_letters(g)) {
		rc = put_word(g, c, 0, g->len, TERM_WORD | TERM_ID);
		if (!rc)
			rc = put_parts(g, c, 0, g->len, level);
	} else {
		rc = put(g, c, 0, bounded(g, 0, g->len), TERM_ID);
		if (!rc)
			rc = put_parts(g, c, 0, g->len, level);
	}
	c->pos++;
	c->run++;
	return rc;
}
