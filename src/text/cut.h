/*
 * Inside of term_cut(): what its parts share. Not for other modules.
 *
 * A segment is a run of letters and digits of one alphabet together with the
 * signs that join them (carrier_adapter.go:218), folded, with the place in
 * the source that each byte came from.
 */
#ifndef TEXT_CUT_H
#define TEXT_CUT_H

#include "text/fold.h"
#include "text/term.h"

#define SEG_MAX 512 /* longer ones are cut here; keeps all work linear */

enum seg_class {
	SEG_LETTER = 1,
	SEG_DIGIT = 2,
	SEG_JOIN = 4,
	SEG_UPPER = 8,
	SEG_BREAK = 16, /* an apostrophe stood before */
	SEG_TAIL = 32 /* not the first byte of a character */
};

struct seg {
	char text[SEG_MAX + 8];
	uint8_t cls[SEG_MAX + 8];
	uint32_t from[SEG_MAX + 8]; /* source bytes, counted from base */
	uint32_t to[SEG_MAX + 8];
	size_t base, len;
	unsigned levels; /* bit n: a sign that may split at level n */
};

struct cutter {
	const char *s;
	size_t len;
	struct fold_at at; /* next to read */
	term_fn fn;
	void *ctx;
	uint32_t pos, run;
};

/* Gives one term to the caller. */
static inline int cut_emit(struct cutter *c, const char *text, size_t len,
			   uint32_t flags, size_t start, size_t end)
{
	struct term t = {
		text, (uint32_t)len, flags, start, end, c->pos, c->run
	};

	return c->fn(c->ctx, &t);
}

/* Reads a segment from c->at on; at a letter, a digit, or # before a digit. */
void seg_read(struct seg *g, struct cutter *c);
/* Cuts it: a word, a number, or an identifier with its parts. */
int seg_cut(const struct seg *g, struct cutter *c);

/* A Hangul word beginning with ch. */
int hangul_cut(struct cutter *c, struct fold_ch *ch);
/* Bytes of a Hangul word without its particle; len if it has none. */
size_t hangul_stem(const char *word, size_t len);

#endif
