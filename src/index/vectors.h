/* The vectors phase: what vectors.c and jobs.c share. */
#ifndef INDEX_VECTORS_H
#define INDEX_VECTORS_H

#include "index/sync.h"

struct jobs;

struct group { /* passages with one key */
	unsigned char key[SHA256_BYTES];
	const char *input;
	size_t len;
	enum script script;
	int first, count; /* of portion.members */
	int newest; /* lowest place in the portion */
	bool have;
	const char *media; /* path of the file that is sent, NULL: the text is */
	bool busy; /* a batch job holds it: it is not sent again */
};

struct portion {
	struct arena a;
	struct store_passage *passages;
	const char **texts;
	int count;
	struct group *groups;
	int group_count;
	int64_t *members; /* passage ids by group */
};

struct vector_run {
	struct sync *y;
	struct embedder *e;
	const struct embed_info *info;
	int fp, dims; /* of the set, 0: there is none yet */
	const char *active; /* fingerprint of what answers, "" for none */
	bool spare; /* e is the fallback */
	bool failed; /* the provider gave no answer */
	int64_t files;
	int64_t deadline_ns; /* 0: none */
	struct portion p;
	bool stopped, out_of_time;
	int rc; /* of the store, in a callback */
	struct remem_err err;
	int64_t moved; /* passages dealt with in this portion */
	struct jobs *jobs; /* NULL: there are none */
	int64_t fetched; /* vectors that jobs brought in this run */
};

/* The next portion of at most max passages, in groups. */
int vectors_portion(struct vector_run *v, int max, struct remem_err *err);
/* Links those of the portion whose vectors are there. */
int vectors_link(struct vector_run *v, struct remem_err *err);
/* What is sent for a group. */
int vectors_text(struct embed_item *it, struct vector_run *v,
		 const struct group *g, struct remem_err *err);
/* Stores and links in one transaction. */
int vectors_store(struct vector_run *v, const struct store_vec_item *items,
		  int n, struct remem_err *err);
/* The report says why vectors are missing. */
void vectors_degrade(struct vector_run *v, const struct remem_err *why);
bool vectors_stop(void *v);

#endif
