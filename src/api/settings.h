/*
 * Settings from one table (settings.def). Values come from four places, the
 * later before the earlier: the user's file, the workspace's file, variables
 * REMEM_*, the command line; where none says anything the table's default
 * holds. What is wrong with a value is a warning, and the rest works.
 */
#ifndef API_SETTINGS_H
#define API_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "api/env.h"
#include "base/arena.h"
#include "base/json.h"
#include "base/yaml.h"

enum setting_type {
	SET_BOOL,
	SET_INT,
	SET_NUM,
	SET_STR,
	SET_ENUM,
	SET_LIST,
	SET_MAP,
	SET_PATHS,
	SET_TREE,
	SET_ALIAS,
	SET_REFUSED
};

enum setting_flags {
	SET_SAFE = 1,
	SET_SECRET = 2,
	SET_CONCAT = 4,
	SET_LATER = 8
};

enum setting_source { /* in order of precedence */
	FROM_DEFAULT,
	FROM_USER,
	FROM_USER_AGENT, /* agents.list of the same file */
	FROM_WORKSPACE,
	FROM_WORKSPACE_AGENT,
	FROM_ENV,
	FROM_FLAG
};

struct setting {
	const char *name;
	enum setting_type type;
	const char *def; /* default and bounds, see settings.def */
	unsigned flags;
	const char *help;
};

struct setting_item { /* of a LIST, a MAP or PATHS */
	const char *text; /* item; value of a MAP; path */
	const char *name; /* of a MAP entry; pattern of a path, or NULL */
	struct yaml *ref; /* {file: …} or {command: …} instead of text */
};

struct setting_value {
	enum setting_source source;
	const char *where; /* "config.yaml:12", "REMEM_PROJECT", "--set" */
	const char *text; /* scalar as written, checked */
	double num; /* BOOL: 0 or 1 */
	struct setting_item *items;
	int count;
	struct yaml *ref; /* STR given as {file: …} or {command: …} */
	bool expand; /* ${VAR} may be replaced: a trusted place */
	bool out_of_use; /* a LATER setting that somebody set */
};

struct settings {
	struct arena *a;
	const struct env *env;
	const char *agent; /* "" for the default one */
	struct setting_value *values; /* one a row of the table */
	const char **warnings;
	size_t warning_count, warning_cap;
};

/* Rows by index; NULL behind the last. */
const struct setting *setting_at(int i);
int setting_count(void);
/*
 * Index of the row for a name, which may begin with "agents.defaults." and may
 * leave out "memorySearch."; aliases are followed. -1 if there is none.
 */
int setting_find(const char *name);
/* The name most like it among all, NULL if none is near. */
const char *setting_nearest(const char *name);
/* Default without bounds, into the arena. */
const char *setting_default(struct arena *a, const struct setting *row);

/* Everything lives in a. Values are the defaults. */
int settings_init(struct settings *s, struct arena *a, const struct env *env,
		  const char *agent, struct remem_err *err);
/*
 * Takes the text of a file. trusted: all keys, else those marked SAFE. A file
 * that is no YAML is one warning. Only memory can fail.
 */
int settings_add_file(struct settings *s, const char *text, size_t len,
		      const char *name, enum setting_source source,
		      bool trusted, struct remem_err *err);
/* REMEM_QUERY_MAX_RESULTS and its like. */
int settings_add_env(struct settings *s, struct remem_err *err);
/* "key=value" texts, NULL-terminated. A wrong one is an error here. */
int settings_add_flags(struct settings *s, const char *const *set,
		       struct remem_err *err);
/* What can only be said when all is read: values that do not fit together. */
int settings_check(struct settings *s, struct remem_err *err);
void settings_warn(struct settings *s, const char *fmt, ...) ATTR_PRINTF(2, 3);

/* Values by full name; a name that is not in the table is our mistake. */
bool settings_bool(const struct settings *s, const char *name);
int64_t settings_int(const struct settings *s, const char *name);
double settings_num(const struct settings *s, const char *name);
const struct setting_value *settings_value(const struct settings *s,
					   const char *name);
/* With ${VAR} replaced, in the arena; "" when not set. SECRET ones are read by
 * secret_resolve() instead. */
const char *settings_str(const struct settings *s, const char *name);
bool settings_is_set(const struct settings *s, const char *name);

/* The value as JSON; secrets as "(set)" or where they come from. */
void settings_put_value(struct json *j, const struct settings *s, int row);
/* Where it comes from: "default", "config.yaml:12", … */
const char *settings_where(const struct settings *s, int row);

#endif
