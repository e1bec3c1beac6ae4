/* Progress, throttled; see progress.h. */
#include "base/progress.h"

#include <string.h>

#include "base/clock.h"

#define INTERVAL_NS 100000000 /* ten times a second */

void progress_init(struct progress *p, remem_progress_fn fn, void *ctx)
{
	memset(p, 0, sizeof(*p));
	p->fn = fn;
	p->ctx = ctx;
	p->phase = "";
	p->started_ns = clock_mono_ns();
}

void progress_phase(struct progress *p, const char *phase, int64_t total)
{
	p->phase = phase;
	p->done = 0;
	p->total = total;
	p->started_ns = clock_mono_ns();
	p->last_ns = 0;
}

static void report(struct progress *p, int64_t now)
{
	double seconds = (double)(now - p->started_ns) / 1e9;
	double rate = seconds > 0 ? (double)p->done / seconds : 0;
	double left = -1;

	if (p->total > 0 && p->done >= p->total)
		left = 0;
	else if (p->total > 0 && rate > 0)
		left = (double)(p->total - p->done) / rate;
	p->last_ns = now;
	p->stop = p->fn(p->ctx, p->phase, p->done, p->total, rate, left);
}

int progress_step(struct progress *p, int64_t n)
{
	int64_t before = p->done, now;

	p->done += n;
	if (!p->fn || p->stop)
		return p->stop;
	now = clock_mono_ns();
	if (!p->last_ns || now - p->last_ns >= INTERVAL_NS ||
	    (before < p->total && p->done >= p->total))
		report(p, now);
	return p->stop;
}
