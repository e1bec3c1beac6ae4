/*
 * The client's side of the embedding worker: starts it, loads the model into
 * it, asks. A worker that dies, hangs or answers nonsense is ended; the next
 * call starts another.
 */
#ifndef EMBED_WORKER_H
#define EMBED_WORKER_H

#include "base/child.h"
#include "embed/wire.h"

struct worker_model {
	const char *program; /* argv[0]; called as "PROGRAM embed-worker" */
	const char *path; /* GGUF */
	const char *libraries; /* folder */
	int window; /* tokens at once */
	int threads; /* 0: the worker's choice */
	int pooling; /* -1: the file's own */
	bool nfkc; /* texts are normalised before they are cut into tokens */
	bool vocabulary; /* llama.cpp's own is loaded in any case */
};

struct worker {
	struct child child;
	uint32_t number; /* of the request that was sent last */
	bool loaded;
	struct wire_head head; /* of the answer that is being read */
	size_t head_got, body_got;
	struct buf body;
	int dims, window, pooling; /* as the worker says */
};

/*
 * Starts it if it does not run, and waits until the model is loaded.
 * REMEM_EREMOTE: it died, with the reason; REMEM_ENOTSUP: it refused the
 * model; ETIMEOUT, ENOTFOUND: it is ended. After REMEM_ECANCELLED it goes on
 * loading, and the next call waits for it.
 */
int worker_start(struct worker *w, const struct worker_model *m,
		 const struct child_wait *wait, struct remem_err *err);
void worker_end(struct worker *w, struct buf *why); /* why may be NULL */

/* Sends texts; answers are taken with worker_next(). After REMEM_ECANCELLED it
 * is ended, after another failure it has to be. */
int worker_ask(struct worker *w, const char *const *texts, const size_t *lens,
	       size_t n, const struct child_wait *wait, struct remem_err *err);

struct worker_answer {
	bool done; /* all have been answered */
	uint32_t text;
	const char *refused; /* NULL: there is a vector */
	const float *vec; /* the worker's dims; borrowed until the next call */
};

/*
 * The next answer to one of n texts. REMEM_EFORMAT: nonsense. After an error
 * other than REMEM_ECANCELLED it has to be ended; after that one it may also
 * be asked the next thing, and what it still answers is forgotten.
 */
int worker_next(struct worker *w, size_t n, struct worker_answer *a,
		const struct child_wait *wait, struct remem_err *err);

#endif
