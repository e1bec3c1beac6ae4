/*
 * Keeps an index in step by itself: watches the folders, waits until a change
 * has settled, and syncs; also by the clock, where that is wanted or where the
 * system cannot tell of changes. One step at a time, so that a loop of any
 * kind (and a test) can drive it. Idle, it never asks to be called.
 */
#ifndef INDEX_WATCH_H
#define INDEX_WATCH_H

#include "index/index.h"

struct index_watch_opts {
	const struct index_opts *index; /* borrowed, with what it points to */
	bool watch; /* false: by the clock alone */
	int debounce_ms; /* quiet time after a change */
	int64_t interval_ms; /* 0: not by the clock */
	/* Of a transcript that is written: what is worth a sync at once. */
	int64_t delta_bytes, delta_messages;
	bool shrunk_counts;
	int quiet_ms; /* else so long after the last change; 0: 5 s */
};

struct index_watch_step {
	bool synced; /* a sync was tried: */
	const char *reason; /* "start", "watch", "interval", "poll", "retry",
			       "vectors" */
	int rc; /* of the sync; 0 also when it was only interrupted */
	struct remem_err err;
	const struct index_report *report; /* until the next step */
};

struct index_watch;

int index_watch_new(struct index_watch **out, const struct index_watch_opts *o,
		    struct remem_err *err);
void index_watch_free(struct index_watch *w);
/* To wait for, -1 if there is none. */
int index_watch_fd(const struct index_watch *w);
/* When to call the next step though the descriptor is silent: milliseconds
 * from now, 0 at once, -1 never. */
int index_watch_wait_ms(const struct index_watch *w);
/*
 * Takes what was told and syncs if it is time to. The first step always does.
 * A failure of the sync is in out, and tried again later; only running out of
 * memory fails.
 */
int index_watch_step(struct index_watch *w, struct index_watch_step *out,
		     struct remem_err *err);
/* Whether index and files agree as far as the system tells: a search need not
 * look itself. May be asked by any thread. */
bool index_watch_is_clean(const struct index_watch *w);
/* Somebody waits for what has changed: it is due at once, and vectors give
 * way. From any thread; the next step has to be called. */
void index_watch_hurry(struct index_watch *w);
size_t index_watch_folders(const struct index_watch *w);
const char *index_watch_problem(const struct index_watch *w);

#endif
