/*
 * What memory says by itself when a prompt comes in: entries whose trigger
 * the prompt names, and whether the prompt asks for something of before.
 */
#ifndef MEMORY_RECALL_H
#define MEMORY_RECALL_H

#include "base/arena.h"
#include "source/source.h"
#include "text/note.h"

enum recall_intent {
	RECALL_NOT, /* a command, a greeting, too little: nothing is added */
	RECALL_MAYBE, /* only what fits very well is worth its place */
	RECALL_ASKED /* it asks about earlier work, people, decisions, … */
};

enum recall_intent recall_intent(const char *prompt, size_t len);

struct recall_entry {
	const char *path, *text; /* text without its annotations */
	size_t len;
	const char *lines; /* as they stand in the note, see note_lines() */
	size_t lines_len;
	int line_first, line_last;
	double score; /* 0..1 */
};

#define RECALL_STRONG 0.65 /* OpenClaw's active memory, in its code */

/*
 * Entries of MEMORY.md and USER.md with a trigger (annotation "trigger: a, b")
 * that the prompt names, best first, at most max; those below RECALL_STRONG,
 * superseded or flagged ones are left out. Files that cannot be read add
 * nothing. *count may be 0; only memory fails.
 */
int recall_triggers(struct recall_entry *out, int max, int *count,
		    struct arena *a, const struct source_opts *source,
		    const struct note_opts *note, const char *prompt,
		    size_t len, struct remem_err *err);

#endif
