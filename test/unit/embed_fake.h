/*
 * A provider in memory for unit tests: the transport of embed_config. Vectors
 * follow from the text alone; what goes wrong is said by the fields.
 */
#ifndef TEST_EMBED_FAKE_H
#define TEST_EMBED_FAKE_H

#include <pthread.h>

#include "base/http.h"
#include "embed/embed.h"

enum fake_reply {
	FAKE_GOOD,
	FAKE_HTML,
	FAKE_NULL,
	FAKE_EMPTY, /* {"data":[]} */
	FAKE_ERROR, /* 200 with {"error":…} */
	FAKE_FEW, /* one vector too few */
	FAKE_TWICE, /* an index twice */
	FAKE_BEYOND, /* an index out of range */
	FAKE_GARBAGE
};

struct fake {
	pthread_mutex_t lock;
	int dims; /* 0: 8 */
	bool base64, shuffled, no_index, mixed_up;
	size_t max_items; /* 0: no cap */
	size_t max_chars; /* of a text */
	const char *poison; /* refuses texts that hold it; "" none */
	const char *nan, *zero; /* vectors of texts that hold it */
	int nan_times; /* how often, 0: always, -1: no more */
	enum fake_reply bad;
	const char *bad_for; /* only for texts that hold it */
	int status; /* answers it ... */
	int times; /* ... so often, then goes on; -1: always */
	int after; /* ... after so many good ones */
	const char *body; /* with that status */
	int retry_after_ms;
	bool knows_base64, knows_dims; /* else a request with them is refused */
	bool slow; /* waits for other requests to come */

	/* What was seen. */
	int requests, refused, good;
	size_t items, most_items;
	int now, most_at_once;
	bool key, type_query, type_document;
	char last[4096]; /* body */
	char text[4096]; /* first text */
};

void fake_init(struct fake *f);
void fake_release(struct fake *f);
void fake_transport(void *ctx, const struct http_request *req,
		    struct http_reply *reply);
/* The vector a text gets, before it is normalised. */
void fake_vector(float *out, int dims, const char *text, size_t len);

#endif
