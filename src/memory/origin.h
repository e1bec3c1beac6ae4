/*
 * Whom a text comes from. Classes are kept in the state by hashes of lines, so
 * a text cannot claim one; where several meet, the worst counts.
 */
#ifndef MEMORY_ORIGIN_H
#define MEMORY_ORIGIN_H

#include <stddef.h>

#include "base/arena.h"
#include "memory/memory.h"
#include "store/state_note.h"

/* "owner", "agent", "system", "untrusted", "unknown". */
const char *origin_name(enum remem_origin o);
/* REMEM_ORIGIN_DEFAULT for any other word. */
enum remem_origin origin_parse(const char *name);
enum remem_origin origin_min(enum remem_origin a, enum remem_origin b);
/*
 * The class of what an actor writes: what the calling program says, agent by
 * default, and never better than agent through "mcp…" and "hook…". The
 * program says owner for a person at a terminal.
 */
enum remem_origin origin_of(const struct remem_actor *actor);

/* Of the bytes of a line without blanks around. */
void origin_line_hash(unsigned char out[LINE_HASH_BYTES], const char *line,
		      size_t len);
/* Of what a text says: without list marks, "User:" or "Assistant:" before it,
 * annotations, case, width, blanks and punctuation. False when nothing is
 * left. */
bool origin_words_hash(unsigned char out[LINE_HASH_BYTES], const char *text,
		       size_t len);

/* Best class that lines of a path can have: system for diaries and reports. */
enum remem_origin origin_of_path(const char *path);

/*
 * The class of lines of a note, as stored: each line's own; for lines that no
 * one is known to have written, m's class of outside edits. A line that is
 * known as worse from another note keeps that.
 */
int origin_of_lines(enum remem_origin *out, struct state *s, const char *path,
		    const char *text, size_t len, enum remem_origin edits,
		    struct remem_err *err);
/* The worst of all lines of a file, from what is stored; lines that nobody
 * knows of are not seen. */
int origin_of_file(enum remem_origin *out, struct state *s, const char *path,
		   enum remem_origin edits, struct remem_err *err);

/*
 * Brings the rows of a note in step with its bytes: lines that are known keep
 * their class, others get `fresh`, which was written by `journal` (0: nobody
 * we know). Sets hash, mid, lines and classes of *row. In the open
 * transaction.
 */
int origin_resync(struct note_row *row, struct arena *a, struct memory *m,
		  const char *path, const char *bytes, size_t len,
		  enum remem_origin fresh, int64_t journal,
		  struct remem_err *err);

#endif
