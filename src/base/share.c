/* See share.h. */
#include "base/share.h"

/* Numbers a part: some 40 us of work where one takes a system call, so that
 * nobody waits long for the last one. */
#define STEP 64

void share_init(struct share *s)
{
	*s = (struct share){ .count = 0 };
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->work, NULL);
	pthread_cond_init(&s->done, NULL);
}

void share_release(struct share *s)
{
	pthread_cond_destroy(&s->done);
	pthread_cond_destroy(&s->work);
	pthread_mutex_destroy(&s->lock);
}

/* Parts of the work at hand, until there are none. The lock is held before and
 * after, not while a part is done. */
static void take_parts(struct share *s, bool helping)
{
	while (s->next < s->count) {
		size_t from = s->next, to = from + STEP;

		if (to > s->count)
			to = s->count;
		s->next = to;
		pthread_mutex_unlock(&s->lock);
		s->part(s->ctx, from, to, helping);
		pthread_mutex_lock(&s->lock);
	}
}

void share_run(struct share *s, share_part part, void *ctx, size_t count)
{
	if (!s || !count) {
		if (count)
			part(ctx, 0, count, false);
		return;
	}
	pthread_mutex_lock(&s->lock);
	s->part = part;
	s->ctx = ctx;
	s->next = 0;
	s->count = count;
	if (s->waiting && count > STEP)
		pthread_cond_broadcast(&s->work);
	take_parts(s, false);
	while (s->busy)
		pthread_cond_wait(&s->done, &s->lock);
	s->count = s->next = 0;
	pthread_mutex_unlock(&s->lock);
}

void share_over(struct share *s)
{
	pthread_mutex_lock(&s->lock);
	s->over = true;
	pthread_cond_broadcast(&s->work);
	pthread_mutex_unlock(&s->lock);
}

void share_help(struct share *s)
{
	pthread_mutex_lock(&s->lock);
	while (!s->over) {
		if (s->next < s->count) {
			s->busy++;
			take_parts(s, true);
			if (!--s->busy)
				pthread_cond_signal(&s->done);
			continue;
		}
		s->waiting++;
		pthread_cond_wait(&s->work, &s->lock);
		s->waiting--;
	}
	pthread_mutex_unlock(&s->lock);
}
