/* Adding a text; see add.h. */
#include "mcp/add.h"

void add_begin(struct call *c, struct remem_append_opts *o)
{
	*o = (struct remem_append_opts)REMEM_OPTS_INIT(*o);
	o->actor.size = sizeof(o->actor);
	o->actor.via = "mcp";
	o->actor.origin = c->o->shared ? REMEM_ORIGIN_UNTRUSTED :
					 REMEM_ORIGIN_AGENT;
}
