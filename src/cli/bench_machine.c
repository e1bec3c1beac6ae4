/*
 * Speed beside the limits of this machine, in one run, so that the ratios
 * mean something on a busy machine too. Takes some seconds; everything it
 * makes lies in a temporary folder that it removes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/path.h"
#include "cli/bench_machine.h"

#define NOTES 2000

void bench_add(struct machine *m, const char *name, double value,
	       const char *unit, double limit)
{
	if (m->count < BENCH_ROWS)
		m->rows[m->count++] =
			(struct row){ name, value, unit, limit };
}

double bench_seconds(int64_t since_ns)
{
	return (double)(clock_mono_ns() - since_ns + 1) / 1e9;
}

static void put_table(const struct machine *m)
{
	for (size_t i = 0; i < m->count; i++) {
		const struct row *r = &m->rows[i];

		printf("%-40s %12.*f %-9s", r->name, r->value < 100 ? 2 : 0,
		       r->value, r->unit);
		if (r->limit > 0)
			printf(" limit %.*f, %.2f of it", r->limit < 100 ? 2 : 0,
			       r->limit, r->value / r->limit);
		putchar('\n');
	}
}

static void put_json(const struct machine *m)
{
	struct buf b = BUF_INIT(0);
	struct json j;

	json_begin(&j, &b);
	json_obj(&j);
	json_kint(&j, "version", 1);
	json_key(&j, "benchmarks");
	json_arr(&j);
	for (size_t i = 0; i < m->count; i++) {
		const struct row *r = &m->rows[i];

		json_obj(&j);
		json_kstr(&j, "name", r->name);
		json_kfixed(&j, "value", r->value, 3);
		json_kstr(&j, "unit", r->unit);
		json_key(&j, "limit");
		if (r->limit > 0)
			json_put_fixed(&j, r->limit, 3);
		else
			json_put_null(&j);
		json_end(&j);
	}
	json_arr_end(&j);
	json_end(&j);
	puts(buf_str(&b));
	buf_release(&b);
}

static const char *make_dir(struct cli *c)
{
	const char *root = "/tmp";
	char *dir;

	for (size_t i = 0; c->env[i]; i++)
		if (!strncmp(c->env[i], "TMPDIR=/", 8))
			root = c->env[i] + 7;
	dir = arena_printf(&c->a, "%s/remem-bench-XXXXXX", root);
	return dir ? mkdtemp(dir) : NULL;
}

static int measure(struct machine *m)
{
	m->notes = path_join(&m->c->a, m->dir, "notes");
	m->note_count = NOTES;
	if (!m->notes)
		return fail_nomem(&m->err);
	if (bench_workspace(m->notes, NOTES, &m->note_bytes, &m->err))
		return m->err.code;
	bench_limits(m);
	bench_parts(m);
	return bench_whole(m);
}

int bench_machine(struct cli *c)
{
	struct machine m = { .c = c, .dir = make_dir(c) };
	int rc;

	if (!m.dir)
		return cli_usage(c, "cannot make a temporary folder");
	rc = measure(&m);
	dir_remove(m.dir, NULL);
	if (rc)
		return cli_fail(c, &m.err);
	if (c->json)
		put_json(&m);
	else
		put_table(&m);
	return EXIT_DONE;
}
