/* What is there, looked at without writing anything: for status and doctor. */
#ifndef API_SURVEY_H
#define API_SURVEY_H

#include "api/handle.h"

struct survey {
	struct arena a;
	struct remem *r;
	bool have_index; /* the reader of r is open */
	struct remem_err index_err; /* why it is not */
	struct store_info info;
	int64_t pending; /* passages without a vector that should have one */
	int64_t dirty; /* files that differ between disk and index */
	struct source_list list; /* as the walk found them now */
	struct remem_err walk_err; /* code 0: it went through */
	int64_t notes; /* files that are to be indexed */
	const char *requested; /* provider of the settings */
	struct embedder *embedder; /* NULL: none */
	const char *off; /* why there are no vectors, NULL */
	bool unwanted; /* the user has switched vectors off */
};

/* Only memory can fail. Release it in any case. */
int survey_take(struct survey *s, struct remem *r, struct remem_err *err);
void survey_release(struct survey *s);
/* A problem that makes answers wrong or empty, in the arena; NULL if none. */
const char *survey_problem(struct survey *s);

#endif
