/*
 * Hangul. Words stand between blanks but carry particles and are joined to
 * compounds at will (배포계획, 배포 계획), so a word is given whole, without
 * its particle, and from three syllables on in overlapping pairs as well; the
 * last syllable also alone, for prefix searches of one syllable.
 */
#include "text/cut.h"

#include <string.h>

#define SYLLABLE_MAX 20 /* times 3 bytes: below TERM_MAX_BYTES */

/* Particles after nouns, longer ones before those they end with. */
static const char *const particles[] = {
	"으로부터", "에서부터", "에게서는", "이라고", "에서는", "에서도",
	"에게서",   "에게는",	"으로는",   "으로도", "으로서", "으로써",
	"한테서",   "까지는",	"까지도",   "부터는", "처럼",	"에서",
	"에게",	    "에는",	"에도",	    "한테",   "으로",	"부터",
	"까지",	    "보다",	"마다",	    "조차",   "마저",	"이나",
	"이랑",	    "하고",	"라고",	    "로서",   "로써",	"로는",
	"로도",	    "께서",	"밖에",	    "이란",   "은",	"는",
	"이",	    "가",	"을",	    "를",     "에",	"와",
	"과",	    "도",	"로",	    "만",     "의",	"랑",
	"께",	    "나",
};

size_t hangul_stem(const char *word, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(particles); i++) {
		size_t n = strlen(particles[i]);

		/* a stem has two syllables at least: 나는 is no 나 */
		if (len >= n + 6 && !memcmp(word + len - n, particles[i], n))
			return len - n;
	}
	return len;
}

struct word {
	char text[SYLLABLE_MAX * 3];
	size_t len, count;
	size_t start[SYLLABLE_MAX], end[SYLLABLE_MAX];
};

static void word_read(struct word *w, struct cutter *c, struct fold_ch *ch)
{
	w->len = w->count = 0;
	do {
		w->start[w->count] = ch->start;
		w->end[w->count++] = ch->end;
		w->len += (size_t)utf8_encode(w->text + w->len, ch->cp);
		c->at = ch->after;
	} while (w->count < SYLLABLE_MAX &&
		 fold_look(ch, c->s, c->len, c->at) && ch->kind == FOLD_HANGUL);
}

static int word_pairs(struct cutter *c, const struct word *w, size_t stem)
{
	size_t last = w->count - 1;
	int rc;

	for (size_t i = 0; w->count > 2 && i + 1 < w->count; i++) {
		uint32_t flags =
			TERM_PAIR | (i == 0 && stem == 6 ? TERM_STEM : 0u);

		rc = cut_emit(c, w->text + 3 * i, 6, flags, w->start[i],
			      w->end[i + 1]);
		if (rc)
			return rc;
	}
	if (last == 0)
		return 0;
	return cut_emit(c, w->text + 3 * last, 3, TERM_SINGLE, w->start[last],
			w->end[last]);
}

int hangul_cut(struct cutter *c, struct fold_ch *ch)
{
	struct word w;
	size_t stem;
	int rc;

	word_read(&w, c, ch); /* all of them are 3 bytes */
	rc = cut_emit(c, w.text, w.len, TERM_WORD, w.start[0],
		      w.end[w.count - 1]);
	stem = hangul_stem(w.text, w.len);
	/* two syllables are the first pair and are marked there */
	if (!rc && stem < w.len && stem > 6)
		rc = cut_emit(c, w.text, stem, TERM_STEM, w.start[0],
			      w.end[stem / 3 - 1]);
	if (!rc)
		rc = word_pairs(c, &w, stem);
	c->pos++;
	c->run++;
	return rc;
}
