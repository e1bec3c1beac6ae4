/* Options that flush and snapshot have in common. */
#ifndef CLI_TALK_OPTS_H
#define CLI_TALK_OPTS_H

#include "cli/cli.h"

/* 0, or the exit code with the complaint made. */
int talk_opts(struct cli *c, struct remem_talk_opts *o);

#endif
