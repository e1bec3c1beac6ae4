/* What bench_machine.c measures with, and its notes. */
#ifndef CLI_BENCH_MACHINE_H
#define CLI_BENCH_MACHINE_H

#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "cli/bench.h"

/* The text of a note of about 2 kB, the same for the same number. */
void bench_note(struct buf *b, unsigned number);
/* A question about one of them. */
void bench_query(struct buf *b);
/* count of them below dir/memory. */
int bench_workspace(const char *dir, unsigned count, size_t *bytes,
		    struct remem_err *err);

struct row {
	const char *name;
	double value;
	const char *unit;
	double limit; /* of this machine in the same unit; 0: none */
};

#define BENCH_ROWS 32

struct machine {
	struct cli *c;
	const char *dir; /* temporary, with a home and notes */
	const char *notes;
	size_t note_bytes;
	unsigned note_count;
	struct row rows[BENCH_ROWS];
	size_t count;
	struct remem_err err;
};

void bench_add(struct machine *m, const char *name, double value,
	       const char *unit, double limit);
double bench_seconds(int64_t since_ns);

/* Each adds its rows; a part that cannot be measured adds none. */
void bench_limits(struct machine *m);
void bench_parts(struct machine *m);
int bench_whole(struct machine *m);

#endif
