/*
 * GitHub Copilot gives its key for an account, by an interface that is not
 * described in public and for its own editors. It is named here so that
 * settings that name it hear why there are no vectors.
 */
#include "embed/provider.h"

static int copilot_open(void **self, struct embed_info *info,
			const struct embed_config *c, struct remem_err *err)
{
	(void)self;
	(void)info;
	(void)c;
	fail(err, REMEM_ENOTSUP, "the provider github-copilot is not in this "
	     "version: its key is given to an account only, by an interface "
	     "that is not public");
	fail_action(err, "set memorySearch.provider to auto, or to openai with "
		    "a key of its own");
	return REMEM_ENOTSUP;
}

const struct embed_provider provider_github_copilot = {
	.name = "github-copilot",
	.open = copilot_open,
};
