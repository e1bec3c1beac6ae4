/* remem_config_get() and remem_config_set(). */
#include <string.h>

#include "api/config_edit.h"
#include "api/handle.h"
#include "api/public.h"
#include "api/setting_value.h"
#include "base/file.h"
#include "base/path.h"

#define FILE_MAX_BYTES ((size_t)1 << 20)
#define PATHS_MAX 8

static const char *const type_names[] = {
	"boolean", "integer", "number", "string", "choice", "list",
	"map", "paths", "tree", "alias", "refused",
};

/* What a value may be: "1..100", "auto|on|off"; NULL if anything. */
static const char *bounds(const struct setting *row)
{
	const char *at = strchr(row->def, ' ');

	return at && (row->type == SET_INT || row->type == SET_NUM ||
		      row->type == SET_ENUM) ? at + 1 : NULL;
}

static void put_default(struct json *j, struct arena *a,
			const struct setting *row)
{
	struct setting_value v = { 0 };

	json_key(j, "default");
	if (row->type != SET_LIST && row->type != SET_PATHS) {
		const char *def = setting_default(a, row);

		if (row->type == SET_BOOL || row->type == SET_INT ||
		    row->type == SET_NUM)
			json_put_raw(j, def ? def : "null",
				     strlen(def ? def : "null"));
		else if (row->type == SET_MAP)
			json_put_raw(j, "{}", 2);
		else
			json_put_str(j, def);
		return;
	}
	setting_split(&v, a, row->def);
	json_arr(j);
	for (int i = 0; i < v.count; i++)
		json_put_str(j, v.items[i].text);
	json_arr_end(j);
}

static void put_setting(struct json *j, struct arena *a,
			const struct settings *s, int row)
{
	const struct setting *def = setting_at(row);

	json_kstr(j, "key", def->name);
	json_key(j, "value");
	settings_put_value(j, s, row);
	put_default(j, a, def);
	json_kstr(j, "source", settings_where(s, row));
	json_kstr(j, "type", type_names[def->type]);
	json_kstr(j, "allowed", bounds(def));
	json_kbool(j, "used", !(def->flags & SET_LATER));
	json_kstr(j, "help", def->help);
}

static void put_all(struct json *j, struct arena *a, const struct remem *r)
{
	json_kstr(j, "file", r->config_file);
	json_key(j, "settings");
	json_arr(j);
	for (int i = 0; setting_at(i); i++) {
		if (setting_at(i)->type >= SET_ALIAS)
			continue;
		json_obj(j);
		put_setting(j, a, &r->settings, i);
		json_end(j);
	}
	json_arr_end(j);
	json_key(j, "warnings");
	json_arr(j);
	for (size_t i = 0; i < r->settings.warning_count; i++)
		json_put_str(j, r->settings.warnings[i]);
	json_arr_end(j);
}

static int find_key(int *row, const char *key, struct remem_err *err)
{
	const char *near;

	*row = setting_find(key);
	if (*row >= 0 && setting_at(*row)->type == SET_REFUSED)
		return fail(err, REMEM_ENOTSUP, "%s is not used: %s",
			    setting_at(*row)->name, setting_at(*row)->help);
	if (*row >= 0)
		return 0;
	near = setting_nearest(key);
	fail(err, REMEM_EINVAL, "unknown setting '%.120s'%s%s%s", key,
	     near ? ", did you mean '" : "", near ? near : "",
	     near ? "'?" : "");
	fail_action(err, "remem config list shows all of them");
	return REMEM_EINVAL;
}

PUBLIC int remem_config_get(struct remem *r, const char *key, char **json,
			    struct remem_err *err)
{
	struct arena a = ARENA_INIT;
	struct buf b = BUF_INIT(0);
	struct json j;
	int rc = 0, row = 0;

	*json = NULL;
	if (key && (rc = find_key(&row, key, err)))
		return rc;
	json_begin(&j, &b);
	json_obj(&j);
	json_kint(&j, "version", 1);
	if (key)
		put_setting(&j, &a, &r->settings, row);
	else
		put_all(&j, &a, r);
	json_end(&j);
	rc = a.failed ? fail_nomem(err) : json_give(json, &b, err);
	buf_release(&b);
	arena_release(&a);
	return rc;
}

static bool is_plain(const char *s)
{
	static const char more[] =
		"0123456789abcdefghijklmnopqrstuvwxyz"
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ_./-";

	return s[0] && s[0] != '-' && s[0] != '.' && strspn(s, more) ==
							     strlen(s);
}

/* A text as YAML: as it is, or as JSON would write it. */
static void add_scalar(struct buf *b, const char *s)
{
	struct json j;

	if (is_plain(s)) {
		buf_adds(b, s);
		return;
	}
	json_begin(&j, b);
	json_put_str(&j, s);
}

static void add_list(struct buf *b, const struct setting_value *v)
{
	buf_addc(b, '[');
	for (int i = 0; i < v->count; i++) {
		if (i)
			buf_adds(b, ", ");
		add_scalar(b, v->items[i].text);
	}
	buf_addc(b, ']');
}

