/*
 * What is known of the notes that remem writes, beside the notes themselves:
 * how each file was left, whom its lines come from, what was begun and not yet
 * confirmed, the files as they were before, and what must not be learned
 * again. All of it is keyed by hashes of contents, so that a text can say
 * about itself what it likes.
 */
#ifndef STORE_STATE_NOTE_H
#define STORE_STATE_NOTE_H

#include "base/hash.h"
#include "store/state.h"

#define LINE_HASH_BYTES 16

/* As remem left a file; the path is the key. */
struct note_row {
	const char *path;
	uint64_t dev, inode;
	int64_t size, mtime_ns, ctime_ns;
	int64_t lines; /* line feeds in it */
	unsigned char hash[SHA256_BYTES];
	struct sha256 mid; /* of the same bytes, to go on from */
	int origin; /* enum remem_origin: the worst of its lines */
	int outside; /* of lines that others wrote into it */
	int64_t journal; /* its last record */
	int64_t seq; /* counts up whenever some line's class changed */
};

/* *found false when it is not known. Strings in the arena. */
int state_note_get(struct state *s, struct arena *a, const char *path,
		   struct note_row *out, bool *found, struct remem_err *err);
int state_note_put(struct state *s, const struct note_row *row,
		   struct remem_err *err);
int state_note_remove(struct state *s, const char *path,
		      struct remem_err *err);
/* Paths whose classes changed after seq; *last is the highest there is. */
int state_note_changed(struct state *s, int64_t seq, int64_t *last,
		       int (*fn)(void *ctx, const char *path), void *ctx,
		       struct remem_err *err);
/* The next number for note_row.seq. */
int state_note_seq(struct state *s, int64_t *out, struct remem_err *err);

/* One line of a note. */
struct line_row {
	const char *path;
	unsigned char line[LINE_HASH_BYTES]; /* of its bytes, see origin.h */
	unsigned char words[LINE_HASH_BYTES]; /* of what it says, folded */
	const char *source; /* "" if none was given */
	int origin;
	int64_t at_ms, journal;
};

int state_line_add(struct state *s, const struct line_row *row,
		   struct remem_err *err);
/* The worst class that any row gives the line; 0: there is no row. path NULL:
 * in any file. */
int state_line_origin(struct state *s, const char *path,
		      const unsigned char line[LINE_HASH_BYTES], int *origin,
		      struct remem_err *err);
/* Whether a text that says this is there: from the same source, or when one of
 * both has no source. Of row->journal (the record that wrote it, 0 for others)
 * and row->line the found values are set. */
int state_line_known(struct state *s, const char *path,
		     const unsigned char words[LINE_HASH_BYTES],
		     const char *source, bool *known, struct line_row *row,
		     struct remem_err *err);
/* Hashes of lines that some row gives a worse class than that. */
int state_line_worse(struct state *s, int origin,
		     int (*fn)(void *ctx, const struct line_row *row),
		     void *ctx, struct remem_err *err);
int state_line_each(struct state *s, const char *path,
		    int (*fn)(void *ctx, const struct line_row *row),
		    void *ctx, struct remem_err *err);
/* Rows of a path, or (path NULL) of one record of the journal. What the lines
 * of a path had that is worse than agent is remembered under the path "", so
 * that a line which comes back has not become better. */
int state_line_remove(struct state *s, const char *path, int64_t journal,
		      struct remem_err *err);

/* A write that was begun. */
struct pending_row {
	int64_t id, journal;
	const char *path;
	bool rewrite; /* else an append */
	int64_t size; /* of the file before */
	unsigned char before[SHA256_BYTES], after[SHA256_BYTES];
	const char *bytes; /* that are appended */
	size_t len;
};

int state_pending_add(struct state *s, const struct pending_row *row,
		      struct remem_err *err);
int state_pending_each(struct state *s,
		       int (*fn)(void *ctx, const struct pending_row *row),
		       void *ctx, struct remem_err *err);
int state_pending_remove(struct state *s, int64_t journal,
			 struct remem_err *err);

/* A file as it was before a record of the journal changed it. */
struct preimage_row {
	int64_t journal, at_ms;
	const char *path;
	unsigned mode;
	bool absent; /* there was no file */
	const void *bytes;
	size_t len;
};

/* The oldest ones go when there are more than keep, or than max_bytes. */
int state_preimage_add(struct state *s, const struct preimage_row *row,
		       int keep, int64_t max_bytes, struct remem_err *err);
/* In the arena. */
int state_preimage_get(struct state *s, struct arena *a, int64_t journal,
		       struct preimage_row *out, bool *found,
		       struct remem_err *err);
/* Of a path, or all (NULL) whose bytes hold the text. *removed may be NULL. */
int state_preimage_remove(struct state *s, const char *path, const char *text,
			  size_t len, int64_t *removed, struct remem_err *err);

/* What was forgotten and is not to be learned again. kind says what the hash
 * is of: "words", "source", "session", "person", … */
int state_tombstone_add(struct state *s, const char *kind,
			const unsigned char hash[LINE_HASH_BYTES],
			int64_t at_ms, int64_t journal, struct remem_err *err);
int state_tombstone_has(struct state *s, const char *kind,
			const unsigned char hash[LINE_HASH_BYTES], bool *has,
			struct remem_err *err);

/*
 * What was put in front of a model unasked, by the hash of what it says: so
 * that it is not given twice in one conversation, and not learned again when
 * it comes back out of a transcript. Rows older than GIVEN_DAYS go.
 */
#define GIVEN_DAYS 90
int state_given_add(struct state *s, const char *session,
		    const unsigned char words[LINE_HASH_BYTES], int64_t at_ms,
		    struct remem_err *err);
/* session NULL: in any conversation. */
int state_given_has(struct state *s, const char *session,
		    const unsigned char words[LINE_HASH_BYTES], bool *has,
		    struct remem_err *err);

/* Overwrites what was deleted, so that its bytes are not on disk any more. */
int state_scrub(struct state *s, struct remem_err *err);

/* Counts up within a window of time, for limits: the sum after adding. */
int state_rate_add(struct state *s, const char *key, int64_t window,
		   int64_t add, int64_t *sum, struct remem_err *err);

#endif
