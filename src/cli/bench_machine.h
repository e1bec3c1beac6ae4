/* What bench_machine.c measures with, and its notes. */
#ifndef CLI_BENCH_MACHINE_H
#define CLI_BENCH_MACHINE_H

#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "cli/bench.h"

enum bench_language { BENCH_MIXED, BENCH_LATIN, BENCH_HAN };

/* The text of a note of about 2 kB, the same for the same number. */
void bench_note(struct buf *b, unsigned number, enum bench_language language);
/* A question about one of them. */
void bench_query(struct buf *b);
/* count of them below dir/memory. */
int bench_workspace(const char *dir, unsigned count, size_t *bytes,
		    struct remem_err *err);

#define BENCH_ROWS 48
#define BENCH_TURNS 25 /* at most */

struct row {
	const char *name, *unit;
	/* of each turn; a limit is of this machine, in the same turn and unit,
	 * and 0 where there is none */
	double value[BENCH_TURNS], limit[BENCH_TURNS];
	int count;
};

struct machine {
	struct cli *c;
	const char *dir; /* temporary, with a home and notes */
	const char *notes;
	const char *few; /* a workspace with vectors, NULL: none */
	/* with homes of the bench's own, one for each workspace */
	const char *const *env, *const *few_env;
	size_t note_bytes;
	int note_count, turns;
	struct row rows[BENCH_ROWS];
	size_t count;
	struct remem_err err;
};

/* Another turn's value of a row. */
void bench_add(struct machine *m, const char *name, double value,
	       const char *unit, double limit);
/* The last value of a row, 0 if it has none. */
double bench_last(const struct machine *m, const char *name);
double bench_seconds(int64_t since_ns);

/*
 * Each adds a value to its rows, once a turn; a part that cannot be measured
 * here adds none. bench_vectors() takes all turns at once, for each size of
 * list ("100000x384,..."): 0, or an exit code with the complaint made.
 */
void bench_limits(struct machine *m);
void bench_parts(struct machine *m);
int bench_vectors(struct machine *m, const char *list);
int bench_index(struct machine *m);
int bench_searches(struct machine *m);
/* The workspace with vectors is made; without a model there is none. */
int bench_few(struct machine *m);
int bench_open(struct machine *m, const char *workspace, struct remem **r);

void bench_put(const struct machine *m);

#endif
