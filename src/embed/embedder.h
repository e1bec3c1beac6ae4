/*
 * The embedder from inside: what embed.c (opening, questions), ask.c (one
 * request and its retries), run.c (many documents) share.
 */
#ifndef EMBED_EMBEDDER_H
#define EMBED_EMBEDDER_H

#include "base/arena.h"
#include "embed/limits.h"
#include "embed/provider.h"
#include "embed/retry.h"

struct embedder {
	struct embed_config c;
	const struct embed_provider *p;
	void *self; /* NULL: off */
	struct embed_info info;
	char *fingerprint;
	char off[512]; /* why there are no vectors; "" if there are */
	char off_action[256];
	const char **secrets; /* never in a message; NULL-terminated */
	bool (*cancel)(void *ctx); /* ends a wait for a query's vector */
	void *cancel_ctx;
	bool behind; /* documents are embedded at low priority */

	/* Remote ones. */
	struct http *http; /* of the caller's thread, NULL until first use */
	struct limits limits;
	bool answered; /* a good answer came */
	int simplified; /* how often a part of requests was left out */
	bool self_checked; /* one text alone and in a batch agreed */
	uint64_t random;

	struct embed_health health;
	bool health_known; /* loaded, and nothing has passed since */
};

/* ---- ask.c ------------------------------------------------------------ */

/* A text with its prefix; the text cut to max_bytes (0: not). */
int embed_join(struct arena *a, const struct embedder *e, enum embed_kind kind,
	       const char *text, size_t len, size_t max_bytes,
	       const char **out, size_t *out_len);
const char *embed_prefix(const struct embedder *e, enum embed_kind kind);
/* As http_perform() for one request, or the test's transport. http is made at
 * first use. */
int embed_send(struct embedder *e, struct http **http,
	       const struct http_request *req, struct http_reply *reply,
	       bool (*cancel)(void *ctx), void *ctx, struct remem_err *err);
/*
 * Sets aside what a request may cost, settles it by its outcome, or gives it
 * back unsent. hold: REMEM_ELIMIT when it is not in the budget.
 */
int embed_hold(struct embedder *e, struct spend *s, size_t items,
	       int64_t tokens, int timeout_ms, struct remem_err *err);
void embed_settle(struct embedder *e, struct spend *s, const struct outcome *o,
		  int64_t took_ms);
void embed_drop(struct embedder *e, struct spend *s);

struct ask {
	enum embed_kind kind;
	const char *text;
	size_t len;
	int64_t deadline_ns; /* 0: none */
	int timeout_ms; /* of each request */
	int tries; /* requests after a passing failure, 1: no retry */
	bool patient; /* comes back as often as it is told to */
	bool whole; /* the text is not made shorter when it is refused */
	bool (*cancel)(void *ctx);
	void *ctx;
};

/* One text to one remote vector, normalised; *vec is freed with mem_free(). */
int embed_ask(struct embedder *e, const struct ask *ask, float **vec,
	      int *dims, struct remem_err *err);
/* A tiny request, to tell a provider that is down from a text it refuses. */
int embed_alive(struct embedder *e, bool (*cancel)(void *ctx), void *ctx,
		struct remem_err *err);

/* What waits are multiplied by. retry_after_ms: what the provider asks for is
 * not for the settings to change; -1: it asks for nothing. */
static inline double embed_wait_scale(const struct embed_config *c,
				      int retry_after_ms)
{
	double scale = c->wait_scale > 0 ? c->wait_scale : 1;

	return retry_after_ms < 0 && c->retry_wait_ms > 0 ?
		       scale * c->retry_wait_ms / RETRY_WAIT_MS : scale;
}

/* ---- health.c --------------------------------------------------------- */

/* Whether there is no use in asking yet; err says why there was no answer. */
bool health_is_cooling(struct embedder *e, struct remem_err *err);
/* Requests of a question: one that was down is not asked twice at once. */
int health_tries(struct embedder *e);
/* Before many requests to one that was down: a tiny one. */
int health_probe(struct embedder *e, bool (*cancel)(void *ctx), void *ctx,
		 struct remem_err *err);
/* How a call ended. What the caller's own bounds cut short says nothing. */
void health_note(struct embedder *e, int rc, const struct remem_err *why);

/* ---- run.c ------------------------------------------------------------ */

struct embed_sink {
	int (*done)(void *ctx, const struct embed_item *const *items,
		    const float *vecs, size_t n, int dims);
	void (*refused)(void *ctx, const struct embed_item *item,
			const char *reason);
	bool (*cancel)(void *ctx);
	void *ctx;
};

int embed_run(struct embedder *e, const struct embed_item *items, size_t n,
	      const struct embed_sink *sink, struct remem_err *err);

#endif
