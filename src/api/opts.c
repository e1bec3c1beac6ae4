/* Option structs that begin with their size. */
#include "api/public.h"

#include <string.h>

#include "base/clock.h"

int opts_take(void *out, size_t size, const void *opts, struct remem_err *err)
{
	size_t given;
	const unsigned char *bytes = opts;

	memset(out, 0, size);
	memcpy(out, &size, sizeof(size));
	if (!opts)
		return 0;
	memcpy(&given, opts, sizeof(given));
	if (given < sizeof(given) || given > 65536) {
		fail(err, REMEM_EINVAL, "options without their size");
		fail_action(err, "begin with REMEM_OPTS_INIT");
		return REMEM_EINVAL;
	}
	for (size_t i = size; i < given; i++)
		if (bytes[i])
			return fail(err, REMEM_ENOTSUP, "an option of a newer "
				    "remem.h than this library's");
	memcpy(out, opts, given < size ? given : size);
	memcpy(out, &size, sizeof(size));
	return 0;
}

int opts_date(int32_t *out, const char *text, const char *name,
	      struct remem_err *err)
{
	*out = DATE_NONE;
	if (!text || date_parse(out, text, strlen(text)))
		return 0;
	return fail(err, REMEM_EINVAL, "%s should be a date YYYY-MM-DD, not "
		    "'%.40s'", name, text);
}
