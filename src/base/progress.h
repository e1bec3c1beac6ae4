/*
 * Progress of long work: counts, rate and time left. The receiver is a
 * callback; the programs draw a bar on a terminal or write ndjson.
 */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include "remem.h"

struct progress {
	remem_progress_fn fn; /* NULL: silent */
	void *ctx;
	const char *phase; /* "scan", "text", "vectors" */
	int64_t done, total;
	int64_t started_ns, last_ns;
	int stop; /* what the receiver returned, if it was not 0 */
};

void progress_init(struct progress *p, remem_progress_fn fn, void *ctx);
/* total 0: unknown. Not reported before the first step. */
void progress_phase(struct progress *p, const char *phase, int64_t total);
/* Calls the receiver at most ten times a second, and at the end of a phase.
 * Returns nonzero when the receiver asked to stop, from then on always. */
int progress_step(struct progress *p, int64_t n);

#endif
