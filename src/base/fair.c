/*
 * Cores that are idle and allowed. Control groups bound the time of all
 * processes inside of one: version 2 says "quota period" in cpu.max of the
 * group and of each above it, version 1 in two files of its own hierarchy.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity() */
#endif
#include "base/fair.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define FEWEST_IDLE 4

/* The file's first bytes as a string; "" when there is none. */
static void head_of(char *out, int bytes, const char *root, const char *path)
{
	char name[2 * PATH_BYTES];
	FILE *f = NULL;
	size_t n = 0;

	if (snprintf(name, sizeof(name), "%s%s", root, path) <
	    (int)sizeof(name))
		f = fopen(name, "r");
	if (f) {
		n = fread(out, 1, (size_t)bytes - 1, f);
		fclose(f);
	}
	out[n] = '\0';
}

static int count_cores(void)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
#ifdef __linux__
	cpu_set_t set;

	if (!sched_getaffinity(0, sizeof(set), &set))
		return CPU_COUNT(&set);
#endif
	return online > 0 && online < 4096 ? (int)online : 1;
}

static void lower_quota(struct fair *f, double quota, double period)
{
	if (quota > 0 && period > 0 &&
	    (!f->quota || quota / period < f->quota))
		f->quota = quota / period;
}

static void read_group_v2(struct fair *f, const char *root, const char *group)
{
	char path[PATH_BYTES + 64], text[64], at[PATH_BYTES];
	double quota, period;
	char *slash;

	snprintf(at, sizeof(at), "%s", group);
	for (;;) {
		snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cpu.max", at);
		head_of(text, sizeof(text), root, path);
		/* "max 100000" is no bound and no number */
		if (sscanf(text, "%lf %lf", &quota, &period) == 2)
			lower_quota(f, quota, period);
		if (!(slash = strrchr(at, '/')))
			return;
		*slash = '\0';
	}
}

static void read_group_v1(struct fair *f, const char *root)
{
	char quota[64], period[64];

	head_of(quota, sizeof(quota), root,
		"/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
	head_of(period, sizeof(period), root,
		"/sys/fs/cgroup/cpu/cpu.cfs_period_us");
	lower_quota(f, atof(quota), atof(period));
}

static void read_groups(struct fair *f, const char *root)
{
	char text[PATH_BYTES], *line;

	head_of(text, sizeof(text), root, "/proc/self/cgroup");
	for (line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, "0::/", 4) != 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		/* the top group is "/" and has no name of its own */
		read_group_v2(f, root, line[4] ? line + 3 : "");
		break;
	}
	read_group_v1(f, root);
}

/* A machine with no adapter at all, as a server, is not on battery. */
static void read_power(struct fair *f, const char *root)
{
	char name[PATH_BYTES], path[PATH_BYTES], text[64];
	bool adapter = false, fed = false;
	struct dirent *e;
	DIR *d;

	snprintf(name, sizeof(name), "%s/sys/class/power_supply", root);
	d = opendir(name);
	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "/sys/class/power_supply/%s/type",
			 e->d_name);
		head_of(text, sizeof(text), root, path);
		if (strncmp(text, "Mains", 5) != 0)
			continue;
		adapter = true;
		snprintf(path, sizeof(path),
			 "/sys/class/power_supply/%s/online", e->d_name);
		head_of(text, sizeof(text), root, path);
		fed = fed || text[0] == '1';
	}
	if (d)
		closedir(d);
	f->on_battery = adapter && !fed;
}

void fair_read(struct fair *f, const char *root)
{
	char text[64];

	memset(f, 0, sizeof(*f));
	f->cores = count_cores();
	head_of(text, sizeof(text), root, "/proc/loadavg");
	if (text[0])
		f->load = atof(text);
	else if (getloadavg(&f->load, 1) != 1)
		f->load = f->cores; /* who does not know keeps still */
	read_groups(f, root);
	read_power(f, root);
}

int fair_choose(const struct fair *f)
{
	double idle = (double)f->cores - f->load;

	if (f->cores <= 2 || f->on_battery)
		return 1;
	if (f->quota > 0 && f->quota < idle)
		idle = f->quota;
	return idle < FEWEST_IDLE ? 1 : (int)(idle / 2);
}

int fair_threads(void)
{
	struct fair f;

	fair_read(&f, "");
	return fair_choose(&f);
}
