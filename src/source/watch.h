/*
 * Notices what changes below the roots, as a hint: what has really changed is
 * for a look at the files to say. The walk itself names what is to be watched
 * (source_opts.watch), each folder before it is read, so that nothing is lost
 * between looking and watching, and what a walk leaves out is not watched.
 *
 * One handle of the system for all roots. Where the system cannot tell (no
 * handle left, a network file system, a root that is not there) the caller
 * looks by the clock: watch_poll_ms().
 */
#ifndef SOURCE_WATCH_H
#define SOURCE_WATCH_H

#include "source/roots.h"
#include "source/source.h"

struct watch;

struct watch_path {
	const char *path; /* shown, as in source_file */
	const char *full; /* absolute */
	bool talk; /* a transcript, or a file beside one; path is full */
	bool entry; /* it came or went, or may have */
};

struct watch_batch { /* lives until the next call */
	const struct watch_path *paths; /* sorted, each once */
	size_t count;
	bool rescan; /* paths do not tell all: walk */
};

/* Only running out of memory fails; without a handle it is blind. */
int watch_new(struct watch **out, struct remem_err *err);
void watch_free(struct watch *w);
/* Readable when something has happened; -1: blind. It never changes. */
int watch_fd(const struct watch *w);
/* After how many milliseconds to walk though nothing was told; -1: never. */
int watch_poll_ms(const struct watch *w);
/* Nothing waits to be taken. May be asked by any thread. */
bool watch_is_quiet(const struct watch *w);
/* What has changed since the last call, never waiting. */
int watch_take(struct watch *w, struct watch_batch *out, struct remem_err *err);
/* Folders that are watched. */
size_t watch_folders(const struct watch *w);
/* NULL, or why some of them have to be looked at by the clock. */
const char *watch_problem(const struct watch *w);

/* -- for the walk. folder_fd is open; shown ends in '/' or is "". */
void watch_begin(struct watch *w, const struct source_opts *o,
		 const struct source_root *roots, const struct root_more *more,
		 int count);
void watch_folder(struct watch *w, int root, const char *shown, int folder_fd);
/* whole: folders that were not named any more are let go. */
void watch_end(struct watch *w, const struct source_root *roots, bool whole);

/* -- for sessions_find(): the folders of transcripts. */
void watch_talks_begin(struct watch *w);
void watch_talks_folder(struct watch *w, const char *path, int folder_fd);
void watch_talks_end(struct watch *w);

#endif
