/* Asking before the user's own text is changed. */
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

bool cli_confirm(struct cli *c, const char *what)
{
	char answer[16];

	if (cli_flag(c, "yes"))
		return true;
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
		cli_usage(c, "nobody can be asked here; give --yes, or "
			  "--dry-run to only look");
		return false;
	}
	fflush(stdout);
	fprintf(stderr, "%s? [y/N] ", what);
	return fgets(answer, sizeof(answer), stdin) &&
	       (answer[0] == 'y' || answer[0] == 'Y');
}
