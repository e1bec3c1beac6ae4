/* One run of the index: what its phases share. */
#ifndef INDEX_SYNC_H
#define INDEX_SYNC_H

#include "base/progress.h"
#include "index/index.h"
#include "index/kept.h"
#include "index/plan.h"

#define SYNC_MAX_SKIPS 1000

struct sync {
	const struct index_opts *o;
	const char *const *paths; /* NULL: everything */
	size_t path_count;
	const struct index_embed_ops *embed;
	struct index_report *r;
	struct arena *a; /* of the report */
	size_t skip_cap;
	struct store *s;
	struct progress progress;
	struct arena round; /* list and plan of one round */
	struct source_list list;
	struct plan plan;
	struct kept kept; /* of this round: what it leaves */
	bool walked; /* list is fresh already: the next round takes it */
	int rounds;
	int64_t files; /* to be indexed, of this round's list */
	int64_t failures; /* of this round: files that should be indexed */
	bool untrusted; /* some stamp of this round cannot be kept */
	int64_t again; /* files of this round that have another class */
	const char *origins; /* stamp of the classes, in round; NULL: unknown */
	int64_t writes; /* changes to the store in this run */
};

/* Adds to the report's list of what is not indexed. */
void sync_skip(struct sync *y, const char *path, const char *reason);

/* origin.c: marks files of the list whose classes have changed. */
void sync_origins_look(struct sync *y);
/* In the open transaction: the index is in step with them. */
int sync_origins_keep(struct sync *y, struct remem_err *err);
/* Gives each passage its class. */
int sync_origins_fill(struct sync *y, struct arena *a, const char *path,
		      struct note *n, struct remem_err *err);

/* text.c: brings rows of text in step with the plan. */
int sync_text(struct sync *y, struct remem_err *err);

/* talks.c: the same for transcripts, if they are a source; else none stay. */
int sync_talks(struct sync *y, struct remem_err *err);
/*
 * Writes nothing, and gives each part that it would put to count. y->s may be
 * NULL; anew: as if it were.
 */
int sync_talks_dry(struct sync *y, bool anew,
		   int (*count)(void *ctx, const struct note *n,
				struct remem_err *err), void *ctx,
		   struct remem_err *err);
/* Whether the store has what is found now; o NULL: they are no source. s NULL:
 * an empty store. Cheap: no transcript is opened. */
bool talks_settled(struct arena *a, struct store *s,
		   const struct session_opts *o);
/* The halves of it: what is found now, and what the store has; "" for none.
 * False: it cannot be told. */
#define TALKS_DIGEST (2 * SHA256_BYTES + 1)
bool talks_look(char digest[TALKS_DIGEST], struct arena *a,
		const struct session_opts *o);
const char *talks_kept(struct arena *a, struct store *s);

/*
 * vectors.c: links passages to vectors that are stored; unless only_link,
 * embeds the others. A provider that fails is no error: report.degraded.
 */
int sync_vectors(struct sync *y, bool only_link, struct remem_err *err);

/* Sets what the report says of pending vectors without writing; *work: there is
 * something for sync_vectors() to do. */
int sync_vectors_look(struct sync *y, bool *work, struct remem_err *err);

/* dry.c: counts what a run would do; y->s may be NULL. */
int sync_dry(struct sync *y, struct remem_err *err);
/* What it takes to give the set fp all that it lacks: tokens and price of the
 * report. fp 0: a new one. */
int sync_price(struct sync *y, int fp, struct remem_err *err);

/* input.c */
extern const struct index_embed_ops sync_embed_ops;
/* Whether the heading goes before the text. */
bool sync_heading_counts(const struct store_passage *p, int64_t files);
/* With or without it, whatever it says. */
const char *sync_input(struct arena *a, const struct store_passage *p,
		       const char *text, bool heading, size_t *len);

#endif
