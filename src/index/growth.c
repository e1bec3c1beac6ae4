/*
 * Sizes as they were indexed and as they are. Messages are lines: the new part
 * is read for its line ends, which is at most delta_bytes or COUNT_BYTES.
 * Files are as many as conversations under way, so a list will do.
 */
#include "index/growth.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

#define MAX_FILES 256 /* then all are forgotten, which costs one sync too many */
#define COUNT_BYTES 65536

struct growth_file {
	char *path;
	int64_t known; /* size as it was indexed */
	int64_t seen; /* as it was last looked at */
	int64_t lines; /* between them */
};

void growth_release(struct growth *g)
{
	for (size_t i = 0; i < g->count; i++)
		mem_free(g->files[i].path);
	mem_free(g->files);
	g->files = NULL;
	g->count = g->cap = 0;
}

static struct growth_file *find(struct growth *g, const char *path)
{
	for (size_t i = 0; i < g->count; i++)
		if (!strcmp(g->files[i].path, path))
			return &g->files[i];
	return NULL;
}

static struct growth_file *add(struct growth *g, const char *path)
{
	struct growth_file f = { .path = mem_strdup(path) };

	if (g->count >= MAX_FILES)
		growth_release(g);
	if (!f.path || !mem_grow(&g->files, &g->cap, g->count + 1, sizeof(f))) {
		mem_free(f.path);
		return NULL;
	}
	g->files[g->count] = f;
	return &g->files[g->count++];
}

/* Line ends from byte from on. */
static int64_t count_lines(int fd, int64_t from, int64_t to)
{
	char block[4096];
	int64_t lines = 0;

	if (to - from > COUNT_BYTES)
		from = to - COUNT_BYTES;
	while (from < to) {
		ssize_t n = pread(fd, block, sizeof(block), (off_t)from);

		if (n <= 0)
			break;
		for (ssize_t i = 0; i < n; i++)
			lines += block[i] == '\n';
		from += n;
	}
	return lines;
}

static bool has_grown(struct growth *g, struct growth_file *f, int fd,
		      int64_t size)
{
	if (size < f->known) {
		f->known = f->lines = 0;
		f->seen = size;
		return g->shrunk_counts;
	}
	if (size > f->seen && g->delta_messages &&
	    size - f->known < g->delta_bytes)
		f->lines += count_lines(fd, f->seen, size);
	f->seen = size;
	return !g->delta_bytes || !g->delta_messages ||
	       size - f->known >= g->delta_bytes ||
	       f->lines >= g->delta_messages;
}

bool growth_note(struct growth *g, const char *path, bool entry)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct growth_file *f = find(g, path);
	bool due = true;
	struct stat st;

	if (!f)
		f = add(g, path);
	if (f && fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode))
		due = has_grown(g, f, fd, (int64_t)st.st_size) || entry;
	if (fd >= 0)
		close(fd);
	return due;
}

void growth_synced(struct growth *g)
{
	for (size_t i = 0; i < g->count; i++) {
		g->files[i].known = g->files[i].seen;
		g->files[i].lines = 0;
	}
}
