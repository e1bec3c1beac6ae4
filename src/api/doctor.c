/*
 * remem_doctor(): one check after the other, each with its repair. What is
 * repaired is derived data and leftovers, never anything a person wrote.
 */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "api/public.h"
#include "api/scale.h"
#include "api/survey.h"
#include "base/file.h"
#include "base/path.h"
#include "memory/leak.h"

/* OpenClaw gives the model about 20,000 characters of MEMORY.md. */
#define MEMORY_WARN_BYTES 16000

#define LEAKS_SHOWN 20 /* more hide the other checks */

enum level { OK, WARNING, ERROR };

struct doctor {
	struct survey s;
	struct json j;
	bool fix, failed;
};

static void say(struct doctor *d, const char *name, enum level level,
		bool fixed, const char *message, const char *action)
{
	static const char *const names[] = { "ok", "warning", "error" };

	d->failed = d->failed || (level == ERROR && !fixed);
	json_obj(&d->j);
	json_kstr(&d->j, "name", name);
	json_kstr(&d->j, "status", names[level]);
	json_kstr(&d->j, "message", message);
	json_kstr(&d->j, "action", action ? action : "");
	json_kbool(&d->j, "fixed", fixed);
	json_end(&d->j);
}

static void check_workspace(struct doctor *d)
{
	struct remem *r = d->s.r;
	const char *memory = path_join(&d->s.a, r->workspace, "memory");
	const char *file = path_join(&d->s.a, r->workspace, "MEMORY.md");

	if (d->s.walk_err.code)
		say(d, "workspace", ERROR, false, d->s.walk_err.message,
		    d->s.walk_err.action);
	else if (memory && file && !file_exists(memory) && !file_exists(file))
		say(d, "workspace", WARNING, false, arena_printf(
			&d->s.a, "'%s' has neither MEMORY.md nor memory/",
			r->workspace), "remem init makes them");
	else
		say(d, "workspace", OK, false, r->workspace, NULL);
}

/* Where the state says the workspace is. */
static void check_place(struct doctor *d)
{
	struct remem *r = d->s.r;
	struct state *s = NULL;
	const char *path = "";
	uint64_t dev, inode;
	bool fixed;

	if (!r->id[0] ||
	    state_open(&s, r->state_base, r->id, true, NULL))
		return;
	if (state_workspace(s, &d->s.a, &path, &dev, &inode, NULL))
		path = "";
	state_close(s);
	if (!path[0] || !strcmp(path, r->workspace))
		return;
	fixed = d->fix && !r->read_only && !handle_id(r, true, NULL);
	say(d, "place", WARNING, fixed, arena_printf(
		&d->s.a, "the workspace was moved here from '%s'", path),
	    "the next remem index writes it down");
}

static void check_roots(struct doctor *d)
{
	for (int i = 0; i < d->s.list.root_count; i++) {
		const struct source_root *root = &d->s.list.roots[i];

		if (root->problem)
			say(d, "folder", root->incomplete ? ERROR : WARNING,
			    false, arena_printf(&d->s.a, "'%s': %s",
						root->path, root->problem),
			    "look at its permissions and at "
			    "memorySearch.extraPaths");
	}
	for (int i = 0; i < d->s.list.unread_count; i++)
		say(d, "folder", ERROR, false, arena_printf(
			&d->s.a, "'%s' cannot be read; what is indexed of it "
			"stays", d->s.list.unread[i]),
		    "look at its permissions");
}

static void check_settings(struct doctor *d)
{
	struct settings *s = &d->s.r->settings;

	for (size_t i = 0; i < s->warning_count; i++)
		say(d, "settings", WARNING, false, s->warnings[i],
		    "edit the file, or remem config set KEY VALUE");
	if (!s->warning_count)
		say(d, "settings", OK, false, "nothing to say", NULL);
}

/* The nearest part of path that is there. */
static const char *existing(struct arena *a, const char *path)
{
	while (path && path[0] == '/' && path[1] && !file_exists(path))
		path = path_dir(a, path);
	return path;
}

