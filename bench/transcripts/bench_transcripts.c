/*
 * Speed of transcripts, against reading the same bytes in the same run:
 *
 *   bench_transcripts FOLDER [MB]
 *
 *   read     the file, read once
 *   scan     the file through transcript_next()
 *   first    a first index of it, as text
 *   append   a run after one message was appended; what it read by read(2)
 *   noop     a run in which nothing has changed
 *
 * The file is a talk of Claude Code made here: a turn is a question, an
 * answer, and two tool calls with output of 1 to 24 KB, so that about 6 % of
 * the bytes are talk. FOLDER is made and removed. One line of JSON each; times
 * are of the processor, in the median, wall is the clock's.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "index/index.h"
#include "source/sessions.h"
#include "source/transcript.h"

#define ROUNDS 31

static char home[1024], ws[1024], dir[1024], talk[1200];
static int64_t bytes, text_bytes;
static unsigned seed = 7;

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void die(const char *what, const struct remem_err *err)
{
	fprintf(stderr, "%s: %s\n", what, err ? err->message : "");
	exit(1);
}

static unsigned roll(unsigned n)
{
	seed = seed * 1103515245u + 12345u;
	return (seed >> 8) % n;
}

/* ---- a talk ----------------------------------------------------------- */

static void words(FILE *f, size_t len)
{
	static const char *const parts[] = {
		"har", "ves", "ti", "mo", "lan", "der", "qua", "si", "ber",
		"ton", "gre", "lum", "pas", "tor", "vin", "ek", "ol", "un",
	};
	size_t n = 0;

	while (n < len) {
		for (unsigned k = 1 + roll(3); k; k--)
			n += (size_t)fprintf(f, "%s", parts[roll(18)]);
		n += fputc(roll(9) ? ' ' : '.', f) > 0;
	}
}

static void begin_line(FILE *f, const char *type, long n)
{
	fprintf(f, "{\"parentUuid\":\"u%ld\",\"isSidechain\":false,\"cwd\":"
		"\"/home/ada\",\"sessionId\":\"s1\",\"version\":\"2.1.239\","
		"\"gitBranch\":\"main\",\"type\":\"%s\",\"uuid\":\"u%ld\","
		"\"timestamp\":\"2026-11-%02ldT%02ld:%02ld:%02ldZ\","
		"\"message\":{\"role\":\"%s\",\"content\":", n, type, n + 1,
		1 + n / 20000 % 28, n / 3600 % 24, n / 60 % 60, n % 60, type);
}

static void say(FILE *f, const char *type, long n, size_t len)
{
	begin_line(f, type, n);
	fputc('"', f);
	words(f, len);
	fputs("\"}}\n", f);
	text_bytes += (int64_t)len;
}

static void tool(FILE *f, long n, size_t len)
{
	begin_line(f, "assistant", n);
	fprintf(f, "[{\"type\":\"tool_use\",\"id\":\"t%ld\",\"name\":\"Bash\","
		"\"input\":{\"command\":\"", n);
	words(f, 120);
	fputs("\"}}]}}\n", f);
	begin_line(f, "user", n);
	fprintf(f, "[{\"type\":\"tool_result\",\"tool_use_id\":\"t%ld\","
		"\"content\":\"", n);
	while (len > 60) {
		words(f, 60);
		fputs("\\n", f);
		len -= 60;
	}
	fputs("\"}]}}\n", f);
}

static void make_talk(int64_t want)
{
	FILE *f = fopen(talk, "w");
	long n = 0;

	if (!f)
		die(talk, NULL);
	while (ftell(f) < want) {
		say(f, "user", n++, 80 + roll(200));
		for (int i = 0; i < 2; i++)
			tool(f, n++, 1024 + roll(24 << 10));
		say(f, "assistant", n++, 200 + roll(2400));
	}
	bytes = ftell(f);
	fclose(f);
}

/* ---- measures --------------------------------------------------------- */

static double read_once(void)
{
	static char block[1 << 20];
	int64_t start = cpu_ns();
	int fd = open(talk, O_RDONLY);

	while (read(fd, block, sizeof(block)) > 0)
		;
	close(fd);
	return (double)(cpu_ns() - start) / 1e9;
}

static double scan_once(void)
{
	const struct transcript_message *m;
	struct remem_err err = { 0 };
	int64_t start = cpu_ns();
	struct transcript *t;

	if (transcript_open(&t, talk, NULL, &err))
		die("open", &err);
	do
		if (transcript_next(t, &m, &err))
			die("next", &err);
	while (m);
	transcript_close(t);
	return (double)(cpu_ns() - start) / 1e9;
}

