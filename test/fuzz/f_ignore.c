/* The first line is a path, the rest an ignore file: no crash, bounded time,
 * and a path that a last literal line names is always ignored. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "source/ignore.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nl = size ? memchr(data, '\n', size) : NULL;
	struct arena a = ARENA_INIT;
	struct ignore *ig = ignore_new(&a, NULL, "");
	size_t n = nl ? (size_t)(nl - data) : size;
	const char *rest = (const char *)data + n + (nl != NULL);
	size_t rest_len = size - n - (nl != NULL);
	char *path = arena_strndup(&a, (const char *)data, n);

	if (!ig || !path)
		abort();
	ignore_add(ig, &a, ".ignore", rest, rest_len);
	ignore_match(ig, path, false);
	ignore_match(ig, path, true);
	if (rest_len < 4096) {
		ignore_add(ig, &a, "last", "\n/fixed.md\n", 11);
		if (!ignore_match(ig, "fixed.md", false))
			abort();
	}
	arena_release(&a);
	return 0;
}
