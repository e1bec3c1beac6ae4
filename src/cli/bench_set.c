/*
 * Quality on a judged set: queries.jsonl, qrels.jsonl and workspaces/. Each
 * workspace has an index of its own below remem/bench in the cache folder, and
 * stays there with its vectors, so that a second run embeds nothing. The
 * user's settings do not count, those of --set and --config do.
 */
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/path.h"
#include "cli/bench.h"

#define SET_MAX_BYTES ((size_t)1 << 30)
#define RESULTS 10

struct run {
	struct cli *c;
	const char *dir, *name;
	const char *const *env; /* with the folders of the bench */
	struct question *qs;
	size_t count, cap;
	struct verdict *vs;
	size_t *by_id; /* open addressing over qs, 0 empty */
	size_t slots;
	struct line_lengths lines;
	struct remem_search_opts o;
	bool threshold;
	FILE *out; /* --run */
	double index_s;
	int64_t spent_ns, degraded;
};

typedef int (*line_fn)(struct run *run, yyjson_val *v);

static int each_line(struct run *run, const char *file, line_fn fn)
{
	const char *path = path_join(&run->c->a, run->dir, file);
	struct buf b = BUF_INIT(SET_MAX_BYTES);
	struct remem_err err = { 0 };
	int rc = path ? file_read(&b, path, &err) : REMEM_ENOMEM;
	size_t at = 0;

	while (!rc && at < b.len) {
		const char *line = b.ptr + at;
		const char *nl = memchr(line, '\n', b.len - at);
		size_t n = nl ? (size_t)(nl - line) : b.len - at;
		yyjson_doc *doc;

		at += n + 1;
		if (!n)
			continue;
		if ((rc = json_read(&doc, line, n, false, path, &err)))
			break;
		rc = fn(run, yyjson_doc_get_root(doc));
		yyjson_doc_free(doc);
		if (rc)
			fail_nomem(&err);
	}
	buf_release(&b);
	return rc ? cli_fail(run->c, &err) : EXIT_DONE;
}

static const char *text(struct run *run, yyjson_val *v, const char *key)
{
	const char *s = json_str(v, key, NULL);

	return s ? arena_strdup(&run->c->a, s) : NULL;
}

static int add_question(struct run *run, yyjson_val *v)
{
	const char *kind = cli_value(run->c, "kind");
	struct question *q;

	if (kind && strcmp(kind, json_str(v, "kind", "")))
		return 0;
	run->qs = arena_grow(&run->c->a, run->qs, &run->cap, run->count + 1,
			     sizeof(*run->qs));
	if (!run->qs)
		return REMEM_ENOMEM;
	q = &run->qs[run->count++];
	q->id = text(run, v, "query_id");
	q->workspace = text(run, v, "workspace");
	q->kind = text(run, v, "kind");
	q->text = text(run, v, "query");
	q->now = text(run, v, "now");
	if (!q->id || !q->workspace || !q->text)
		return REMEM_EFORMAT;
	q->kind = q->kind ? q->kind : "";
	q->len = strlen(q->text);
	return run->c->a.failed ? REMEM_ENOMEM : 0;
}

static size_t slot_of(const struct run *run, const char *id)
{
	size_t i = (size_t)hash64(id, strlen(id), 0) & (run->slots - 1);

	while (run->by_id[i] && strcmp(run->qs[run->by_id[i] - 1].id, id))
		i = (i + 1) & (run->slots - 1);
	return i;
}

static int make_table(struct run *run)
{
	run->slots = 64;
	while (run->slots < run->count * 2)
		run->slots *= 2;
	run->by_id = ARENA_ARRAY(&run->c->a, size_t, run->slots);
	run->vs = ARENA_ARRAY(&run->c->a, struct verdict, run->count + 1);
	if (!run->by_id || !run->vs)
		return EXIT_FAILED;
	for (size_t i = 0; i < run->count; i++)
		run->by_id[slot_of(run, run->qs[i].id)] = i + 1;
	return EXIT_DONE;
}

static enum role role_of(const char *name)
{
	static const char *const names[] = { "relevant", "superseded",
					     "poison" };
	int i = 0;

	while (i < ROLE_OTHER && strcmp(names[i], name))
		i++;
	return (enum role)i;
}

