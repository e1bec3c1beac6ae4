/*
 * The inbox: what somebody wanted to put into a curated note and may not write
 * by himself. A proposal stays until a person applies or rejects it.
 */
#ifndef STORE_STATE_REVIEW_H
#define STORE_STATE_REVIEW_H

#include "store/state_note.h"

struct review_row {
	int64_t id, at_ms; /* 0: the next; now */
	const char *path; /* note it would go into */
	const char *text; /* lines as they would stand there */
	size_t len;
	const char *source; /* "" if none was given */
	const char *reason; /* why it is not written at once */
	const char *via, *session; /* who proposes; session "" if none */
	int origin; /* enum remem_origin */
	unsigned char words[LINE_HASH_BYTES]; /* of what the text says */
};

int state_review_add(struct state *s, const struct review_row *row,
		     int64_t *id, struct remem_err *err);
/* The proposal of these words for this note, *id 0 when there is none. */
int state_review_find(struct state *s, const char *path,
		      const unsigned char words[LINE_HASH_BYTES], int64_t *id,
		      struct remem_err *err);
/* Oldest first, all or (id) one; stops at a result other than 0. What a row
 * points to lives for the call. */
int state_review_each(struct state *s, int64_t id,
		      int (*fn)(void *ctx, const struct review_row *row),
		      void *ctx, struct remem_err *err);
int state_review_count(struct state *s, int64_t *out, struct remem_err *err);
int state_review_remove(struct state *s, int64_t id, struct remem_err *err);
/* Those whose text holds these bytes: they were forgotten. */
int state_review_forget(struct state *s, const char *text, size_t len,
			struct remem_err *err);

#endif
