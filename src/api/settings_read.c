/*
 * Where values come from: YAML files, variables, flags. A file is walked with
 * the dotted name of each entry beside it; below agents.defaults the names
 * begin anew, and the entry of agents.list that is ours goes before them.
 */
#include "api/settings.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/setting_value.h"

#define NAME_MAX_BYTES 160

struct place { /* where an entry stands */
	struct settings *s;
	const char *name; /* of the file */
	enum setting_source source;
	bool trusted;
	struct remem_err *err; /* flags: wrong values are errors */
	int rc;
};

static bool has_below(const char *path)
{
	size_t n = strlen(path);

	for (int i = 0; setting_at(i); i++)
		if (!strncmp(setting_at(i)->name, path, n) &&
		    setting_at(i)->name[n] == '.')
			return true;
	return false;
}

/* Words what is wrong: an error for a flag, else a warning. */
static void complain(struct place *p, const struct yaml *node, const char *what)
{
	if (p->source == FROM_FLAG)
		p->rc = fail(p->err, REMEM_EINVAL, "--set: %s", what);
	else if (node->line)
		settings_warn(p->s, "%s:%d: %s", p->name, node->line, what);
	else
		settings_warn(p->s, "%s: %s", p->name, what);
}

static bool is_same(const struct setting_item *a, const struct setting_item *b)
{
	return !strcmp(a->text, b->text) &&
	       !strcmp(a->name ? a->name : "", b->name ? b->name : "");
}

/* Items of old before those of v, each once. */
static void concat(struct setting_value *v, struct arena *a,
		   const struct setting_value *old)
{
	struct setting_item *all;
	int n = old->count;

	all = ARENA_ARRAY(a, struct setting_item,
			  (size_t)old->count + (size_t)v->count);
	if (!all)
		return;
	if (old->count)
		memcpy(all, old->items, (size_t)old->count * sizeof(*all));
	for (int i = 0; i < v->count; i++) {
		int k = 0;

		while (k < n && !is_same(&all[k], &v->items[i]))
			k++;
		if (k == n)
			all[n++] = v->items[i];
	}
	v->items = all;
	v->count = n;
}

static const char *where(struct place *p, const struct yaml *node)
{
	if (!node->line)
		return p->name;
	return arena_printf(p->s->a, "%s:%d", p->name, node->line);
}

static void put(struct place *p, int row, const struct yaml *node)
{
	const struct setting *def = setting_at(row);
	struct setting_value *old = &p->s->values[row], v = *old;
	char why[160], text[480];
	bool clamped;

	if (setting_is_null(node))
		return;
	if (setting_parse(&v, p->s->a, def, node, why, &clamped)) {
		bool show = node->kind == YAML_SCALAR &&
			    !(def->flags & SET_SECRET);

		snprintf(text, sizeof(text), "%s should be %s%s%.80s%s",
			 def->name, why, show ? ", not '" : "",
			 show ? node->str : "", show ? "'" : "");
		complain(p, node, text);
		return;
	}
	if (clamped) {
		snprintf(text, sizeof(text), "%s is out of bounds, %s is used",
			 def->name, v.text);
		complain(p, node, text);
	}
	if ((def->flags & SET_CONCAT) && old->source != FROM_DEFAULT)
		concat(&v, p->s->a, old);
	else if (p->source < old->source)
		return;
	v.source = p->source;
	v.where = where(p, node);
	v.expand = p->trusted && p->source < FROM_ENV;
	v.out_of_use = def->flags & SET_LATER;
	*old = v;
}

static void refuse_untrusted(struct place *p, const struct setting *row,
			     const struct yaml *node)
{
	char text[320];

	snprintf(text, sizeof(text), "%s counts only when the workspace is "
		 "trusted: remem trust on", row->name);
	complain(p, node, text);
}

static void refuse(struct place *p, const struct setting *row,
		   const struct yaml *node)
{
	char text[400];

	snprintf(text, sizeof(text), "%s is not used: %s", row->name,
		 row->help);
	complain(p, node, text);
}

static void unknown(struct place *p, const char *path, const struct yaml *node)
{
	char text[400], full[NAME_MAX_BYTES];
	const char *near = NULL;

	if (snprintf(full, sizeof(full), "memorySearch.%s", path) <
		    (int)sizeof(full) &&
	    (setting_find(full) >= 0 || has_below(full)))
		near = full;
	if (!near)
		near = setting_nearest(path);
	snprintf(text, sizeof(text), "unknown setting '%.120s'%s%s%s", path,
		 near ? ", did you mean '" : "", near ? near : "",
		 near ? "'?" : "");
	complain(p, node, text);
}

