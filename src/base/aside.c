/* See aside.h. */
#include "base/aside.h"

#include <sys/resource.h>
#include <unistd.h>

/* A tenth of a competitor's time: it still ends, whoever waits for a lock that
 * its caller holds. */
#define BEHIND 10

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

static void *run_behind(void *ctx)
{
#ifdef __linux__ /* elsewhere it would be the whole process */
	int rc = setpriority(PRIO_PROCESS, 0,
			     getpriority(PRIO_PROCESS, 0) + BEHIND);

	(void)rc; /* then as before */
#endif
	return run(ctx);
}

void aside_behind(void (*work)(void *ctx), void *ctx)
{
	struct aside a = { .work = work, .ctx = ctx };

	a.running = !pthread_create(&a.thread, NULL, run_behind, &a);
	if (!a.running)
		work(ctx);
	aside_join(&a);
}
