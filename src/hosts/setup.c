/*
 * remem setup and remem uninstall. Each file is read once, changed in memory
 * (what we put in before is taken out, then what belongs there is put in) and
 * written only if it differs, after a copy was made, and only if nobody
 * changed it meanwhile.
 */
#define _GNU_SOURCE /* memmem */
#include "hosts/setup.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/file.h"
#include "base/path.h"
#include "front.h"
#include "hosts/jsontext.h"
#include "hosts/record.h"
#include "hosts/tomltext.h"

struct run {
	const struct setup_opts *o;
	struct setup s;
	struct arena a;
	struct record old, now;
	const char *state; /* STATE/remem/hosts */
	const char *saved[SETUP_FILES]; /* copies that were made */
};

/* ---- places ----------------------------------------------------------- */

static int find_places(struct run *r, struct remem_err *err)
{
	const char *const *env = r->o->open.env;
	const char *home = env_folder(env, "HOME");
	const char *state = env_folder(env, "XDG_STATE_HOME");
	char *root;
	int rc;

	if (!home)
		return fail(err, REMEM_ENOTFOUND, "there is no HOME, so no "
			    "settings of %s", r->s.host->title);
	if (!state)
		state = path_join(&r->a, home, ".local/state");
	r->state = state ? path_join(&r->a, state, "remem/hosts") : NULL;
	rc = path_real(&root, &r->a, r->o->project ? "." : home, err);
	if (rc)
		return rc;
	r->s.root = root;
	return r->state ? 0 : fail_nomem(err);
}

/* ---- files ------------------------------------------------------------ */

static int read_file(struct run *r, struct setup_file *f,
		     struct remem_err *err)
{
	struct buf b = BUF_INIT(JSONTEXT_MAX_BYTES);
	struct stat st;
	int rc;

	if (lstat(f->path, &st)) {
		if (errno != ENOENT && errno != ENOTDIR)
			return file_fail(err, errno, "look at", f->path);
		f->old = f->text = "";
		return 0;
	}
	if (S_ISLNK(st.st_mode)) {
		fail(err, REMEM_EPERM, "'%s' is a link", f->path);
		fail_action(err, "put the settings there by hand, or replace "
			    "the link by the file");
		return REMEM_EPERM;
	}
	rc = file_read(&b, f->path, err);
	f->existed = true;
	f->mode = st.st_mode & 07777;
	if (!rc) {
		f->old = f->text = arena_strndup(&r->a, buf_str(&b), b.len);
		f->old_len = f->len = b.len;
		if (!f->old)
			rc = fail_nomem(err);
	}
	buf_release(&b);
	if (rc == REMEM_ELIMIT)
		fail(err, rc, "'%s' has more than %u MB: no settings file",
		     f->path, JSONTEXT_MAX_BYTES >> 20);
	return rc;
}

static int replace(struct run *r, struct setup_file *f,
		   const struct jsontext_edit *e, struct remem_err *err)
{
	size_t n = strlen(e->insert);
	char *text = arena_alloc(&r->a, f->len - e->remove + n + 1);

	if (!text)
		return fail_nomem(err);
	memcpy(text, f->text, e->at);
	memcpy(text + e->at, e->insert, n);
	memcpy(text + e->at + n, f->text + e->at + e->remove,
	       f->len - e->at - e->remove);
	f->text = text;
	f->len = f->len - e->remove + n;
	return 0;
}

static int parse(struct run *r, struct jsontext **t,
		 const struct setup_file *f, struct remem_err *err)
{
	return jsontext_read(t, &r->a, f->text, f->len, f->path, err);
}

/* ---- taking out ------------------------------------------------------- */

static bool has_once(const struct setup_file *f, const char *part,
		     size_t *at)
{
	size_t n = strlen(part);
	const char *first = n ? memmem(f->text, f->len, part, n) : NULL;

	if (!first)
		return false;
	*at = (size_t)(first - f->text);
	return !memmem(first + 1, f->len - *at - 1, part, n);
}

static bool find_item(const struct jsontext *t, const struct setup_item *i,
		      const char **value, size_t *len)
{
	return i->kind == SETUP_MEMBER ?
		       jsontext_get(t, i->path, value, len) :
		       jsontext_find(t, i->path, i->mark, value, len);
}

