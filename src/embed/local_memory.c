/*
 * Memory that is free: MemAvailable, and what each control group from this
 * process's own up to the root has left. Pages of files count as free where the
 * group would give them up before it runs out.
 *
 *   version 2   0::PATH         memory.max, memory.current, memory.stat
 *   version 1   N:memory:PATH   memory.limit_in_bytes, memory.usage_in_bytes
 *
 * In a container the path may name a group that is not to be seen from inside;
 * its own is the root there, which is looked at too.
 */
#include "embed/local_model.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"

struct version {
	const char *mark; /* in /proc/self/cgroup, before the path */
	const char *folder, *max, *used;
	const char *inactive, *active; /* lines of memory.stat */
};

static const struct version versions[] = {
	{ "\n0::", "/sys/fs/cgroup", "memory.max", "memory.current",
	  "\ninactive_file ", "\nactive_file " },
	{ ":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes",
	  "memory.usage_in_bytes", "\ntotal_inactive_file ",
	  "\ntotal_active_file " },
};

/* The file's text after a line end, so that each line begins with one. */
static bool read_at(struct buf *b, const char *folder, const char *name)
{
	struct buf text = BUF_INIT(1 << 16);
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/%s", folder, name);
	bool found = n > 0 && n < (int)sizeof(path) &&
		     !file_read(&text, path, NULL);

	buf_reset(b);
	buf_adds(b, "\n");
	if (found)
		buf_add(b, text.ptr, text.len);
	buf_release(&text);
	return found && !b->failed;
}

static int64_t number_in(const char *folder, const char *name)
{
	struct buf b = BUF_INIT(1 << 17);
	int64_t n = -1;

	if (read_at(&b, folder, name) &&
	    isdigit((unsigned char)buf_str(&b)[1]))
		n = strtoll(buf_str(&b) + 1, NULL, 10);
	buf_release(&b);
	return n;
}

static int64_t line_of(const struct buf *b, const char *name)
{
	const char *at = strstr(buf_str(b), name);

	return at ? strtoll(at + strlen(name), NULL, 10) : 0;
}

/* -1: the group has no limit, or cannot be seen. */
static int64_t left_in(const struct version *v, const char *folder)
{
	int64_t most = number_in(folder, v->max);
	int64_t used = most < 0 ? -1 : number_in(folder, v->used);
	struct buf b = BUF_INIT(1 << 17);

	if (used < 0)
		return -1;
	if (read_at(&b, folder, "memory.stat"))
		used -= line_of(&b, v->inactive) + line_of(&b, v->active);
	buf_release(&b);
	used = used < 0 ? 0 : used;
	return most > used ? most - used : 0;
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* The group of this process and those around it. */
static int64_t left_around(const struct version *v, const char *root,
			   const struct buf *groups)
{
	const char *at = strstr(buf_str(groups), v->mark);
	size_t base = strlen(root) + strlen(v->folder);
	int64_t left = -1;
	char folder[PATH_MAX];
	int n;

	at = at ? at + strlen(v->mark) : "";
	n = snprintf(folder, sizeof(folder), "%s%s%.*s", root, v->folder,
		     (int)strcspn(at, "\n"), at);
	if (n < 0 || n >= (int)sizeof(folder) || strstr(folder, "/.."))
		folder[base < sizeof(folder) ? base : 0] = '\0';
	for (;;) {
		char *slash = strrchr(folder, '/');

		left = smaller(left, left_in(v, folder));
		if (strlen(folder) <= base || !slash)
			return left;
		*slash = '\0';
	}
}

int64_t local_memory_free(const char *root)
{
	struct buf b = BUF_INIT(1 << 17);
	char proc[PATH_MAX];
	int64_t left = -1;

	snprintf(proc, sizeof(proc), "%s/proc", root);
	if (read_at(&b, proc, "meminfo") &&
	    strstr(buf_str(&b), "\nMemAvailable:"))
		left = line_of(&b, "\nMemAvailable:") * 1024;
	read_at(&b, proc, "self/cgroup");
	for (size_t i = 0; i < ARRAY_LEN(versions); i++)
		left = smaller(left, left_around(&versions[i], root, &b));
	buf_release(&b);
	return left;
}
