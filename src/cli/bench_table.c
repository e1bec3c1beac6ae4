/* The verdicts as a table by kind, or as JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "cli/bench.h"

#define KINDS_MAX 200

struct report {
	const struct question *qs;
	const struct verdict *vs;
	size_t n;
	const char *kinds[KINDS_MAX + 1]; /* NULL first: all of them */
	size_t kind_count;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void find_kinds(struct report *r)
{
	r->kind_count = 1;
	for (size_t i = 0; i < r->n; i++) {
		size_t k = 1;

		while (k < r->kind_count &&
		       strcmp(r->kinds[k], r->qs[i].kind))
			k++;
		if (k == r->kind_count && k <= KINDS_MAX)
			r->kinds[r->kind_count++] = r->qs[i].kind;
	}
	qsort(r->kinds + 1, r->kind_count - 1, sizeof(r->kinds[0]), by_name);
}

static bool belongs(const struct report *r, size_t i, const char *kind)
{
	return !kind || !strcmp(r->qs[i].kind, kind);
}

static size_t count(const struct report *r, const char *kind)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		n += belongs(r, i, kind);
	return n;
}

/* NAN when no question of the kind has the figure. */
static double mean(const struct report *r, const char *kind, int figure)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++) {
		double v = r->vs[i].f[figure];

		if (!belongs(r, i, kind) || isnan(v))
			continue;
		sum += v;
		n++;
	}
	return n ? sum / (double)n : NAN;
}

/* Chance that an answerable question's best hit is more relevant than that of
 * one memory cannot answer; ties count half. */
static double auroc(const struct report *r)
{
	double sum = 0;
	size_t pairs = 0;

	for (size_t i = 0; i < r->n; i++) {
		for (size_t k = 0; r->vs[i].answerable && k < r->n; k++) {
			if (r->vs[k].answerable)
				continue;
			pairs++;
			if (r->vs[i].top > r->vs[k].top)
				sum += 1;
			else if (r->vs[i].top == r->vs[k].top)
				sum += 0.5;
		}
	}
	return pairs ? sum / (double)pairs : NAN;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Share of unanswerable questions below the mark that keeps 95 %. */
static double rejected(const struct report *r)
{
	double *tops = mem_zarray(r->n + 1, sizeof(*tops)), mark;
	size_t n = 0, below = 0, others = 0;

	for (size_t i = 0; tops && i < r->n; i++)
		if (r->vs[i].answerable)
			tops[n++] = r->vs[i].top;
	if (!n || n == r->n) {
		mem_free(tops);
		return NAN;
	}
	qsort(tops, n, sizeof(*tops), by_size);
	mark = tops[(size_t)(0.05 * (double)n)];
	for (size_t i = 0; i < r->n; i++) {
		if (r->vs[i].answerable)
			continue;
		others++;
		below += r->vs[i].top < mark || r->vs[i].top < 0;
	}
	mem_free(tops);
	return (double)below / (double)others;
}

static void put_table(const struct report *r)
{
	printf("%-22s%6s", "kind", "n");
	for (int f = 0; f < FIG_COUNT; f++)
		printf("%11s", judge_names[f]);
	putchar('\n');
	for (size_t k = 0; k < r->kind_count; k++) {
		const char *kind = r->kinds[k];

		printf("%-22s%6zu", kind ? kind : "ALL", count(r, kind));
		for (int f = 0; f < FIG_COUNT; f++) {
			double v = mean(r, kind, f);

			if (isnan(v))
				printf("%11s", "-");
			else
				printf(f < FIG_LINES ? "%11.3f" : "%11.1f", v);
		}
		putchar('\n');
	}
}

static void put_json(const struct report *r, struct json *j)
{
	json_key(j, "kinds");
	json_obj(j);
	for (size_t k = 0; k < r->kind_count; k++) {
		const char *kind = r->kinds[k];

		json_key(j, kind ? kind : "ALL");
		json_obj(j);
		json_kint(j, "n", (int64_t)count(r, kind));
		for (int f = 0; f < FIG_COUNT; f++)
			if (!isnan(mean(r, kind, f)))
				json_kfixed(j, judge_names[f],
					    mean(r, kind, f), 4);
		json_end(j);
	}
	json_end(j);
	json_kfixed(j, "auroc", auroc(r), 4);
	json_kfixed(j, "rej@95", rejected(r), 4);
}

int judge_report(struct cli *c, const char *name, const char *mode,
		 const struct question *qs, const struct verdict *vs, size_t n,
		 double index_s, double spent_ms, int64_t degraded)
{
	struct report r = { .qs = qs, .vs = vs, .n = n };
	struct buf b = BUF_INIT(0);
	struct json j;

	find_kinds(&r);
	if (!c->json) {
		printf("%s, %s: %zu questions, index %.1f s, %.2f ms a "
		       "question, %lld degraded\n", name, mode, n, index_s,
		       spent_ms, (long long)degraded);
		put_table(&r);
		if (!isnan(rejected(&r)))
			printf("auroc %.3f, rej@95 %.3f\n", auroc(&r),
			       rejected(&r));
		return EXIT_DONE;
	}
	json_begin(&j, &b);
	json_obj(&j);
	json_kint(&j, "version", 1);
	json_kstr(&j, "set", name);
	json_kstr(&j, "mode", mode);
	json_kint(&j, "questions", (int64_t)n);
	json_kfixed(&j, "indexSeconds", index_s, 2);
	json_kfixed(&j, "searchMs", spent_ms, 3);
	json_kint(&j, "degraded", degraded);
	put_json(&r, &j);
	json_end(&j);
	puts(buf_str(&b));
	buf_release(&b);
	return EXIT_DONE;
}
