/*
 * Jobs of batch interfaces, from before they are sent until all of their
 * vectors are kept: what was paid for must be found again after a crash, and
 * nothing may be sent twice. Keys are those of the embedder's inputs; the texts
 * themselves are not kept here.
 */
#ifndef STORE_STATE_BATCH_H
#define STORE_STATE_BATCH_H

#include "base/hash.h"
#include "store/state.h"

enum job_step {
	JOB_PLANNED = 1, /* its lines are known, nothing was handed over */
	JOB_SENDING, /* the file is there; the job may be, look for its name */
	JOB_RUNNING, /* the provider has it, and gave it an id */
	JOB_CANCELLING, /* the same, and was asked to stop */
	JOB_READY, /* over; answers are to be fetched */
	JOB_ENDED /* nothing is left to do: for the record */
};

struct batch_job {
	int64_t id; /* 0: the next */
	const char *name; /* of our own making, kept by the provider too */
	const char *scope; /* agent whose index it is for; "" */
	const char *provider, *model, *base, *fingerprint;
	enum job_step step;
	const char *remote, *input, *output, *errors; /* ids, "" if none */
	const char *reason; /* "" while all is well */
	int64_t lines, tokens; /* as sent */
	int64_t done, failed; /* lines with a vector; without */
	int64_t remote_done; /* as the provider says while it works */
	int64_t made_ms, sent_ms, asked_ms, next_ms, ended_ms; /* 0: not yet */
	int tries; /* failures of the present step, one after the other */
	int64_t ledger; /* its row there, 0: none */
};

struct batch_line {
	unsigned char key[SHA256_BYTES];
	int script;
	int64_t tokens;
};

/* The job with its lines, in one transaction; fills id. */
int state_batch_add(struct state *s, struct batch_job *job,
		    const struct batch_line *lines, size_t n,
		    struct remem_err *err);
/*
 * Writes what has changed. With reserve the ledger gets a row of its tokens in
 * the same transaction, with JOB_ENDED that row gets what was used in truth and
 * the lines go. REMEM_EBUSY: it was ended or taken away since it was read.
 */
int state_batch_put(struct state *s, struct batch_job *job, bool reserve,
		    int64_t used, struct remem_err *err);
/* Takes it away with its lines; a job that was never sent. */
int state_batch_drop(struct state *s, int64_t id, struct remem_err *err);
/* A line whose text was forgotten: its answer is not kept. */
int state_batch_forget(struct state *s, int64_t id,
		       const unsigned char key[SHA256_BYTES],
		       struct remem_err *err);
/* Oldest first, into the arena; open: without those that have ended. scope
 * NULL: all. An older state has none. */
int state_batch_list(struct state *s, struct arena *a, const char *scope,
		     bool open, struct batch_job **out, size_t *count,
		     struct remem_err *err);
/* Lines of a job by key, into the arena. */
int state_batch_lines(struct state *s, struct arena *a, int64_t id,
		      struct batch_line **out, size_t *count,
		      struct remem_err *err);

#endif