/* Containers that were made for it go too, once they are empty. */
static int take_empty(struct run *r, struct setup_item *i, int made,
		      struct remem_err *err)
{
	const char *path[SETUP_PATH];
	int n = 0, rc = 0;

	memcpy(path, i->path, sizeof(path));
	while (path[n])
		n++;
	if (i->kind == SETUP_MEMBER)
		path[--n] = NULL;
	for (; made > 0 && n > 0 && !rc; made--, path[--n] = NULL) {
		struct jsontext_edit e;
		struct jsontext *t;
		const char *value;
		size_t len;

		if ((rc = parse(r, &t, i->file, err)) ||
		    jsontext_count(t, path) != 0 ||
		    !jsontext_get(t, path, &value, &len))
			break;
		jsontext_take(&e, t, value);
		rc = replace(r, i->file, &e, err);
	}
	return rc;
}

static int take_json(struct run *r, struct setup_item *i, int made,
		     struct remem_err *err)
{
	struct jsontext_edit e;
	struct jsontext *t;
	const char *value;
	size_t len;
	int rc = parse(r, &t, i->file, err);

	if (rc || !find_item(t, i, &value, &len))
		return rc;
	jsontext_take(&e, t, value);
	if ((rc = replace(r, i->file, &e, err)))
		return rc;
	return take_empty(r, i, made, err);
}

static int take_table(struct run *r, struct setup_item *i,
		      struct remem_err *err)
{
	struct jsontext_edit e = { .insert = "" };
	size_t end;
	bool found;
	int rc = tomltext_find(&found, &e.at, &end, &r->a, i->file->text,
			       i->file->len, i->path[0], i->file->path, err);

	if (rc || !found)
		return rc;
	e.remove = end - e.at;
	return replace(r, i->file, &e, err);
}

static int take_out(struct run *r, struct setup_item *i, int nth,
		    struct remem_err *err)
{
	struct record_entry *e = record_find(&r->old, i->file->path, nth);
	size_t at;

	if (i->kind == SETUP_WHOLE) {
		i->file->drop = i->file->existed;
		return 0;
	}
	if (e && has_once(i->file, e->inserted, &at)) {
		struct jsontext_edit edit = { at, strlen(e->inserted), "" };

		return replace(r, i->file, &edit, err);
	}
	if (i->shared)
		return 0;
	return i->kind == SETUP_TABLE ? take_table(r, i, err) :
					take_json(r, i, e ? e->made : 0, err);
}

/* Which of a file's items it is. */
static int nth_of_file(const struct setup *s, int item)
{
	int n = 0;

	for (int i = 0; i < item; i++)
		n += s->items[i].file == s->items[item].file;
	return n;
}

static bool is_blank_object(const struct setup_file *f)
{
	size_t braces = 0;

	for (size_t i = 0; i < f->len; i++) {
		if (f->text[i] == '{' || f->text[i] == '}')
			braces++;
		else if (!strchr(" \t\r\n", f->text[i]))
			return false;
	}
	return braces == 2 || braces == 0;
}

/* In the opposite order: the last one put in stands in front. */
static int take_all_out(struct run *r, struct remem_err *err)
{
	struct setup *s = &r->s;
	int rc = 0;

	for (int i = s->item_count - 1; i >= 0 && !rc; i--)
		rc = take_out(r, &s->items[i], nth_of_file(s, i), err);
	for (int i = 0; i < r->old.count && !rc; i++) {
		struct record_entry *e = &r->old.entries[i];

		for (int k = 0; k < s->file_count; k++)
			if (e->created && !strcmp(s->files[k].path, e->file) &&
			    is_blank_object(&s->files[k]))
				s->files[k].drop = s->files[k].existed;
	}
	return rc;
}

/* ---- putting in ------------------------------------------------------- */

static bool same_json(const char *x, size_t n, const char *y)
{
	yyjson_doc *a = yyjson_read(x, n, 0);
	yyjson_doc *b = yyjson_read(y, strlen(y), 0);
	bool same = a && b && yyjson_equals(yyjson_doc_get_root(a),
					    yyjson_doc_get_root(b));

	yyjson_doc_free(a);
	yyjson_doc_free(b);
	return same;
}

/* Whether it stands there as it should, in whatever layout. */
static int is_there(struct run *r, struct setup_item *i, bool *yes,
		    struct remem_err *err)
{
	struct jsontext *t;
	const char *value;
	size_t len, start, end;
	bool found;
	int rc;

