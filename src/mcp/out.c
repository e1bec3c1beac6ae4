/* The writing thread; see out.h. */
#include "mcp/out.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"

/* From here on no more is read, and workers wait. */
#define FULL_BYTES ((size_t)64 << 20)
#define ROOM_MS 100
#define KEEP_BYTES ((size_t)1 << 20)

static void send_line(struct sink *s, const char *json, size_t len)
{
	struct out *o = (struct out *)s;

	pthread_mutex_lock(&o->lock);
	if (!o->broken) {
		buf_add(&o->waiting, json, len);
		buf_addc(&o->waiting, '\n');
		if (o->waiting.failed) {
			/* Half a line would break all that follow. */
			log_msg(LOG_ERROR, "mcp", "out of memory");
			o->broken = true;
		}
		pthread_cond_signal(&o->more);
	}
	pthread_mutex_unlock(&o->lock);
}

static void later(struct timespec *t, int ms)
{
	int64_t ns = clock_mono_ns() + (int64_t)ms * 1000000;

	t->tv_sec = (time_t)(ns / 1000000000);
	t->tv_nsec = (long)(ns % 1000000000);
}

static bool has_room(struct sink *s)
{
	struct out *o = (struct out *)s;
	struct timespec end;
	bool room;

	pthread_mutex_lock(&o->lock);
	if (o->waiting.len > FULL_BYTES && !o->broken) {
		later(&end, ROOM_MS);
		pthread_cond_timedwait(&o->less, &o->lock, &end);
	}
	room = o->waiting.len <= FULL_BYTES || o->broken;
	pthread_mutex_unlock(&o->lock);
	return room;
}

static bool write_all(struct out *o, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(o->fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		data += n;
		len -= (size_t)n;
		pthread_mutex_lock(&o->lock);
		o->written += (uint64_t)n;
		pthread_mutex_unlock(&o->lock);
	}
	return true;
}

/* With the lock held; gives it up while it writes. */
static void write_waiting(struct out *o, struct buf *b)
{
	struct buf swap = o->waiting;
	bool ok;

	o->waiting = *b;
	*b = swap;
	o->writing = true;
	pthread_mutex_unlock(&o->lock);
	ok = write_all(o, buf_str(b), b->len);
	if (b->cap > KEEP_BYTES)
		buf_release(b);
	buf_reset(b);
	pthread_mutex_lock(&o->lock);
	o->writing = false;
	if (!ok)
		o->broken = true;
	pthread_cond_broadcast(&o->less);
	pthread_mutex_unlock(&o->lock);
	o->on_change(o->ctx);
	pthread_mutex_lock(&o->lock);
}

static void *run(void *arg)
{
	struct out *o = arg;
	struct buf b = BUF_INIT(0);

	pthread_mutex_lock(&o->lock);
	for (;;) {
		while (!o->waiting.len && !o->closing && !o->broken)
			pthread_cond_wait(&o->more, &o->lock);
		if (o->broken || !o->waiting.len)
			break;
		write_waiting(o, &b);
	}
	o->ended = true;
	pthread_cond_broadcast(&o->less);
	pthread_mutex_unlock(&o->lock);
	o->on_change(o->ctx);
	buf_release(&b);
	return NULL;
}

int out_start(struct out *o, int fd, void (*on_change)(void *ctx), void *ctx,
	      struct remem_err *err)
{
	pthread_condattr_t attr;
	int e;

	memset(o, 0, sizeof(*o));
	o->sink.send = send_line;
	o->sink.ready = has_room;
	o->fd = fd;
	o->on_change = on_change;
	o->ctx = ctx;
	pthread_mutex_init(&o->lock, NULL);
	pthread_cond_init(&o->more, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&o->less, &attr);
	pthread_condattr_destroy(&attr);
	e = pthread_create(&o->thread, NULL, run, o);
	if (e)
		return fail_errno(err, REMEM_EIO, e, "cannot make a thread");
	o->started = true;
	return 0;
}

bool out_full(struct out *o)
{
	bool full;

	pthread_mutex_lock(&o->lock);
	full = o->waiting.len > FULL_BYTES;
	pthread_mutex_unlock(&o->lock);
	return full;
}

bool out_broken(struct out *o)
{
	bool broken;

	pthread_mutex_lock(&o->lock);
	broken = o->broken;
	pthread_mutex_unlock(&o->lock);
	return broken;
}

bool out_end(struct out *o, int wait_ms)
{
	struct timespec end;
	uint64_t seen;
	bool ended;

	if (!o->started)
		return true;
	pthread_mutex_lock(&o->lock);
	o->closing = true;
	pthread_cond_signal(&o->more);
	seen = o->written;
	later(&end, wait_ms);
	while (!o->ended) {
		if (!pthread_cond_timedwait(&o->less, &o->lock, &end))
			continue;
		if (o->written == seen)
			break;
		seen = o->written;
		later(&end, wait_ms);
	}
	ended = o->ended;
	pthread_mutex_unlock(&o->lock);
	if (ended)
		pthread_join(o->thread, NULL);
	return ended;
}

void out_release(struct out *o)
{
	pthread_mutex_destroy(&o->lock);
	pthread_cond_destroy(&o->more);
	pthread_cond_destroy(&o->less);
	buf_release(&o->waiting);
	close(o->fd);
}
