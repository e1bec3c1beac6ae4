/* See git.h. Every call is one git process, by arguments, without a shell. */
#include "memory/git.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/file.h"
#include "base/path.h"
#include "base/proc.h"

#define GIT_MS 60000 /* a hook of the user may take its time */
#define OUT_BYTES (64u << 20)
#define ERR_BYTES 4096
#define ARGS_MAX 24
#define NOTE_BYTES (64u << 20)

/* What belongs to memory in a workspace. */
static const char *const roots[] = { "MEMORY.md", "memory.md", "USER.md",
				     "DREAMS.md", "memory" };

/* Runs git in the workspace; args end with NULL. *status is its exit code. */
static int run(struct git *g, struct buf *out, struct buf *errors,
	       const char *const *args, int *status, struct remem_err *err)
{
	const char *argv[ARGS_MAX] = { "git", "--no-optional-locks",
				       "--literal-pathspecs" };
	struct proc_opts o = { .dir = g->workspace, .timeout_ms = GIT_MS,
			       .errors = errors };
	size_t n = 3;
	int rc;

	while (*args && n + 1 < ARGS_MAX)
		argv[n++] = *args++;
	rc = proc_run_opts(out, argv, &o, status, err);
	if (rc == REMEM_ENOTFOUND) {
		fail(err, REMEM_ENOTFOUND, "git is not installed");
		fail_action(err, "install it, or leave git.commit off");
	}
	return rc;
}

static int refused(const struct buf *errors, const char *what,
		   struct remem_err *err)
{
	const char *s = buf_str(errors);
	int n = (int)strcspn(s, "\n");

	return fail(err, strstr(s, ".lock") ? REMEM_EBUSY : REMEM_EIO,
		    "git cannot %s: %.*s", what, n, s);
}

/* Its output without the line end, in the arena; NULL when it failed. */
static int ask(struct git *g, const char **out, const char *const *args,
	       struct remem_err *err)
{
	struct buf b = BUF_INIT(OUT_BYTES), errors = BUF_INIT(ERR_BYTES);
	int status, rc = run(g, &b, &errors, args, &status, err);

	*out = NULL;
	while (b.len && b.ptr[b.len - 1] == '\n')
		buf_truncate(&b, b.len - 1);
	if (!rc && !status) {
		*out = arena_strndup(g->a, buf_str(&b), b.len);
		rc = *out ? 0 : fail_nomem(err);
	}
	buf_release(&b);
	buf_release(&errors);
	return rc;
}

/* What git leaves in its folder while it is in the middle of something. */
static int find_busy(struct git *g, struct remem_err *err)
{
	static const struct {
		const char *file, *name;
	} marks[] = {
		{ "rebase-merge", "rebase" }, { "rebase-apply", "rebase" },
		{ "MERGE_HEAD", "merge" }, { "CHERRY_PICK_HEAD", "cherry-pick" },
		{ "REVERT_HEAD", "revert" }, { "BISECT_LOG", "bisect" },
		{ "index.lock", "another git" },
	};
	const char *args[] = { "rev-parse", "--absolute-git-dir", NULL };
	const char *dir;
	int rc = ask(g, &dir, args, err);

	g->busy = NULL;
	for (size_t i = 0; !rc && dir && i < ARRAY_LEN(marks); i++) {
		const char *path = path_join(g->a, dir, marks[i].file);

		if (!path)
			return fail_nomem(err);
		if (!g->busy && file_exists(path))
			g->busy = marks[i].name;
	}
	return rc;
}

int git_open(struct git *g, struct arena *a, const char *workspace,
	     struct remem_err *err)
{
	const char *top[] = { "rev-parse", "--show-toplevel", NULL };
	const char *prefix[] = { "rev-parse", "--show-prefix", NULL };
	int rc;

