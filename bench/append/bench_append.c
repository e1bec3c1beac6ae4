/*
 * What an append costs beyond the disk, and how fast a journal is verified:
 *
 *   bench_append FOLDER [APPENDS RECORDS]        300 1000000
 *
 * FOLDER is made and removed. The same lines are written by a bare open,
 * write and fsync, in turn with ours, so that both meet the same disk. One
 * line of JSON for each thing measured; times are medians.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "memory/append.h"
#include "memory/journal.h"

#define UUID "00000000-0000-4000-8000-000000000001"

struct place {
	char root[512], state[512], lock[600], bare[600];
	struct memory m;
	struct remem_err err;
};

static void check(struct place *p, int rc)
{
	if (!rc)
		return;
	fprintf(stderr, "%s\n", p->err.message);
	exit(1);
}

static void begin(struct place *p, const char *folder)
{
	snprintf(p->root, sizeof(p->root), "%s/notes", folder);
	snprintf(p->state, sizeof(p->state), "%s/state", folder);
	snprintf(p->lock, sizeof(p->lock), "%s/%s/write.lock", p->state, UUID);
	snprintf(p->bare, sizeof(p->bare), "%s/bare.md", p->root);
	check(p, dir_make(p->root, 0700, &p->err));
	check(p, state_open(&p->m.state, p->state, UUID, false, &p->err));
	p->m.root = p->root;
	p->m.lock_path = p->lock;
	p->m.zone = "Asia/Shanghai";
	check(p, memory_open(&p->m, &p->err));
}

static int64_t write_bare(struct place *p, const char *text, size_t len)
{
	int64_t start = clock_mono_ns();
	int fd = open(p->bare, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
		      0600);

	if (fd < 0 || write(fd, text, len) != (ssize_t)len || fsync(fd)) {
		perror(p->bare);
		exit(1);
	}
	close(fd);
	return clock_mono_ns() - start;
}

static int64_t write_ours(struct place *p, const char *text, size_t len)
{
	struct append w = { .text = text, .len = len,
			    .origin = REMEM_ORIGIN_AGENT };
	struct arena a = ARENA_INIT;
	struct append_done d;
	int64_t start = clock_mono_ns();

	check(p, append_lines(&d, &a, &p->m, &w, &p->err));
	start = clock_mono_ns() - start;
	arena_release(&a);
	return start;
}

static int by_value(const void *x, const void *y)
{
	const int64_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

static double median_ms(int64_t *ns, int n)
{
	qsort(ns, (size_t)n, sizeof(*ns), by_value);
	return (double)ns[n / 2] / 1e6;
}

static void measure_appends(struct place *p, int n)
{
	int64_t *bare = calloc((size_t)n, sizeof(*bare));
	int64_t *ours = calloc((size_t)n, sizeof(*ours));
	double x, y;
	char text[200];

	for (int i = 0; bare && ours && i < n; i++) {
		int len = snprintf(text, sizeof(text), "- 第 %d 条 entry about "
				   "the gateway and its %d timeouts "
				   "<!-- importance: 5 -->\n", i, i * 7);

		bare[i] = write_bare(p, text, (size_t)len);
		ours[i] = write_ours(p, text, (size_t)len);
	}
	x = median_ms(bare, n);
	y = median_ms(ours, n);
	printf("{\"what\":\"append\",\"n\":%d,\"bareMs\":%.3f,\"oursMs\":%.3f,"
	       "\"beyondMs\":%.3f,\"ratio\":%.2f}\n", n, x, y, y - x, y / x);
	free(bare);
	free(ours);
}

static void measure_journal(struct place *p, int n)
{
	struct journal_state js;
	int64_t start = clock_mono_ns();

	check(p, state_begin(p->m.state, false, &p->err));
	for (int i = 0; i < n; i++)
		check(p, journal_add(NULL, &p->m, NULL, "recall",
				     "memory/2026-03-01.md", NULL, NULL, 0,
				     REMEM_ORIGIN_AGENT,
				     "{\"lines\":[3,9],\"query\":\"0f3a\"}",
				     &p->err));
	check(p, state_commit(p->m.state, &p->err));
	printf("{\"what\":\"journal add, one transaction\",\"n\":%d,"
	       "\"s\":%.2f}\n", n, (double)(clock_mono_ns() - start) / 1e9);
	for (int i = 0; i < 3; i++) {
		clock_t cpu = clock();

		start = clock_mono_ns();
		check(p, state_journal_verify(p->m.state, &js, &p->err));
		printf("{\"what\":\"journal verify\",\"n\":%lld,\"broken\":"
		       "%lld,\"s\":%.2f,\"cpuS\":%.2f}\n",
		       (long long)js.records, (long long)js.broken,
		       (double)(clock_mono_ns() - start) / 1e9,
		       (double)(clock() - cpu) / CLOCKS_PER_SEC);
	}
}

int main(int argc, char **argv)
{
	struct place p = { .root = "" };

	if (argc < 2) {
		fprintf(stderr, "bench_append FOLDER [APPENDS RECORDS]\n");
		return 2;
	}
	begin(&p, argv[1]);
	measure_appends(&p, argc > 2 ? atoi(argv[2]) : 300);
	measure_journal(&p, argc > 3 ? atoi(argv[3]) : 1000000);
	memory_close(&p.m);
	state_close(p.m.state);
	return dir_remove(argv[1], NULL) ? 1 : 0;
}
