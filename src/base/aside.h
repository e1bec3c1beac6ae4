/*
 * One piece of work in a thread beside the caller's. Where there is one
 * processor, or no thread to be had, nothing is started and the caller does
 * the work itself.
 */
#ifndef BASE_ASIDE_H
#define BASE_ASIDE_H

#include <pthread.h>
#include <stdbool.h>

struct aside {
	pthread_t thread;
	void (*work)(void *ctx);
	void *ctx;
	bool running;
};

/* False if it was not started. */
bool aside_start(struct aside *a, void (*work)(void *ctx), void *ctx);
/* Waits for its end; does nothing if it is not running. */
void aside_join(struct aside *a);
/*
 * Does the work while the caller waits, behind everybody who wants the
 * processor; so do threads that the work starts. Only it: a process without
 * privileges cannot take a lowered priority back.
 */
void aside_behind(void (*work)(void *ctx), void *ctx);

#endif
