/*
 * The index of one workspace: files, chunks, passages, postings, vectors. It
 * is derived and may be deleted at any time. A backend is a struct of
 * functions (backends.def, one file each); SQLite is the one we have.
 *
 *   DIR/current           name of the published generation, replaced by rename
 *   DIR/lock              held by the one process that writes
 *   DIR/gen-000001/       index.sqlite (WAL), vectors-FP.i8
 *
 * A handle belongs to one thread. Readers open the published generation and
 * see a consistent snapshot between read_begin and read_end; writers hold the
 * lock. Text is committed before vectors. Rows of a vector are committed only
 * after its bytes are synced; bytes without rows are reused.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "text/note.h"

/* Another schema, another generation. */
#define STORE_VERSION 2
#define STORE_NO_SLOT UINT32_MAX

enum store_source { /* stored: only append */
	STORE_MEMORY,
	STORE_SESSIONS
};

enum store_open_mode {
	STORE_READ, /* the published generation; never writes */
	STORE_WRITE, /* the published one, made if there is none; takes lock */
	STORE_REBUILD /* a new generation beside it; takes lock; store_publish */
};

struct store_opts {
	const char *dir; /* DIR above; made when writing */
	enum store_open_mode mode;
	int lock_timeout_ms; /* for writers: REMEM_EBUSY when passed */
	int term_version, note_version; /* of the program; see store_info */
	bool live_only; /* STORE_REBUILD: of the old vectors only those that
			   passages have are taken over; for forgetting */
};

struct store_file {
	int64_t id; /* 0: not yet stored */
	const char *path; /* shown; bytes as the file system gave them */
	enum store_source source;
	bool skipped; /* listed only; reason says why */
	const char *reason; /* NULL, or why skipped, or a warning */
	bool curated, undated_reference;
	uint64_t dev, inode;
	int64_t size, mtime_ns, ctime_ns;
	unsigned char hash[SHA256_BYTES]; /* of the bytes; zero if never read */
	int32_t date; /* DATE_NONE: evergreen */
	const char *title; /* or NULL */
	const char *tags; /* ",a,b," folded by term_fold, or NULL */
	const char *aliases; /* "a\nb" or NULL */
	unsigned warnings; /* enum note_warning */
	int lines, chunks, passages;
};

struct store_passage {
	int64_t id, chunk, file;
	uint32_t start, len; /* bytes in the own text of its chunk */
	int line_first, line_last;
	enum passage_kind kind;
	enum script script;
	bool continues;
	const char *heading; /* nearest, or NULL */
	int heading_files; /* in how many files that heading stands */
	int importance; /* 0 none */
	const char *project, *status, *origin, *triggers; /* or NULL */
	int32_t observed; /* DATE_NONE */
	uint32_t slot; /* of its vector, STORE_NO_SLOT */
};

struct store_chunk {
	int64_t id, file;
	int ord; /* place in its file, from 0 */
	const char *text; /* own text, without the overlap */
	uint32_t len;
	int line_first, line_last; /* of the own words */
	int first_line; /* of the file: line that text[0] stands in */
	const char *heading_path; /* "A > B" or "" */
	int heading_line; /* line of the nearest heading, 0: none */
	int terms; /* number of terms, with the overlap */
	struct store_passage *passages;
	int passage_count;
};

struct store_info {
	int64_t files, indexed, skipped, chunks, passages, embedded;
	int64_t text_bytes;
	double mean_chunk_terms, mean_passage_terms; /* of own text */
	int store_version, term_version, note_version; /* as the index was made */
	bool stale_cut; /* made by another term or note version: re-cut it */
	int64_t bytes_database, bytes_vectors;
	int64_t generation;
	int64_t indexed_at_ms; /* end of the last complete sync, 0: never */
	int64_t refused; /* passages the provider could not take */
};

struct store_sizes { /* in bytes */
	bool by_table; /* false: this SQLite cannot tell; the first five are 0 */
	int64_t chunks; /* their text and lines */
	int64_t postings; /* with those of names */
	int64_t passages;
	int64_t keys; /* of vectors */
	int64_t other;
	int64_t free; /* to be used again */
	int64_t wal;
	int64_t vectors; /* in use */
	int64_t cache; /* vectors that no passage uses now */
};

/* What a filter lets pass; fields that are 0, NULL or DATE_NONE do not count.
 * Compiled once, it acts inside the pools, before any cut. */
struct store_filter {
	unsigned sources; /* 1 << enum store_source, or 0 */
	const char *path; /* prefix ending in '/', exact path, or glob */
	int32_t after, before; /* inclusive; undated files fail a date filter */
	const char *tag; /* folded */
	const char *origin, *project;
};

struct store_set; /* a compiled filter */

struct store_scored {
	int64_t id; /* chunk or passage */
	float score;
};

