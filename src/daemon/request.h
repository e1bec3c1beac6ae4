/* Requests that the background process answers: rows of requests.def. */
#ifndef DAEMON_REQUEST_H
#define DAEMON_REQUEST_H

#include <stdatomic.h>

#include "daemon/house.h"
#include "daemon/wire.h"

struct server {
	char version[32], stamp[96];
	const char *program, *zone; /* "" where TZ is not set */
	int64_t started_ns;
	int idle_minutes;
	int wake[2]; /* a pipe: something happened */
	_Atomic int64_t asked_ns; /* the last request */
	atomic_int clients; /* connected */
	_Atomic int64_t requests;
	atomic_bool ending;
};

struct request {
	struct server *s;
	struct wire *w;
	yyjson_val *root;
	/* of a request about a workspace */
	struct house *house;
	struct remem *r;
	struct remem_err err;
};

/* One line of a client. False: the connection is of no more use. */
bool request_answer(struct server *s, struct wire *w, const char *line,
		    size_t len);

#define REQUEST(name, needs_house, fn) int fn(struct request *q);
#include "daemon/requests.def"
#undef REQUEST

#endif
