/*
 * remem import: what another memory of the user's holds, taken over without
 * copying a note. OpenClaw's settings become ours where they have the same
 * meaning; folders of other programs become extra paths.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/file.h"
#include "base/path.h"
#include "front.h"
#include "hosts/hosts.h"
#include "hosts/jsontext.h"

#define KEY_BYTES 256
#define DEPTH_MAX 16

struct import {
	const struct import_opts *o;
	struct arena a;
	struct remem *r;
	const char *home;
	struct buf set, missing; /* members of the report's lists */
	struct json set_j, missing_j;
};

static void note_set(struct import *m, const char *key, const char *value)
{
	json_obj(&m->set_j);
	json_kstr(&m->set_j, "key", key);
	json_kstr(&m->set_j, "value", value);
	json_end(&m->set_j);
}

static void note_missing(struct import *m, const char *key, const char *why)
{
	json_obj(&m->missing_j);
	json_kstr(&m->missing_j, "key", key);
	json_kstr(&m->missing_j, "reason", why);
	json_end(&m->missing_j);
}

static bool is_secret(const char *key)
{
	return strstr(key, "apiKey") || strstr(key, "headers");
}

/* ---- settings of OpenClaw --------------------------------------------- */

/* Sets one, unless only asked; what ours has no counterpart for is listed. */
static void put_value(struct import *m, const char *key, const char *value)
{
	struct remem_err why = { 0 };
	char *json = NULL;
	int rc = remem_config_get(m->r, key, &json, &why);

	remem_free(json);
	json = NULL;
	if (!rc && !m->o->dry_run)
		rc = remem_config_set(m->r, key, value, &json, &why);
	remem_free(json);
	if (rc)
		note_missing(m, key, why.message);
	else
		note_set(m, key, is_secret(key) ? "(set)" : value);
}

/* {"source":"env","id":"NAME"}, as OpenClaw refers to secrets. */
static const char *secret_ref(struct import *m, yyjson_val *v)
{
	const char *source = json_str(v, "source", "");
	const char *id = json_str(v, "id", NULL);

	return id && !strcmp(source, "env") ?
		       arena_printf(&m->a, "${%s}", id) : NULL;
}

static const char *as_text(struct import *m, yyjson_val *v)
{
	const char *out;
	size_t len;
	char *s;

	if (yyjson_is_str(v))
		return yyjson_get_str(v);
	s = yyjson_val_write(v, 0, &len);
	out = s ? arena_strndup(&m->a, s, len) : NULL;
	mem_free(s);
	return out;
}

/* Whether an object is the value of one setting, and no folder of several. */
static bool is_value(struct import *m, const char *key)
{
	char *json = NULL;
	yyjson_doc *doc;
	bool yes = false;

	if (!remem_config_get(m->r, key, &json, NULL) &&
	    !json_read(&doc, json, strlen(json), false, "the setting", NULL)) {
		yes = strcmp(json_str(yyjson_doc_get_root(doc), "type", ""),
			     "tree") != 0;
		yyjson_doc_free(doc);
	}
	remem_free(json);
	return yes;
}

static void take_values(struct import *m, const char *key, yyjson_val *v,
			int depth)
{
	const char *ref = is_secret(key) ? secret_ref(m, v) : NULL, *text;
	yyjson_obj_iter it;
	yyjson_val *k;

	if (depth > DEPTH_MAX || yyjson_is_null(v))
		return;
	if (yyjson_is_obj(v) && !ref && !is_value(m, key)) {
		yyjson_obj_iter_init(v, &it);
		while ((k = yyjson_obj_iter_next(&it))) {
			char below[KEY_BYTES];

			if (snprintf(below, sizeof(below), "%s.%s", key,
				     yyjson_get_str(k)) < (int)sizeof(below))
				take_values(m, below,
					    yyjson_obj_iter_get_val(k),
					    depth + 1);
		}
		return;
	}
	text = ref ? ref : as_text(m, v);
	if (text)
		put_value(m, key, text);
}

