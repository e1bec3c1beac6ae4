/* remem bench: quality on a judged set; speed beside the machine's limits. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "cli/cli.h"

int bench_set(struct cli *c);
int bench_machine(struct cli *c);

/* A judged set: lines of its files that belong together. */
enum role { ROLE_RELEVANT, ROLE_SUPERSEDED, ROLE_POISON, ROLE_OTHER };

struct judged { /* a row of qrels.jsonl */
	const char *path, *alt; /* rows with the same alt stand for each other */
	int first, last;
	double grade;
	enum role role;
};

struct question {
	const char *id, *workspace, *kind, *text, *now;
	size_t len;
	struct judged *rows;
	size_t row_count, row_cap;
};

struct found { /* an answer's hit */
	const char *path;
	int first, last;
	bool flagged;
	double relevance;
};

/* Figures of one question; NAN where it has none. Their order is that of
 * judge_names. */
enum figure {
	FIG_R1, FIG_R3, FIG_R6, FIG_R10, FIG_MRR, FIG_NDCG, FIG_R2000,
	FIG_CURRENT, FIG_STALE, FIG_POISON, FIG_ABSTAIN, FIG_LINES,
	FIG_RESULTS, FIG_COUNT
};

struct verdict {
	double f[FIG_COUNT];
	double top; /* relevance of the first hit, -1 without one */
	bool answerable;
};

extern const char *const judge_names[FIG_COUNT];

/* Lengths in characters of the lines of a workspace's file, read once. */
struct line_lengths {
	struct arena *a;
	const char *root; /* folder of the workspaces */
	struct file_lengths *files;
};

void judge(struct verdict *v, const struct question *q,
	   const struct found *hits, size_t n, struct line_lengths *ll);

/* Table or JSON of all verdicts, by kind. spent_ms: of a question. */
int judge_report(struct cli *c, const char *name, const char *mode,
		 const struct question *qs, const struct verdict *vs, size_t n,
		 double index_s, double spent_ms, int64_t degraded);

#endif
