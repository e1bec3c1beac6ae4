/* Resolves references to keys, at first use and not when settings are read. */
#include "api/secret.h"

#include <string.h>

#include "api/setting_value.h"
#include "base/file.h"
#include "base/path.h"
#include "base/proc.h"

#define KEY_MAX_BYTES 65536
#define COMMAND_TIMEOUT_MS 30000 /* long enough for a person to unlock one */

/* A key is one line: what follows the first line break is not part of it. */
static const char *first_line(struct arena *a, const struct buf *b)
{
	const char *s = buf_str(b);

	return arena_strndup(a, s, strcspn(s, "\r\n"));
}

int secret_file(const char **out, const struct settings *s, const char *path,
		const char *name, struct remem_err *err)
{
	struct buf b = BUF_INIT(KEY_MAX_BYTES);
	const char *full = path_expand(s->a, path, s->env->home);
	int rc;

	if (!full)
		return fail_nomem(err);
	if ((rc = file_read(&b, full, err)))
		fail_add(err, "%s", name);
	else
		*out = first_line(s->a, &b);
	if (!rc && (!*out || !**out))
		rc = *out ? fail(err, REMEM_EFORMAT, "%s: '%s' is empty", name,
				 full) : fail_nomem(err);
	buf_release(&b);
	return rc;
}

static int from_command(const char **out, const struct settings *s,
			const struct yaml *list, const char *name,
			struct remem_err *err)
{
	struct proc_opts opts = { .timeout_ms = COMMAND_TIMEOUT_MS,
				  .env = s->env->vars };
	struct buf b = BUF_INIT(KEY_MAX_BYTES);
	const char **argv;
	size_t n = 0;
	int rc, status = 0;

	for (const struct yaml *c = list->child; c; c = c->next)
		n++;
	argv = ARENA_ARRAY(s->a, const char *, n + 1);
	if (!argv)
		return fail_nomem(err);
	n = 0;
	for (const struct yaml *c = list->child; c; c = c->next)
		argv[n++] = c->str;
	if (!n || !argv[0][0])
		return fail(err, REMEM_EINVAL, "%s: the command is empty",
			    name);
	if ((rc = proc_run_opts(&b, argv, &opts, &status, err)))
		fail_add(err, "%s", name);
	else if (status)
		rc = fail(err, REMEM_EIO, "%s: '%.80s' ended with %d", name,
			  argv[0], status);
	else if (!(*out = first_line(s->a, &b)))
		rc = fail_nomem(err);
	else if (!**out)
		rc = fail(err, REMEM_EFORMAT, "%s: '%.80s' gave nothing", name,
			  argv[0]);
	buf_release(&b);
	return rc;
}

static int resolve(const char **out, const struct settings *s,
		   const struct setting_item *it, bool expand,
		   const char *name, struct remem_err *err)
{
	const struct yaml *ref = it->ref ? it->ref->child : NULL;
	const char *missing = NULL;

	if (ref && !strcmp(ref->key, "file"))
		return secret_file(out, s, ref->str, name, err);
	if (ref)
		return from_command(out, s, ref, name, err);
	*out = expand ? setting_expand(s->a, s->env, it->text, &missing) :
			it->text;
	if (!*out)
		return fail_nomem(err);
	if (missing) {
		fail(err, REMEM_EINVAL, "%s: the variable %s is not set", name,
		     missing);
		fail_action(err, "set %s, or give the key as {file: PATH}",
			    missing);
		return REMEM_EINVAL;
	}
	return 0;
}

int secret_resolve(const char **out, const struct settings *s,
		   const char *name, struct remem_err *err)
{
	const struct setting_value *v = settings_value(s, name);
	struct setting_item it = { v->text, NULL, v->ref };

	*out = NULL;
	if (!v->ref && !(v->text && v->text[0]))
		return 0;
	return resolve(out, s, &it, v->expand, name, err);
}

/* A header cannot hold a line break: it would be two. */
static bool is_header(const char *name, const char *value)
{
	return name[0] && !name[strcspn(name, ": \t\r\n")] &&
	       !value[strcspn(value, "\r\n")];
}

int secret_headers(const char *const **out, const struct settings *s,
		   const char *name, struct remem_err *err)
{
	const struct setting_value *v = settings_value(s, name);
	const char **lines;
	int rc;

	*out = NULL;
	if (!v->count)
		return 0;
	lines = ARENA_ARRAY(s->a, const char *, (size_t)v->count + 1);
	if (!lines)
		return fail_nomem(err);
	for (int i = 0; i < v->count; i++) {
		const char *value;

		if ((rc = resolve(&value, s, &v->items[i], v->expand, name,
				  err)))
			return rc;
		if (!is_header(v->items[i].name, value))
			return fail(err, REMEM_EINVAL,
				    "%s: '%.60s' is no header", name,
				    v->items[i].name);
		lines[i] = arena_printf(s->a, "%s: %s", v->items[i].name,
					value);
	}
	*out = lines;
	return s->a->failed ? fail_nomem(err) : 0;
}
