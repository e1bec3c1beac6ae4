/* Conversations by HTTP; see http_session.h. */
#include "mcp/http_session.h"

#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"
#include "base/hash.h"

/* The longest unused one makes room: its client gets a 404 and says hello
 * again, as the protocol has it. */
#define SESSIONS_MAX 256

void http_sessions_init(struct http_sessions *s)
{
	memset(s, 0, sizeof(*s));
	pthread_mutex_init(&s->lock, NULL);
}

void http_sessions_release(struct http_sessions *s)
{
	while (s->first) {
		struct http_session *x = s->first;

		s->first = x->next;
		mem_free(x);
	}
	pthread_mutex_destroy(&s->lock);
}

/* With the lock held. */
static void unlink_one(struct http_sessions *s, struct http_session *x)
{
	struct http_session **at = &s->first;

	while (*at && *at != x)
		at = &(*at)->next;
	if (*at)
		*at = x->next;
	s->count--;
	x->gone = true;
	if (!x->users)
		mem_free(x);
}

static void make_room(struct http_sessions *s)
{
	struct http_session *oldest = NULL;

	if (s->count < SESSIONS_MAX)
		return;
	for (struct http_session *x = s->first; x; x = x->next)
		if (!oldest || x->used < oldest->used)
			oldest = x;
	if (oldest)
		unlink_one(s, oldest);
}

struct http_session *http_session_new(struct http_sessions *s)
{
	unsigned char random[SESSION_ID_CHARS / 2];
	struct http_session *x = mem_zalloc(sizeof(*x));

	if (!x)
		return NULL;
	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
		mem_free(x);
		return NULL;
	}
	hex_encode(x->id, random, sizeof(random));
	x->users = 1;
	pthread_mutex_lock(&s->lock);
	make_room(s);
	x->used = ++s->clock;
	x->next = s->first;
	s->first = x;
	s->count++;
	pthread_mutex_unlock(&s->lock);
	return x;
}

/* With the lock held. */
static struct http_session *look_up(struct http_sessions *s, const char *id)
{
	for (struct http_session *x = s->first; x; x = x->next)
		if (!strcmp(x->id, id))
			return x;
	return NULL;
}

struct http_session *http_session_find(struct http_sessions *s,
				       const char *id)
{
	struct http_session *x;

	pthread_mutex_lock(&s->lock);
	x = look_up(s, id);
	if (x) {
		x->users++;
		x->used = ++s->clock;
	}
	pthread_mutex_unlock(&s->lock);
	return x;
}

void http_session_leave(struct http_sessions *s, struct http_session *x)
{
	if (!x)
		return;
	pthread_mutex_lock(&s->lock);
	if (!--x->users && x->gone)
		mem_free(x);
	pthread_mutex_unlock(&s->lock);
}

bool http_session_drop(struct http_sessions *s, const char *id)
{
	struct http_session *x;

	pthread_mutex_lock(&s->lock);
	x = look_up(s, id);
	if (x)
		unlink_one(s, x);
	pthread_mutex_unlock(&s->lock);
	return x != NULL;
}