/* One term of a text search. */
struct store_term {
	const char *text; /* folded, NUL-terminated */
	bool prefix;
	int group; /* terms of one group count once, by the stronger */
	float weight; /* 1, less for stop words */
	/* 0, or: a term in more chunks, or in one alone, counts for nothing;
	 * df is then counted no further than most + 1. */
	int64_t most;
	int64_t df; /* out: chunks that hold it */
	float idf; /* out: ln(1 + (N - df + .5) / (df + .5)) */
};

struct store_vec_item {
	const int64_t *passages; /* that share it */
	int passage_count;
	unsigned char key[SHA256_BYTES]; /* of the embedder's input */
	enum script script;
	const float *vec; /* dims floats, normalised; NULL: only link by key */
};

/* Means of the raw vectors of one script class, for centring. */
struct store_mean {
	enum script script;
	int64_t count;
	const float *mean; /* dims floats */
};

struct store;

struct store_ops {
	const char *name;

	/* -- life; *out has ops set */
	int (*open)(struct store **out, const struct store_opts *o,
		    struct remem_err *err);
	void (*close)(struct store *s);
	int (*info)(struct store *s, struct store_info *out,
		    struct remem_err *err);
	/* Where the bytes are. Reads every page of the database. */
	int (*sizes)(struct store *s, struct store_sizes *out,
		     struct remem_err *err);
	/* STORE_REBUILD: verifies the new generation, makes it current. */
	int (*publish)(struct store *s, struct remem_err *err);
	/* Gives space back, renews norms, drops old cache rows and leftovers of
	 * killed runs. Cheap when there is nothing to do. */
	int (*maintain)(struct store *s, int64_t cache_entries,
			struct remem_err *err);
	/* Integrity of database and vectors; problems as lines in the arena. */
	int (*check)(struct store *s, struct arena *a, const char ***problems,
		     int *count, struct remem_err *err);
	/* true when another generation has been published since open. */
	bool (*outdated)(struct store *s);
	/* One snapshot over several calls. */
	int (*read_begin)(struct store *s, struct remem_err *err);
	void (*read_end)(struct store *s);

	/* -- writing; begin takes the write transaction, all calls between
	 *    begin and commit are one */
	int (*begin)(struct store *s, struct remem_err *err);
	int (*commit)(struct store *s, struct remem_err *err);
	void (*rollback)(struct store *s);
	/*
	 * Replaces everything of the file by note n (NULL for a skipped file:
	 * it is listed with its reason and has no rows). Passages whose text
	 * and heading are as before keep their vector. Sets f->id.
	 */
	int (*file_put)(struct store *s, struct store_file *f,
			const struct note *n, struct remem_err *err);
	/* Same contents under new stat data or a new path: no row of text is
	 * touched when only the stat data changed. */
	int (*file_touch)(struct store *s, const struct store_file *f,
			  struct remem_err *err);
	int (*file_remove)(struct store *s, int64_t id, struct remem_err *err);
	/* key/value of the sync itself ("indexed_at_ms", "settings", …) */
	int (*meta_set)(struct store *s, const char *key, const char *value,
			struct remem_err *err);
	const char *(*meta_get)(struct store *s, struct arena *a,
				const char *key);

	/* -- files */
	int (*files_each)(struct store *s,
			  int (*fn)(void *ctx, const struct store_file *f),
			  void *ctx, struct remem_err *err);
	/* What tells whether files have changed, in no order: of f id, path,
	 * source, skipped, reason, curated, dev, inode, size, both times and
	 * hash, borrowed for the call. under: this path and those below it;
	 * NULL: all. */
	int (*file_stamps)(struct store *s, const char *under,
			   int (*fn)(void *ctx, const struct store_file *f),
			   void *ctx, struct remem_err *err);
	int (*file_get)(struct store *s, struct arena *a, int64_t id,
			struct store_file *out, bool *found,
			struct remem_err *err);
	/* What a search needs of a file: id, path, source and date. */
	int (*file_brief)(struct store *s, struct arena *a, int64_t id,
			  struct store_file *out, bool *found,
			  struct remem_err *err);
	int (*file_find)(struct store *s, struct arena *a, const char *path,
			 struct store_file *out, bool *found,
			 struct remem_err *err);

