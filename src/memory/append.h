/*
 * The one way by which text is added to a note: locked, at its end, one write,
 * on disk when it returns. No link is followed, only a regular file below the
 * workspace is opened, a missing line end is mended. What is there already is
 * not added again. A kill at any moment leaves the note whole: with the text
 * or without it.
 */
#ifndef MEMORY_APPEND_H
#define MEMORY_APPEND_H

#include "base/arena.h"
#include "base/buf.h"
#include "memory/memory.h"

struct entry { /* a text with what is noted about it */
	const char *text;
	size_t len;
	int importance; /* 1 to 10, 0: none */
	const char *triggers, *project, *source, *observed; /* or NULL */
};

/*
 * The lines of an entry: "- text <!-- importance: 7; trigger: a, b -->", with
 * continuation lines indented, ended by a line feed. Annotations that stand at
 * the end of the text itself are taken over where e says nothing; a claim of
 * origin among them is dropped. REMEM_EINVAL for values that cannot stand in
 * a comment, REMEM_ELIMIT, REMEM_EFORMAT.
 */
int entry_compose(struct buf *out, const struct memory *m,
		  const struct entry *e, struct remem_err *err);

struct append {
	const char *to; /* see guard_place(); chosen at the moment of writing */
	const char *text; /* lines as they go into the note */
	size_t len;
	const char *source; /* what else tells entries apart, or NULL */
	const char *op; /* of the journal, NULL: "append" */
	const char *detail; /* more members of its detail, `"a":1,"b":2` */
	enum remem_origin origin; /* as origin_of() gave it, or worse */
	struct remem_actor actor;
	bool again; /* also what is there already */
	bool dry_run;
	bool approved; /* a person wants it in a curated note: no review */
};

struct append_done { /* strings in the arena */
	const char *path, *citation; /* of a duplicate: of what is there */
	bool duplicate; /* nothing was written: it is there */
	bool forgotten; /* nor this: it was forgotten and is not learned again */
	int64_t review; /* nor this: it waits as this proposal; 0: it does not */
	const char *review_why; /* why it waits, or would; NULL: it does not */
	bool rejected; /* a person has rejected it before: it does not wait */
	bool created; /* the note is new */
	int line_first, line_last; /* of the text; 0 for a duplicate */
	int64_t bytes; /* that were added */
	int64_t journal; /* its record; of a duplicate the one that wrote it */
};

/* REMEM_EPERM, REMEM_ELIMIT, REMEM_EFORMAT, REMEM_EINVAL, REMEM_EBUSY,
 * REMEM_EIO: nothing was added, and the message says why. */
int append_lines(struct append_done *out, struct arena *a, struct memory *m,
		 const struct append *w, struct remem_err *err);

/* What was put in front of a model comes back out of its mouth: whether a text
 * is such an echo, which is no news. */
int append_is_echo(bool *echo, struct memory *m, const char *text, size_t len,
		   struct remem_err *err);

#endif
