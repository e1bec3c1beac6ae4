/*
 * Speed of the builtin encoder, one thread: tokens a second of texts of 50,
 * 200 and 400 tokens, a short query, opening. For each instruction set of this
 * machine; with llama.cpp in the same run when built with it (run.sh):
 *
 *   bench_encoder MODEL LEVEL [LLAMA_LIBS [LLAMA_VARIANT]]
 *
 * Prints one line of JSON. Tokens a second are of processor time, the median
 * of several rounds, ours and the peer's in turns, so that a busy machine slows
 * both; opening and the first query are by the clock.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cpu.h"
#include "encoder/encoder.h"
#ifdef BENCH_LLAMA
#include "peer.h"
#endif

#define ROUNDS 7
#define SECONDS 0.15 /* of a round */

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double now(void)
{
	return seconds(CLOCK_MONOTONIC);
}

/* Both encoders run in one thread: what others do counts for less. */
static double spent(void)
{
	return seconds(CLOCK_PROCESS_CPUTIME_ID);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), by_value);
	return v[n / 2];
}

/* Text of n tokens with its specials: whole words, one token each. */
static size_t make_text(const struct encoder *e, char *out, long tokens)
{
	static const char *const words[] = {
		" the", " time", " of", " people", " and", " house", " in",
		" work", " is", " water", " to", " city", " for", " book"
	};
	struct remem_err err;
	size_t len = 0;
	long n = 2;

	out[0] = 0;
	for (int i = 0; n < tokens; i++) {
		len += (size_t)sprintf(out + len, "%s",
				       words[i * 5 % 14]);
		n = encoder_tokens(e, out, len, NULL, 0, &err) + 2;
	}
	return len;
}

static double ours(struct encoder *e, const char *text, size_t len)
{
	float out[4096];
	double start = spent(), end;
	int n = 0;

	do {
		if (encoder_embed(e, &text, &len, 1, out, 1, NULL, NULL, NULL))
			exit(1);
		n++;
	} while ((end = spent()) < start + SECONDS);
	return (end - start) / n;
}

#ifdef BENCH_LLAMA
static double theirs(const int32_t *ids, int n)
{
	double start = spent(), end;
	int count = 0;

	do {
		if (!peer_embed(ids, n))
			exit(1);
		count++;
	} while ((end = spent()) < start + SECONDS);
	return (end - start) / count;
}

static double cosine(struct encoder *e, const char *text, size_t len,
		     const int32_t *ids, int n)
{
	float out[4096];
	const float *peer = peer_embed(ids, n);
	double dot = 0, length = 0;

	encoder_embed(e, &text, &len, 1, out, 1, NULL, NULL, NULL);
	for (int i = 0; i < encoder_dims(e); i++) {
		dot += (double)peer[i] * out[i];
		length += (double)peer[i] * peer[i];
	}
	return dot / sqrt(length);
}
#endif

static void measure(struct encoder *e, long tokens, bool with_peer)
{
	static char text[65536];
	static int32_t ids[512];
	size_t len = make_text(e, text, tokens);
	long n = encoder_tokens(e, text, len, ids + 1, 510, NULL) + 2;
	double mine[ROUNDS], m;

	ids[0] = 0;
	ids[n - 1] = 2;
#ifdef BENCH_LLAMA
	double peer[ROUNDS], p;

	for (int i = 0; i < ROUNDS; i++) {
		mine[i] = ours(e, text, len);
		peer[i] = with_peer ? theirs(ids, (int)n) : 1;
	}
#else
	for (int i = 0; i < ROUNDS; i++)
		mine[i] = ours(e, text, len);
#endif
	m = median(mine, ROUNDS);
	printf(", \"t%ld\": {\"tokens_s\": %.0f, \"ms\": %.3f", tokens,
	       (double)n / m, m * 1e3);
#ifdef BENCH_LLAMA
	p = median(peer, ROUNDS);
	if (with_peer)
		printf(", \"llama_tokens_s\": %.0f, \"llama_ms\": %.3f, "
		       "\"ratio\": %.2f, \"cosine\": %.5f", (double)n / p,
		       p * 1e3, p / m, cosine(e, text, len, ids, (int)n));
#else
	(void)with_peer;
#endif
	printf("}");
}

static long anonymous_kb(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kb = -1;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "RssAnon: %ld", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb;
}

/* Opening and the first query, as a program that was just started has them. */
static struct encoder *open_model(const char *path)
{
	struct remem_err err;
	struct encoder *e;
	const char *text = "query: where did we put the spare key";
	size_t len = strlen(text);
	float out[4096];
	double t0 = now(), t1;

	if (encoder_open(&e, path, &err)) {
		fprintf(stderr, "%s\n", err.message);
		exit(1);
	}
	t1 = now();
	if (encoder_embed(e, &text, &len, 1, out, 1, NULL, NULL, &err))
		exit(1);
	printf("\"open_ms\": %.2f, \"first_query_ms\": %.2f",
	       (t1 - t0) * 1e3, (now() - t1) * 1e3);
	return e;
}

int main(int argc, char **argv)
{
	static const long sizes[] = { 17, 50, 200, 400 };
	struct encoder *e;
	bool with_peer = false;

	if (argc < 3) {
		fprintf(stderr, "usage: bench_encoder MODEL LEVEL "
			"[LLAMA_LIBS [LLAMA_VARIANT]]\n");
		return 2;
	}
	if (cpu_limit(argv[2])) {
		fprintf(stderr, "bench_encoder: this machine has no %s\n",
			argv[2]);
		return 3;
	}
	printf("{\"cpu\": \"%s\", ", cpu_name(cpu_best()));
	e = open_model(argv[1]);
#ifdef BENCH_LLAMA
	double start;

	if (argc > 3) {
		with_peer = peer_start(argv[3], argc > 4 ? argv[4] : NULL);
		start = now();
		with_peer = with_peer && peer_open(argv[1]);
		printf(", \"llama_open_ms\": %.0f, \"llama_cpu\": \"%s\"",
		       (now() - start) * 1e3, argc > 4 ? argv[4] : "best");
	}
#endif
	for (int i = 0; i < 4; i++)
		measure(e, sizes[i], with_peer);
	if (!with_peer)
		printf(", \"anonymous_kb\": %ld", anonymous_kb());
	printf("}\n");
	encoder_free(e);
#ifdef BENCH_LLAMA
	peer_close();
#endif
	return 0;
}
