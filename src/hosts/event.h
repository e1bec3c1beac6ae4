/* What a host's JSON says, in one form for all hosts. */
#ifndef HOSTS_EVENT_H
#define HOSTS_EVENT_H

#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

struct event { /* all in the arena; NULL or 0 where nothing was said */
	const char *session; /* only [A-Za-z0-9_.-], at most 128 */
	const char *cwd, *transcript;
	const char *prompt;
	size_t prompt_len;
	const char *reason; /* source, trigger or reason */
	const char *tool;
};

/*
 * Unknown members, missing ones and nulls are fine, and so is an empty text.
 * REMEM_EFORMAT: not JSON, or no object.
 */
int event_read(struct event *out, struct arena *a, const char *json,
	       size_t len, struct remem_err *err);

#endif
