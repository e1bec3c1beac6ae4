/*
 * YAML (libyaml) as a small tree with line numbers. Plain scalars stay
 * strings; who reads decides the type by the key. Aliases and anchors are
 * followed within a bound of nodes; depth is bounded.
 */
#ifndef BASE_YAML_H
#define BASE_YAML_H

#include "base/arena.h"
#include "base/err.h"

enum yaml_kind { YAML_SCALAR, YAML_SEQ, YAML_MAP };

struct yaml {
	enum yaml_kind kind;
	int line; /* from 1 */
	const char *str; /* scalar text, NUL-terminated; "" for others */
	size_t len;
	int quoted; /* scalar stood in quotes or a block */
	const char *key; /* of a map entry, else NULL */
	struct yaml *child; /* first item or entry, in order */
	struct yaml *next;
};

/*
 * *out is NULL for an empty document. All in the arena. REMEM_EFORMAT with
 * name and line: no YAML, no UTF-8, a second document, a key that is no
 * scalar, more than 64 levels or 100,000 nodes with aliases written out. Of
 * equal keys the last wins, in the place of the first. Children of an alias
 * are shared with its anchor: the tree is for reading only.
 */
int yaml_read(struct yaml **out, struct arena *a, const char *text, size_t len,
	      const char *name, struct remem_err *err);
/* Entry of a map by key, NULL if there is none or y is no map (or NULL). */
struct yaml *yaml_get(struct yaml *y, const char *key);

#endif
