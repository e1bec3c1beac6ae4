/* The program. */
#include "cli/cli.h"

extern char **environ;

int main(int argc, char **argv)
{
	return cli_main(argc, argv, environ);
}