/* Less than an index of a few thousand notes takes. */
#define LOW_BYTES (16 << 20)

static bool is_low(const char *path)
{
	struct statvfs v;

	return path && !statvfs(path, &v) &&
	       (double)v.f_bavail * (double)v.f_frsize < LOW_BYTES;
}

static void check_folder(struct doctor *d, const char *name, const char *path)
{
	const char *there = existing(&d->s.a, path);

	if (!path)
		say(d, name, ERROR, false, "there is no home folder",
		    "set HOME");
	else if (there && access(there, R_OK | W_OK | X_OK))
		say(d, name, d->s.r->read_only ? WARNING : ERROR, false,
		    arena_printf(&d->s.a, "'%s' cannot be written", there),
		    "give yourself the permission, or work with --read-only");
	else if (is_low(there))
		say(d, name, WARNING, false,
		    arena_printf(&d->s.a, "the disk of '%s' is nearly full",
				 there), "make room on it");
	else
		say(d, name, OK, false, path, NULL);
}

static bool repair_index(struct doctor *d, bool force)
{
	struct remem_index_opts o = REMEM_OPTS_INIT(o);
	struct remem_err why = { 0 };
	char *json = NULL;
	int rc;

	if (!d->fix || d->s.r->read_only)
		return false;
	o.force = force;
	o.wait_ms = 10000;
	rc = remem_index(d->s.r, &o, &json, &why);
	remem_free(json);
	return !rc;
}

static void check_integrity(struct doctor *d)
{
	struct survey *s = &d->s;
	const char **problems = NULL;
	struct remem_err why = { 0 };
	int count = 0, rc = handle_reader(s->r, &why);

	if (!rc)
		rc = s->r->ops->check(s->r->store, &s->a, &problems, &count,
				      &why);
	if (!rc && !count)
		say(d, "index", OK, false, s->r->index_dir, NULL);
	else
		say(d, "index", ERROR, repair_index(d, true),
		    rc ? why.message : problems[0],
		    "remem index --force builds it anew");
}

static void check_index(struct doctor *d)
{
	struct survey *s = &d->s;
	const char *problem = survey_problem(s);

	if (s->have_index)
		check_integrity(d);
	else if (s->index_err.code == REMEM_ENOTFOUND)
		say(d, "index", s->notes ? WARNING : OK,
		    s->notes && repair_index(d, false),
		    problem ? problem : "there is nothing to index",
		    s->notes ? "remem index" : NULL);
	else
		say(d, "index", ERROR, s->index_err.code != REMEM_EVERSION &&
		    repair_index(d, true), s->index_err.message,
		    s->index_err.action[0] ? s->index_err.action :
		    "remem index --force builds it anew");
	if (s->have_index && problem)
		say(d, "contents", ERROR, repair_index(d, false), problem,
		    "remem index");
	else if (s->have_index && s->dirty)
		say(d, "contents", WARNING, repair_index(d, false),
		    arena_printf(&s->a, "%lld files have changed since",
				 (long long)s->dirty), "remem index");
}

static void check_vectors(struct doctor *d)
{
	struct survey *s = &d->s;
	struct remem_err why = { 0 };
	int64_t took;

	if (s->unwanted) {
		say(d, "vectors", OK, false, "switched off by the settings",
		    NULL);
		return;
	}
	if (!s->embedder || s->off) {
		say(d, "vectors", ERROR, false, s->off,
		    s->r->embedder_err.action[0] ? s->r->embedder_err.action :
		    "search goes on with keywords");
		return;
	}
	if (embedder_probe(s->embedder, &took, &why))
		say(d, "vectors", ERROR, false, why.message, why.action);
	else
		say(d, "vectors", OK, false, arena_printf(
			&s->a, "%s answers in %lld ms",
			embedder_info(s->embedder)->provider,
			(long long)took), NULL);
	if (s->pending)
		say(d, "pending", WARNING, repair_index(d, false), arena_printf(
			&s->a, "%lld passages have no vector yet",
			(long long)s->pending), "remem index");
}

