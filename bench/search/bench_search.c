/*
 * What a question costs, on an index made by bench/search/run:
 *
 *   bench_search fill INDEX MODEL             vectors for all passages
 *   bench_search ask INDEX MODEL NOTES [u]    questions, good and bad, warm;
 *                                             u: only usual ones
 *   bench_search cold REMEM NOTES [ARG]...    `remem search` from its start
 *   bench_search helped REMEM NOTES [ARG]...  the same; the caller has started
 *                                             the background process
 *
 * The vectors are sums of hashed terms, so that what shares words is alike and
 * no hour goes by with embedding; the model only lends its name. One line of
 * JSON each: best and median of the processor's time and of the clock's.
 */
#define _GNU_SOURCE /* wait4, nftw */
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "search/search.h"
#include "text/term.h"

#define ROUNDS 9
#define COLD_ROUNDS 25
#define USUAL 24 /* usual questions, each from another note */
#define DIMS 384
#define PLACES 8 /* of a vector that a term touches */
#define PUT_BATCH 2048

static struct remem_err err;
static const struct store_ops *ops;
static struct store *s;
static struct embedder *model;
static char **paths;
static size_t path_count, path_cap;

static void must(int rc)
{
	if (rc) {
		fprintf(stderr, "%d: %s\n", rc, err.message);
		exit(1);
	}
}

static int visit(const char *path, const struct stat *st, int type,
		 struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	if (type != FTW_F || !strstr(path, ".md"))
		return 0;
	if (!mem_grow(&paths, &path_cap, path_count + 1, sizeof(*paths)))
		return 1;
	paths[path_count++] = mem_strdup(path);
	return 0;
}

static void open_all(const char *dir, const char *gguf,
		     enum store_open_mode mode)
{
	struct store_opts o = { dir, mode, 1000, TERM_VERSION, NOTE_VERSION, false };
	struct embed_config c = { .provider = "builtin", .model_path = gguf,
				  .builtin_enabled = true };

	ops = store_backend("sqlite");
	must(ops->open(&s, &o, &err));
	must(embedder_open(&model, &c, &err));
}

/* ---- vectors ---- */

static int add_term(void *ctx, const struct term *t)
{
	uint64_t h = hash64(t->text, t->len, 1);
	float *v = ctx;

	for (int i = 0; i < PLACES; i++, h = h * 6364136223846793005u + 1)
		v[(h >> 33) % DIMS] += h >> 32 & 1 ? 1.0f : -1.0f;
	return 0;
}

static void vector_of(float *v, const char *text, size_t len)
{
	double norm = 0.01;

	memset(v, 0, DIMS * sizeof(*v));
	v[0] = 0.1f;
	term_cut(text, len, add_term, v);
	for (int i = 0; i < DIMS; i++)
		norm += (double)v[i] * v[i];
	for (int i = 0; i < DIMS; i++)
		v[i] = (float)(v[i] / sqrt(norm));
}

static int fill(void)
{
	struct arena a = ARENA_INIT;
	struct store_passage *p;
	const char **texts;
	float v[DIMS];
	int fp, n;

	must(ops->fingerprint(s, embedder_info(model)->fingerprint, DIMS, &fp,
			      &err));
	for (;;) {
		arena_reset(&a);
		must(ops->pending(s, &a, fp, PUT_BATCH, &p, &texts, &n, &err));
		if (!n)
			break;
		must(ops->begin(s, &err));
		for (int i = 0; i < n; i++) {
			struct store_vec_item item = {
				&p[i].id, 1, { 0 }, p[i].script, v
			};

			vector_of(v, texts[i], p[i].len);
			sha256_of(item.key, v, sizeof(v));
			must(ops->vectors_put(s, fp, &item, 1, &err));
		}
		must(ops->commit(s, &err));
	}
	must(ops->maintain(s, 0, &err));
	arena_release(&a);
	return 0;
}

/* ---- time ---- */

struct times {
	double cpu[64], wall[64];
	int n;
};

static double seconds(struct timespec t)
{
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return seconds(t) * 1e3;
}