	*yes = false;
	if (i->kind == SETUP_WHOLE) {
		*yes = i->file->existed && i->file->len == strlen(i->value) &&
		       !memcmp(i->file->text, i->value, i->file->len);
		return 0;
	}
	if (i->kind == SETUP_TABLE) {
		rc = tomltext_find(&found, &start, &end, &r->a, i->file->text,
				   i->file->len, i->path[0], i->file->path,
				   err);
		*yes = !rc && found && end - start >= strlen(i->value) &&
		       !memcmp(i->file->text + start, i->value,
			       strlen(i->value));
		return rc;
	}
	if ((rc = parse(r, &t, i->file, err)))
		return rc;
	*yes = find_item(t, i, &value, &len) && same_json(value, len, i->value);
	return 0;
}

static int count_made(const struct jsontext *t, const struct setup_item *i)
{
	const char *path[SETUP_PATH] = { NULL };
	int made = 0, n = 0;

	for (; i->path[n]; n++) {
		const char *value;
		size_t len;

		path[n] = i->path[n];
		if (i->kind == SETUP_MEMBER && !i->path[n + 1])
			break;
		made += !jsontext_get(t, path, &value, &len);
	}
	return made;
}

static int put_json(struct run *r, struct setup_item *i, struct remem_err *err)
{
	struct jsontext_edit e;
	struct jsontext *t;
	int rc = parse(r, &t, i->file, err);

	if (rc)
		return rc;
	i->made = count_made(t, i);
	rc = i->kind == SETUP_MEMBER ?
		     jsontext_set(&e, t, &r->a, i->path, i->value, err) :
		     jsontext_add(&e, t, &r->a, i->path, i->value, err);
	if (rc)
		return rc;
	i->inserted = e.insert;
	return replace(r, i->file, &e, err);
}

static int put_table(struct run *r, struct setup_item *i,
		     struct remem_err *err)
{
	struct setup_file *f = i->file;
	struct jsontext_edit e = { .at = f->len };
	size_t start, end;
	bool found;
	int rc = tomltext_find(&found, &start, &end, &r->a, f->text, f->len,
			       i->path[0], f->path, err);

	if (rc)
		return rc;
	e.insert = arena_printf(&r->a, "%s%s%s",
				f->len && f->text[f->len - 1] != '\n' ? "\n" :
									"",
				f->len ? "\n" : "", i->value);
	if (!e.insert)
		return fail_nomem(err);
	i->inserted = e.insert;
	return replace(r, f, &e, err);
}

static int put_in(struct run *r, struct setup_item *i, struct remem_err *err)
{
	switch (i->kind) {
	case SETUP_WHOLE:
		i->file->text = i->value;
		i->file->len = strlen(i->value);
		i->file->drop = false;
		return 0;
	case SETUP_TABLE:
		return put_table(r, i, err);
	default:
		return put_json(r, i, err);
	}
}

/* All of ours stands there as it should: nothing is touched. */
static int are_all_there(struct run *r, bool *yes, struct remem_err *err)
{
	int rc = 0;

	*yes = true;
	for (int i = 0; i < r->s.item_count && *yes && !rc; i++)
		rc = is_there(r, &r->s.items[i], yes, err);
	return rc;
}

static int count_missing_folders(struct arena *a, const char *path)
{
	int n = 0;

	while ((path = path_dir(a, path)) && path[1] && !file_exists(path))
		n++;
	return n;
}

static void keep_record(struct run *r, int item)
{
	const struct setup_item *i = &r->s.items[item];
	const struct record_entry *old = record_find(
		&r->old, i->file->path, nth_of_file(&r->s, item));

	r->now.entries[r->now.count++] = (struct record_entry){
		.file = i->file->path,
		.inserted = i->inserted,
		.made = i->made,
		.folders = old ? old->folders :
			   count_missing_folders(&r->a, i->file->path),
		.created = old ? old->created : !i->file->existed,
	};
}