static int add_row(struct run *run, yyjson_val *v)
{
	size_t i = run->by_id[slot_of(run, json_str(v, "query_id", ""))];
	struct question *q = i ? &run->qs[i - 1] : NULL;
	struct judged *row;

	if (!q)
		return 0;
	q->rows = arena_grow(&run->c->a, q->rows, &q->row_cap,
			     q->row_count + 1, sizeof(*q->rows));
	if (!q->rows)
		return REMEM_ENOMEM;
	row = &q->rows[q->row_count++];
	row->path = text(run, v, "path");
	row->alt = text(run, v, "alt");
	row->first = (int)json_int(v, "startLine", 0);
	row->last = (int)json_int(v, "endLine", 0);
	row->grade = json_num(v, "grade", 1);
	row->role = role_of(json_str(v, "role", "relevant"));
	return row->path ? 0 : REMEM_EFORMAT;
}

/* The environment with caches, state and settings of the bench's own. */
static int make_env(struct run *run)
{
	static const char *const own[] = { "XDG_CACHE_HOME", "XDG_STATE_HOME",
					   "XDG_CONFIG_HOME" };
	const char *cache = NULL, *home = "", **env;
	size_t n = 0, k = 0;

	while (run->c->env[n]) {
		const char *v = run->c->env[n++];

		if (!strncmp(v, "XDG_CACHE_HOME=/", 16))
			cache = v + 15;
		if (!strncmp(v, "HOME=", 5))
			home = v + 5;
	}
	if (!cache)
		cache = arena_printf(&run->c->a, "%s/.cache", home);
	env = ARENA_ARRAY(&run->c->a, const char *, n + 4);
	for (size_t i = 0; env && i < n; i++) {
		bool ours = false;

		for (size_t m = 0; m < ARRAY_LEN(own); m++)
			ours = ours || !strncmp(run->c->env[i], own[m],
						strlen(own[m]));
		if (!ours)
			env[k++] = run->c->env[i];
	}
	for (size_t m = 0; env && m < ARRAY_LEN(own); m++)
		env[k++] = arena_printf(&run->c->a, "%s=%s/remem/bench",
					own[m], cache);
	run->env = env;
	return run->c->a.failed ? EXIT_FAILED : EXIT_DONE;
}

static int open_workspace(struct run *run, const char *name,
			  struct remem **out, struct remem_err *err)
{
	struct remem_open_opts o;

	if (cli_open_opts(run->c, &o))
		return fail_nomem(err);
	o.workspace = arena_printf(&run->c->a, "%s/workspaces/%s", run->dir,
				   name);
	o.env = run->env;
	return remem_open(out, &o, err);
}

static int bring_up(struct run *run, struct remem *r, struct remem_err *err)
{
	struct remem_index_opts o = REMEM_OPTS_INIT(o);
	int64_t start = clock_mono_ns();
	struct meter meter;
	char *json = NULL;
	int rc;

	meter_init(&meter, run->c);
	o.text_only = run->o.mode == REMEM_MODE_TEXT;
	o.wait_ms = -1;
	o.progress = meter_step;
	o.progress_ctx = &meter;
	rc = remem_index(r, &o, &json, err);
	meter_end(&meter);
	remem_free(json);
	run->index_s += (double)(clock_mono_ns() - start) / 1e9;
	return rc;
}

static void write_hit(struct json *j, const struct remem_hit *h)
{
	json_obj(j);
	json_kstr(j, "path", h->path);
	json_kint(j, "startLine", h->start_line);
	json_kint(j, "endLine", h->end_line);
	/* Evaluators compare the best scores of questions with each other. */
	json_kfixed(j, "score", h->relevance, 4);
	if (h->flags[0]) {
		json_key(j, "flags");
		json_arr(j);
		json_put_str(j, h->flags);
		json_arr_end(j);
	}
	json_end(j);
}

static void write_run(struct run *run, const struct question *q,
		      const struct remem_results *res)
{
	struct buf b = BUF_INIT(0);
	struct json j;

	if (!run->out)
		return;
	json_begin(&j, &b);
	json_obj(&j);
	json_kstr(&j, "query_id", q->id);
	json_key(&j, "results");
	json_arr(&j);
	for (size_t i = 0; i < remem_results_count(res); i++)
		write_hit(&j, remem_results_hit(res, i));
	json_arr_end(&j);
	json_end(&j);
	fprintf(run->out, "%s\n", buf_str(&b));
	buf_release(&b);
}

