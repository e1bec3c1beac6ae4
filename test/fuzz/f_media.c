/* Images and sound: every file has a type or a reason, and is read within its
 * bounds. */
#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "text/media.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *why = NULL, *type = media_sniff(&why, data, len);

	if (!type == !why)
		abort();
	if (type)
		(void)media_is_image(type);
	return 0;
}
