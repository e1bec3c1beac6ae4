/*
 * From blocks to passages. The Markdown reader hands over blocks (words with
 * a kind) and gaps (headings, comments, rules, fences: bytes without words of
 * their own); here blocks are cut to the bound, dialogue is cut at its
 * speakers, and spans are laid so that they partition the text.
 *
 * A gap belongs to the span of the passage behind it, white space to the one
 * before. What a span holds beside its words is bounded too: a gap that grows
 * beyond gap_max becomes a passage itself.
 */
#ifndef TEXT_PASSAGE_H
#define TEXT_PASSAGE_H

#include "text/note.h"

/* What the chunker wants to know of a passage. */
struct cut_info {
	unsigned char level; /* highest heading in its gap, 0: none */
	bool entry; /* begins an entry of a curated file */
};

struct passages {
	struct note *n;
	struct arena *a;
	struct cut_info *info; /* beside n->passages */
	size_t cap, info_cap, heading_cap;
	size_t words_max, gap_max; /* tokens */
	/* what has gathered since the last passage */
	size_t mark; /* where the next span begins */
	bool marked;
	size_t gap_tokens;
	unsigned char gap_level;
	int pending; /* heading with nothing below it yet, -1 */
	size_t pending_start, pending_end;
	int heading; /* nearest heading, -1 */
};

struct block {
	size_t line_start; /* of its first line */
	size_t start, end; /* its words, as yet with trailing comment */
	int line; /* of start */
	enum passage_kind kind;
	bool entry;
	/* Of the item above; used if the block has none. *own gets its own. */
	const struct annotations *above;
};

void passages_init(struct passages *p, struct note *n, struct arena *a,
		   const struct note_opts *opts);

/* Adds a block; returns its annotations or those above it. */
const struct annotations *passages_block(struct passages *p,
					 const struct block *b);
/* Adds a gap [start, end) that stands on line. */
void passages_gap(struct passages *p, size_t start, size_t end, int line);
/* Adds a heading: its line from line_start, raw text [start, end). Returns
 * false if there are too many for the size of the text: it is none then. */
bool passages_heading(struct passages *p, size_t line_start, size_t start,
		      size_t end, int level, int line);
/* Ends the last span; tells which passages are messages. */
void passages_done(struct passages *p);

#endif