/* Checks value against its row and writes it as YAML. */
static int as_yaml(struct buf *out, struct arena *a, const struct setting *row,
		   const char *value, struct remem_err *err)
{
	struct yaml plain = { .kind = YAML_SCALAR, .str = value,
			      .len = strlen(value), .quoted = 1 };
	struct yaml *node = &plain;
	struct setting_value v = { 0 };
	bool composed = value[0] == '[' || value[0] == '{', clamped;
	char why[160];
	int rc;

	if (strpbrk(value, "\r\n"))
		return fail(err, REMEM_EINVAL, "a value is one line");
	composed = composed && (row->type >= SET_LIST ||
				(row->flags & SET_SECRET));
	if (composed && (rc = yaml_read(&node, a, value, strlen(value),
					"value", err)))
		return rc;
	if (!node || setting_parse(&v, a, row, node, why, &clamped) ||
	    row->type == SET_TREE)
		return fail(err, REMEM_EINVAL, "%s should be %s", row->name,
			    row->type == SET_TREE ? "edited in the file" : why);
	if (clamped)
		return fail(err, REMEM_EINVAL, "%s should be within %s",
			    row->name, bounds(row));
	if (composed)
		buf_adds(out, value);
	else if (row->type == SET_LIST || row->type == SET_PATHS)
		add_list(out, &v);
	else if (row->type == SET_MAP)
		return fail(err, REMEM_EINVAL, "%s should be {name: text}",
			    row->name);
	else if (row->type == SET_STR)
		add_scalar(out, value);
	else
		buf_adds(out, v.text);
	return a->failed ? fail_nomem(err) : buf_check(out, err);
}

/* The names under which a file may hold the setting, short ones first. */
static const char *const *names_of(struct arena *a, const struct setting *row)
{
	const char **names = ARENA_ARRAY(a, const char *, 2 * PATHS_MAX + 1);
	size_t n = 0, short_ones;

	if (!names)
		return NULL;
	names[n++] = row->name;
	for (int i = 0; setting_at(i) && n < PATHS_MAX; i++)
		if (setting_at(i)->type == SET_ALIAS &&
		    !strcmp(setting_at(i)->def, row->name))
			names[n++] = setting_at(i)->name;
	short_ones = n;
	for (size_t i = 0; i < short_ones; i++)
		names[n++] = arena_printf(a, "agents.defaults.%s", names[i]);
	return a->failed ? NULL : names;
}

/* A settings file that is a link is edited where it lies. */
static int write_file(struct remem *r, struct arena *a, const struct buf *text,
		      struct remem_err *err)
{
	const char *path = r->config_file, *dir = path_dir(a, path);
	char *real;
	int rc;

	if (!dir)
		return fail_nomem(err);
	if ((rc = dir_make(dir, 0700, err)))
		return rc;
	if (file_exists(path)) {
		if ((rc = path_real(&real, a, path, err)))
			return rc;
		path = real;
	}
	/* It may hold keys. */
	return file_write_atomic(path, buf_str(text), text->len, 0600, err);
}

static int edit_file(struct remem *r, struct arena *a,
		     const struct setting *row, const char *value,
		     bool *changed, struct remem_err *err)
{
	struct buf old = BUF_INIT(FILE_MAX_BYTES), text = BUF_INIT(0);
	const char *const *names = names_of(a, row);
	int rc;

	rc = names ? file_read(&old, r->config_file, err) : fail_nomem(err);
	if (rc == REMEM_ENOTFOUND)
		rc = 0;
	if (!rc)
		rc = config_edit(&text, changed, a, buf_str(&old), old.len,
				 names, value, err);
	if (!rc && *changed)
		rc = write_file(r, a, &text, err);
	buf_release(&old);
	buf_release(&text);
	return rc;
}

static int give_change(char **out, const struct remem *r,
		       const struct setting *row, bool changed,
		       struct remem_err *err)
{
	struct buf b = BUF_INIT(0);
	struct json j;
	int rc;

	json_begin(&j, &b);
	json_obj(&j);
	json_kint(&j, "version", 1);
	json_kstr(&j, "key", row->name);
	json_kstr(&j, "file", r->config_file);
	json_kbool(&j, "changed", changed);
	json_kbool(&j, "used", !(row->flags & SET_LATER));
	json_end(&j);
	rc = json_give(out, &b, err);
	buf_release(&b);
	return rc;
}

PUBLIC int remem_config_set(struct remem *r, const char *key, const char *value,
			    char **json, struct remem_err *err)
{
	struct arena a = ARENA_INIT;
	struct buf yaml = BUF_INIT(FILE_MAX_BYTES);
	bool changed = false;
	int rc, row;

	*json = NULL;
	if ((rc = find_key(&row, key ? key : "", err)))
		return rc;
	if (r->read_only)
		return fail(err, REMEM_EPERM, "nothing is written: read-only");
	if (!r->config_file)
		return fail(err, REMEM_ENOTFOUND,
			    "there is no home folder for the settings");
	if (value)
		rc = as_yaml(&yaml, &a, setting_at(row), value, err);
	if (!rc)
		rc = edit_file(r, &a, setting_at(row),
			       value ? buf_str(&yaml) : NULL, &changed, err);
	if (!rc)
		rc = give_change(json, r, setting_at(row), changed, err);
	buf_release(&yaml);
	arena_release(&a);
	return rc;
}