/* An alias, followed as far as this name goes. */
static const char *real_name(char out[NAME_MAX_BYTES], const char *path)
{
	for (int i = 0; setting_at(i); i++) {
		if (setting_at(i)->type == SET_ALIAS &&
		    !strcmp(setting_at(i)->name, path)) {
			snprintf(out, NAME_MAX_BYTES, "%s", setting_at(i)->def);
			return out;
		}
	}
	return path;
}

static int row_of(const char *path)
{
	for (int i = 0; setting_at(i); i++)
		if (!strcmp(setting_at(i)->name, path))
			return i;
	return -1;
}

/* depth: yaml_read() bounds it; in_tree: unknown names are somebody else's. */
static void walk(struct place *p, const char *path, const struct yaml *node,
		 bool in_tree)
{
	char alias[NAME_MAX_BYTES], below[NAME_MAX_BYTES];
	const struct setting *row;
	int i;

	path = real_name(alias, path);
	i = row_of(path);
	row = setting_at(i);
	if (row && row->type == SET_REFUSED) {
		refuse(p, row, node);
		return;
	}
	if (row && !p->trusted && !(row->flags & SET_SAFE)) {
		refuse_untrusted(p, row, node);
		return;
	}
	/* A name may stand for a map of which it is the first member. */
	if (row && !(node->kind == YAML_MAP && row->type == SET_STR &&
		     has_below(path)))
		put(p, i, node);
	in_tree = in_tree || (row && row->type == SET_TREE);
	if (!row && !has_below(path) && !in_tree)
		unknown(p, path, node);
	if (!has_below(path) || setting_is_null(node))
		return;
	if (node->kind != YAML_MAP) {
		snprintf(below, sizeof(below), "'%.100s' should be a map", path);
		if (!row)
			complain(p, node, below);
		return;
	}
	for (const struct yaml *c = node->child; c; c = c->next)
		if (snprintf(below, sizeof(below), "%s.%s", path, c->key) <
		    (int)sizeof(below))
			walk(p, below, c, in_tree);
}

static void walk_all(struct place *p, const struct yaml *map)
{
	for (const struct yaml *c = map->child; c; c = c->next)
		walk(p, c->key, c, false);
}

/* The entry of agents.list with our id; its names are those of defaults. */
static void walk_agent(struct place *p, struct yaml *list)
{
	static const char *const known[] = { "memorySearch", "compaction",
					     "contextLimits", "workspace" };

	for (struct yaml *c = list->child; c; c = c->next) {
		struct yaml *id = yaml_get(c, "id");

		if (!id || id->kind != YAML_SCALAR || !p->s->agent[0] ||
		    strcmp(id->str, p->s->agent))
			continue;
		p->source++;
		for (size_t i = 0; i < ARRAY_LEN(known); i++)
			if (yaml_get(c, known[i]))
				walk(p, known[i], yaml_get(c, known[i]), false);
		p->source--;
	}
}

static void walk_agents(struct place *p, struct yaml *agents)
{
	struct yaml *defaults = yaml_get(agents, "defaults");
	struct yaml *list = yaml_get(agents, "list");

	if (defaults && defaults->kind == YAML_MAP)
		walk_all(p, defaults);
	else if (defaults && !setting_is_null(defaults))
		complain(p, defaults, "agents.defaults should be a map");
	if (list && list->kind == YAML_SEQ)
		walk_agent(p, list);
	else if (list && !setting_is_null(list))
		complain(p, list, "agents.list should be a list");
}

int settings_add_file(struct settings *s, const char *text, size_t len,
		      const char *name, enum setting_source source,
		      bool trusted, struct remem_err *err)
{
	struct place p = { s, name, source, trusted, err, 0 };
	struct remem_err why = { 0 };
	struct yaml *root, *agents;
	int rc = yaml_read(&root, s->a, text, len, name, &why);

	if (rc == REMEM_ENOMEM || s->a->failed)
		return fail_nomem(err);
	if (rc) {
		settings_warn(s, "%s; none of its settings is used",
			      why.message);
		return s->a->failed ? fail_nomem(err) : 0;
	}
	if (setting_is_null(root))
		return 0;
	if (root->kind != YAML_MAP) {
		complain(&p, root, "should be a map of settings");
		return s->a->failed ? fail_nomem(err) : 0;
	}
	agents = yaml_get(root, "agents");
	if (agents)
		walk_agents(&p, agents);
	for (const struct yaml *c = root->child; c; c = c->next)
		if (c != agents)
			walk(&p, c->key, c, false);
	return s->a->failed ? fail_nomem(err) : 0;
}