static void take_openclaw(struct import *m, yyjson_val *root)
{
	/* Below agents.defaults our names are theirs. */
	static const char *const defaults[] = { "workspace", "userTimezone",
		"memorySearch", "compaction", "startupContext", NULL };
	yyjson_val *agents = yyjson_obj_get(root, "agents");
	yyjson_val *def = yyjson_obj_get(agents, "defaults"), *v;
	size_t i, n;

	for (int k = 0; defaults[k]; k++)
		if ((v = yyjson_obj_get(def, defaults[k])))
			take_values(m, defaults[k], v, 0);
	if ((v = yyjson_obj_get(root, "memorySearch")))
		take_values(m, "memorySearch", v, 0);
	if ((v = yyjson_obj_get(root, "memory")))
		take_values(m, "memory", v, 0);
	yyjson_arr_foreach(yyjson_obj_get(agents, "list"), i, n, v)
		if (yyjson_obj_get(v, "memorySearch") ||
		    yyjson_obj_get(v, "workspace"))
			note_missing(m, arena_printf(&m->a, "agents.list[%zu]",
						     i),
				     "what holds for one agent is set by hand "
				     "under agents.list");
}

static const char *openclaw_file(struct import *m)
{
	if (m->o->path)
		return m->o->path;
	return path_join(&m->a, m->home, ".openclaw/openclaw.json");
}

static int import_openclaw(struct import *m, struct remem_err *err)
{
	struct buf file = BUF_INIT(JSONTEXT_MAX_BYTES), text = BUF_INIT(0);
	const char *path = openclaw_file(m);
	struct jsontext *t;
	yyjson_doc *doc;
	int rc = path ? file_read(&file, path, err) : fail_nomem(err);

	if (!rc)
		rc = jsontext_read(&t, &m->a, buf_str(&file), file.len, path,
				   err);
	if (!rc) {
		jsontext_plain(&text, t);
		rc = buf_check(&text, err);
	}
	if (!rc)
		rc = json_read(&doc, buf_str(&text), text.len, false, path,
			       err);
	if (!rc) {
		take_openclaw(m, yyjson_doc_get_root(doc));
		yyjson_doc_free(doc);
	}
	buf_release(&file);
	buf_release(&text);
	return rc;
}

/* ---- folders as extra paths ------------------------------------------- */

static bool is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static const char *path_of_item(yyjson_val *v)
{
	return yyjson_is_str(v) ? yyjson_get_str(v) :
				  json_str(v, "path", NULL);
}

/* The setting's list with one more, as JSON; NULL when it is there. */
static const char *with_path(struct import *m, const char *path)
{
	struct buf b = BUF_INIT(0);
	const char *out = NULL;
	yyjson_doc *doc = NULL;
	yyjson_val *list, *v;
	char *json = NULL;
	bool there = false;
	size_t i, n, len;
	struct json j;

	if (remem_config_get(m->r, "memorySearch.extraPaths", &json, NULL) ||
	    json_read(&doc, json, strlen(json), false, "the settings", NULL)) {
		remem_free(json);
		return NULL;
	}
	list = yyjson_obj_get(yyjson_doc_get_root(doc), "value");
	json_begin(&j, &b);
	json_arr(&j);
	yyjson_arr_foreach(list, i, n, v) {
		const char *old = path_of_item(v);
		char *s = yyjson_val_write(v, 0, &len);

		there = there || (old && !strcmp(old, path));
		if (s)
			json_put_raw(&j, s, len);
		mem_free(s);
	}
	json_put_str(&j, path);
	json_arr_end(&j);
	if (!there && !b.failed)
		out = arena_strndup(&m->a, buf_str(&b), b.len);
	buf_release(&b);
	yyjson_doc_free(doc);
	remem_free(json);
	return out;
}

/* Each setting is read from the file again, so that the next one counts on
 * what this one has put there. */
static int add_path(struct import *m, const char *path, struct remem_err *err)
{
	const char *value = with_path(m, path);
	char *json = NULL;
	int rc;

	if (!value) {
		note_missing(m, path, "it is an extra path already");
		return 0;
	}
	note_set(m, "memorySearch.extraPaths", path);
	if (m->o->dry_run)
		return 0;
	rc = remem_config_set(m->r, "memorySearch.extraPaths", value, &json,
			      err);
	remem_free(json);
	if (rc)
		return rc;
	remem_close(m->r);
	m->r = NULL;
	return remem_open(&m->r, &m->o->open, err);
}