/* Otherwise all of it is put in anew, on what is left without it. */
static int put_all_in(struct run *r, struct remem_err *err)
{
	struct setup *s = &r->s;
	bool there;
	int rc = are_all_there(r, &there, err);

	if (rc || there) {
		r->now = r->old;
		return rc;
	}
	if ((rc = take_all_out(r, err)))
		return rc;
	for (int i = 0; i < s->file_count; i++) {
		if (s->files[i].drop) {
			s->files[i].text = "";
			s->files[i].len = 0;
		}
		s->files[i].drop = false;
	}
	for (int i = 0; i < s->item_count && !rc; i++) {
		rc = is_there(r, &s->items[i], &there, err);
		if (!rc && !there)
			rc = put_in(r, &s->items[i], err);
		keep_record(r, i);
	}
	return rc;
}

/* ---- writing ---------------------------------------------------------- */

static bool differs(const struct setup_file *f)
{
	return f->drop || f->len != f->old_len ||
	       memcmp(f->text, f->old, f->len) != 0;
}

static int save_copy(struct run *r, int n, struct remem_err *err)
{
	struct setup_file *f = &r->s.files[n];
	const char *dir = path_join(&r->a, r->state, "backup");
	const char *path = dir ? arena_printf(
		&r->a, "%s/%s-%lld-%s", dir, r->s.host->name,
		(long long)clock_now_ms(), path_base(f->path)) : NULL;
	int rc;

	if (!f->existed)
		return 0;
	if (!path)
		return fail_nomem(err);
	if ((rc = dir_make(dir, 0700, err)))
		return rc;
	r->saved[n] = path;
	return file_write_atomic(path, f->old, f->old_len, 0600, err);
}

/* The host itself, or its user, may be at it. */
static int check_still(struct run *r, struct setup_file *f,
		       struct remem_err *err)
{
	struct setup_file now = { .path = f->path };
	int rc = read_file(r, &now, err);

	if (rc)
		return rc;
	if (now.existed == f->existed && now.old_len == f->old_len &&
	    !memcmp(now.old, f->old, f->old_len))
		return 0;
	fail(err, REMEM_EBUSY, "'%s' is being changed by another program",
	     f->path);
	fail_action(err, "close it there, then try again");
	return REMEM_EBUSY;
}

/* The folders that were made for it go too, unless something else is there. */
static int drop_file(struct run *r, struct setup_file *f,
		     struct remem_err *err)
{
	struct record_entry *e = record_find(&r->old, f->path, 0);
	const char *dir = f->path;

	if (unlink(f->path))
		return file_fail(err, errno, "remove", f->path);
	for (int n = e ? e->folders : 0; n > 0; n--)
		if (!(dir = path_dir(&r->a, dir)) || rmdir(dir))
			break;
	return 0;
}

static int write_file(struct run *r, int n, struct remem_err *err)
{
	struct setup_file *f = &r->s.files[n];
	int rc;

	if (!differs(f))
		return 0;
	if ((rc = save_copy(r, n, err)) || (rc = check_still(r, f, err)))
		return rc;
	if (f->drop)
		return drop_file(r, f, err);
	if ((rc = dir_make(path_dir(&r->a, f->path), 0700, err)))
		return rc;
	return file_write_atomic(f->path, f->text, f->len, 0600, err);
}

/* The record first: what it names may be missing, what is in a file must not
 * be unknown to it. */
static int apply(struct run *r, struct remem_err *err)
{
	int rc = 0;

	if (!r->o->uninstall && r->now.count)
		rc = record_write(&r->now, &r->a, err);
	for (int i = 0; i < r->s.file_count && !rc; i++)
		rc = write_file(r, i, err);
	if (!rc && r->o->uninstall)
		rc = record_remove(&r->old, err);
	return rc;
}

/* ---- the report ------------------------------------------------------- */

/* What differs, as the longest middle part of both. */
static void put_change(struct json *j, const struct setup_file *f)
{
	size_t head = 0, tail = 0, n = f->drop ? 0 : f->len;
	size_t least = n < f->old_len ? n : f->old_len;

	while (head < least && f->text[head] == f->old[head])
		head++;
	while (tail < least - head &&
	       f->text[n - 1 - tail] == f->old[f->old_len - 1 - tail])
		tail++;
	json_key(j, "removed");
	json_put_strn(j, f->old + head, f->old_len - head - tail);
	json_key(j, "added");
	json_put_strn(j, f->text + head, n - head - tail);
}

static int report(char **out, struct run *r, bool applied,
		  struct remem_err *err)
{
	struct setup *s = &r->s;
	struct buf b = BUF_INIT(0);
	struct json j;
	int rc;

