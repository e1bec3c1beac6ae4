/* Changing one value in a YAML file a person wrote: the line is edited, all
 * else stays as it is, comments and order too. */
#ifndef API_CONFIG_EDIT_H
#define API_CONFIG_EDIT_H

#include "base/arena.h"
#include "base/buf.h"

/*
 * Writes text with the entry at one of paths (dotted names, NULL-terminated)
 * set to value, which is YAML on one line, or removed when value is NULL. The
 * entry is looked for at each path in turn; if it is at none, it is added to
 * the map that goes deepest. An edit counts only if the text read anew differs
 * from the old in that entry alone: REMEM_ENOTSUP where no such edit is found
 * (written in a style that cannot be edited by lines). *changed is false when
 * there was nothing to remove.
 */
int config_edit(struct buf *out, bool *changed, struct arena *a,
		const char *text, size_t len, const char *const *paths,
		const char *value, struct remem_err *err);

#endif
