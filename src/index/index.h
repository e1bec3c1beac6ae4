/*
 * Keeps the index in step with the files: plan (source against store), sync,
 * vectors, resume, rebuild as a new generation.
 */
#ifndef INDEX_INDEX_H
#define INDEX_INDEX_H

#include "base/arena.h"
#include "base/progress.h"
#include "embed/embed.h"
#include "source/source.h"
#include "store/state_batch.h"
#include "store/store.h"
#include "text/note.h"

/* The embedder as the vectors phase sees it: embed.h, or a test's own. */
struct index_embed_ops {
	const struct embed_info *(*info)(struct embedder *e);
	const char *(*off)(struct embedder *e);
	int (*documents)(struct embedder *e, const struct embed_item *items,
			 size_t n,
			 int (*done)(void *ctx,
				     const struct embed_item *const *items,
				     const float *vecs, size_t n, int dims),
			 void (*refused)(void *ctx,
					 const struct embed_item *item,
					 const char *reason),
			 bool (*cancel)(void *ctx), void *ctx,
			 struct remem_err *err);
	int64_t (*tokens)(struct embedder *e, const char *text, size_t len);
	double (*price)(struct embedder *e);
	int (*probe)(struct embedder *e, int64_t *took_ms,
		     struct remem_err *err);
	int (*expect)(struct embedder *e, int dims, struct remem_err *err);
	bool (*cooling)(struct embedder *e, struct embed_health *why);
};

struct index_reclass {
	const char *stamp; /* of now, to be given back the next time */
	bool all; /* every note may have another class */
	const char **paths; /* count of them that have */
	size_t count;
};

/* Who knows whom lines come from: above the index. */
struct index_origins {
	void *ctx;
	/* What has changed since a stamp (NULL: never asked), into the arena. */
	int (*begin)(void *ctx, struct index_reclass *out, struct arena *a,
		     const char *stamp, struct remem_err *err);
	/* The lines that follow are of this note. */
	int (*file)(void *ctx, const char *path, struct remem_err *err);
	/* The worst class of whole lines, a name that stays. */
	const char *(*lines)(void *ctx, const char *text, size_t len);
};

/*
 * Batch interfaces of providers: what is much goes as a job, which may take a
 * day. A run never waits for one; it asks after those that are due.
 */
struct index_batch {
	struct state *state; /* where jobs are remembered */
	const char *scope; /* whose: the agent, "" */
	int concurrency; /* jobs at once */
	int poll_ms; /* how often one is asked after, at least */
	int least; /* texts: fewer are sent at once */
	int max_lines; /* of a job, 0: the provider's */
	/* Kept between the runs of one command. */
	int failures;
	char off[256]; /* why no more jobs are made; "" */
	int64_t off_ms; /* since when: a long-lived process tries again */
	/* As the last run left it. */
	int64_t jobs, texts; /* open, and their texts */
	int64_t done; /* of these, as far as the provider says */
	int64_t next_ms; /* when the next job may be asked after */
};

struct index_opts {
	const char *dir; /* of the store */
	const char *backend; /* "sqlite" */
	const struct source_opts *source;
	struct note_opts note; /* curated is set by file */
	bool unit_chunk; /* embedding.unit: chunk */
	struct embedder *embedder; /* NULL: no vectors */
	/* Asked when that one gives no answer: another one, whose vectors then
	 * answer as soon as all are there; NULL: none. May be NULL. */
	struct embedder *(*fallback)(void *ctx, bool by_hand);
	void *fallback_ctx;
	bool by_hand; /* a person waits, and sees what a changed model costs */
	const struct index_origins *origins; /* NULL: nobody knows */
	struct index_batch *batch; /* NULL: no jobs */
	const struct index_embed_ops *embed_ops; /* NULL: those of embed.h */
	bool force, dry_run, text_only;
	bool purge; /* with force: no vector of a text that is gone is kept */
	int wait_ms; /* for the lock */
	int vector_budget_ms; /* 0: no bound */
	int64_t cache_entries; /* 0: 50,000 */
	remem_progress_fn progress;
	void *progress_ctx;
};

