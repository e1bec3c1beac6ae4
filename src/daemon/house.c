/*
 * Houses are few: a list under one lock. Handles are opened outside of it.
 * The watch begins when the first question is answered, so that it does not
 * stand in its way.
 */
#include "daemon/house.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/attr.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"

#define MAX_HOUSES 8 /* the one longest without a question goes */
#define MAX_HANDLES 4 /* at once; more threads than cores gain nothing */
#define KEPT_HANDLES 2 /* while nobody asks */

struct house {
	struct house *next;
	struct arena a;
	char identity[65];
	struct remem_open_opts open; /* in the arena */
	struct remem *idle[MAX_HANDLES];
	int idle_count, in_use;
	int guests; /* those that are in it or wait for a handle */
	int64_t used_ns, asked;
	struct remem *watched;
	_Atomic(struct remem_watch *) watch;
	pthread_t thread;
	bool watching, tried;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t given_back = PTHREAD_COND_INITIALIZER;
static struct house *houses;
static int house_count;

static const char *const *copy_list(struct arena *a, const char *const *list)
{
	const char **out;
	size_t n = 0;

	while (list && list[n])
		n++;
	out = ARENA_ARRAY(a, const char *, n + 1);
	for (size_t i = 0; out && i < n; i++)
		out[i] = arena_strdup(a, list[i]);
	return out;
}

static const char *copy(struct arena *a, const char *s)
{
	return s ? arena_strdup(a, s) : NULL;
}

static struct house *house_new(const char *identity,
			       const struct remem_open_opts *o)
{
	struct house *h = mem_zalloc(sizeof(*h));

	if (!h)
		return NULL;
	arena_init(&h->a, 0);
	memcpy(h->identity, identity, sizeof(h->identity));
	h->open = *o;
	h->open.workspace = copy(&h->a, o->workspace);
	h->open.agent = copy(&h->a, o->agent);
	h->open.config_file = copy(&h->a, o->config_file);
	h->open.program = copy(&h->a, o->program);
	h->open.env = copy_list(&h->a, o->env);
	h->open.set = copy_list(&h->a, o->set);
	if (!h->a.failed)
		return h;
	arena_release(&h->a);
	mem_free(h);
	return NULL;
}

static void house_free(struct house *h)
{
	struct remem_watch *w = atomic_load(&h->watch);

	if (h->watching) {
		remem_watch_stop(w);
		pthread_join(h->thread, NULL);
	}
	remem_watch_free(w);
	remem_close(h->watched);
	for (int i = 0; i < h->idle_count; i++)
		remem_close(h->idle[i]);
	arena_release(&h->a);
	mem_free(h);
}

/* ---- the watch -------------------------------------------------------- */

static int on_event(void *ctx, const char *json)
{
	struct remem *old[MAX_HANDLES];
	struct house *h = ctx;
	int n;

	if (!strstr(json, "\"event\":\"generation\""))
		return 0;
	/* What nobody uses would keep the old files on the disk. */
	pthread_mutex_lock(&lock);
	n = h->idle_count;
	memcpy(old, h->idle, sizeof(old));
	h->idle_count = 0;
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < n; i++)
		remem_close(old[i]);
	return 0;
}

static void *keep_in_step(void *ctx)
{
	struct house *h = ctx;
	struct remem_err err = { 0 };

	if (remem_watch(atomic_load(&h->watch), &err))
		log_msg(LOG_ERROR, "daemon", "'%s' is not watched any more: %s",
			h->open.workspace, err.message);
	return NULL;
}

/* Not at all where the settings or the disk do not let us: each question then
 * looks at the files itself. */
static void begin_watch(struct house *h)
{
	struct remem_watch_opts o = REMEM_OPTS_INIT(o);
	struct remem_err err = { 0 };
	struct remem_watch *w = NULL;

	o.event = on_event;
	o.ctx = h;
	if (remem_open(&h->watched, &h->open, &err) ||
	    remem_watch_new(&w, h->watched, &o, &err)) {
		log_msg(LOG_TRACE, "daemon", "'%s' is not watched: %s",
			h->open.workspace, err.message);
		remem_close(h->watched);
		h->watched = NULL;
		return;
	}
	atomic_store(&h->watch, w);
	h->watching = !pthread_create(&h->thread, NULL, keep_in_step, h);
}

bool house_is_clean(const struct house *h)
{
	struct remem_watch *w = atomic_load(&h->watch);

	return w && remem_watch_is_clean(w);
}

