/* remem bench */
#include "cli/bench.h"

int verb_bench(struct cli *c)
{
	if (c->arg_count)
		return cli_usage(c, "bench takes no argument; --set names a "
				 "judged set");
	return cli_value(c, "set") ? bench_set(c) : bench_machine(c);
}