static double wall_ms(void)
{
	return (double)clock_mono_ns() / 1e6;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void report(const char *what, const char *mode, struct times *t,
		   const char *more)
{
	qsort(t->cpu, (size_t)t->n, sizeof(double), by_value);
	qsort(t->wall, (size_t)t->n, sizeof(double), by_value);
	printf("{\"what\":\"%s\",\"mode\":\"%s\",\"cpu_ms\":%.2f,"
	       "\"cpu_median_ms\":%.2f,\"wall_ms\":%.2f,"
	       "\"wall_median_ms\":%.2f%s}\n", what, mode, t->cpu[0],
	       t->cpu[t->n / 2], t->wall[0], t->wall[t->n / 2], more);
	fflush(stdout);
}

/* ---- questions ---- */

static int one(const char *text, size_t len, enum remem_mode mode)
{
	struct arena a = ARENA_INIT;
	struct search_answer out;
	float v[DIMS];
	struct search_opts o = {
		.mode = mode, .max_results = 6, .min_score = 0.35,
		.vector_weight = 0.7, .text_weight = 0.3,
		.candidate_multiplier = 4, .decay = true, .half_life_days = 30,
		.decay_floor = 0.85, .mmr = true, .mmr_lambda = 0.7,
		.snippet_chars = 700, .today = 20500,
		.filter = { .after = DATE_NONE, .before = DATE_NONE },
		.embedder = mode == REMEM_MODE_TEXT ? NULL : model,
		.query_vec = mode == REMEM_MODE_TEXT ? NULL : v,
	};

	vector_of(v, text, len < 2000 ? len : 2000);
	must(search_run(&out, &a, s, text, len, &o, &err));
	arena_release(&a);
	return out.count;
}

static void ask(const char *what, const char *text, size_t len)
{
	static const enum remem_mode modes[] = { REMEM_MODE_TEXT,
						 REMEM_MODE_HYBRID };

	for (int m = 0; m < 2; m++) {
		struct times t = { .n = ROUNDS };
		char more[64];
		int hits = 0;

		for (int i = 0; i < ROUNDS; i++) {
			double cpu = cpu_ms(), wall = wall_ms();

			hits = one(text, len, modes[m]);
			t.cpu[i] = cpu_ms() - cpu;
			t.wall[i] = wall_ms() - wall;
		}
		snprintf(more, sizeof(more), ",\"bytes\":%zu,\"hits\":%d", len,
			 hits);
		report(what, m ? "hybrid" : "text", &t, more);
	}
}

/* len bytes or less of note i, from a letter on that begins a word. */
static void sample(struct buf *out, size_t i, size_t from, size_t len)
{
	struct buf b = BUF_INIT(0);
	const char *p, *end;

	must(file_read(&b, paths[i * 7919 % path_count], &err));
	p = buf_str(&b);
	end = p + b.len;
	p += from < b.len ? from : 0;
	while (p < end && *p != ' ' && (*p & 0xC0) != 0xC0)
		p++;
	for (; p < end && len; p++, len--)
		buf_addc(out, *p == '\n' ? ' ' : *p);
	while (p < end && (*p & 0xC0) == 0x80)
		buf_addc(out, *p++);
	buf_release(&b);
}

/* The middle one and the worst of many usual questions. */
static void ask_usual(enum remem_mode mode)
{
	struct times t = { .n = USUAL };

	for (int i = 0; i < USUAL; i++) {
		struct buf b = BUF_INIT(0);

		sample(&b, (size_t)i, 200, 45);
		t.cpu[i] = t.wall[i] = 1e9;
		for (int k = 0; k < 5; k++) {
			double cpu = cpu_ms(), wall = wall_ms();

			one(b.ptr, b.len, mode);
			cpu = cpu_ms() - cpu;
			wall = wall_ms() - wall;
			t.cpu[i] = cpu < t.cpu[i] ? cpu : t.cpu[i];
			t.wall[i] = wall < t.wall[i] ? wall : t.wall[i];
		}
		buf_release(&b);
	}
	report("usual questions", mode == REMEM_MODE_TEXT ? "text" : "hybrid",
	       &t, "");
	printf("{\"what\":\"the worst of them\",\"cpu_ms\":%.2f}\n",
	       t.cpu[USUAL - 1]);
}

static void ask_paste(const char *what, size_t note, size_t bytes)
{
	struct buf b = BUF_INIT(0);

	while (b.len < bytes)
		sample(&b, note += 2, 0, bytes - b.len);
	ask(what, buf_str(&b), b.len);
	buf_release(&b);
}

static void ask_all(bool only_usual)
{
	static const char *const bad[][2] = {
		{ "stop words", "the to a and of in is for on with" },
		{ "stop words, Chinese", "的了在是我们要和不有人这上" },
		{ "one common character", "我" },
		{ "a character that is a stop word", "的" },
		{ "a few characters", "大 地 子 生" },
		{ "one letter", "e" },
		{ "common words", "new more must all after before about" },
		{ "a number", "1" },
		{ "numbers", "1 2 3 4 5 6 7 8 9 10 11 12" },
		{ "a year", "2024" },
		{ "identifiers", "ERR_PAY_4021 v1.2.3 gateway.timeout_17" },
		{ "parts of identifiers", "err pay v1 gateway timeout net io" },
		{ "headings", "Morning Afternoon Decisions Follow-up Notes" },
		{ "headings, Chinese", "上午 下午 决定 待办 记录" },
	};

	ask_usual(REMEM_MODE_TEXT);
	ask_usual(REMEM_MODE_HYBRID);
	if (only_usual)
		return;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ask(bad[i][0], bad[i][1], strlen(bad[i][1]));
	ask_paste("200 words", 0, 1200);
	ask_paste("200 words of another note", 1, 1200);
	ask_paste("a whole note", 2, 8000);
	ask_paste("1 MB", 0, 1000000);
}

/* ---- from the start ---- */

static int anonymous_kb(pid_t pid)
{
	char path[64], line[256];
	int kb = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (!(f = fopen(path, "r")))
		return 0;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "RssAnon: %d", &kb) == 1)
			break;
	fclose(f);
	return kb;
}

