/* Errors worded into a fixed-size object; nothing here allocates. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/utf8.h"

/* A cut message must not end inside a character. */
static void trim(char *s, size_t size)
{
	size_t len = strlen(s);

	if (len + 1 == size)
		s[utf8_trim(s, len)] = '\0';
}

int fail(struct remem_err *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (!err || !fmt)
		return code;
	err->code = code;
	err->action[0] = '\0';
	va_start(ap, fmt);
	vsnprintf(err->message, sizeof(err->message), fmt, ap);
	va_end(ap);
	trim(err->message, sizeof(err->message));
	return code;
}

int fail_errno(struct remem_err *err, int code, int errnum, const char *fmt,
	       ...)
{
	char reason[128] = "";
	size_t len;
	va_list ap;

	if (!err)
		return code;
	if (strerror_r(errnum, reason, sizeof(reason)) != 0)
		snprintf(reason, sizeof(reason), "error %d", errnum);
	if (reason[0] >= 'A' && reason[0] <= 'Z' &&
	    reason[1] >= 'a' && reason[1] <= 'z')
		reason[0] = (char)(reason[0] - 'A' + 'a');
	err->code = code;
	err->action[0] = '\0';
	va_start(ap, fmt);
	vsnprintf(err->message, sizeof(err->message), fmt, ap);
	va_end(ap);
	len = strlen(err->message);
	snprintf(err->message + len, sizeof(err->message) - len, ": %s",
		 reason);
	trim(err->message, sizeof(err->message));
	return code;
}

void fail_action(struct remem_err *err, const char *fmt, ...)
{
	va_list ap;

	if (!err || !fmt)
		return;
	va_start(ap, fmt);
	vsnprintf(err->action, sizeof(err->action), fmt, ap);
	va_end(ap);
	trim(err->action, sizeof(err->action));
}

int fail_add(struct remem_err *err, const char *fmt, ...)
{
	char old[sizeof(err->message)];
	size_t len;
	va_list ap;

	if (!err)
		return REMEM_EIO;
	memcpy(old, err->message, sizeof(old));
	va_start(ap, fmt);
	vsnprintf(err->message, sizeof(err->message), fmt, ap);
	va_end(ap);
	len = strlen(err->message);
	snprintf(err->message + len, sizeof(err->message) - len, ": %s", old);
	trim(err->message, sizeof(err->message));
	return err->code;
}

void fail_limit_action(struct remem_err *err)
{
	struct rlimit most;

	if (getrlimit(RLIMIT_AS, &most) || most.rlim_cur == RLIM_INFINITY)
		return;
	fail_action(err, "it may take %llu MB of addresses (ulimit -v): allow "
		    "it more", (unsigned long long)most.rlim_cur / 1000000);
}

int fail_nomem(struct remem_err *err)
{
	fail(err, REMEM_ENOMEM, "out of memory");
	fail_limit_action(err);
	return REMEM_ENOMEM;
}

const char *err_type(int code)
{
	static const char *const names[] = {
		"ok", "invalid", "memory", "io", "not_found", "format",
		"corrupt", "remote", "timeout", "cancelled", "limit", "busy",
		"not_allowed", "not_supported", "newer_version", "bug",
	};
	size_t i = (size_t)-code;

	return code <= 0 && i < ARRAY_LEN(names) ? names[i] : "unknown";
}
