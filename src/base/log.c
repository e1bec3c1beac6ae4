/* Log messages to one receiver; see log.h. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

#define SPEC_MAX 256
#define MESSAGE_MAX 1024

static log_fn receiver;
static void *receiver_ctx;
static char trace_spec[SPEC_MAX];

void log_set(log_fn fn, void *ctx)
{
	receiver = fn;
	receiver_ctx = ctx;
}

void log_trace_spec(const char *spec)
{
	snprintf(trace_spec, sizeof(trace_spec), "%s", spec ? spec : "");
}

/* The last entry that names the component, or all of them, decides. */
static bool is_traced(const char *component)
{
	const char *s = trace_spec;
	size_t len = strlen(component);
	bool on = false;

	while (*s) {
		size_t n;
		bool minus;

		s += strspn(s, ", ");
		minus = *s == '-';
		s += minus;
		n = strcspn(s, ", ");
		if ((n == len && !memcmp(s, component, n)) ||
		    (n == 3 && !memcmp(s, "all", 3)))
			on = !minus;
		s += n;
	}
	return on;
}

bool log_wanted(enum log_level level, const char *component)
{
	if (!receiver)
		return false;
	return level < LOG_TRACE || is_traced(component);
}

void log_msg(enum log_level level, const char *component, const char *fmt, ...)
{
	char text[MESSAGE_MAX];
	size_t len;
	va_list ap;

	if (!log_wanted(level, component))
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	len = strlen(text);
	if (len + 1 == sizeof(text)) /* cut: not inside a character */
		text[utf8_trim(text, len)] = '\0';
	receiver(receiver_ctx, level, component, text);
}
