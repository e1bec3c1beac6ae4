/* What the whole reaches: first index, nothing to do, cold and warm search. */
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/bench_machine.h"

#define TURNS 7

static double limit_of(const struct machine *m, const char *name)
{
	for (size_t i = 0; i < m->count; i++)
		if (!strcmp(m->rows[i].name, name))
			return m->rows[i].value;
	return 0;
}

static int open_notes(struct machine *m, const char *const *env,
		      struct remem **r)
{
	struct remem_open_opts o;

	if (cli_open_opts(m->c, &o))
		return fail_nomem(&m->err);
	o.workspace = m->notes;
	o.env = env;
	return remem_open(r, &o, &m->err);
}

static int index_notes(struct machine *m, struct remem *r)
{
	struct remem_index_opts o = REMEM_OPTS_INIT(o);
	double files = limit_of(m, "walk and stat"), ms;
	char *json = NULL;
	int64_t start = clock_mono_ns();
	int rc;

	o.text_only = 1;
	rc = remem_index(r, &o, &json, &m->err);
	remem_free(json);
	if (rc)
		return rc;
	bench_add(m, "first index, text", (double)m->note_bytes / 1e6 /
		  bench_seconds(start), "MB/s",
		  limit_of(m, "FTS5 insert of ready-made terms"));
	start = clock_mono_ns();
	rc = remem_index(r, &o, &json, &m->err);
	remem_free(json);
	ms = files > 0 ? m->note_count / files * 1e3 : 0;
	bench_add(m, "index with nothing to do", bench_seconds(start) * 1e3,
		  "ms", ms);
	return rc;
}

static int ask(struct machine *m, struct remem *r)
{
	struct remem_search_opts o = REMEM_OPTS_INIT(o);
	struct buf b = BUF_INIT(0);
	int64_t best = INT64_MAX;
	int rc = 0;

	o.mode = REMEM_MODE_TEXT;
	o.no_sync = 1;
	bench_query(&b);
	for (int i = 0; !rc && i < TURNS; i++) {
		struct remem_results *res = NULL;
		int64_t start = clock_mono_ns(), took;

		rc = remem_search(r, buf_str(&b), b.len, &o, &res, &m->err);
		took = clock_mono_ns() - start;
		best = took < best ? took : best;
		remem_results_free(res);
	}
	if (!rc)
		bench_add(m, "warm search by keywords", (double)best / 1e6,
			  "ms", 0);
	buf_release(&b);
	return rc;
}

/* A process from its start to its end, standard output thrown away. */
static double run_program(struct machine *m, const char *const *argv,
			  const char *const *env)
{
	posix_spawn_file_actions_t files;
	int64_t start = clock_mono_ns();
	int status = 0;
	pid_t pid;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 1, "/dev/null", 1, 0);
	if (posix_spawn(&pid, m->c->program, &files, NULL,
			(char *const *)argv, (char *const *)env))
		pid = -1;
	posix_spawn_file_actions_destroy(&files);
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || status)
		return -1;
	return bench_seconds(start) * 1e3;
}

static void cold(struct machine *m, const char *name, const char *const *argv,
		 const char *const *env)
{
	double best = -1;

	for (int i = 0; i < TURNS; i++) {
		double ms = run_program(m, argv, env);

		if (ms >= 0 && (best < 0 || ms < best))
			best = ms;
	}
	if (best >= 0)
		bench_add(m, name, best, "ms", 0);
}

/* The environment with a home of the bench's own. */
static const char *const *make_env(struct machine *m)
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
	env[k++] = arena_printf(&m->c->a, "XDG_CACHE_HOME=%s/cache", m->dir);
	env[k++] = arena_printf(&m->c->a, "XDG_STATE_HOME=%s/state", m->dir);
	env[k++] = arena_printf(&m->c->a, "XDG_CONFIG_HOME=%s/config", m->dir);
	return m->c->a.failed ? NULL : env;
}

int bench_whole(struct machine *m)
{
	const char *const *env = make_env(m);
	const char *version[] = { "remem", "version", NULL };
	struct buf query = BUF_INIT(0);
	const char *search[] = { "remem", "-q", "-w", m->notes, "search",
				 "--mode", "text", "--", NULL, NULL };
	struct remem *r = NULL;
	int rc = env ? open_notes(m, env, &r) : fail_nomem(&m->err);

	if (!rc)
		rc = index_notes(m, r);
	if (!rc)
		rc = ask(m, r);
	remem_close(r);
	if (!rc) {
		bench_query(&query);
		search[8] = buf_str(&query);
		cold(m, "start of the program", version, env);
		cold(m, "cold search by keywords", search, env);
	}
	buf_release(&query);
	return rc;
}
