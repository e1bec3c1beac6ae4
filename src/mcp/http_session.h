/*
 * Conversations by HTTP of the versions before 2026-07-28: a number that
 * initialize gives and each later request names.
 */
#ifndef MCP_HTTP_SESSION_H
#define MCP_HTTP_SESSION_H

#include <pthread.h>

#include "mcp/server.h"

#define SESSION_ID_CHARS 32

struct http_session {
	struct session session;
	char id[SESSION_ID_CHARS + 1];
	int64_t used; /* a counter: the least is the oldest */
	int users; /* requests that look at it */
	bool gone; /* deleted; freed with its last user */
	struct http_session *next;
};

struct http_sessions {
	pthread_mutex_t lock;
	struct http_session *first;
	int count;
	int64_t clock;
};

void http_sessions_init(struct http_sessions *s);
void http_sessions_release(struct http_sessions *s);
/* NULL: no such one, or no memory. Given back with http_session_leave(). */
struct http_session *http_session_new(struct http_sessions *s);
struct http_session *http_session_find(struct http_sessions *s,
				       const char *id);
void http_session_leave(struct http_sessions *s, struct http_session *x);
bool http_session_drop(struct http_sessions *s, const char *id);

#endif