struct index_skip {
	const char *path, *reason;
};

struct index_report { /* in the arena given to index_run */
	int64_t files, indexed, skipped, unchanged, added, changed, renamed,
		removed, kept; /* kept: rows below unreadable folders */
	int64_t masked; /* secrets of transcripts, in this run */
	int64_t chunks, passages;
	int64_t vectors_done, vectors_cached, vectors_refused;
	int64_t vectors_pending; /* 0 without an embedder */
	int64_t tokens; /* dry run, changed model: to embed */
	double price_usd; /* negative: unknown */
	const char *changed_from; /* the model before, whose vectors answered
				   * when the run began; NULL: no change */
	bool complete; /* nothing pending, nothing failed */
	bool dry_run, forced;
	bool shared; /* another process was syncing; its result was taken */
	const char *degraded; /* why vectors are missing, NULL */
	struct index_skip *skips; /* first 1000 */
	int skip_count;
	int64_t took_ms, scan_ms, text_ms, vector_ms;
};

/*
 * Brings the index up to date, in the calling thread; r is filled as far as it
 * went also on failure. REMEM_EBUSY: another process is at it and wait_ms has
 * passed. REMEM_ECANCELLED: progress asked to stop. REMEM_ENOTFOUND: there is
 * no workspace; nothing was removed. A damaged index is rebuilt.
 */
int index_run(struct index_report *r, struct arena *a,
	      const struct index_opts *o, struct remem_err *err);

/*
 * The same for these paths alone, as they are shown or absolute: files, or
 * folders with all that is below, which may be new, changed or gone. Costs no
 * walk of the workspace, save where the paths alone cannot tell (see
 * source_walk_some), or there is no index yet. What the report says of files,
 * skips and completeness is about these paths; totals are the index's.
 */
int index_paths(struct index_report *r, struct arena *a,
		const struct index_opts *o, const char *const *paths, size_t n,
		struct remem_err *err);

/*
 * What differs between disk and index, without writing: for status and for
 * the sync before a search. *dirty counts files to add, change or remove.
 * s NULL: there is no index yet. *list is what the walk found; the caller
 * releases it also after a failure.
 */
int index_dirty(int64_t *dirty, struct source_list *list, struct arena *a,
		struct store *s, const struct source_opts *o,
		struct remem_err *err);

/*
 * The same in parts, so that the disk can be looked at in a thread that has no
 * store. index_known() takes what the index says it holds from the reader that
 * answers; it is compared with the look when both are done. *moved: another
 * process has brought the index up to date since.
 */
struct index_look {
	struct source_list list;
	uint64_t sum[2];
	char talks[2 * SHA256_BYTES + 1]; /* digest of transcripts, or "" */
	bool talks_found;
};
struct index_known;

/* In the arena; NULL when memory is out. */
struct index_known *index_known(struct store *s, struct arena *a);
/* k is released also after a failure. */
int index_look(struct index_look *k, struct arena *a,
	       const struct source_opts *o, struct remem_err *err);
int index_compare(int64_t *dirty, bool *moved, struct index_look *k,
		  const struct index_known *n, struct arena *a,
		  struct store *s, const struct source_opts *o,
		  struct remem_err *err);
void index_look_release(struct index_look *k);

/*
 * Asks the provider to end all open jobs of this index; *asked counts those
 * that it will end, *left those that could not be reached. What they have done
 * is fetched by later runs.
 */
int index_batch_cancel(struct index_batch *o, struct embedder *e, int *asked,
		       int *left, struct remem_err *err);

/* The string that is embedded for a passage: heading if it says something,
 * and text. key: SHA-256 of fingerprint, prefix and that string. */
const char *index_input(struct arena *a, const struct store_passage *p,
			const char *text, int64_t files, size_t *len);
void index_key(unsigned char key[SHA256_BYTES], const char *fingerprint,
	       const char *prefix, const char *input, size_t len);

#endif
