/*
 * What a reply means for the request: it is good, it is worth another try, it
 * was too much, or there is no use in going on.
 */
#ifndef EMBED_RETRY_H
#define EMBED_RETRY_H

#include "embed/provider.h"

struct embedder;

enum verdict {
	VERDICT_GOOD,
	VERDICT_AGAIN, /* passing: server error, time-out, connection */
	VERDICT_RATE, /* too fast */
	VERDICT_FAULTY, /* answered, but not what was asked for */
	VERDICT_REFUSED, /* could be size, or one of the texts */
	VERDICT_STOP /* no use in going on */
};

struct outcome {
	enum verdict verdict;
	int status; /* of HTTP, 0: none */
	int retry_after_ms; /* -1: not said */
	size_t hint; /* number of items that the refusal named, 0: none */
	bool timed_out;
	struct embed_reply reply; /* when good; vecs belongs to the caller */
	struct remem_err err; /* why it is not good */
};

/* Reads a reply. The first good one decides the dimensions. */
void outcome_of(struct outcome *o, struct embedder *e,
		const struct embed_request *r, const struct http_reply *http);

#define RETRY_WAIT_MS 500 /* what waits are multiples of */
#define RETRY_TRIES 4 /* a request and three retries */
#define RETRY_RATE_TRIES 6 /* a request and five */
/* The same where the provider says each time when to come back: nothing is
 * guessed, and a storm of refusals among which some pass comes to its end. */
#define RETRY_TOLD_TRIES 100
#define RETRY_TOLD_MS INT64_C(900000) /* but not longer without an answer */

#endif
