/* Which transport. */
#include "front.h"
#include "mcp/stdio.h"
#include "mcp/tool.h"

int mcp_serve(const struct mcp_opts *o, struct remem_err *err)
{
	int rc = tools_check_opts(o, err);

	return rc ? rc : stdio_serve(o, err);
}
