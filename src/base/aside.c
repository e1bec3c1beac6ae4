/* See aside.h. */
#include "base/aside.h"

#include <unistd.h>

static void *run(void *ctx)
{
	struct aside *a = ctx;

	a->work(a->ctx);
	return NULL;
}

bool aside_start(struct aside *a, void (*work)(void *ctx), void *ctx)
{
	a->work = work;
	a->ctx = ctx;
	a->running = sysconf(_SC_NPROCESSORS_ONLN) > 1 &&
		     !pthread_create(&a->thread, NULL, run, a);
	return a->running;
}

void aside_join(struct aside *a)
{
	if (a->running)
		pthread_join(a->thread, NULL);
	a->running = false;
}
