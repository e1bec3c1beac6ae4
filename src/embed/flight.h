/*
 * Requests in flight: each has a thread that does nothing but send it and wait
 * for the reply, so that a slow one holds up no other. All else happens in the
 * caller's thread.
 */
#ifndef EMBED_FLIGHT_H
#define EMBED_FLIGHT_H

#include <pthread.h>

#include "embed/embedder.h"

#define FLIGHT_MAX 64

struct flight;

struct flight_slot {
	/* The caller's, filled before flight_send(); slots are used again. */
	struct arena a; /* reset by the caller */
	struct buf body;
	struct embed_request r;
	struct http_request req;
	void *tag;
	struct spend spend;

	/* Filled when it comes back; the caller releases reply. */
	struct http_reply reply;
	struct remem_err err;
	int rc; /* of the client itself */
	int64_t sent_ns, back_ns;

	/* flight.c's own. */
	struct flight *f;
	struct http *http;
	pthread_t thread;
	bool threaded;
	enum { SLOT_FREE, SLOT_BUSY, SLOT_BACK } state;
};

int flight_new(struct flight **out, struct embedder *e, int slots,
	       struct remem_err *err);
/* Requests that are in flight are cancelled first. */
void flight_free(struct flight *f);
/* A free slot, NULL when all are in use; it stays free until it is sent. */
struct flight_slot *flight_slot(struct flight *f);
void flight_send(struct flight *f, struct flight_slot *slot);
/* A slot that came back (it is free again, its contents stay until the next
 * flight_send()), or NULL after timeout_ns. */
struct flight_slot *flight_wait(struct flight *f, int64_t timeout_ns);
/* Ends all that is in flight; they come back as cancelled. */
void flight_cancel(struct flight *f);

#endif
