/* How many threads long work may take without anyone noticing. */
#ifndef BASE_FAIR_H
#define BASE_FAIR_H

#include <stdbool.h>

struct fair {
	int cores; /* that this process may run on */
	double load; /* average of the last minute, of the whole machine */
	double quota; /* cores' worth of time by control groups; 0: no bound */
	bool on_battery; /* a mains adapter is there and gives nothing */
};

/* What the machine says; what it does not say is 1 core, 0 and false. root is
 * put before each path: "" for the machine itself. */
void fair_read(struct fair *f, const char *root);
/* Half of what is idle; 1 on two cores, on battery, or with less than four
 * idle ones. */
int fair_choose(const struct fair *f);
int fair_threads(void);

#endif
