/* A note as its writers open it: below the workspace, no link, regular. */
#ifndef MEMORY_TARGET_H
#define MEMORY_TARGET_H

#include <sys/stat.h>

#include "base/buf.h"
#include "memory/memory.h"
#include "store/state_note.h"

struct target {
	const char *path, *base; /* below the workspace; its last name */
	int dir_fd, fd; /* -1: not there, or not opened yet */
	struct stat st; /* as it was found */
	bool absent;
};

/* make: folders that are missing are made. Without it a missing folder means
 * that the note is absent. target_close() also after a failure. */
int target_open(struct target *t, struct memory *m, const char *path, bool make,
		struct remem_err *err);
/* Makes the note that was absent; *raced: somebody else just did. */
int target_create(struct target *t, bool *raced, struct remem_err *err);
void target_close(struct target *t);
/* Whether the name still means the file that is open. */
bool target_holds(const struct target *t);
/* All of its bytes, at most the limit of m. */
int target_read(struct buf *out, const struct target *t,
		const struct memory *m, struct remem_err *err);
/* Whether row describes the file as it is. */
bool target_known(const struct target *t, const struct note_row *row);
/* Puts size, times and identity of st into row. */
void target_stamp(struct note_row *row, const struct stat *st);
/* Sets row from the state, and anew from the bytes if others have changed the
 * file; that is committed. */
int target_sync(struct note_row *row, struct arena *a, struct memory *m,
		const struct target *t, struct remem_err *err);

#endif
