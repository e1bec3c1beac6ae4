/* What the whole reaches: index, cold and warm searches, bad questions. */
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

#include "base/path.h"
#include "cli/bench_machine.h"

#define FEW 10 /* notes with vectors: some seconds on a slow machine */
#define WARM 5 /* the best of so many: what others do counts for less */

static int index_once(struct machine *m, struct remem *r, bool text_only,
		      double *seconds)
{
	struct remem_index_opts o = REMEM_OPTS_INIT(o);
	int64_t start = clock_mono_ns();
	char *json = NULL;
	int rc;

	o.text_only = text_only;
	rc = remem_index(r, &o, &json, &m->err);
	*seconds = bench_seconds(start);
	remem_free(json);
	return rc;
}

/* The first note with a line more, another in each turn. */
static int change_note(struct machine *m)
{
	const char *path = path_join(&m->c->a, m->notes,
				     "memory/note-00000.md");
	struct buf b = BUF_INIT(0);
	int rc;

	bench_note(&b, 0, BENCH_MIXED);
	buf_addf(&b, "- changed at %lld\n", (long long)clock_mono_ns());
	rc = path ? file_write_atomic(path, buf_str(&b), b.len, 0600,
				      &m->err) : fail_nomem(&m->err);
	buf_release(&b);
	return rc;
}

static int index_notes(struct machine *m, struct remem *r)
{
	double walk = bench_last(m, "walk and stat of the notes"), s;
	int rc;

	if ((rc = index_once(m, r, true, &s)))
		return rc;
	bench_add(m, "first index, text", (double)m->note_bytes / 1e6 / s,
		  "MB/s", bench_last(m, "FTS5 insert of ready-made terms"));
	if ((rc = index_once(m, r, true, &s)))
		return rc;
	bench_add(m, "index with nothing to do", s * 1e3, "ms", walk);
	if ((rc = change_note(m)) || (rc = index_once(m, r, true, &s)))
		return rc;
	bench_add(m, "index with one file changed", s * 1e3, "ms", walk);
	return 0;
}

/* From nothing, each turn anew. */
int bench_index(struct machine *m)
{
	const char *home = path_join(&m->c->a, m->dir, "home");
	struct remem *r = NULL;
	int rc = home ? dir_remove(home, &m->err) : fail_nomem(&m->err);

	if (!rc)
		rc = bench_open(m, m->notes, &r);
	if (!rc)
		rc = index_notes(m, r);
	remem_close(r);
	return rc;
}

static int ask(struct machine *m, struct remem *r, const char *name,
	       const char *text, size_t len, enum remem_mode mode)
{
	struct remem_search_opts o = REMEM_OPTS_INIT(o);
	double best = 0;

	o.mode = mode;
	o.no_sync = 1;
	for (int i = 0; i < WARM; i++) {
		struct remem_results *res = NULL;
		int64_t start = clock_mono_ns();
		int rc = remem_search(r, text, len, &o, &res, &m->err);
		double ms = bench_seconds(start) * 1e3;

		remem_results_free(res);
		if (rc)
			return rc;
		best = !i || ms < best ? ms : best;
	}
	bench_add(m, name, best, "ms", 0);
	return 0;
}

/* What a careless asker sends: nothing but common words, one character, a
 * whole page. */
static int ask_badly(struct machine *m, struct remem *r)
{
	static const char common[] = "what is the of and to in that it was";
	struct buf page = BUF_INIT(0);
	int rc;

	for (unsigned i = 0; i < 2; i++)
		bench_note(&page, 100 + i, BENCH_LATIN);
	if ((rc = ask(m, r, "warm search, stop words", common,
		      sizeof(common) - 1, REMEM_MODE_TEXT)) ||
	    (rc = ask(m, r, "warm search, one Chinese character", "一", 3,
		      REMEM_MODE_TEXT)) ||
	    (rc = ask(m, r, "warm search, a page as question", buf_str(&page),
		      page.len, REMEM_MODE_TEXT)))
		goto out;
out:
	buf_release(&page);
	return rc;
}

static int warm(struct machine *m, const char *query, size_t len)
{
	struct remem *r = NULL;
	int rc = bench_open(m, m->notes, &r);

	if (!rc)
		rc = ask(m, r, "warm search by keywords", query, len,
			 REMEM_MODE_TEXT);
	if (!rc)
		rc = ask_badly(m, r);
	remem_close(r);
	if (rc || !m->few)
		return rc;
	r = NULL;
	if (!(rc = bench_open(m, m->few, &r)))
		rc = ask(m, r, "warm search by meaning, few notes", query, len,
			 REMEM_MODE_HYBRID);
	remem_close(r);
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
		 const char *const *env, double limit)
{
	double best = -1;

	for (int i = 0; i < WARM; i++) {
		double ms = run_program(m, argv, env);

		if (ms >= 0 && (best < 0 || ms < best))
			best = ms;
	}
	if (best >= 0)
		bench_add(m, name, best, "ms", limit);
}

int bench_searches(struct machine *m)
{
	struct buf query = BUF_INIT(0);
	const char *version[] = { "remem", "version", NULL };
	const char *search[] = { "remem", "-q", "-w", m->notes, "search",
				 "--mode", "text", "--", NULL, NULL };
	double start;
	int rc;

	bench_query(&query);
	if ((rc = warm(m, buf_str(&query), query.len)))
		goto out;
	search[8] = buf_str(&query);
	cold(m, "start of the program", version, m->env, 0);
	start = bench_last(m, "start of the program");
	cold(m, "cold search by keywords", search, m->env, start);
	search[3] = m->few;
	search[6] = "hybrid";
	if (m->few)
		cold(m, "cold search by meaning, few notes", search,
		     m->few_env, start);
out:
	buf_release(&query);
	return rc;
}

/* Its home stays between the turns; without the model there is none. */
int bench_few(struct machine *m)
{
	const char *dir = path_join(&m->c->a, m->dir, "few");
	struct remem *r = NULL;
	size_t bytes;
	double s;
	int rc;

	if (!dir)
		return fail_nomem(&m->err);
	m->few = dir;
	if (!(rc = bench_workspace(dir, FEW, &bytes, &m->err)))
		rc = bench_open(m, dir, &r);
	if (!rc && !index_once(m, r, false, &s))
		bench_add(m, "first index with vectors", (double)bytes / 1e3 /
			  s, "kB/s", 0);
	else
		m->few = NULL;
	remem_close(r);
	return rc;
}
