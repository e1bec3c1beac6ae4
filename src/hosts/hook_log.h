/* Where hooks say what went wrong: the host must not see it. */
#ifndef HOSTS_HOOK_LOG_H
#define HOSTS_HOOK_LOG_H

#include "base/arena.h"
#include "base/attr.h"

#define HOOK_LOG_BYTES (1 << 20) /* then it becomes hook.log.1 */

/* STATE/remem/log/hook.log, its folder made; NULL without a home. */
const char *hook_log_path(struct arena *a, const char *const *env);
/* Adds a line; what cannot be written is lost. path may be NULL. */
void hook_log(const char *path, const char *fmt, ...) ATTR_PRINTF(2, 3);

#endif
