/*
 * Speed beside the limits of this machine, in one run, so that the ratios
 * mean something on a busy machine too: several turns, in each of which a limit
 * and what it bounds are measured one after the other. Everything that is made
 * lies in a temporary folder that is removed.
 */
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "cli/bench_machine.h"

#define NOTES 2000
#define TURNS 5
#define VECTORS "100000x384,1000000x384,100000x1536"

void bench_add(struct machine *m, const char *name, double value,
	       const char *unit, double limit)
{
	struct row *r = m->rows;

	while (r < m->rows + m->count && strcmp(r->name, name) != 0)
		r++;
	if (r == m->rows + BENCH_ROWS || r->count == BENCH_TURNS)
		return;
	if (r == m->rows + m->count) {
		m->count++;
		r->name = name;
		r->unit = unit;
	}
	r->value[r->count] = value;
	r->limit[r->count++] = limit;
}

double bench_last(const struct machine *m, const char *name)
{
	for (size_t i = 0; i < m->count; i++)
		if (!strcmp(m->rows[i].name, name))
			return m->rows[i].value[m->rows[i].count - 1];
	return 0;
}

double bench_seconds(int64_t since_ns)
{
	return (double)(clock_mono_ns() - since_ns + 1) / 1e9;
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

/* The environment with a home of the bench's own below its folder. */
static const char *const *make_env(struct machine *m, const char *home)
{
	size_t n = 0, k = 0;
	const char **env;

	while (m->c->env[n])
		n++;
	env = ARENA_ARRAY(&m->c->a, const char *, n + 4);
	for (size_t i = 0; env && i < n; i++)
		if (strncmp(m->c->env[i], "XDG_CACHE_HOME=", 15) &&
		    strncmp(m->c->env[i], "XDG_STATE_HOME=", 15) &&
		    strncmp(m->c->env[i], "XDG_CONFIG_HOME=", 16))
			env[k++] = m->c->env[i];
	if (!env)
		return NULL;
	env[k++] = arena_printf(&m->c->a, "XDG_CACHE_HOME=%s/%s/cache",
				m->dir, home);
	env[k++] = arena_printf(&m->c->a, "XDG_STATE_HOME=%s/%s/state",
				m->dir, home);
	env[k++] = arena_printf(&m->c->a, "XDG_CONFIG_HOME=%s/%s/config",
				m->dir, home);
	return m->c->a.failed ? NULL : env;
}

int bench_open(struct machine *m, const char *workspace, struct remem **r)
{
	struct remem_open_opts o;

	if (cli_open_opts(m->c, &o))
		return fail_nomem(&m->err);
	o.workspace = workspace;
	o.env = workspace == m->few ? m->few_env : m->env;
	return remem_open(r, &o, &m->err);
}

static int measure(struct machine *m)
{
	int rc;

	m->env = make_env(m, "home");
	m->few_env = make_env(m, "few-home");
	m->notes = path_join(&m->c->a, m->dir, "notes");
	if (!m->env || !m->few_env || !m->notes)
		return fail_nomem(&m->err);
	if ((rc = bench_workspace(m->notes, (unsigned)m->note_count,
				  &m->note_bytes, &m->err)) ||
	    (rc = bench_few(m)))
		return rc;
	for (int turn = 0; !rc && turn < m->turns; turn++) {
		bench_limits(m);
		bench_parts(m);
		if (!(rc = bench_index(m)))
			rc = bench_searches(m);
	}
	return rc;
}

int bench_machine(struct cli *c)
{
	struct machine m = { .c = c, .note_count = NOTES, .turns = TURNS };
	const char *vectors = cli_value(c, "vectors");
	int rc;

	if (!cli_int(c, "notes", 10, 100000, &m.note_count) ||
	    !cli_int(c, "repeat", 1, BENCH_TURNS, &m.turns))
		return EXIT_USAGE;
	if (!(m.dir = make_dir(c)))
		return cli_usage(c, "cannot make a temporary folder");
	rc = bench_vectors(&m, vectors ? vectors : VECTORS);
	if (!rc && measure(&m))
		rc = cli_fail(c, &m.err);
	dir_remove(m.dir, NULL);
	if (!rc)
		bench_put(&m);
	return rc;
}
