/*
 * Runs one fixed job, for bench/counts/run:
 *
 *   jobs NAME DIR     DIR is an empty folder of its own
 *   jobs              the names
 *
 * What is counted is what runs inside of counted().
 */
#include "jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job {
	const char *name;
	void (*begin)(const char *dir);
	void (*work)(void);
};

static const struct job jobs[] = {
#define JOB(name) { #name, job_##name##_begin, job_##name },
#include "jobs.def"
#undef JOB
};

#define JOBS (sizeof(jobs) / sizeof(*jobs))

uint32_t job_random(void)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 32);
}

void job_die(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s\n", what, why);
	exit(1);
}

/* The name is known to the script. */
void counted(const struct job *j);

__attribute__((noinline)) void counted(const struct job *j)
{
	j->work();
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < JOBS; i++) {
		if (argc < 2) {
			puts(jobs[i].name);
		} else if (argc > 2 && !strcmp(argv[1], jobs[i].name)) {
			jobs[i].begin(argv[2]);
			counted(&jobs[i]);
			return 0;
		}
	}
	return argc < 2 ? 0 : 2;
}
