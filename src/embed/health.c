/*
 * A provider that is down costs each call its time-out, so the next ones do
 * without it: for 5 s at first, then twice as long each time, up to 5 minutes.
 * The first call afterwards is the probe. Whoever opened the embedder may keep
 * this durably, so that it holds for the next process too; times are therefore
 * those of the wall clock.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "embed/embedder.h"

#define COOL_MS 5000
#define COOL_DOUBLINGS 6 /* 5 minutes */
#define PROBE_MS 20000
#define COOL_MAX_MS (INT64_C(5000) << COOL_DOUBLINGS)

static int64_t cool_max_ms(const struct embedder *e)
{
	double scale = embed_wait_scale(&e->c, -1);

	return (int64_t)((double)COOL_MAX_MS * (scale > 1 ? scale : 1));
}

/* A record of others, unless the clock was put back since. */
static void load(struct embedder *e)
{
	struct embed_health h = { 0 };

	if (e->health_known || !e->c.health_load)
		return;
	e->health_known = true;
	e->c.health_load(e->c.health_ctx, &h);
	if (h.times > 0 && h.code < 0 &&
	    h.until_ms - clock_now_ms() <= cool_max_ms(e))
		e->health = h;
}

static bool is_down(struct embedder *e)
{
	load(e);
	return e->health.times > 0 && clock_now_ms() < e->health.until_ms;
}

bool embedder_cooling(struct embedder *e, struct embed_health *h)
{
	bool down = e->p->remote && is_down(e);

	if (h)
		*h = e->health;
	return down;
}

void embedder_wake(struct embedder *e)
{
	load(e);
	e->health.until_ms = 0;
}

bool health_is_cooling(struct embedder *e, struct remem_err *err)
{
	const struct embed_health *h = &e->health;

	if (!is_down(e))
		return false;
	fail(err, h->code, "%s; it is asked again in %d s", h->message,
	     (int)((h->until_ms - clock_now_ms()) / 1000) + 1);
	fail_action(err, "%s", h->action);
	return true;
}

int health_tries(struct embedder *e)
{
	load(e);
	return e->health.times ? 1 : RETRY_TRIES;
}

int health_probe(struct embedder *e, bool (*cancel)(void *ctx), void *ctx,
		 struct remem_err *err)
{
	struct ask ask = { .kind = EMBED_DOCUMENT, .text = "probe", .len = 5,
			   .timeout_ms = PROBE_MS, .tries = 1, .whole = true,
			   .cancel = cancel, .ctx = ctx };
	float *vec = NULL;
	int dims, rc;

	if (!e->health.times)
		return 0;
	rc = embed_ask(e, &ask, &vec, &dims, err);
	mem_free(vec);
	return rc;
}

static void save(struct embedder *e)
{
	e->health_known = true;
	if (e->c.health_save)
		e->c.health_save(e->c.health_ctx,
				 e->health.times ? &e->health : NULL);
}

static void is_well(struct embedder *e)
{
	bool was = e->health.times > 0;
	int64_t down_s = (clock_now_ms() - e->health.since_ms) / 1000;

	memset(&e->health, 0, sizeof(e->health));
	if (!was)
		return;
	log_msg(LOG_INFO, "embed", "%s answers again after %lld s",
		e->info.provider, (long long)down_s);
	save(e);
}

void health_note(struct embedder *e, int rc, const struct remem_err *why)
{
	struct embed_health *h = &e->health;
	double scale = embed_wait_scale(&e->c, -1);
	int64_t now = clock_now_ms(), wait;
	int n;

	load(e);
	if (!rc)
		is_well(e);
	if (rc != REMEM_EREMOTE && rc != REMEM_ETIMEOUT)
		return;
	n = h->times < COOL_DOUBLINGS ? h->times : COOL_DOUBLINGS;
	wait = (int64_t)((double)((int64_t)COOL_MS << n) * scale);
	if (!h->times++)
		h->since_ms = now;
	h->until_ms = now + wait;
	h->code = rc;
	snprintf(h->message, sizeof(h->message), "%s", why->message);
	snprintf(h->action, sizeof(h->action), "%s", why->action);
	log_msg(LOG_WARN, "embed", "%s; %s is left alone for %lld s",
		why->message, e->info.provider, (long long)(wait / 1000));
	save(e);
}