static void judge_one(struct run *run, size_t i,
		      const struct remem_results *res)
{
	size_t n = remem_results_count(res);
	struct arena a = ARENA_INIT;
	struct found *hits = ARENA_ARRAY(&a, struct found, n + 1);

	for (size_t k = 0; hits && k < n; k++) {
		const struct remem_hit *h = remem_results_hit(res, k);

		hits[k].path = h->path;
		hits[k].first = h->start_line;
		hits[k].last = h->end_line;
		hits[k].relevance = h->relevance;
		hits[k].flagged = strstr(h->flags, "injection") != NULL;
	}
	judge(&run->vs[i], &run->qs[i], hits, hits ? n : 0, &run->lines);
	arena_release(&a);
}

static int ask(struct run *run, struct remem *r, size_t i,
	       struct remem_err *err)
{
	const struct question *q = &run->qs[i];
	struct remem_search_opts o = run->o;
	struct remem_results *res;
	int64_t start = clock_mono_ns();
	int rc;

	o.now = q->now;
	if ((rc = remem_search(r, q->text, q->len, &o, &res, err)))
		return rc;
	run->spent_ns += clock_mono_ns() - start;
	run->degraded += remem_results_degraded(res) != NULL;
	write_run(run, q, res);
	judge_one(run, i, res);
	remem_results_free(res);
	return 0;
}

static int ask_all(struct run *run, const char *workspace,
		   struct remem_err *err)
{
	struct remem *r = NULL;
	int rc = open_workspace(run, workspace, &r, err);

	if (!rc)
		rc = bring_up(run, r, err);
	for (size_t i = 0; !rc && i < run->count; i++)
		if (!strcmp(run->qs[i].workspace, workspace))
			rc = ask(run, r, i, err);
	remem_close(r);
	return rc;
}

static int run_all(struct run *run)
{
	struct remem_err err = { 0 };

	for (size_t i = 0; i < run->count; i++) {
		size_t k = 0;

		while (k < i && strcmp(run->qs[k].workspace,
				       run->qs[i].workspace))
			k++;
		if (k == i && ask_all(run, run->qs[i].workspace, &err))
			return cli_fail(run->c, &err);
	}
	return EXIT_DONE;
}

static int take_opts(struct run *run)
{
	static const char *const modes[] = { "hybrid", "text", "vector" };
	const char *mode = cli_value(run->c, "mode");
	size_t i = 0;

	run->o = (struct remem_search_opts)REMEM_OPTS_INIT(run->o);
	run->o.max_results = RESULTS;
	run->o.no_sync = 1;
	run->o.min_score = cli_flag(run->c, "abstain") ? 0 : -1;
	if (!cli_int(run->c, "limit", 1, 1000, &run->o.max_results))
		return EXIT_USAGE;
	while (mode && i < ARRAY_LEN(modes) && strcmp(modes[i], mode))
		i++;
	if (i == ARRAY_LEN(modes))
		return cli_usage(run->c, "--mode is hybrid, text or vector, "
				 "not '%.40s'", mode);
	run->o.mode = (enum remem_mode)i;
	return EXIT_DONE;
}

static int load(struct run *run)
{
	int rc;

	if ((rc = take_opts(run)) || (rc = make_env(run)) ||
	    (rc = each_line(run, "queries.jsonl", add_question)) ||
	    (rc = make_table(run)) ||
	    (rc = each_line(run, "qrels.jsonl", add_row)))
		return rc;
	if (!run->count)
		return cli_usage(run->c, "the set has no such questions");
	return EXIT_DONE;
}

static int open_run_file(struct run *run)
{
	const char *path = cli_value(run->c, "run");

	if (!path)
		return EXIT_DONE;
	run->out = fopen(path, "w");
	return run->out ? EXIT_DONE :
			  cli_usage(run->c, "cannot write '%s'", path);
}

int bench_set(struct cli *c)
{
	static const char *const modes[] = { "hybrid", "text", "vector" };
	struct run run = { .c = c, .dir = cli_value(c, "set") };
	char *real;
	int rc;

	if (path_real(&real, &c->a, run.dir, NULL))
		return cli_usage(c, "there is no folder '%s'", run.dir);
	run.dir = real;
	run.name = path_base(real);
	run.lines.a = &c->a;
	run.lines.root = path_join(&c->a, real, "workspaces");
	if (!(rc = load(&run)) && !(rc = open_run_file(&run)))
		rc = run_all(&run);
	if (run.out && (ferror(run.out) | fclose(run.out)) && !rc)
		rc = cli_usage(c, "cannot write '%s'", cli_value(c, "run"));
	if (rc)
		return rc;
	return judge_report(c, run.name, modes[run.o.mode], run.qs, run.vs,
			    run.count, run.index_s,
			    (double)run.spent_ns / 1e6 / (double)run.count,
			    run.degraded);
}
