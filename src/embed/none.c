/* No vectors at all: search goes by keywords. */
#include "embed/provider.h"

static int none_open(void **self, struct embed_info *info,
		     const struct embed_config *c, struct remem_err *err)
{
	(void)self;
	(void)info;
	(void)c;
	return fail(err, REMEM_ENOTSUP, "embedding is switched off "
		    "(memorySearch.provider: none)");
}

const struct embed_provider provider_none = {
	.name = "none",
	.open = none_open,
};