	json_begin(&j, &b);
	json_obj(&j);
	json_kint(&j, "version", 1);
	json_kstr(&j, "host", s->host->name);
	json_kstr(&j, "title", s->host->title);
	json_kstr(&j, "scope", s->project ? "project" : "user");
	json_kbool(&j, "applied", applied);
	json_key(&j, "changes");
	json_arr(&j);
	for (int i = 0; i < s->file_count; i++) {
		struct setup_file *f = &s->files[i];

		if (!differs(f))
			continue;
		json_obj(&j);
		json_kstr(&j, "file", f->path);
		json_kstr(&j, "what", f->drop ? "delete" :
				      f->existed ? "change" : "create");
		put_change(&j, f);
		json_kstr(&j, "backup", r->saved[i]);
		json_end(&j);
	}
	json_arr_end(&j);
	json_kstr(&j, "note", r->o->uninstall ? NULL : s->note);
	json_end(&j);
	rc = buf_check(&b, err);
	*out = rc ? NULL : buf_detach(&b);
	buf_release(&b);
	return rc;
}

static int prepare(struct run *r, struct remem_err *err)
{
	struct setup *s = &r->s;
	int rc;

	s->a = &r->a;
	s->env = r->o->open.env;
	s->project = r->o->project;
	s->hooks = !r->o->no_hooks;
	s->program = r->o->open.program;
	s->workspace = r->o->open.workspace;
	s->host = host_find(r->o->host);
	if (!s->host) {
		fail(err, REMEM_ENOTFOUND, "there is no host '%.40s'",
		     r->o->host);
		fail_action(err, "remem setup --list names those there are");
		return REMEM_ENOTFOUND;
	}
	if (s->project && s->host->no_project)
		return fail(err, REMEM_ENOTSUP, "%s has no settings of a "
			    "project", s->host->title);
	if (s->workspace) {
		char *real;

		if ((rc = path_real(&real, &r->a, s->workspace, err)))
			return rc;
		s->workspace = real;
	}
	if ((rc = find_places(r, err)))
		return rc;
	s->host->plan(s);
	if (r->a.failed)
		return fail_nomem(err);
	for (int i = 0; i < s->file_count; i++)
		if ((rc = read_file(r, &s->files[i], err)))
			return rc;
	rc = record_read(&r->old, s, r->state, err);
	r->now.path = r->old.path;
	return rc;
}

int host_setup(const struct setup_opts *o, char **json, struct remem_err *err)
{
	struct run r = { .o = o, .a = ARENA_INIT };
	int rc = prepare(&r, err);

	*json = NULL;
	if (!rc)
		rc = o->uninstall ? take_all_out(&r, err) :
				    put_all_in(&r, err);
	if (!rc && !o->dry_run)
		rc = apply(&r, err);
	if (!rc)
		rc = report(json, &r, !o->dry_run, err);
	arena_release(&r.a);
	return rc;
}

static bool is_set_up(struct run *r)
{
	return record_read(&r->old, &r->s, r->state, NULL) == 0 &&
	       r->old.count > 0;
}

int host_list(const struct setup_opts *o, char **json, struct remem_err *err)
{
	struct buf b = BUF_INIT(0);
	const struct host *h;
	struct json j;
	int rc;

	*json = NULL;
	json_begin(&j, &b);
	json_obj(&j);
	json_kint(&j, "version", 1);
	json_key(&j, "hosts");
	json_arr(&j);
	for (int i = 0; (h = host_at(i)); i++) {
		struct setup_opts one = *o;
		struct run r = { .o = &one, .a = ARENA_INIT };
		struct remem_err why = { 0 };

		one.host = h->name;
		rc = prepare(&r, &why);
		json_obj(&j);
		json_kstr(&j, "name", h->name);
		json_kstr(&j, "title", h->title);
		json_kbool(&j, "setUp", !rc && is_set_up(&r));
		json_key(&j, "files");
		json_arr(&j);
		for (int k = 0; k < r.s.file_count; k++)
			json_put_str(&j, r.s.files[k].path);
		json_arr_end(&j);
		json_kstr(&j, "problem", rc ? why.message : NULL);
		json_end(&j);
		arena_release(&r.a);
	}
	json_arr_end(&j);
	json_end(&j);
	rc = buf_check(&b, err);
	*json = rc ? NULL : buf_detach(&b);
	buf_release(&b);
	return rc;
}
