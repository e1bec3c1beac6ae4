/* Which transport. */
#include "base/err.h"
#include "front.h"
#include "mcp/http.h"
#include "mcp/stdio.h"
#include "mcp/tool.h"

int mcp_serve(const struct mcp_opts *o, struct remem_err *err)
{
	int rc = tools_check_opts(o, err);

	if (rc)
		return rc;
	if (!o->http && (o->host || o->port || o->token_file))
		return fail(err, REMEM_EINVAL,
			    "--host, --port and --token-file need --http");
	return o->http ? http_serve(o, err) : stdio_serve(o, err);
}
