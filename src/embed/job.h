/*
 * Requests that are to be sent: packed from the items in their order, or
 * pieces of one that was refused. All lie in the arena of a run.
 */
#ifndef EMBED_JOB_H
#define EMBED_JOB_H

#include "embed/embedder.h"

struct job {
	struct job *next;
	const struct embed_item **items;
	size_t n;
	int64_t tokens;
	size_t cut; /* bytes of its one text that are sent; 0: all */
	size_t sent; /* bytes of its last text that were sent */
	int again, rate, faulty; /* failures of each kind */
	bool alone; /* its text had no good vector among others */
	bool probed; /* the provider is known to answer other texts */
	bool refused; /* it or what it is a piece of */
	bool tries; /* is in flight with more items than were ever taken */
	int64_t failed_ns; /* when it first was */
	struct limits before; /* what was known before that */
	const char *reason; /* of the first refusal */
	int64_t due_ns; /* not before */
};

struct job_list {
	struct arena *a;
	struct embedder *e;
	const struct embed_item *items; /* not yet packed */
	size_t n;
	struct job *ready; /* sent before others are packed */
	int trying; /* in flight with more items than were ever taken */
};

/* The next request that may be sent now; NULL: none, or no memory (the arena
 * tells). One that is too large by what was learned since is split first. */
struct job *job_next(struct job_list *l, int64_t now_ns);
/* When the next one is due, INT64_MAX: there is none. */
int64_t job_due(const struct job_list *l);
bool job_any(const struct job_list *l);
/* Back into the list, in front. */
void job_again(struct job_list *l, struct job *j, int64_t due_ns);
/* The job in pieces of at most size items instead. */
void job_split(struct job_list *l, struct job *j, size_t size);
/* One item of the job as a job of its own. */
void job_alone(struct job_list *l, const struct job *j, size_t item);
/* Tokens of a text as sent, its prefix included. */
int64_t job_tokens(const struct embedder *e, const struct embed_item *item);
/* Bytes of an item that may be sent, from learned limits. */
size_t job_cut(const struct embedder *e, const struct embed_item *item);

#endif
