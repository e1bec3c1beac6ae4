/* What a heading says: its text without marks, and whether it says anything
 * (heading_says_nothing() is declared in note.h). */
#ifndef TEXT_HEADING_H
#define TEXT_HEADING_H

#include "text/note.h"

/* More of a heading is not kept: it is put before passages as context. */
#define HEADING_MAX_BYTES 256

/*
 * Sets text, len and empty_word of h from the raw text of a heading (without
 * its # signs): emphasis, code marks, links and comments are taken off. The
 * text lies in the arena or in raw.
 */
void heading_set(struct heading *h, struct arena *a, const char *raw,
		 size_t len);

#endif
