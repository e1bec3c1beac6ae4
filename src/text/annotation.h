/*
 * Annotations of an entry, in HTML comments at its very end:
 *
 *   - Prefers tabs <!-- importance: 8; trigger: indent, style -->
 *
 * Parts are separated by ';' or '|'. Keys: trigger(s), importance, project,
 * observed, status, source, and origin, of which nobody takes any notice: a
 * text cannot say whom it comes from. A part without a known key goes on with
 * the value before it. A comment without any known key is text like the rest.
 */
#ifndef TEXT_ANNOTATION_H
#define TEXT_ANNOTATION_H

#include "base/arena.h"
#include "text/note.h"

/* A longer comment is text. */
#define ANNOTATION_MAX_BYTES 2048

/*
 * Takes annotation comments off the end of text[start..*end); several may
 * follow each other. Returns what they say, in the arena, or NULL (and *end
 * as it was).
 */
const struct annotations *annotation_take(struct arena *a, const char *text,
					  size_t start, size_t *end);

#endif
