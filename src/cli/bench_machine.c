/* Speed beside the limits of this machine. */
#include "cli/bench.h"

int bench_machine(struct cli *c)
{
	return cli_usage(c, "--set names a judged set");
}