static const char *no_env(void *ctx, const char *name)
{
	(void)ctx, (void)name;
	return NULL;
}

static void run(void)
{
	static struct session_opts so;
	static struct source_opts source;
	static struct index_opts o = { .backend = "sqlite",
				       .note = NOTE_OPTS_DEFAULT };
	struct index_report r;
	struct arena a = ARENA_INIT;
	struct remem_err err = { 0 };

	so = (struct session_opts){ .home = home, .env = no_env,
				    .want = TRANSCRIPT_WANT_TEXT };
	source = (struct source_opts){ .workspace = ws, .sessions = &so };
	o.dir = dir;
	o.source = &source;
	if (index_run(&r, &a, &o, &err))
		die("index", &err);
	arena_release(&a);
}

/* Bytes asked of the system by read and pread so far. */
static long long bytes_read(void)
{
	char text[512] = "";
	FILE *f = fopen("/proc/self/io", "r");
	long long n = 0;

	if (!f)
		return 0;
	if (fread(text, 1, sizeof(text) - 1, f) && strstr(text, "rchar:"))
		n = atoll(strstr(text, "rchar:") + 6);
	fclose(f);
	return n;
}

static int by_value(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), by_value);
	return v[n / 2];
}

static void bench_runs(const char *name, bool append)
{
	double cpu[ROUNDS], wall[ROUNDS], kib[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		int64_t start, mono;
		long long before;

		if (append) {
			FILE *f = fopen(talk, "a");

			say(f, "user", 900000 + i, 150);
			fclose(f);
		}
		before = bytes_read();
		mono = clock_mono_ns();
		start = cpu_ns();
		run();
		cpu[i] = (double)(cpu_ns() - start) / 1e6;
		wall[i] = (double)(clock_mono_ns() - mono) / 1e6;
		kib[i] = (double)(bytes_read() - before) / 1024;
	}
	printf("{\"bench\":\"transcripts.%s\",\"ms\":%.2f,\"wall_ms\":%.2f,"
	       "\"read_kib\":%.0f}\n", name, median(cpu, ROUNDS),
	       median(wall, ROUNDS), median(kib, ROUNDS));
}

static void make_folders(const char *folder)
{
	struct remem_err err = { 0 };
	char projects[1200], note[1100];

	snprintf(home, sizeof(home), "%s/home", folder);
	snprintf(ws, sizeof(ws), "%s/ws", folder);
	snprintf(dir, sizeof(dir), "%s/index", folder);
	snprintf(projects, sizeof(projects), "%s/.claude/projects/-home-ada",
		 home);
	snprintf(talk, sizeof(talk), "%s/s1.jsonl", projects);
	if (dir_make(projects, 0700, &err) || dir_make(ws, 0700, &err))
		die("folders", &err);
	snprintf(note, sizeof(note), "%s/MEMORY.md", ws);
	if (file_write_atomic(note, "# Memory\n", 9, 0600, &err))
		die("note", &err);
}

int main(int argc, char **argv)
{
	int64_t mb = argc > 2 ? atoll(argv[2]) : 500, start;
	double plain, scan, first, size;
	struct remem_err err = { 0 };
	char folder[900];

	if (argc < 2 || !realpath(".", folder))
		die("usage: bench_transcripts FOLDER [MB]", NULL);
	snprintf(folder, sizeof(folder), "%s", argv[1]);
	dir_remove(folder, NULL);
	make_folders(folder);
	make_talk(mb << 20);
	size = (double)bytes / (1 << 20);
	plain = read_once();
	plain = read_once();
	scan = scan_once();
	start = cpu_ns();
	run();
	first = (double)(cpu_ns() - start) / 1e9;
	printf("{\"bench\":\"transcripts.read\",\"mb\":%.0f,\"mb_s\":%.0f}\n",
	       size, size / plain);
	printf("{\"bench\":\"transcripts.scan\",\"mb_s\":%.0f,"
	       "\"times_read\":%.1f}\n", size / scan, scan / plain);
	printf("{\"bench\":\"transcripts.first\",\"mb_s\":%.1f,"
	       "\"text_mb_s\":%.2f,\"text_share\":%.3f,\"times_read\":%.1f}\n",
	       size / first, (double)text_bytes / (1 << 20) / first,
	       (double)text_bytes / (double)bytes, first / plain);
	fflush(stdout);
	bench_runs("append", true);
	bench_runs("noop", false);
	if (dir_remove(folder, &err))
		die("remove", &err);
	return 0;
}
