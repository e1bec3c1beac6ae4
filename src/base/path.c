/* Path strings and globs; nothing here touches the disk but path_real(). */
#define _GNU_SOURCE /* PATH_MAX, realpath */
#include "base/path.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/utf8.h"

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

char *path_join(struct arena *a, const char *dir, const char *name)
{
	size_t n = strlen(dir);

	if (!n)
		return arena_strdup(a, name);
	return arena_printf(a, dir[n - 1] == '/' ? "%s%s" : "%s/%s", dir,
			    name);
}

char *path_dir(struct arena *a, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return arena_strdup(a, ".");
	return arena_strndup(a, path,
			     slash == path ? 1 : (size_t)(slash - path));
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool path_tidy_rel(char **out, struct arena *a, const char *path)
{
	char *to, *start;

	if (path[0] == '/')
		return false;
	start = to = arena_strdup(a, path);
	if (!to)
		return false;
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 2 && path[0] == '.' && path[1] == '.') {
			if (to == start)
				return false;
			while (to > start && *--to != '/')
				;
		} else if (n && !(n == 1 && path[0] == '.')) {
			if (to > start)
				*to++ = '/';
			memcpy(to, path, n);
			to += n;
		}
		path += n;
		path += strspn(path, "/");
	}
	*to = '\0';
	*out = start;
	return true;
}

int path_real(char **out, struct arena *a, const char *path,
	      struct remem_err *err)
{
	char real[PATH_MAX];

	if (!realpath(path, real))
		return file_fail(err, errno, "find", path);
	*out = arena_strdup(a, real);
	return *out ? 0 : fail_nomem(err);
}

char *path_expand(struct arena *a, const char *path, const char *home)
{
	if (home && path[0] == '~' && (!path[1] || path[1] == '/'))
		return arena_printf(a, "%s%s", home, path + 1);
	return arena_strdup(a, path);
}

/* ---- glob ------------------------------------------------------------- */

/* A piece of the pattern or of the path, between slashes. */
struct span {
	const char *s;
	size_t n;
};

static uint32_t next_char(struct span *p)
{
	uint32_t cp;
	int n = utf8_decode(&cp, p->s, p->n);

	p->s += n;
	p->n -= (size_t)n;
	return cp;
}

static uint32_t next_literal(struct span *p)
{
	uint32_t c = next_char(p);

	return c == '\\' && p->n ? next_char(p) : c;
}

/* Behind '[': takes the set off p. 1 matches, 0 does not, -1: no set. */
static int match_set(struct span *p, uint32_t c)
{
	struct span q = *p;
	bool no = q.n && (q.s[0] == '!' || q.s[0] == '^'), in = false;
	bool first = true;

	if (no)
		next_char(&q);
	while (q.n && (first || q.s[0] != ']')) {
		uint32_t lo = next_literal(&q), hi = lo;

		if (q.n >= 2 && q.s[0] == '-' && q.s[1] != ']') {
			next_char(&q);
			hi = next_literal(&q);
		}
		in = in || (c >= lo && c <= hi);
		first = false;
	}
	if (!q.n)
		return -1;
	next_char(&q);
	*p = q;
	return in != no;
}

/* Takes one element of the pattern and one character of the name. */
static bool match_one(struct span *pat, struct span *name)
{
	uint32_t p, c;
	int in;

	if (!name->n)
		return false;
	if (pat->s[0] != '?' && pat->s[0] != '[' && pat->s[0] != '\\') {
		/* Bytes, so that names which are not UTF-8 match themselves. */
		if (pat->s[0] != name->s[0])
			return false;
		pat->s++, pat->n--;
		name->s++, name->n--;
		return true;
	}
	p = next_char(pat);
	if (p == '\\' && pat->n) {
		p = next_char(pat);
		return p == next_char(name);
	}
	c = next_char(name);
	if (p == '?')
		return true;
	in = p == '[' ? match_set(pat, c) : -1;
	return in < 0 ? p == c : in;
}

/* One name. Only the last star has to be tried again, so this is n * m. */
static bool match_name(struct span pat, struct span name)
{
	struct span star_pat = { NULL, 0 }, star_name = { NULL, 0 };

	while (name.n || pat.n) {
		if (pat.n && pat.s[0] == '*') {
			pat.s++, pat.n--;
			star_pat = pat;
			star_name = name;
			continue;
		}
		if (pat.n && match_one(&pat, &name))
			continue;
		if (!star_pat.s || !star_name.n)
			return false;
		next_char(&star_name);
		pat = star_pat;
		name = star_name;
	}
	return true;
}

static struct span first_name(const char *s)
{
	return (struct span){ s, strcspn(s, "/") };
}

static const char *behind(struct span p)
{
	return p.s + p.n + strspn(p.s + p.n, "/");
}

bool path_glob(const char *pattern, const char *path)
{
	const char *deep_pattern = NULL, *deep_path = NULL;

	while (*path || *pattern) {
		struct span pat = first_name(pattern), name = first_name(path);

		if (pat.n == 2 && !memcmp(pat.s, "**", 2)) {
			pattern = behind(pat);
			if (!*pattern)
				return *path != '\0';
			deep_pattern = pattern;
			deep_path = path;
			continue;
		}
		if (*path && *pattern && match_name(pat, name)) {
			path = behind(name);
			pattern = behind(pat);
			continue;
		}
		if (!deep_path || !*deep_path)
			return false;
		deep_path = behind(first_name(deep_path));
		path = deep_path;
		pattern = deep_pattern;
	}
	return true;
}
