/*
 * The workspace under git, for those who keep it there: commits of memory
 * alone, and notes as they stood on a day. git itself does the work, with the
 * user's own settings, hooks and signatures; nothing is ever pushed.
 */
#ifndef MEMORY_GIT_H
#define MEMORY_GIT_H

#include "base/arena.h"
#include "base/buf.h"

#define GIT_HASH 65 /* of SHA-256 repositories, with NUL */

struct git {
	const char *workspace; /* absolute, real */
	struct arena *a;
	const char *top; /* of the repository, NULL: there is none */
	const char *prefix; /* of the workspace in it, "" or "notes/" */
	const char *busy; /* "rebase", "merge", …: no commit now; else NULL */
};

/* Looks for a repository. REMEM_ENOTFOUND: git is not installed. */
int git_open(struct git *g, struct arena *a, const char *workspace,
	     struct remem_err *err);
/* Makes one in the workspace, unless it is in one already (*made false). */
int git_make(struct git *g, bool *made, struct remem_err *err);

struct git_change {
	const char *path; /* below the workspace */
	const char *what; /* "added", "changed", "removed" */
};

/* Memory files that differ from the last commit. */
int git_changes(struct git *g, struct git_change **out, int *count,
		struct remem_err *err);
/*
 * Commits them. *hash "" when there was nothing to commit. What else is staged
 * or changed stays as it is. REMEM_EBUSY: a rebase, a merge or another git is
 * under way; REMEM_EPERM: a hook of the user refused.
 */
int git_commit(struct git *g, char hash[GIT_HASH], struct remem_err *err);

struct git_entry {
	const char *hash, *author, *subject;
	int64_t at_ms;
};

/* The last commits that touch memory, newest first. */
int git_log(struct git *g, struct git_entry **out, int *count, int limit,
	    struct remem_err *err);

/* The last commit up to the end of a day ("YYYY-MM-DD", local).
 * REMEM_ENOTFOUND: there is none. */
int git_as_of(struct git *g, char hash[GIT_HASH], const char *day,
	      struct remem_err *err);
/* A note as it stood in a commit. REMEM_ENOTFOUND. */
int git_show(struct git *g, struct buf *out, const char *hash,
	     const char *path, struct remem_err *err);
/* All memory files of a commit into a folder, which is made. */
int git_export(struct git *g, const char *hash, const char *dir,
	       struct remem_err *err);

#endif