/* Every folder of `parent` that has one called `name` in it. */
static int add_each(struct import *m, const char *parent, const char *name,
		    struct remem_err *err)
{
	DIR *d = parent ? opendir(parent) : NULL;
	struct dirent *e;
	int rc = 0;

	while (d && !rc && (e = readdir(d))) {
		const char *path = e->d_name[0] == '.' ? NULL : arena_printf(
			&m->a, "%s/%s/%s", parent, e->d_name, name);

		if (path && is_folder(path))
			rc = add_path(m, path, err);
	}
	if (d)
		closedir(d);
	return rc;
}

static int import_folder(struct import *m, const char *usual,
			 struct remem_err *err)
{
	const char *path = m->o->path ? m->o->path :
			   path_join(&m->a, m->home, usual);
	char *real;
	int rc;

	if (!path)
		return fail_nomem(err);
	rc = path_real(&real, &m->a, path, err);
	return rc ? rc : add_path(m, real, err);
}

static int import_claude(struct import *m, struct remem_err *err)
{
	if (m->o->path)
		return import_folder(m, "", err);
	return add_each(m, path_join(&m->a, m->home, ".claude/projects"),
			"memory", err);
}

static int import_gemini(struct import *m, struct remem_err *err)
{
	return import_folder(m, ".gemini/GEMINI.md", err);
}

static int import_codex(struct import *m, struct remem_err *err)
{
	return import_folder(m, ".codex/memories", err);
}

static int import_basic(struct import *m, struct remem_err *err)
{
	return import_folder(m, "basic-memory", err);
}

static int import_memsearch(struct import *m, struct remem_err *err)
{
	return import_folder(m, ".memsearch/memory", err);
}

static const struct {
	const char *name;
	int (*run)(struct import *m, struct remem_err *err);
} formats[] = {
	{ "openclaw", import_openclaw },   { "claude-code", import_claude },
	{ "gemini", import_gemini },	   { "codex", import_codex },
	{ "basic-memory", import_basic },  { "memsearch", import_memsearch },
};

/* ---- the whole -------------------------------------------------------- */

static int report(char **out, struct import *m, struct remem_err *err)
{
	struct buf b = BUF_INIT(0);
	struct json j;
	int rc;

	json_arr_end(&m->set_j);
	json_arr_end(&m->missing_j);
	json_begin(&j, &b);
	json_obj(&j);
	json_kint(&j, "version", 1);
	json_kstr(&j, "format", m->o->format);
	json_kbool(&j, "applied", !m->o->dry_run);
	json_key(&j, "set");
	json_put_raw(&j, buf_str(&m->set), m->set.len);
	json_key(&j, "notTaken");
	json_put_raw(&j, buf_str(&m->missing), m->missing.len);
	json_end(&j);
	rc = m->set.failed || m->missing.failed ? fail_nomem(err) :
						  buf_check(&b, err);
	*out = rc ? NULL : buf_detach(&b);
	buf_release(&b);
	return rc;
}

static int run(struct import *m, struct remem_err *err)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(formats[i].name, m->o->format))
			return formats[i].run(m, err);
	fail(err, REMEM_EINVAL, "'%.40s' cannot be imported", m->o->format);
	fail_action(err, "there are openclaw, claude-code, gemini, codex, "
			 "basic-memory and memsearch");
	return REMEM_EINVAL;
}

int host_import(const struct import_opts *o, char **json,
		struct remem_err *err)
{
	struct import m = { .o = o, .a = ARENA_INIT, .set = BUF_INIT(0),
			    .missing = BUF_INIT(0) };
	int rc;

	*json = NULL;
	m.home = env_folder(o->open.env, "HOME");
	if (!m.home && !o->path)
		return fail(err, REMEM_ENOTFOUND, "there is no HOME to import "
			    "from");
	json_begin(&m.set_j, &m.set);
	json_arr(&m.set_j);
	json_begin(&m.missing_j, &m.missing);
	json_arr(&m.missing_j);
	rc = remem_open(&m.r, &o->open, err);
	if (!rc)
		rc = run(&m, err);
	if (!rc)
		rc = report(json, &m, err);
	remem_close(m.r);
	buf_release(&m.set);
	buf_release(&m.missing);
	arena_release(&m.a);
	return rc;
}