	memset(g, 0, sizeof(*g));
	g->workspace = workspace;
	g->a = a;
	if ((rc = ask(g, &g->top, top, err)) || !g->top)
		return rc;
	if ((rc = ask(g, &g->prefix, prefix, err)))
		return rc;
	if (!g->prefix)
		g->prefix = "";
	return find_busy(g, err);
}

int git_make(struct git *g, bool *made, struct remem_err *err)
{
	const char *args[] = { "init", "--quiet", NULL };
	struct buf out = BUF_INIT(ERR_BYTES), errors = BUF_INIT(ERR_BYTES);
	int status = 0, rc;

	*made = !g->top;
	if (g->top)
		return 0;
	rc = run(g, &out, &errors, args, &status, err);
	if (!rc && status)
		rc = refused(&errors, "make a repository", err);
	buf_release(&out);
	buf_release(&errors);
	return rc ? rc : git_open(g, g->a, g->workspace, err);
}

/* ---- changes and commits ---------------------------------------------- */

static int no_repository(const struct git *g, struct remem_err *err)
{
	fail(err, REMEM_ENOTFOUND, "'%s' is in no git repository",
	     g->workspace);
	fail_action(err, "make one with: remem git init");
	return REMEM_ENOTFOUND;
}

/* Arguments and the roots of memory behind them. */
static void add_roots(const char **args, size_t n)
{
	args[n++] = "--";
	for (size_t i = 0; i < ARRAY_LEN(roots); i++)
		args[n++] = roots[i];
	args[n] = NULL;
}

static const char *word_of(const char *xy)
{
	if (xy[0] == '?' || xy[0] == 'A')
		return "added";
	return xy[0] == 'D' || xy[1] == 'D' ? "removed" : "changed";
}

static bool is_memory(const char *path)
{
	for (size_t i = 0; i < ARRAY_LEN(roots); i++) {
		size_t n = strlen(roots[i]);

		if (!strncmp(path, roots[i], n) &&
		    (!path[n] || path[n] == '/'))
			return true;
	}
	return false;
}

/* "XY path" ended by NUL, paths from the top of the repository. */
static void read_changes(struct git *g, const struct buf *b,
			 struct git_change **out, int *count)
{
	size_t prefix = strlen(g->prefix), cap = 0;

	for (const char *s = b->ptr; s && s + 3 < b->ptr + b->len;
	     s += strlen(s) + 1) {
		const char *path = s + 3;

		if (strncmp(path, g->prefix, prefix) ||
		    !is_memory(path + prefix))
			continue;
		*out = arena_grow(g->a, *out, &cap, (size_t)*count + 1,
				  sizeof(**out));
		if (!*out) {
			*count = 0;
			return;
		}
		(*out)[(*count)++] = (struct git_change){
			arena_strdup(g->a, path + prefix), word_of(s),
		};
	}
}

int git_changes(struct git *g, struct git_change **out, int *count,
		struct remem_err *err)
{
	const char *args[ARGS_MAX] = { "status", "--porcelain=v1", "-z",
				       "--no-renames", "--untracked-files=all" };
	struct buf b = BUF_INIT(OUT_BYTES), errors = BUF_INIT(ERR_BYTES);
	int status = 0, rc;

	*out = NULL;
	*count = 0;
	if (!g->top)
		return no_repository(g, err);
	add_roots(args, 5);
	rc = run(g, &b, &errors, args, &status, err);
	if (!rc && status)
		rc = refused(&errors, "say what has changed", err);
	if (!rc)
		read_changes(g, &b, out, count);
	buf_release(&b);
	buf_release(&errors);
	return rc ? rc : g->a->failed ? fail_nomem(err) : 0;
}

static const char *message_of(struct git *g, const struct git_change *c,
			      int count)
{
	static const char *const words[] = { "added", "changed", "removed" };
	struct buf b = BUF_INIT(0);
	const char *out;

	buf_adds(&b, "memory:");
	for (size_t w = 0; w < ARRAY_LEN(words); w++) {
		int n = 0;

		for (int i = 0; i < count; i++)
			n += !strcmp(c[i].what, words[w]);
		if (n)
			buf_addf(&b, "%s %d %s", b.ptr[b.len - 1] == ':' ? "" :
							",", n, words[w]);
	}
	out = b.failed ? NULL : arena_strndup(g->a, buf_str(&b), b.len);
	buf_release(&b);
	return out;
}

