/* See due.h. */
#include "memory/due.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MARK "flush1"

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Sums of what hosts say never overflow: a count has an upper bound. */
static int64_t count(int64_t n)
{
	return n < 0 ? 0 : least(n, INT64_MAX / 16);
}

void due_compute(struct due *d, const struct due_opts *o)
{
	int64_t window = count(o->window), used;

	memset(d, 0, sizeof(*d));
	d->reserve = least(count(o->reserve), window / 4);
	d->soft = least(count(o->soft), (window - d->reserve) / 2);
	d->compact_at = most(window - d->reserve, count(o->floor));
	d->flush_at = window - d->reserve - d->soft;
	used = count(o->usage) + count(o->after);
	if (!o->stale)
		used = most(used, count(o->total));
	d->projected = used + count(o->last_output) + count(o->pending);
	d->by_tokens = d->flush_at > 0 && d->projected >= d->flush_at;
	d->by_bytes = o->force_bytes > 0 && o->bytes >= o->force_bytes;
}

void due_record_format(char out[DUE_RECORD_BYTES], const struct due_record *r)
{
	snprintf(out, DUE_RECORD_BYTES,
		 MARK " %" PRId64 " %d %d %" PRId64 " %" PRId64 " %" PRId64
		 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64,
		 r->cycle, r->done, r->failures, r->line, r->bytes, r->at_ms,
		 r->written, r->nothing, r->failed, r->missed);
}

void due_record_parse(struct due_record *r, const char *text)
{
	static const struct due_record fresh = DUE_RECORD_INIT;
	int done = 0;

	*r = fresh;
	if (!text)
		return;
	if (sscanf(text,
		   MARK " %" SCNd64 " %d %d %" SCNd64 " %" SCNd64 " %" SCNd64
		   " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64,
		   &r->cycle, &done, &r->failures, &r->line, &r->bytes,
		   &r->at_ms, &r->written, &r->nothing, &r->failed,
		   &r->missed) < 9) /* older ones do not count the missed */
		*r = fresh;
	r->done = r->cycle >= 0 && done == 1;
}

static void enter(struct due_record *r, int64_t cycle)
{
	if (r->cycle == cycle)
		return;
	if (cycle > r->cycle)
		r->missed += cycle - r->cycle - 1 + (r->failures > 0);
	r->cycle = cycle;
	r->done = false;
	r->failures = 0;
}

bool due_record_done(const struct due_record *r, int64_t cycle)
{
	return r->cycle == cycle && r->done;
}

void due_record_success(struct due_record *r, int64_t cycle, bool written)
{
	enter(r, cycle);
	r->done = true;
	r->failures = 0;
	if (written)
		r->written++;
	else
		r->nothing++;
}

bool due_record_failure(struct due_record *r, int64_t cycle)
{
	enter(r, cycle);
	r->failed++;
	if (r->done || ++r->failures < DUE_TRIES)
		return false;
	r->done = true;
	return true;
}
