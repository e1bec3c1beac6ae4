/* See scale.h. Every search reads all vectors once: 2 million of 384 bytes take
 * 0.15 s from memory of 6 GB/s, and are 0.8 GB that should stay in it. */
#include "api/scale.h"

#define VECTORS_MANY 2000000
#define USUAL_DIMS 384

const char scale_action[] =
	"set memorySearch.embedding.unit: chunk (a sixth of the vectors), or "
	"move old notes and transcripts to another workspace or agent";

const char *scale_warning(struct arena *a, int64_t vectors, int dims)
{
	int64_t many = (int64_t)VECTORS_MANY * USUAL_DIMS;

	if (dims <= 0)
		dims = USUAL_DIMS;
	if (vectors <= many / dims)
		return NULL;
	return arena_printf(a, "%lld vectors of %d dimensions are read for "
			    "each search, %lld MB: it takes longer than it "
			    "should", (long long)vectors, dims,
			    (long long)(vectors * dims / 1000000));
}