static void check_scale(struct doctor *d)
{
	struct survey *s = &d->s;
	int dims = s->embedder ? embedder_info(s->embedder)->dims : 0;
	const char *much = s->have_index ?
			   scale_warning(&s->a, s->info.embedded, dims) : NULL;

	if (much)
		say(d, "scale", WARNING, false, much, scale_action);
}

static void check_size(struct doctor *d)
{
	for (size_t i = 0; i < d->s.list.count; i++) {
		const struct source_file *f = &d->s.list.files[i];

		if (f->curated && f->size > MEMORY_WARN_BYTES)
			say(d, "size", WARNING, false, arena_printf(
				&d->s.a, "'%s' has %lld bytes; agents may see "
				"only the first 20,000 characters of it",
				f->path, (long long)f->size),
			    "move what is rarely needed into memory/");
	}
}

static void say_leak(void *ctx, const char *path, int line, const char *kind)
{
	struct doctor *d = ctx;

	say(d, "secret", WARNING, false,
	    arena_printf(&d->s.a, "%s#L%d holds what looks like a secret: %s",
			 path, line, kind),
	    "take it out of the note and make it void where it opens");
}

static void check_secrets(struct doctor *d)
{
	int64_t n = leak_each(&d->s.list, LEAKS_SHOWN, say_leak, d);

	if (n > LEAKS_SHOWN)
		say(d, "secret", WARNING, false, arena_printf(
			&d->s.a, "%lld more places look like secrets",
			(long long)(n - LEAKS_SHOWN)),
		    "remem doctor --memory lists them");
}

/* Unfinished files of killed runs. Only those directly in a folder of ours. */
static int clean(struct doctor *d, const char *folder, bool remove)
{
	DIR *dir = folder ? opendir(folder) : NULL;
	struct dirent *e;
	int n = 0;

	while (dir && (e = readdir(dir))) {
		const char *path;

		if (strncmp(e->d_name, FILE_TEMP_PREFIX,
			    strlen(FILE_TEMP_PREFIX)))
			continue;
		path = path_join(&d->s.a, folder, e->d_name);
		n += path && (!remove || !unlink(path));
	}
	if (dir)
		closedir(dir);
	return n;
}

static void check_leftovers(struct doctor *d)
{
	struct remem *r = d->s.r;
	struct arena *a = &d->s.a;
	const char *folders[] = {
		r->workspace, path_join(a, r->workspace, "memory"),
		r->config_file ? path_dir(a, r->config_file) : NULL,
	};
	bool remove = d->fix && !r->read_only;
	int n = 0;

	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		n += clean(d, folders[i], remove);
	if (n)
		say(d, "leftovers", WARNING, remove, arena_printf(
			a, "%d unfinished files of killed runs", n),
		    "remem doctor --fix removes them");
}

PUBLIC int remem_doctor(struct remem *r, int fix, char **json,
			struct remem_err *err)
{
	struct doctor d = { .fix = fix != 0 };
	struct buf b = BUF_INIT(0);
	int rc = survey_take(&d.s, r, err);

	*json = NULL;
	if (!rc) {
		json_begin(&d.j, &b);
		json_obj(&d.j);
		json_kint(&d.j, "version", 1);
		json_key(&d.j, "checks");
		json_arr(&d.j);
		check_workspace(&d);
		check_place(&d);
		check_roots(&d);
		check_settings(&d);
		check_folder(&d, "cache", r->cache_base);
		check_folder(&d, "state", r->state_base);
		check_vectors(&d);
		check_index(&d);
		check_scale(&d);
		check_size(&d);
		check_secrets(&d);
		check_leftovers(&d);
		json_arr_end(&d.j);
		json_kbool(&d.j, "ok", !d.failed);
		json_end(&d.j);
		rc = d.s.a.failed ? fail_nomem(err) : json_give(json, &b, err);
	}
	buf_release(&b);
	survey_release(&d.s);
	return rc;
}
