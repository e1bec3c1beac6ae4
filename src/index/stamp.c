/*
 * A stamp is safe once the clock that stamps are taken from has moved on:
 * then every later write gets a later change time. The kernel's clock for it
 * is the coarse one (a tick of 1 to 10 ms); file systems that keep whole
 * seconds are known by stamps without a fraction.
 */
#define _GNU_SOURCE /* CLOCK_REALTIME_COARSE */
#include "index/stamp.h"

#include <time.h>

#define SECOND_NS 1000000000ll
#define TICK_NS (20 * 1000000ll) /* no tick is longer */

/* Not the injected clock: files are stamped by the real one. */
static int64_t stamp_clock_ns(void)
{
	struct timespec t;

#ifdef CLOCK_REALTIME_COARSE
	clock_gettime(CLOCK_REALTIME_COARSE, &t);
	return (int64_t)t.tv_sec * SECOND_NS + t.tv_nsec;
#else
	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * SECOND_NS + t.tv_nsec - TICK_NS;
#endif
}

bool stamp_settle(int64_t ctime_ns, int *budget_ms)
{
	const struct timespec nap = { 0, 1000000 };

	for (;;) {
		int64_t age = stamp_clock_ns() - ctime_ns;

		/* FAT keeps two seconds, others one. */
		if (ctime_ns % SECOND_NS == 0)
			return age > 2 * SECOND_NS || age < -2 * SECOND_NS;
		/* From the future: the clock was set back, and a write now
		 * would get a smaller one. */
		if (age > 0 || age < -TICK_NS)
			return true;
		if (*budget_ms <= 0)
			return false;
		--*budget_ms;
		nanosleep(&nap, NULL);
	}
}
