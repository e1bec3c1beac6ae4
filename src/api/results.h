/* The answer of a search, as the library's caller holds it. */
#ifndef API_RESULTS_H
#define API_RESULTS_H

#include "api/handle.h"
#include "search/search.h"

struct remem_results {
	struct arena a;
	struct search_answer answer;
	struct remem_hit *hits;
	struct store_info info;
	int64_t pending; /* passages that have no vector yet */
	bool stale, explain;
	const char *message; /* NULL: nothing to say */
	const char *degraded; /* one line, NULL */
	int64_t took_ms;
};

#endif
