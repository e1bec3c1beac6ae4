/* Options of a search: from the command line, or from a line of a batch. */
#ifndef CLI_SEARCH_OPTS_H
#define CLI_SEARCH_OPTS_H

#include "base/json.h"
#include "cli/cli.h"

/* 0, or the exit code with the complaint made. */
int search_opts_from_args(struct cli *c, struct remem_search_opts *o);
/* {"query","id","now","maxResults","minScore","mode","filters"} over the
 * options of the command line. Strings are borrowed from the object. */
int search_opts_from_json(struct remem_search_opts *o, yyjson_val *v,
			  struct remem_err *err);
/* One JSON query a line until the end of input. */
int search_batch(struct cli *c, struct remem *r,
		 const struct remem_search_opts *o);

#endif
