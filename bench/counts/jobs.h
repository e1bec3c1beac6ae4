/* Fixed jobs whose instructions are counted. */
#ifndef COUNTS_JOBS_H
#define COUNTS_JOBS_H

#include <stdint.h>

#define JOB(name)                           \
	void job_##name##_begin(const char *dir); \
	void job_##name(void);
#include "jobs.def"
#undef JOB

/* The same numbers in each run. */
uint32_t job_random(void);
/* Ends the program with a message. */
void job_die(const char *what, const char *why);

#endif
