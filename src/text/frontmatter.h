/*
 * Front matter: YAML between a line "---" at the very beginning of a note and
 * a line "---" or "...". Taken as metadata if it is a map; whatever else
 * stands there (a rule and prose, a list, broken YAML) stays text.
 *
 *   title            a string
 *   tags, tag        a list, or a string cut at commas, or else at blanks;
 *                    a leading # is dropped
 *   aliases, alias   a list, or a string cut at commas
 *   date, created    YYYY-MM-DD with or without a time; 2026/3/1, 2026年3月1日
 *
 * Keys in any case; every other key is ignored.
 */
#ifndef TEXT_FRONTMATTER_H
#define TEXT_FRONTMATTER_H

#include <stdint.h>

#include "text/note.h"

/* Longer is no front matter: YAML is read whole, and nobody writes that. */
#define FRONTMATTER_MAX_BYTES 65536

/*
 * Reads what stands before the text of n, sets title, tags, aliases, date and
 * body (0: none). Sets NOTE_BAD_FRONT_MATTER when it looked like front matter
 * but was not; *end is then where that text ends, else body. Fails only for
 * want of memory.
 */
int frontmatter_read(struct note *n, struct arena *a, size_t *end,
		     struct remem_err *err);

/* Date that a text begins with, in the forms above; DATE_NONE. */
int32_t frontmatter_date(const char *s, size_t len);

#endif
