/* Inside of extract.c: which cues stand in a sentence, found in one pass. */
#ifndef MEMORY_EXTRACT_CUES_H
#define MEMORY_EXTRACT_CUES_H

#include "memory/extract.h"

enum {
	CUE_WHEN = EXTRACT_KINDS, /* a time to come: supports */
	CUE_NONE, /* takes away */
	CUE_KINDS
};

struct cue_index;

int cue_index_new(struct cue_index **out, struct remem_err *err);
void cue_index_free(struct cue_index *x);

struct cue_points {
	int best[CUE_KINDS]; /* 0: none; below 0 for CUE_NONE */
	int second[CUE_KINDS]; /* the best that does not overlap it */
	bool asked; /* one that counts in a question, too */
};

/* s: folded, one sentence, at most EXTRACT_FOLDED bytes. */
#define EXTRACT_FOLDED (EXTRACT_SENTENCE_BYTES * 3)
void cue_scan(struct cue_points *p, const struct cue_index *x, const char *s,
	      size_t len, bool user);

/* For tests: the text of a cue; false behind the last. */
bool cue_text_at(const struct cue_index *x, size_t i, const char **text,
		 size_t *len);

#endif
