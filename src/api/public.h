/* For the files that define remem_* functions. */
#ifndef API_PUBLIC_H
#define API_PUBLIC_H

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

#define PUBLIC ATTR_PUBLIC

/*
 * Copies a caller's option struct of another version into ours: what it does
 * not have is zero, and what we do not know must be zero. opts may be NULL.
 * REMEM_EINVAL for a size that was never set.
 */
int opts_take(void *out, size_t size, const void *opts, struct remem_err *err);

/* A day "YYYY-MM-DD", DATE_NONE for NULL; name is for the message. */
int opts_date(int32_t *out, const char *text, const char *name,
	      struct remem_err *err);

#endif
