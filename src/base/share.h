/*
 * Work in parts that a second thread may help with once it has nothing else to
 * do. The owner never waits for a helper to come, and nobody spins: a helper
 * without work sleeps, and the owner sleeps only while a helper is at its last
 * part.
 */
#ifndef BASE_SHARE_H
#define BASE_SHARE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Numbers from..to - 1 of some work. helping: not in the owner's thread. */
typedef void (*share_part)(void *ctx, size_t from, size_t to, bool helping);

struct share {
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	share_part part;
	void *ctx;
	size_t next, count; /* of the work at hand */
	int busy; /* helpers that are at a part of it */
	int waiting; /* helpers without work */
	bool over;
};

void share_init(struct share *s);
void share_release(struct share *s);
/* The owner: does part() for all of 0..count, each number once, here and in
 * the threads that help. s NULL: all here. */
void share_run(struct share *s, share_part part, void *ctx, size_t count);
/* The owner: there will be no more work. */
void share_over(struct share *s);
/* A helper: takes parts of whatever the owner runs, until it is over. */
void share_help(struct share *s);

#endif
