/*
 * A talk, cut: each message is a passage (several, if it is long), passages
 * fill chunks. The text is the messages end to end, each after the name of
 * who spoke; lines are those of the records in the transcript, so that they
 * say nothing about line breaks in the text. There is no overlap, and a chunk
 * depends on nothing before it: what is appended to changes only the end.
 */
#ifndef TEXT_TALK_H
#define TEXT_TALK_H

#include "text/note.h"

#define TALK_NAME_MAX 4096 /* longer names are not cut from their part */

struct talk_message {
	const char *who; /* "User", "Assistant", … */
	const char *text; /* valid UTF-8 without NUL */
	size_t len;
	int line;
	const char *origin; /* "owner", "agent", …, or NULL */
};

/* Messages in order; all is in the arena, text copied. Only memory can fail,
 * and REMEM_EINVAL for options that make no sense. */
int talk_cut(struct note *n, struct arena *a, const struct talk_message *m,
	     size_t count, const struct note_opts *opts, struct remem_err *err);

/*
 * A talk is stored in parts of one day and bounded size, "NAME", "NAME~2", …:
 * what is appended to is small, and each part has its date. Part counts from
 * 1. The name is shown, the part is not.
 */
const char *talk_part_name(struct arena *a, const char *name, int part);
/* Length of the name in that of a part, and which part it is. */
size_t talk_name_len(const char *path, int *part);

#endif
