/*
 * Speed of term_cut(), one thread, against reading the same bytes once
 * (utf8_valid), in the same run and in turns so that a busy machine slows
 * both:
 *
 *   bench_term [FILE...]
 *
 * Without files, on text made here: English prose of 8 MB with a vocabulary
 * of 20,000 words, Chinese prose, and notes that mix both with identifiers.
 * One line of JSON for each: MB/s in the median of several rounds, terms a
 * second, and how many times the bare reading it takes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/utf8.h"
#include "text/term.h"
#include "text/token.h"

#define ROUNDS 9
#define BYTES (8u << 20)

struct text {
	char *s;
	size_t len;
};

static uint64_t state = 88172645463325252u;

static uint64_t random64(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* A rank below n, small ones often: about Zipf's law. */
static unsigned zipf(unsigned n)
{
	double u = (double)(random64() >> 11) / 9007199254740992.0, x = 1;

	while (u < 0.5 && x < n) { /* each octave half as likely */
		u *= 2;
		x *= 2.2;
	}
	x *= 1 + (double)(random64() % 1000) / 1000.0;
	return x < n ? (unsigned)x : n - 1;
}

static size_t put_word(char *out, unsigned rank)
{
	static const char *const syllable[] = { "re",  "con", "ta", "mo", "ser",
						"ver", "in",  "po", "li", "que",
						"sta", "ter", "na", "ble" };
	static const char *const ending[] = { "",   "s",     "ed", "ing",
					      "er", "ation", "ly", "e" };
	size_t n = 0;

	for (unsigned r = rank + 1; r; r /= 14)
		n += (size_t)sprintf(out + n, "%s", syllable[r % 14]);
	return n + (size_t)sprintf(out + n, "%s", ending[rank % 8]);
}

static size_t put_english(char *out)
{
	size_t n = put_word(out, zipf(20000));

	if (random64() % 12 == 0)
		out[0] = (char)(out[0] - 32);
	return n + (size_t)sprintf(out + n, "%s", random64() % 12 ? " " : ". ");
}

static size_t put_chinese(char *out)
{
	if (random64() % 9 == 0)
		return (size_t)sprintf(out, "，");
	return (size_t)utf8_encode(out, 0x4e00 + zipf(6000));
}

static size_t put_mixed(char *out)
{
	unsigned kind = (unsigned)(random64() % 20);

	if (kind == 0)
		return (size_t)sprintf(out, " v%u.%u.%u ",
				       (unsigned)(random64() % 9),
				       (unsigned)(random64() % 30), kind);
	if (kind == 1)
		return (size_t)sprintf(out, "\n- 2026-%02u-%02u OPS-%u: ",
				       (unsigned)(random64() % 12 + 1),
				       (unsigned)(random64() % 28 + 1),
				       (unsigned)(random64() % 9999));
	if (kind == 2)
		return (size_t)sprintf(out, " src/carrier_adapter.go:%u ",
				       (unsigned)(random64() % 900));
	return kind < 9 ? put_english(out) : put_chinese(out);
}

static struct text make(size_t (*put)(char *))
{
	struct text t = { malloc(BYTES + 256), 0 };

	if (!t.s)
		exit(1);
	while (t.len < BYTES)
		t.len += put(t.s + t.len);
	return t;
}

static struct text read_file(const char *path)
{
	struct text t = { malloc(256u << 20), 0 };
	FILE *f = fopen(path, "rb");

	if (!t.s || !f) {
		fprintf(stderr, "bench_term: cannot read '%s'\n", path);
		exit(1);
	}
	t.len = fread(t.s, 1, 256u << 20, f);
	fclose(f);
	return t;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int count(void *ctx, const struct term *t)
{
	size_t *sum = ctx;

	sum[0]++;
	sum[1] += t->len;
	return 0;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(const char *name, const struct text *t)
{
	double cut[ROUNDS], bare[ROUNDS], tokens[ROUNDS], mb;
	volatile size_t sink = 0;
	size_t sum[2] = { 0, 0 };

	for (int i = 0; i < ROUNDS; i++) {
		double t0 = now(), t1, t2;

		for (int k = 0; k < 8; k++)
			sink += utf8_valid(t->s, t->len);
		t1 = now();
		sum[0] = sum[1] = 0;
		term_cut(t->s, t->len, count, sum);
		t2 = now();
		sink += token_estimate(t->s, t->len);
		bare[i] = (t1 - t0) / 8;
		cut[i] = t2 - t1;
		tokens[i] = now() - t2;
	}
	qsort(cut, ROUNDS, sizeof(*cut), by_value);
	qsort(bare, ROUNDS, sizeof(*bare), by_value);
	qsort(tokens, ROUNDS, sizeof(*tokens), by_value);
	mb = (double)t->len / 1e6;
	printf("{\"text\":\"%s\",\"bytes\":%zu,\"terms\":%zu,"
	       "\"cutMBs\":%.1f,\"bestMBs\":%.1f,\"readMBs\":%.0f,"
	       "\"timesRead\":%.2f,\"termsPerS\":%.3g,"
	       "\"tokenEstimateMBs\":%.0f}\n",
	       name, t->len, sum[0], mb / cut[ROUNDS / 2], mb / cut[0],
	       mb / bare[ROUNDS / 2], cut[ROUNDS / 2] / bare[ROUNDS / 2],
	       (double)sum[0] / cut[ROUNDS / 2], mb / tokens[ROUNDS / 2]);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		size_t (*put)(char *);
	} made[] = { { "english", put_english },
		     { "chinese", put_chinese },
		     { "mixed", put_mixed } };

	for (int i = 1; i < argc; i++) {
		struct text t = read_file(argv[i]);

		measure(argv[i], &t);
		free(t.s);
	}
	for (size_t i = 0; argc == 1 && i < 3; i++) {
		struct text t = make(made[i].put);

		measure(made[i].name, &t);
		free(t.s);
	}
	return 0;
}
