/*
 * Folding: expansions, composition, and term_fold(). Kana are composed by
 * their order in the code charts (a voiced kana follows its plain one),
 * Hangul by the arithmetic of the Unicode standard (3.12).
 */
#include "text/fold.h"

#include <string.h>

#include "text/term.h"

#define VOICED 0x3099u
#define HALF_VOICED 0x309au
#define L_BASE 0x1100u
#define L_COUNT 19u
#define V_BASE 0x1161u
#define V_COUNT 21u
#define T_BASE 0x11a7u
#define T_COUNT 28u
#define S_BASE 0xac00u
#define S_COUNT (L_COUNT * V_COUNT * T_COUNT)

void fold_expand(struct fold_ch *ch, uint32_t entry, struct fold_at p,
		 size_t bytes)
{
	const uint32_t *run = fold_pool + FOLD_CP(entry);
	uint32_t e = run[1 + p.sub];

	ch->cp = FOLD_CP(e);
	ch->kind = (uint8_t)FOLD_KIND(e);
	if (ch->kind == FOLD_JAMO)
		ch->kind = FOLD_HANGUL;
	else if (ch->kind == FOLD_VOICE)
		ch->kind = FOLD_MARK;
	ch->script = (uint8_t)FOLD_SCRIPT(e);
	ch->upper = FOLD_UPPER(entry);
	if (p.sub + 1 < run[0]) {
		ch->after.at = p.at;
		ch->after.sub = p.sub + 1;
	} else {
		ch->after.at = p.at + bytes;
		ch->after.sub = 0;
	}
}

/* The kana h (as hiragana) with its mark, 0 if they do not go together. */
static uint32_t kana_voiced(uint32_t cp, uint32_t mark)
{
	bool kata = cp >= 0x30a1;
	uint32_t h = kata ? cp - 0x60 : cp;
	bool ha_row = h >= 0x306f && h <= 0x307b && (h - 0x306f) % 3 == 0;

	if (mark == HALF_VOICED)
		return ha_row ? cp + 2 : 0;
	if ((h >= 0x304b && h <= 0x3061 && h % 2 == 1) || h == 0x3064 ||
	    h == 0x3066 || h == 0x3068 || ha_row || h == 0x309d)
		return cp + 1;
	if (h == 0x3046)
		return cp + 0x4e;
	if (kata && cp >= 0x30ef && cp <= 0x30f2)
		return cp + 8;
	return 0;
}

static uint32_t hangul_pair(uint32_t a, uint32_t b)
{
	if (a - L_BASE < L_COUNT && b - V_BASE < V_COUNT)
		return S_BASE +
		       ((a - L_BASE) * V_COUNT + (b - V_BASE)) * T_COUNT;
	if (a - S_BASE < S_COUNT && (a - S_BASE) % T_COUNT == 0 && b > T_BASE &&
	    b < T_BASE + T_COUNT)
		return a + (b - T_BASE);
	return 0;
}

/* The mark or jamo behind p, past what counts for nothing; 0 if none is. */
static uint32_t next_mark(const char *s, size_t len, size_t *p, bool kana)
{
	while (*p < len) {
		size_t bytes;
		uint32_t cp = fold_decode(s + *p, len - *p, &bytes);
		uint32_t e = fold_entry(cp);

		if (FOLD_KIND(e) != (kana ? FOLD_VOICE : FOLD_JAMO) &&
		    (kana || FOLD_KIND(e) != FOLD_DROP))
			return 0;
		*p += bytes;
		if (FOLD_KIND(e) != FOLD_DROP)
			return FOLD_CP(e) ? FOLD_CP(e) : cp;
	}
	return 0;
}

void fold_compose(struct fold_ch *ch, const char *s, size_t len)
{
	bool kana = ch->kind == FOLD_HIRA || ch->kind == FOLD_KATA;

	/* at most L + V + T, or kana + mark */
	for (int i = 0; i < 2; i++) {
		size_t p = ch->after.at;
		uint32_t mark = next_mark(s, len, &p, kana), both = 0;

		if (mark)
			both = kana ? kana_voiced(ch->cp, mark)
				    : hangul_pair(ch->cp, mark);
		if (!both)
			break;
		ch->cp = both;
		ch->end = ch->after.at = p;
		if (kana)
			break;
	}
	if (ch->kind == FOLD_JAMO)
		ch->kind = FOLD_HANGUL;
}

size_t term_fold(char *out, size_t cap, const char *text, size_t len)
{
	struct fold_at p = { 0, 0 };
	struct fold_ch ch;
	size_t n = 0;

	while (fold_look(&ch, text, len, p)) {
		char bytes[4];
		size_t k = (size_t)utf8_encode(bytes, ch.cp);

		if (k > cap - n)
			break;
		memcpy(out + n, bytes, k);
		n += k;
		p = ch.after;
	}
	return n;
}