bool house_is_ready(const struct house *h)
{
	struct remem_watch *w = atomic_load(&h->watch);

	if (w && remem_watch_is_clean(w))
		return true;
	if (w)
		remem_watch_hurry(w);
	return false;
}

/* ---- handles ---------------------------------------------------------- */

static struct house *find(const char *identity)
{
	struct house *h = houses;

	while (h && strcmp(h->identity, identity))
		h = h->next;
	return h;
}

/* Takes the oldest house that nobody is in off the list. */
static struct house *take_oldest(void)
{
	struct house **best = NULL, *h;

	for (struct house **p = &houses; *p; p = &(*p)->next)
		if (!(*p)->guests &&
		    (!best || (*p)->used_ns < (*best)->used_ns))
			best = p;
	if (!best)
		return NULL;
	h = *best;
	*best = h->next;
	house_count--;
	return h;
}

/* A handle that is what was meant: settings may have changed since. */
static int open_checked(struct remem **r, const char *identity,
			const struct remem_open_opts *o, struct remem_err *err)
{
	struct remem_traits t = REMEM_OPTS_INIT(t);
	int rc = remem_open(r, o, err);

	if (!rc && !(rc = remem_traits(*r, &t, err)) &&
	    strcmp(t.identity, identity))
		rc = fail(err, REMEM_EINVAL, "the settings are other ones");
	if (rc) {
		remem_close(*r);
		*r = NULL;
	}
	return rc;
}

/* The house of this identity, entered. */
static struct house *visit(const char *identity,
			   const struct remem_open_opts *o, struct house **old)
{
	struct house *h = find(identity);

	if (!h && (h = house_new(identity, o))) {
		h->next = houses;
		houses = h;
		house_count++;
	}
	if (!h)
		return NULL;
	h->guests++;
	h->used_ns = clock_mono_ns();
	if (house_count > MAX_HOUSES)
		*old = take_oldest();
	return h;
}

static void leave(struct house *h)
{
	pthread_mutex_lock(&lock);
	h->guests--;
	pthread_mutex_unlock(&lock);
}

int house_enter(struct house **out, struct remem **r, const char *identity,
		const struct remem_open_opts *o, struct remem_err *err)
{
	struct house *h, *old = NULL;
	int rc;

	*r = NULL;
	*out = NULL;
	if (strlen(identity) != sizeof(h->identity) - 1)
		return fail(err, REMEM_EINVAL, "no identity");
	pthread_mutex_lock(&lock);
	h = visit(identity, o, &old);
	while (h && !h->idle_count && h->in_use >= MAX_HANDLES)
		pthread_cond_wait(&given_back, &lock);
	if (h) {
		h->in_use++;
		if (h->idle_count)
			*r = h->idle[--h->idle_count];
	}
	pthread_mutex_unlock(&lock);
	if (old)
		house_free(old);
	if (!h)
		return fail_nomem(err);
	if (*r || !(rc = open_checked(r, identity, o, err))) {
		*out = h;
		return 0;
	}
	house_leave(h, NULL);
	return rc;
}

void house_leave(struct house *h, struct remem *r)
{
	struct remem *extra = r;
	bool begin;

	if (!h)
		return;
	pthread_mutex_lock(&lock);
	begin = r && !h->tried;
	h->tried |= begin;
	h->asked += r != NULL;
	h->in_use--;
	if (r && h->idle_count < KEPT_HANDLES) {
		h->idle[h->idle_count++] = r;
		extra = NULL;
	}
	pthread_cond_broadcast(&given_back);
	pthread_mutex_unlock(&lock);
	remem_close(extra);
	if (begin)
		begin_watch(h);
	leave(h);
}

void houses_put(struct json *j)
{
	json_arr(j);
	pthread_mutex_lock(&lock);
	for (struct house *h = houses; h; h = h->next) {
		json_obj(j);
		json_kstr(j, "workspace", h->open.workspace);
		json_kint(j, "asked", h->asked);
		json_kbool(j, "watched", atomic_load(&h->watch) != NULL);
		json_kbool(j, "clean", house_is_clean(h));
		json_end(j);
	}
	pthread_mutex_unlock(&lock);
	json_arr_end(j);
}

void houses_close(void)
{
	struct house *h;

	pthread_mutex_lock(&lock);
	h = houses;
	houses = NULL;
	house_count = 0;
	pthread_mutex_unlock(&lock);
	while (h) {
		struct house *next = h->next;

		house_free(h);
		h = next;
	}
}
