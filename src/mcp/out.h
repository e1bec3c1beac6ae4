/*
 * Messages to standard output, written by a thread of their own, so that a
 * client which does not read holds up nobody before a lot has gathered.
 */
#ifndef MCP_OUT_H
#define MCP_OUT_H

#include <pthread.h>

#include "mcp/server.h"

struct out {
	struct sink sink; /* first: a sink is an out */
	int fd;
	pthread_t thread;
	bool started;
	pthread_mutex_t lock;
	pthread_cond_t more, less;
	struct buf waiting;
	bool closing, broken, writing, ended;
	uint64_t written; /* bytes, to see that it goes on */
	void (*on_change)(void *ctx); /* room again, or broken */
	void *ctx;
};

/* Takes fd. */
int out_start(struct out *o, int fd, void (*on_change)(void *ctx), void *ctx,
	      struct remem_err *err);
bool out_full(struct out *o); /* no more should be asked for */
bool out_broken(struct out *o); /* nobody reads any more */
/* Waits until all is written, as long as it goes on within wait_ms; false:
 * something is left, and the thread hangs in it. */
bool out_end(struct out *o, int wait_ms);
void out_release(struct out *o); /* only after out_end() was true */

#endif
