/*
 * Settings in TOML, changed as text: a table of ours at the end, everything
 * else keeps its bytes.
 */
#ifndef HOSTS_TOMLTEXT_H
#define HOSTS_TOMLTEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

/*
 * Looks for the table named by dotted (as "mcp_servers.remem"), with its
 * subtables. *found false when there is none. REMEM_EFORMAT with the line:
 * strings or brackets that do not end, a line that is neither table nor key,
 * or the same name set in another form.
 */
int tomltext_find(bool *found, size_t *start, size_t *end, struct arena *a,
		  const char *text, size_t len, const char *dotted,
		  const char *name, struct remem_err *err);

/* A TOML basic string of s, in the arena. */
const char *tomltext_string(struct arena *a, const char *s);

#endif
