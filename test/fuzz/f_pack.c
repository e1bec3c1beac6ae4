/* Passages as a chunk's row has them packed. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "store/sqlite_pack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct pack_reader r = { data, data + len, 0, 0, NULL };
	struct arena a = ARENA_INIT;
	struct store_passage p = { 0 };
	int64_t heading;

	while (pack_next(&r, &a, &p, &heading))
		if (p.line_last < p.line_first || p.importance < 0 ||
		    p.len > UINT32_MAX - p.start || heading < 0 ||
		    r.at > r.end)
			abort();
	arena_release(&a);
	return 0;
}
