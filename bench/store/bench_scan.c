/*
 * Speed of the scan over all vectors against reading the same bytes once:
 *
 *   bench_scan [ROWS DIMS]...      100000 384  1000000 384  100000 1536
 *
 * Both read the same mapped file, warm, on one core; the plain read only adds
 * words up. They take turns, and what counts is the median of their ratios: a
 * read that was measured once, before other programs came, made every scan
 * behind it look twice as slow. One line of JSON for each size and kernel; ms
 * are medians, as is the ratio, of which the range stands beside it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "store/vecscan.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define ROUNDS 15

static uint64_t seed = 88172645463325252u;

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) static uint64_t
read_wide(const unsigned char *p, size_t n)
{
	__m512i a = _mm512_setzero_si512(), b = a, c = a, d = a;

	for (size_t i = 0; i + 256 <= n; i += 256) {
		a = _mm512_add_epi64(a, _mm512_loadu_si512(p + i));
		b = _mm512_add_epi64(b, _mm512_loadu_si512(p + i + 64));
		c = _mm512_add_epi64(c, _mm512_loadu_si512(p + i + 128));
		d = _mm512_add_epi64(d, _mm512_loadu_si512(p + i + 192));
	}
	a = _mm512_add_epi64(_mm512_add_epi64(a, b), _mm512_add_epi64(c, d));
	return (uint64_t)_mm512_reduce_add_epi64(a);
}
#else
static uint64_t read_wide(const unsigned char *p, size_t n)
{
	return n ? p[0] : 0;
}
#endif

static uint64_t read_plain(const unsigned char *p, size_t n)
{
	uint64_t a = 0, b = 0, c = 0, d = 0, w[4];

	if (cpu_best() == CPU_AVX512VNNI || cpu_best() == CPU_AMX)
		return read_wide(p, n);
	for (size_t i = 0; i + 32 <= n; i += 32) {
		memcpy(w, p + i, 32);
		a += w[0];
		b += w[1];
		c += w[2];
		d += w[3];
	}
	return a + b + c + d;
}

static struct vecfile *make(const char *path, size_t rows, int dims)
{
	struct vecfile *v;
	struct remem_err err;
	size_t padded = vec_padded(dims);
	uint64_t *row = mem_alloc(padded);

	unlink(path);
	if (!row || vecfile_open(&v, path, dims, true, &err)) {
		fprintf(stderr, "%s\n", row ? err.message : "no memory");
		exit(1);
	}
	for (size_t i = 0; i < rows; i++) {
		struct vec_meta m = { 1.0f / 127, 1, 1, (uint8_t)(i % 3 + 1),
				      VEC_ALIVE, 0 };

		for (size_t k = 0; k < padded / 8; k++)
			row[k] = next();
		if (vecfile_put(v, i, (int8_t *)row, &m, &err)) {
			fprintf(stderr, "%s\n", err.message);
			exit(1);
		}
	}
	mem_free(row);
	return v;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void sort(double v[ROUNDS])
{
	qsort(v, ROUNDS, sizeof(*v), by_value);
}

static double read_ns(const struct vecfile *v)
{
	static volatile uint64_t sink;
	int64_t t = clock_mono_ns();

	sink += read_plain(v->map, v->map_bytes);
	return (double)(clock_mono_ns() - t);
}

static double scan_ns(const struct scan_question *u, const struct vecfile *v,
		      size_t rows, struct store_scored *hits)
{
	int64_t t = clock_mono_ns();
	struct topk top;

	topk_init(&top, hits, 464);
	scan_vectors(u, v, rows, NULL, &top);
	return (double)(clock_mono_ns() - t);
}

static void measure(const char *path, size_t rows, int dims)
{
	static const enum cpu_level levels[] = { CPU_PORTABLE, CPU_AVX2,
						 CPU_AVX512VNNI, CPU_NEON };
	struct vecfile *v = make(path, rows, dims);
	struct scan_question u = { 0 };
	struct store_scored *hits = mem_array(464, sizeof(*hits));
	float *q = mem_array((size_t)dims, sizeof(*q));
	double bytes = (double)v->blocks * (double)v->block_bytes;

	for (int i = 0; i < dims; i++)
		q[i] = (float)(int8_t)next() / 127;
	for (size_t l = 0; l < sizeof(levels) / sizeof(levels[0]); l++) {
		double scan[ROUNDS], plain[ROUNDS], ratio[ROUNDS];

		if (levels[l] > cpu_best() ||
		    scan_question_init(&u, dims, q, NULL, NULL, NULL))
			continue;
		u.kernel = scan_kernel_for(levels[l]);
		for (int i = 0; i < ROUNDS; i++) {
			plain[i] = read_ns(v);
			scan[i] = scan_ns(&u, v, rows, hits);
			ratio[i] = scan[i] / plain[i];
		}
		sort(scan);
		sort(plain);
		sort(ratio);
		printf("{\"rows\":%zu,\"dims\":%d,\"kernel\":\"%s\","
		       "\"ms\":%.2f,\"gb_s\":%.1f,\"read_ms\":%.2f,"
		       "\"read_gb_s\":%.1f,\"ratio\":%.2f,"
		       "\"ratio_low\":%.2f,\"ratio_high\":%.2f}\n",
		       rows, dims, u.kernel->name, scan[ROUNDS / 2] / 1e6,
		       bytes / scan[ROUNDS / 2], plain[ROUNDS / 2] / 1e6,
		       bytes / plain[ROUNDS / 2], ratio[ROUNDS / 2], ratio[0],
		       ratio[ROUNDS - 1]);
		fflush(stdout);
		scan_question_release(&u);
	}
	vecfile_free(v);
	unlink(path);
	mem_free(hits);
	mem_free(q);
}

int main(int argc, char **argv)
{
	char path[64];

	snprintf(path, sizeof(path), "/var/tmp/bench_scan.%ld.i8",
		 (long)getpid());
	for (int i = 1; i + 1 < argc; i += 2)
		measure(path, strtoul(argv[i], NULL, 10), atoi(argv[i + 1]));
	if (argc < 3) {
		measure(path, 100000, 384);
		measure(path, 1000000, 384);
		measure(path, 100000, 1536);
	}
	return 0;
}