	/* -- vectors: one set a fingerprint (provider, model, dims, prefix,
	 *    pooling) */
	int (*fingerprint)(struct store *s, const char *text, int dims,
			   int *fp, struct remem_err *err); /* find or make */
	int (*fingerprint_find)(struct store *s, const char *text, int *fp,
				int *dims, struct remem_err *err); /* fp 0: none */
	/* The fingerprint whose vectors answer now (0: none). Another one that
	 * is being made takes its place when every passage has its vector;
	 * until then the old vectors go on answering. *text is borrowed until
	 * the next call. */
	int (*fingerprint_active)(struct store *s, int *fp, int *dims,
				  const char **text, struct remem_err *err);
	/* Passages without a vector of fp, newest files first; at most max.
	 * text is the passage's own; all in the arena. */
	int (*pending)(struct store *s, struct arena *a, int fp, int max,
		       struct store_passage **out, const char ***texts,
		       int *count, struct remem_err *err);
	int (*pending_count)(struct store *s, int fp, int64_t *out,
			     struct remem_err *err);
	/* For each key whether a vector is stored (cache hit). */
	int (*vectors_have)(struct store *s, int fp,
			    const unsigned char (*keys)[SHA256_BYTES], int n,
			    bool *have, struct remem_err *err);
	/* Stores and links; inside begin/commit. Items with vec NULL link to
	 * the stored vector of that key (REMEM_ENOTFOUND if there is none). */
	int (*vectors_put)(struct store *s, int fp,
			   const struct store_vec_item *items, int n,
			   struct remem_err *err);
	/* A passage the provider cannot take: not pending any more, listed. */
	int (*vector_refused)(struct store *s, int fp, int64_t passage,
			      const char *reason, struct remem_err *err);
	/* Those of the active set by path and line; reason may be NULL. A
	 * result of fn other than 0 ends it. */
	int (*refused_each)(struct store *s,
			    int (*fn)(void *ctx, const char *path,
				      int line_first, int line_last,
				      const char *reason), void *ctx,
			    struct remem_err *err);
	int (*means)(struct store *s, struct arena *a, int fp,
		     struct store_mean **out, int *count,
		     struct remem_err *err);
	/* Share of one vector, for tools: float copy. */
	int (*vector_get)(struct store *s, int fp, uint32_t slot, float *out,
			  struct remem_err *err);

	/* -- search */
	/* *set NULL: everything passes. */
	int (*filter)(struct store *s, const struct store_filter *f,
		      struct store_set **out, struct remem_err *err);
	void (*filter_free)(struct store_set *set);
	/*
	 * Fills df and idf of every term; then the best k chunks by covered
	 * idf (each group once, tf classes and length taken into account),
	 * best first, ties by id. Bounded: the postings of very common terms
	 * are not read when rarer ones are there.
	 */
	int (*text_pool)(struct store *s, struct store_term *terms, int n,
			 const struct store_set *set, int k,
			 struct store_scored *out, int *count,
			 struct remem_err *err);
	/* Did the last text_pool() meet a term in this chunk? */
	bool (*text_held)(struct store *s, int64_t chunk);
	/*
	 * Files whose name, path, title or aliases hold the terms: share of
	 * the terms' idf covered by the name, best first. Of many terms only
	 * the first are looked for.
	 */
	int (*name_pool)(struct store *s, const struct store_term *terms, int n,
			 const struct store_set *set, int k,
			 struct store_scored *out, int *count,
			 struct remem_err *err);
	/*
	 * The best k passages by centred cosine. q: raw query vector, mean_q
	 * its language's mean, means[script] per script class (NULL: zero).
	 * Scores are cosines, ties by id.
	 */
	int (*vector_pool)(struct store *s, int fp, const float *q,
			   const float *mean_q, const float *const *means,
			   const struct store_set *set, int k,
			   struct store_scored *out, int *count,
			   struct remem_err *err);
	/* Says that vector_pool() will be asked the same in this snapshot: it
	 * may be looked for meanwhile. All arguments stay as they are. */
	void (*vector_begin)(struct store *s, int fp, const float *q,
			     const float *mean_q, const float *const *means,
			     const struct store_set *set, int k);
	/* Centred cosine of given slots; NAN for STORE_NO_SLOT. */
	int (*vector_scores)(struct store *s, int fp, const float *q,
			     const float *mean_q, const float *const *means,
			     const uint32_t *slots, int n, float *out,
			     struct remem_err *err);
	/* Chunks with their passages, in the order of ids; missing ones have
	 * id 0. Slots are those of fp (0: none). */
	int (*chunks_get)(struct store *s, struct arena *a, int fp,
			  const int64_t *ids, int n, struct store_chunk *out,
			  struct remem_err *err);
	/* The chunks of passages: out[i] is the chunk id, 0 if gone. */
	int (*passage_chunks)(struct store *s, const int64_t *ids, int n,
			      int64_t *out, struct remem_err *err);
	/* Chunk ids of a file in order, in the arena. */
	int (*file_chunks)(struct store *s, struct arena *a, int64_t file,
			   int64_t **ids, int *count, struct remem_err *err);
};

struct store { /* head of every backend's own struct */
	const struct store_ops *ops;
};

/* By name ("sqlite"); NULL if there is no such backend. */
const struct store_ops *store_backend(const char *name);
/* The i-th row of backends.def, NULL behind the last: for contract tests. */
const struct store_ops *store_backend_at(int i);

#endif
