/* The rows of a bench as a table or as JSON: median and range of the turns. */
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/json.h"
#include "cli/bench_machine.h"

struct spread {
	double low, median, high;
};

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct spread spread_of(const double *v, int n)
{
	double sorted[BENCH_TURNS];

	memcpy(sorted, v, (size_t)n * sizeof(*v));
	qsort(sorted, (size_t)n, sizeof(*v), by_size);
	return (struct spread){ sorted[0],
				(sorted[(n - 1) / 2] + sorted[n / 2]) / 2,
				sorted[n - 1] };
}

/* Of value to limit, turn by turn; false when a turn has no limit. */
static bool ratio_of(struct spread *out, const struct row *r)
{
	double v[BENCH_TURNS];

	for (int i = 0; i < r->count; i++) {
		if (!(r->limit[i] > 0))
			return false;
		v[i] = r->value[i] / r->limit[i];
	}
	*out = spread_of(v, r->count);
	return true;
}

static int decimals(double v)
{
	return v < 10 ? 2 : v < 100 ? 1 : 0;
}

static void put_number(double v, int width)
{
	printf(" %*.*f", width, decimals(v), v);
}

static void put_table(const struct machine *m)
{
	printf("%d turns, vector instructions: %s\n", m->turns,
	       cpu_name(cpu_best()));
	printf("%-42s %9s %9s %9s %-9s %9s %6s\n", "", "median", "from", "to",
	       "", "limit", "ratio");
	for (size_t i = 0; i < m->count; i++) {
		const struct row *r = &m->rows[i];
		struct spread s = spread_of(r->value, r->count), ratio;

		printf("%-42s", r->name);
		put_number(s.median, 9);
		put_number(s.low, 9);
		put_number(s.high, 9);
		printf(" %-9s", r->unit);
		if (ratio_of(&ratio, r)) {
			put_number(spread_of(r->limit, r->count).median, 9);
			put_number(ratio.median, 6);
		}
		putchar('\n');
	}
}

static void put_spread(struct json *j, const struct spread *s)
{
	json_kfixed(j, "value", s->median, 3);
	json_kfixed(j, "low", s->low, 3);
	json_kfixed(j, "high", s->high, 3);
}

static void put_row(struct json *j, const struct row *r)
{
	struct spread s = spread_of(r->value, r->count), ratio;

	json_obj(j);
	json_kstr(j, "name", r->name);
	put_spread(j, &s);
	json_kstr(j, "unit", r->unit);
	json_kint(j, "turns", r->count);
	if (ratio_of(&ratio, r)) {
		json_kfixed(j, "limit", spread_of(r->limit, r->count).median,
			    3);
		json_kfixed(j, "ratio", ratio.median, 3);
	} else {
		json_key(j, "limit");
		json_put_null(j);
		json_key(j, "ratio");
		json_put_null(j);
	}
	json_end(j);
}

static void put_json(const struct machine *m)
{
	struct buf b = BUF_INIT(0);
	struct json j;

	json_begin(&j, &b);
	json_obj(&j);
	json_kint(&j, "version", 1);
	json_kint(&j, "repeat", m->turns);
	json_kstr(&j, "cpu", cpu_name(cpu_best()));
	json_key(&j, "benchmarks");
	json_arr(&j);
	for (size_t i = 0; i < m->count; i++)
		put_row(&j, &m->rows[i]);
	json_arr_end(&j);
	json_end(&j);
	puts(buf_str(&b));
	buf_release(&b);
}

void bench_put(const struct machine *m)
{
	if (m->c->json)
		put_json(m);
	else
		put_table(m);
}
