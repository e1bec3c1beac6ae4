/*
 * Logging by component through one callback. Keys, tokens and note text are
 * never logged. The library is silent until a callback is set.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

#include "base/attr.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_TRACE };

typedef void (*log_fn)(void *ctx, enum log_level level, const char *component,
		       const char *message);

/* NULL: silent. Both are process-wide: call them before threads are made. */
void log_set(log_fn fn, void *ctx);
/* spec: "embed,store" or "all,-http", as REMEM_TRACE; NULL: none. The last
 * entry that fits decides. */
void log_trace_spec(const char *spec);
/* Whether log_msg() would do anything: ask before costly arguments. */
bool log_wanted(enum log_level level, const char *component);
/* Messages are cut after about 1000 bytes, between characters. */
void log_msg(enum log_level level, const char *component, const char *fmt, ...)
	ATTR_PRINTF(3, 4);

#endif
