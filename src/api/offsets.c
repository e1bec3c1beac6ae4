/* Offsets between the languages of a model, which search leans on while a
 * workspace is small. Without them the means of the workspace itself count. */
#include "api/handle.h"

const float *const *api_offsets(struct remem *r, const char *model, int dims)
{
	(void)r, (void)model, (void)dims;
	return NULL;
}