static pid_t start(char **argv)
{
	pid_t pid = fork();

	if (!pid) {
		int null = open("/dev/null", O_WRONLY);

		dup2(null, 1);
		execv(argv[0], argv);
		_exit(127);
	}
	return pid;
}

static int memory_kb(char **argv)
{
	pid_t pid = start(argv);
	int status, most = 0;

	while (!waitpid(pid, &status, WNOHANG)) {
		int kb = anonymous_kb(pid);

		most = kb > most ? kb : most;
	}
	return most;
}

static double of_timeval(struct timeval t)
{
	return (double)t.tv_sec * 1e3 + (double)t.tv_usec / 1e3;
}

static int cold(const char *what, char **args, int count)
{
	struct times t = { .n = COLD_ROUNDS };
	char *argv[32] = { args[0], "-q", "-w", args[1], "search" }, more[64];
	int n = 5, kb = 0, status;

	for (int i = 2; i < count && n < 31; i++)
		argv[n++] = args[i];
	for (int i = 0; i < COLD_ROUNDS; i++) {
		double wall = wall_ms();
		struct rusage u;

		if (wait4(start(argv), &status, 0, &u) < 0 || status) {
			fprintf(stderr, "the search failed\n");
			return 1;
		}
		t.wall[i] = wall_ms() - wall;
		t.cpu[i] = of_timeval(u.ru_utime) + of_timeval(u.ru_stime);
	}
	for (int i = 0; i < 5; i++) {
		int now = memory_kb(argv);

		kb = now > kb ? now : kb;
	}
	snprintf(more, sizeof(more), ",\"anonymous_mb\":%.1f", kb / 1024.0);
	report(what, count > 3 && !strcmp(args[3], "text") ? "text" : "hybrid",
	       &t, more);
	return 0;
}

int main(int argc, char **argv)
{
	int rc = 0;

	if (argc > 3 && (!strcmp(argv[1], "cold") ||
			 !strcmp(argv[1], "helped")))
		return cold(argv[1], argv + 2, argc - 2);
	if (argc == 4 && !strcmp(argv[1], "fill")) {
		open_all(argv[2], argv[3], STORE_WRITE);
		rc = fill();
	} else if (argc >= 5 && !strcmp(argv[1], "ask")) {
		if (nftw(argv[4], visit, 16, 0) || !path_count)
			return 1;
		open_all(argv[2], argv[3], STORE_READ);
		ask_all(argc > 5);
	} else {
		fprintf(stderr, "see bench/search/run\n");
		return 2;
	}
	ops->close(s);
	embedder_free(model);
	return rc;
}
