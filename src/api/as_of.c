/*
 * See as_of.h. INDEX/as-of/COMMIT/ holds the notes of a commit, written beside
 * and renamed when whole, and a cache and a state of their own, so that the
 * workspace's are not touched.
 */
#include "api/as_of.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "memory/git.h"

#define KEPT 4 /* days that were looked at; the oldest go */

static int check_day(const char *day, struct remem_err *err)
{
	int32_t date;

	return date_parse(&date, day, strlen(day)) ? 0 :
	       fail(err, REMEM_EINVAL, "as-of should be a date YYYY-MM-DD, not "
		    "'%.40s'", day);
}

/* The folder that was made longest ago goes, until few enough are left. */
static void drop_old(struct arena *a, const char *dir)
{
	for (int count = KEPT + 1; count > KEPT;) {
		DIR *d = opendir(dir);
		const char *oldest = NULL;
		time_t at = 0;
		struct dirent *e;

		count = 0;
		while (d && (e = readdir(d))) {
			const char *path = path_join(a, dir, e->d_name);
			struct stat st;

			if (e->d_name[0] == '.' || !path || stat(path, &st))
				continue;
			count++;
			if (!oldest || st.st_mtime < at) {
				oldest = path;
				at = st.st_mtime;
			}
		}
		if (d)
			closedir(d);
		if (count > KEPT && dir_remove(oldest, NULL))
			return;
	}
}

/* Another process may do the same at once: whose folder is whole first counts. */
static int export(struct git *g, struct arena *a, const char *hash,
		  const char *dir, struct remem_err *err)
{
	const char *temp = arena_printf(a, "%s.%ld", dir, (long)getpid());
	int rc;

	if (!temp)
		return fail_nomem(err);
	if ((rc = dir_remove(temp, err)) || (rc = dir_make(temp, 0700, err)))
		return rc;
	rc = git_export(g, hash, temp, err);
	if (!rc && rename(temp, dir) && errno != EEXIST && errno != ENOTEMPTY)
		rc = file_fail(err, errno, "rename", temp);
	dir_remove(temp, NULL);
	return rc;
}

/* The caller's variables with the folders of remem's own data replaced. */
static const char *const *own_env(struct arena *a, const struct remem *r,
				  const char *dir)
{
	const char **out;
	size_t n = 0, k = 0;

	while (r->env.vars && r->env.vars[n])
		n++;
	out = ARENA_ARRAY(a, const char *, n + 4);
	for (size_t i = 0; out && i < n; i++)
		if (strncmp(r->env.vars[i], "XDG_CACHE_HOME=", 15) &&
		    strncmp(r->env.vars[i], "XDG_STATE_HOME=", 15) &&
		    strncmp(r->env.vars[i], "REMEM_WORKSPACE=", 16))
			out[k++] = r->env.vars[i];
	if (out) {
		out[k++] = arena_printf(a, "XDG_CACHE_HOME=%s.cache", dir);
		out[k++] = arena_printf(a, "XDG_STATE_HOME=%s.state", dir);
	}
	return out;
}

static int open_at(struct remem **out, struct remem *r, struct arena *a,
		   const char *dir, struct remem_err *err)
{
	struct remem_open_opts o = REMEM_OPTS_INIT(o);
	const char *provider = settings_str(&r->settings,
					    "memorySearch.provider");
	bool builtin = !strcmp(provider, "auto") || !strcmp(provider, "builtin");
	const char *set[] = { builtin ? "memorySearch.provider=builtin" :
					"memorySearch.provider=none",
			      "memorySearch.sources=memory", NULL };
	int rc;

	o.workspace = dir;
	o.env = own_env(a, r, dir);
	o.set = set;
	o.config_file = r->config_file;
	o.program = r->program;
	o.now_ms = r->now_ms;
	rc = o.env ? remem_open(out, &o, err) : fail_nomem(err);
	/* Other folders have no history here. */
	if (!rc)
		(*out)->source.extra_count = 0;
	return rc;
}

int as_of_open(struct remem **out, struct remem *r, const char *day,
	       struct remem_err *err)
{
	struct arena a = ARENA_INIT;
	const char *base, *dir;
	char hash[GIT_HASH];
	struct git g;
	int rc;

	*out = NULL;
	if ((rc = check_day(day, err)) || (rc = handle_id(r, true, err)) ||
	    (rc = git_open(&g, &a, r->workspace, err)) ||
	    (rc = git_as_of(&g, hash, day, err)))
		goto done;
	if (!r->index_dir) {
		rc = fail(err, REMEM_ENOTFOUND, "there is no folder for the "
			  "index: set HOME or XDG_CACHE_HOME");
		goto done;
	}
	base = path_join(&a, r->index_dir, "as-of");
	dir = base ? path_join(&a, base, hash) : NULL;
	if (!dir) {
		rc = fail_nomem(err);
		goto done;
	}
	if (!file_exists(dir)) {
		drop_old(&a, base);
		rc = export(&g, &a, hash, dir, err);
	}
	if (!rc)
		rc = open_at(out, r, &a, dir, err);
done:
	arena_release(&a);
	return rc;
}