/* A text as a node: lists and maps of flags are written as YAML writes them. */
static int as_node(struct yaml **out, struct place *p, int row,
		   const char *text)
{
	struct yaml *n = ARENA_NEW(p->s->a, struct yaml);
	enum setting_type type = setting_at(row)->type;

	if (!n)
		return REMEM_ENOMEM;
	*out = n;
	n->kind = YAML_SCALAR;
	n->str = arena_strdup(p->s->a, text);
	n->len = strlen(text);
	n->quoted = 1;
	if (strchr("[{", text[0]) && text[0] &&
	    (type == SET_LIST || type == SET_MAP || type == SET_PATHS ||
	     (setting_at(row)->flags & SET_SECRET))) {
		int rc = yaml_read(out, p->s->a, text, n->len, p->name, p->err);

		if (!rc && *out)
			(*out)->line = 0;
		return rc;
	}
	return 0;
}

static void upper_snake(char out[NAME_MAX_BYTES], const char *name)
{
	size_t n = 0;

	for (; *name && n + 3 < NAME_MAX_BYTES; name++) {
		bool upper = *name >= 'A' && *name <= 'Z';

		if (upper)
			out[n++] = '_';
		out[n++] = *name == '.' ? '_' :
			   *name >= 'a' && *name <= 'z' ?
				   (char)(*name - 'a' + 'A') : *name;
	}
	out[n] = '\0';
}

/* The row whose variable is name (without REMEM_). */
static int row_of_variable(const char *name, size_t len)
{
	static const char prefix[] = "MEMORY_SEARCH_";
	char upper[NAME_MAX_BYTES];

	for (int i = 0; setting_at(i); i++) {
		size_t skip = 0;

		if (setting_at(i)->type >= SET_LIST &&
		    setting_at(i)->type != SET_LIST)
			continue;
		upper_snake(upper, setting_at(i)->name);
		if (strlen(upper) == len && !strncmp(upper, name, len))
			return i;
		if (!strncmp(upper, prefix, sizeof(prefix) - 1))
			skip = sizeof(prefix) - 1;
		if (skip && strlen(upper + skip) == len &&
		    !strncmp(upper + skip, name, len))
			return i;
	}
	return -1;
}

int settings_add_env(struct settings *s, struct remem_err *err)
{
	for (size_t i = 0; s->env->vars && s->env->vars[i]; i++) {
		const char *var = s->env->vars[i], *eq = strchr(var, '=');
		struct place p = { s, NULL, FROM_ENV, true, err, 0 };
		struct yaml *node;
		int row;

		if (!eq || !eq[1] || strncmp(var, "REMEM_", 6))
			continue;
		row = row_of_variable(var + 6, (size_t)(eq - var) - 6);
		if (row < 0)
			continue;
		p.name = arena_strndup(s->a, var, (size_t)(eq - var));
		if (s->a->failed || as_node(&node, &p, row, eq + 1))
			return fail_nomem(err);
		put(&p, row, node);
	}
	return s->a->failed ? fail_nomem(err) : 0;
}

static int add_flag(struct settings *s, const char *text,
		    struct remem_err *err)
{
	struct place p = { s, "--set", FROM_FLAG, true, err, 0 };
	const char *eq = strchr(text, '=');
	struct yaml *node;
	char *key;
	int row, rc;

	if (!eq || eq == text)
		return fail(err, REMEM_EINVAL,
			    "--set needs KEY=VALUE, not '%.80s'", text);
	key = arena_strndup(s->a, text, (size_t)(eq - text));
	if (!key)
		return fail_nomem(err);
	row = setting_find(key);
	if (row < 0) {
		unknown(&p, key, &(struct yaml){ 0 });
		fail_action(err, "remem config list shows all of them");
		return p.rc;
	}
	if (setting_at(row)->type == SET_REFUSED) {
		refuse(&p, setting_at(row), &(struct yaml){ 0 });
		return p.rc;
	}
	if ((rc = as_node(&node, &p, row, eq + 1)))
		return rc == REMEM_ENOMEM ? fail_nomem(err) : rc;
	if (node)
		put(&p, row, node);
	return s->a->failed ? fail_nomem(err) : p.rc;
}

int settings_add_flags(struct settings *s, const char *const *set,
		       struct remem_err *err)
{
	int rc = 0;

	for (size_t i = 0; set && set[i] && !rc; i++)
		rc = add_flag(s, set[i], err);
	return rc;
}