/* git add or git commit over exactly these paths, by standard input, because
 * there may be many of them and their names are bytes. */
static int over_paths(struct git *g, const char *const *args,
		      const struct git_change *c, int count, const char *what,
		      struct remem_err *err)
{
	const char *argv[ARGS_MAX] = { "git", "--literal-pathspecs" };
	struct buf in = BUF_INIT(0), out = BUF_INIT(OUT_BYTES);
	struct buf errors = BUF_INIT(ERR_BYTES);
	struct proc_opts o = { .dir = g->workspace, .timeout_ms = GIT_MS,
			       .errors = &errors };
	size_t n = 2;
	int status = 0, rc;

	while (*args)
		argv[n++] = *args++;
	argv[n++] = "--pathspec-from-file=-";
	argv[n++] = "--pathspec-file-nul";
	argv[n] = NULL;
	for (int i = 0; i < count; i++)
		buf_add(&in, c[i].path, strlen(c[i].path) + 1);
	o.in = buf_str(&in);
	o.in_len = in.len;
	rc = buf_check(&in, err);
	if (!rc)
		rc = proc_run_opts(&out, argv, &o, &status, err);
	if (!rc && status)
		rc = refused(errors.len ? &errors : &out, what, err);
	buf_release(&in);
	buf_release(&out);
	buf_release(&errors);
	return rc;
}

static int check_busy(struct git *g, struct remem_err *err)
{
	int rc = find_busy(g, err);

	if (rc || !g->busy)
		return rc;
	fail(err, REMEM_EBUSY, "no commit while %s is under way", g->busy);
	fail_action(err, "it is done by itself later, or by: remem git commit");
	return REMEM_EBUSY;
}

int git_commit(struct git *g, char hash[GIT_HASH], struct remem_err *err)
{
	const char *add[] = { "add", "--all", NULL };
	const char *head[] = { "rev-parse", "HEAD", NULL }, *text;
	const char *commit[] = { "commit", "--quiet", "--message", NULL, NULL };
	struct git_change *c;
	int count, rc;

	hash[0] = '\0';
	if (!g->top)
		return no_repository(g, err);
	if ((rc = check_busy(g, err)) ||
	    (rc = git_changes(g, &c, &count, err)) || !count)
		return rc;
	commit[3] = message_of(g, c, count);
	if (!commit[3])
		return fail_nomem(err);
	/* New files must be known to git before they can be committed; what
	 * the user has staged elsewhere is not touched. */
	if ((rc = over_paths(g, add, c, count, "add the notes", err)) ||
	    (rc = over_paths(g, commit, c, count, "commit", err)) ||
	    (rc = ask(g, &text, head, err)))
		return rc;
	if (text)
		snprintf(hash, GIT_HASH, "%s", text);
	return 0;
}

/* ---- history ---------------------------------------------------------- */

static const char *field(const char **s)
{
	const char *start = *s;

	*s += strcspn(*s, "\x1f\n");
	return start;
}

int git_log(struct git *g, struct git_entry **out, int *count, int limit,
	    struct remem_err *err)
{
	char number[32];
	const char *args[ARGS_MAX] = { "log", number,
				       "--format=%H%x1f%ct%x1f%an%x1f%s" };
	const char *text, *s;
	size_t cap = 0;
	int rc;

