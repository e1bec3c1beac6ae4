/*
 * Memory shown to a model: data, never instructions. What a note says can
 * neither close the element it stands in nor look like a turn of the talk.
 */
#ifndef MEMORY_RENDER_H
#define MEMORY_RENDER_H

#include <stddef.h>

#include "base/buf.h"

/*
 * Adds a text of a note. Left out are invisible characters (zero width,
 * bidirectional controls, tags), control characters other than tab and line
 * feed, and HTML comments, which no reader of the note sees; a '<' that begins
 * one of our elements, a role or a chat template token becomes "&lt;".
 */
void render_data(struct buf *out, const char *text, size_t len);

/* The same on one line: runs of blanks and line ends become one space. */
void render_line(struct buf *out, const char *text, size_t len);

#endif
