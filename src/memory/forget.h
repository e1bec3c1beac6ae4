/*
 * Forgetting: entries of notes that fit a description are found, shown, and
 * then taken out of the notes and of all that the state knows of them. What
 * was forgotten leaves hashes, so that it is not learned again.
 */
#ifndef MEMORY_FORGET_H
#define MEMORY_FORGET_H

#include "base/arena.h"
#include "memory/memory.h"
#include "source/source.h"
#include "text/note.h"

struct forget_query { /* NULL or DATE_NONE: does not matter; all must hold */
	const char *path; /* of entry */
	int line_first, line_last; /* of entry; 0: the whole file */
	const char *source; /* of the annotation, or where it begins so */
	const char *session; /* what was written in a conversation */
	const char *person, *text; /* that it speaks of, folded by the call */
	int32_t after, before; /* day of the note or of the entry, inclusive */
};

struct forget_entry { /* in the arena */
	const char *path, *text;
	size_t len;
	int line_first, line_last; /* of the file */
};

struct forget_plan {
	struct forget_entry *entries;
	size_t count, cap;
	const char **outside; /* files that are not ours to write */
	size_t outside_count, outside_cap;
	int64_t files; /* that hold entries */
};

/* Looks through all notes. list is what source_walk() found. */
int forget_find(struct forget_plan *out, struct arena *a, struct memory *m,
		struct source_list *list, const struct note_opts *note,
		const struct forget_query *q, struct remem_err *err);

/*
 * Takes them out, file by file; each file is rewritten at once, and one that
 * holds nothing else is removed. What fails in the middle is finished by
 * calling it again with a new plan. REMEM_EBUSY: a file changed since.
 */
int forget_apply(struct memory *m,
		 const struct forget_plan *plan, const struct forget_query *q,
		 const struct remem_actor *actor, struct remem_err *err);

#endif
