/* Threads that wait for replies. */
#include "embed/flight.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"

#define SECOND INT64_C(1000000000)
#define STACK_BYTES ((size_t)512 << 10)

struct flight {
	struct embedder *e;
	pthread_mutex_t lock;
	pthread_cond_t back;
	atomic_bool cancelled;
	int count;
	struct flight_slot slots[FLIGHT_MAX];
};

static int init_locks(struct flight *f)
{
	pthread_condattr_t attr;
	int rc;

	if (pthread_mutex_init(&f->lock, NULL))
		return -1;
	rc = pthread_condattr_init(&attr);
	if (!rc) {
		/* Waits must not follow the wall clock. */
		pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
		rc = pthread_cond_init(&f->back, &attr);
		pthread_condattr_destroy(&attr);
	}
	if (rc)
		pthread_mutex_destroy(&f->lock);
	return rc;
}

int flight_new(struct flight **out, struct embedder *e, int slots,
	       struct remem_err *err)
{
	struct flight *f = mem_zalloc(sizeof(*f));

	*out = NULL;
	if (!f || init_locks(f)) {
		mem_free(f);
		return fail_nomem(err);
	}
	f->e = e;
	atomic_init(&f->cancelled, false);
	f->count = slots < 1 ? 1 : slots < FLIGHT_MAX ? slots : FLIGHT_MAX;
	for (int i = 0; i < f->count; i++) {
		f->slots[i].f = f;
		arena_init(&f->slots[i].a, 0);
		buf_init(&f->slots[i].body, 0);
	}
	*out = f;
	return 0;
}

void flight_free(struct flight *f)
{
	if (!f)
		return;
	flight_cancel(f);
	for (int i = 0; i < f->count; i++) {
		struct flight_slot *s = &f->slots[i];

		if (s->threaded) {
			pthread_join(s->thread, NULL);
			http_reply_release(&s->reply);
		}
		http_free(s->http);
		buf_release(&s->body);
		arena_release(&s->a);
	}
	pthread_cond_destroy(&f->back);
	pthread_mutex_destroy(&f->lock);
	mem_free(f);
}

void flight_cancel(struct flight *f)
{
	atomic_store(&f->cancelled, true);
}

static bool is_cancelled(void *ctx)
{
	struct flight *f = ctx;

	return atomic_load(&f->cancelled);
}

static void *send_one(void *ctx)
{
	struct flight_slot *s = ctx;
	struct flight *f = s->f;

	s->rc = embed_send(f->e, &s->http, &s->req, &s->reply, is_cancelled, f,
			   &s->err);
	s->back_ns = clock_mono_ns();
	pthread_mutex_lock(&f->lock);
	s->state = SLOT_BACK;
	pthread_cond_signal(&f->back);
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

struct flight_slot *flight_slot(struct flight *f)
{
	struct flight_slot *free_slot = NULL;

	pthread_mutex_lock(&f->lock);
	for (int i = 0; i < f->count && !free_slot; i++)
		if (f->slots[i].state == SLOT_FREE)
			free_slot = &f->slots[i];
	pthread_mutex_unlock(&f->lock);
	return free_slot;
}

void flight_send(struct flight *f, struct flight_slot *s)
{
	pthread_attr_t attr;

	pthread_mutex_lock(&f->lock);
	s->state = SLOT_BUSY;
	pthread_mutex_unlock(&f->lock);
	s->sent_ns = clock_mono_ns();
	memset(&s->err, 0, sizeof(s->err));
	s->threaded = false;
	if (!pthread_attr_init(&attr)) {
		pthread_attr_setstacksize(&attr, STACK_BYTES);
		s->threaded = !pthread_create(&s->thread, &attr, send_one, s);
		pthread_attr_destroy(&attr);
	}
	if (!s->threaded) /* no more threads: one after the other, then */
		send_one(s);
}

static struct flight_slot *find_back(struct flight *f)
{
	for (int i = 0; i < f->count; i++)
		if (f->slots[i].state == SLOT_BACK)
			return &f->slots[i];
	return NULL;
}

struct flight_slot *flight_wait(struct flight *f, int64_t timeout_ns)
{
	int64_t end = clock_mono_ns() + timeout_ns;
	struct timespec until = { (time_t)(end / SECOND),
				  (long)(end % SECOND) };
	struct flight_slot *s;
	int rc = 0;

	pthread_mutex_lock(&f->lock);
	while (!(s = find_back(f)) && !rc)
		rc = pthread_cond_timedwait(&f->back, &f->lock, &until);
	if (s)
		s->state = SLOT_FREE;
	pthread_mutex_unlock(&f->lock);
	if (s && s->threaded) {
		pthread_join(s->thread, NULL);
		s->threaded = false;
	}
	return s;
}
