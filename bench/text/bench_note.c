/*
 * Speed of note_parse(), CPU time of one thread, against finding the lines of
 * the same bytes (memchr) in the same run and in turns, so that a busy machine slows
 * both:
 *
 *   bench_note [FILE...]
 *
 * Without files, on text made here: daily notes and prose, English and
 * Chinese, cut as notes of about 2 KB with one arena used again, as an index
 * run does, and as one text of 8 MB. One line of JSON for each: MB/s in the
 * median of several rounds, how many times the line scan it takes, bytes in a
 * passage, and bytes of arena for each byte of text.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "text/note.h"

#define ROUNDS 9
#define BYTES (8u << 20)
#define NOTE_BYTES 2100 /* 21 MB in 10,000 files */

struct text {
	char *s;
	size_t len;
};

static uint64_t state = 88172645463325252u;

static unsigned draw(unsigned below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 33) % below;
}

static void put(struct text *t, const char *s)
{
	size_t n = strlen(s);

	memcpy(t->s + t->len, s, n);
	t->len += n;
}

/* A word of two to five syllables, or a Han character of the common ones. */
static void put_word(struct text *t, int zh)
{
	static const char *const parts[] = { "ka", "ro",  "ti", "men", "las",
					     "o",  "ver", "di", "sen", "a" };
	unsigned n = 1 + draw(4), cp = 0x4e00 + draw(3000);
	char han[4] = { (char)(0xe0 | cp >> 12), (char)(0x80 | (cp >> 6 & 63)),
			(char)(0x80 | (cp & 63)), 0 };

	if (zh) {
		put(t, han);
		return;
	}
	while (n--)
		put(t, parts[draw(10)]);
	put(t, " ");
}

static void put_sentence(struct text *t, int zh, unsigned words)
{
	for (unsigned i = 0; i < words; i++) {
		put_word(t, zh);
		if (i % 9 == 8)
			put(t, zh ? "，" : ", ");
	}
	put(t, zh ? "。" : ". ");
}

/* Notes of NOTE_BYTES each; their ends go to ends. */
static size_t make(struct text *t, size_t *ends, int zh, int prose)
{
	size_t count = 0, start;

	while (t->len < BYTES) {
		start = t->len;
		put(t, zh ? "# 2026-03-01\n\n## 上午\n\n"
			  : "# 2026-03-01\n\n## Morning\n\n");
		while (t->len - start < NOTE_BYTES) {
			unsigned lines = prose ? 3 + draw(4) : 1;

			if (!prose)
				put(t, "- ");
			while (lines--)
				put_sentence(t, zh, zh ? 30 : 12);
			put(t, prose ? "\n\n" : "\n");
		}
		ends[count++] = t->len;
	}
	return count;
}

/* Of this thread: other work on the machine does not count. */
static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double scan(const struct text *t, long *lines)
{
	int64_t from = cpu_ns();
	const char *p = t->s, *end = t->s + t->len;

	while (p < end) {
		const char *q = memchr(p, '\n', (size_t)(end - p));

		p = q ? q + 1 : end;
		++*lines;
	}
	return (double)(cpu_ns() - from);
}

struct sums {
	size_t passages, arena;
};

static double parse(const struct text *t, const size_t *ends, size_t count,
		    struct sums *sums)
{
	struct note_opts opts = NOTE_OPTS_DEFAULT;
	struct arena a = ARENA_INIT;
	int64_t from = cpu_ns();
	size_t start = 0;
	struct note n;

	*sums = (struct sums){ 0, 0 };
	for (size_t i = 0; i < count; i++) {
		if (note_parse(&n, &a, t->s + start, ends[i] - start, &opts,
			       NULL))
			exit(1);
		sums->passages += (size_t)n.passage_count;
		sums->arena += a.used;
		start = ends[i];
		arena_reset(&a);
	}
	arena_release(&a);
	return (double)(cpu_ns() - from);
}

static void measure(const char *name, const struct text *t, const size_t *ends,
		    size_t count)
{
	double cut[ROUNDS], bare[ROUNDS];
	struct sums sums;
	long lines = 0;

	for (int i = 0; i < ROUNDS; i++) {
		bare[i] = scan(t, &lines);
		cut[i] = parse(t, ends, count, &sums);
	}
	qsort(cut, ROUNDS, sizeof(*cut), by_size);
	qsort(bare, ROUNDS, sizeof(*bare), by_size);
	printf("{\"bench\":\"note\",\"text\":\"%s\",\"bytes\":%zu,"
	       "\"notes\":%zu,\"mb_s\":%.1f,\"times_line_scan\":%.1f,"
	       "\"line_scan_mb_s\":%.0f,\"passage_bytes\":%.1f,"
	       "\"arena_per_byte\":%.2f,\"lines\":%ld}\n",
	       name, t->len, count, (double)t->len * 1e3 / cut[ROUNDS / 2],
	       cut[ROUNDS / 2] / bare[ROUNDS / 2],
	       (double)t->len * 1e3 / bare[ROUNDS / 2],
	       (double)t->len / (double)(sums.passages ? sums.passages : 1),
	       (double)sums.arena / (double)t->len, lines / ROUNDS);
	fflush(stdout);
}

static int add_file(struct text *t, const char *path, size_t limit)
{
	FILE *f = fopen(path, "rb");

	if (!f)
		return -1;
	t->len += fread(t->s + t->len, 1, limit - t->len, f);
	fclose(f);
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "en-list", "en-prose", "zh-list",
					     "zh-prose" };
	size_t room = 64u << 20, count = 0;
	size_t *ends = malloc((1u << 20) * sizeof(*ends));
	struct text t = { malloc(room), 0 };

	if (!t.s || !ends)
		return 1;
	for (int i = 1; i < argc && count < 1u << 20; i++) {
		if (!add_file(&t, argv[i], room))
			ends[count++] = t.len;
	}
	if (argc > 1)
		measure("files", &t, ends, count);
	for (int i = 0; i < 4 && argc == 1; i++) {
		char whole[32];

		t.len = 0;
		count = make(&t, ends, i / 2, i % 2);
		measure(names[i], &t, ends, count);
		snprintf(whole, sizeof(whole), "%s-whole", names[i]);
		ends[0] = t.len;
		measure(whole, &t, ends, 1);
	}
	free(ends);
	free(t.s);
	return 0;
}
