/*
 * What the background process keeps of one workspace as one client sees it
 * (struct remem_traits.identity): handles for questions, which are used by one
 * thread at a time, and one that watches the files and syncs.
 */
#ifndef DAEMON_HOUSE_H
#define DAEMON_HOUSE_H

#include <stdbool.h>

#include "base/json.h"
#include "remem.h"

struct house;

/* A handle for this identity, opened as o says if there is none; waits while
 * all are in use. REMEM_EINVAL: what was opened is not what was meant. */
int house_enter(struct house **out, struct remem **r, const char *identity,
		const struct remem_open_opts *o, struct remem_err *err);
/* Gives the handle back; the house is watched from then on. */
void house_leave(struct house *h, struct remem *r);
/* Files and index agree, as far as the watch can tell. */
bool house_is_clean(const struct house *h);
/* The same for a question that is asked now: what is not clean is made so. */
bool house_is_ready(const struct house *h);
/* An array of objects, one a house. */
void houses_put(struct json *j);
/* Ends all watches and closes everything. Nobody is in a house any more. */
void houses_close(void);

#endif
