/*
 * Vectors by jobs of a batch interface. Each step of a job is written down
 * before the next is taken, so that a run that ends anywhere is taken up by the
 * next one:
 *
 *   planned     the lines are known           dropped, and planned anew
 *   sending     the file is there, the job    looked for by its name, and sent
 *               may be                        again only if it is not there
 *   running     it has an id                  asked after
 *   ready       it is over                    answers are fetched, as often as
 *                                             it takes
 *   ended       every line is kept or free    -
 */
#ifndef INDEX_JOBS_H
#define INDEX_JOBS_H

#include "embed/batch.h"
#include "index/vectors.h"

/* Whether jobs are open: they are seen to also where nothing waits for them any
 * more, as their notes were deleted. */
bool jobs_wait(const struct sync *y);
/* Sets v->jobs, NULL when nothing is to be done by jobs. */
int jobs_open(struct vector_run *v, struct remem_err *err);
void jobs_close(struct jobs *j);
/* Takes each job as far as it goes without waiting, and makes new ones. *rest:
 * what no job holds is to be sent at once. */
int jobs_step(struct jobs *j, bool *rest, struct remem_err *err);
/* Whether a job holds that key; j may be NULL. */
bool jobs_hold(const struct jobs *j, const unsigned char *key);

/* ---- jobs.c and jobs_fetch.c ------------------------------------------ */

#define JOB_TRIES 3 /* to fetch answers, to hand over */
#define JOB_KEY_HEX (2 * SHA256_BYTES)

struct jobs {
	struct vector_run *v;
	struct index_batch *o;
	struct embed_batch *b;
	const struct batch_terms *terms;
	struct arena a; /* of the list */
	struct batch_job *list; /* open ones */
	size_t count;
	unsigned char (*busy)[SHA256_BYTES]; /* keys of all, sorted */
	size_t busy_count, busy_cap;
};

/* The list and the keys as they are written down now. */
int jobs_reload(struct jobs *j, struct remem_err *err);
int jobs_put(struct jobs *j, struct batch_job *job, bool reserve, int64_t used,
	     struct remem_err *err);
/* Whether it is with the provider that is set now. */
bool jobs_ours(const struct jobs *j, const struct batch_job *job);
void jobs_failure(struct jobs *j, const char *reason);
/* Hands over what was written down as being sent. */
int jobs_hand_over(struct jobs *j, struct batch_job *job,
		   struct remem_err *err);
/* New ones; *rest as for jobs_step(). */
int jobs_make(struct jobs *j, bool *rest, struct remem_err *err);
int jobs_by_key(const void *a, const void *b);
void jobs_reason(struct jobs *j, struct batch_job *job, const char *reason);
/* It is over; used: tokens that it cost. */
int jobs_end(struct jobs *j, struct batch_job *job, int64_t used,
	     struct remem_err *err);
/* Tokens of what the provider said that it has done: about what it takes for
 * answers that cannot be had. */
int64_t jobs_paid(const struct batch_job *job);
/* It is asked again later; why is written down. */
int jobs_put_off(struct jobs *j, struct batch_job *job,
		 const struct remem_err *why, struct remem_err *err);
bool jobs_fatal(int rc);
/* Fetches what it has brought, and ends it unless there may be more. */
int jobs_collect(struct jobs *j, struct batch_job *job,
		 struct remem_err *err);

#endif