	*out = NULL;
	*count = 0;
	if (!g->top)
		return no_repository(g, err);
	snprintf(number, sizeof(number), "--max-count=%d", limit);
	add_roots(args, 3);
	/* A repository without a commit has no log. */
	if ((rc = ask(g, &text, args, err)) || !text)
		return rc;
	for (s = text; *s; s += *s == '\n') {
		const char *part[4], *end[4];

		for (int i = 0; i < 4; i++) {
			part[i] = field(&s);
			end[i] = s;
			s += *s == '\x1f';
		}
		*out = arena_grow(g->a, *out, &cap, (size_t)*count + 1,
				  sizeof(**out));
		if (!*out) {
			*count = 0;
			return fail_nomem(err);
		}
		(*out)[(*count)++] = (struct git_entry){
			arena_strndup(g->a, part[0], (size_t)(end[0] - part[0])),
			arena_strndup(g->a, part[2], (size_t)(end[2] - part[2])),
			arena_strndup(g->a, part[3], (size_t)(end[3] - part[3])),
			strtoll(part[1], NULL, 10) * 1000,
		};
	}
	return g->a->failed ? fail_nomem(err) : 0;
}

int git_as_of(struct git *g, char hash[GIT_HASH], const char *day,
	      struct remem_err *err)
{
	const char *args[] = { "rev-list", "--max-count=1", NULL, "HEAD",
			       NULL };
	const char *text;
	int rc;

	if (!g->top)
		return no_repository(g, err);
	args[2] = arena_printf(g->a, "--before=%sT23:59:59", day);
	if ((rc = ask(g, &text, args, err)))
		return rc;
	if (!text || !text[0])
		return fail(err, REMEM_ENOTFOUND, "there is no commit up to %s",
			    day);
	snprintf(hash, GIT_HASH, "%s", text);
	return 0;
}

int git_show(struct git *g, struct buf *out, const char *hash,
	     const char *path, struct remem_err *err)
{
	const char *args[] = { "cat-file", "blob", NULL, NULL };
	struct buf errors = BUF_INIT(ERR_BYTES);
	int status = 0, rc;

	args[2] = arena_printf(g->a, "%s:%s%s", hash, g->prefix, path);
	if (!args[2])
		return fail_nomem(err);
	rc = run(g, out, &errors, args, &status, err);
	if (!rc && status)
		rc = fail(err, REMEM_ENOTFOUND, "there was no '%s' in commit "
			  "%.12s", path, hash);
	buf_release(&errors);
	return rc;
}

static int export_one(struct git *g, const char *hash, const char *path,
		      const char *dir, struct remem_err *err)
{
	const char *to = path_join(g->a, dir, path);
	struct buf b = BUF_INIT(NOTE_BYTES);
	int rc = to ? git_show(g, &b, hash, path, err) : fail_nomem(err);

	if (!rc)
		rc = dir_make(path_dir(g->a, to), 0700, err);
	if (!rc)
		rc = file_write_atomic(to, buf_str(&b), b.len, 0600, err);
	buf_release(&b);
	return rc;
}

/* Names in a commit are bytes of whoever made it: none may lead out of the
 * folder. */
static bool is_inside(struct git *g, const char *path)
{
	char *tidy;

	return path_tidy_rel(&tidy, g->a, path) && !strcmp(tidy, path);
}

int git_export(struct git *g, const char *hash, const char *dir,
	       struct remem_err *err)
{
	const char *args[ARGS_MAX] = { "ls-tree", "-r", "-z" };
	struct buf b = BUF_INIT(OUT_BYTES), errors = BUF_INIT(ERR_BYTES);
	int status = 0, rc;

	args[3] = hash;
	add_roots(args, 4);
	rc = run(g, &b, &errors, args, &status, err);
	if (!rc && status)
		rc = refused(&errors, "list the notes", err);
	/* "100644 blob HASH\tPATH", ended by NUL; only regular files. */
	for (const char *s = b.ptr; !rc && s && s < b.ptr + b.len;
	     s += strlen(s) + 1) {
		const char *path = strchr(s, '\t');

		if (path && !strncmp(s, "100", 3) && is_inside(g, path + 1))
			rc = export_one(g, hash, path + 1, dir, err);
	}
	buf_release(&b);
	buf_release(&errors);
	return rc;
}
