/*
 * Asks a folder of notes a question: ask DIR QUESTION
 *
 * Brings the index up to date, then prints each answer's citation and text.
 * cc ask.c $(pkg-config --cflags --libs remem)
 */
#include <remem.h>
#include <stdio.h>
#include <string.h>

extern char **environ;

static void print(const struct remem_results *res)
{
	const struct remem_hit *hit;
	size_t i;

	for (i = 0; (hit = remem_results_hit(res, i)); i++)
		printf("%s  %.2f\n%s\n\n", hit->citation, hit->score,
		       hit->snippet);
	if (remem_results_message(res))
		fprintf(stderr, "%s\n", remem_results_message(res));
}

int main(int argc, char **argv)
{
	struct remem_open_opts open = REMEM_OPTS_INIT(open);
	struct remem_index_opts index = REMEM_OPTS_INIT(index);
	struct remem_search_opts search = REMEM_OPTS_INIT(search);
	struct remem_results *res = NULL;
	struct remem_err err;
	struct remem *r = NULL;
	char *report = NULL;
	int rc;

	if (argc != 3) {
		fprintf(stderr, "usage: ask DIR QUESTION\n");
		return 2;
	}
	open.workspace = argv[1];
	open.env = (const char *const *)environ;
	search.max_results = 3;
	if (!(rc = remem_open(&r, &open, &err)) &&
	    !(rc = remem_index(r, &index, &report, &err)) &&
	    !(rc = remem_search(r, argv[2], strlen(argv[2]), &search, &res,
				&err)))
		print(res);
	else
		fprintf(stderr, "ask: %s\n%s\n", err.message, err.action);
	remem_results_free(res);
	remem_free(report);
	remem_close(r);
	return rc ? 1 : 0;
}
