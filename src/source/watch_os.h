/*
 * What the operating system tells of changes. One file a system; each has
 * these functions, and watch.c everything else.
 */
#ifndef SOURCE_WATCH_OS_H
#define SOURCE_WATCH_OS_H

#include <stdbool.h>

#include "base/err.h"

enum watch_what {
	WATCH_FILE, /* a file of this name in the folder */
	WATCH_FOLDER, /* a folder of this name in the folder */
	WATCH_SELF, /* the folder itself was moved, removed, closed to us */
	WATCH_ENDED, /* nothing more comes from this id */
	WATCH_LOST /* events were lost; no id */
};

struct watch_event {
	int id; /* of watch_os_add() */
	enum watch_what what;
	bool entry; /* the name itself came or went, not only its contents */
	const char *name; /* of the last part, "" without */
};

/* A handle that poll() can wait for, or a negative errno value. */
int watch_os_open(void);
/* Watches an open folder, not what is below it. The id (the same one for the
 * same folder), or a negative errno value. */
int watch_os_add(int fd, int folder_fd, const char *path);
void watch_os_drop(int fd, int id);
/* Hands on what has come without waiting. */
void watch_os_read(int fd, void (*fn)(void *ctx, const struct watch_event *e),
		   void *ctx);
/* Whether others may change the folder unseen by this system. */
bool watch_os_is_shared(int folder_fd);

#endif
