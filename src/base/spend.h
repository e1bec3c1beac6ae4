/*
 * What a request to a provider may cost: set aside before it is sent, settled
 * when it came back. Who asks fills in what is known; who counts (api/ledger.c)
 * keeps the ledger and the budget.
 */
#ifndef BASE_SPEND_H
#define BASE_SPEND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct spend {
	const char *provider, *model;
	int items; /* texts, or 1 */
	/* Before: an estimate, the answer included. After: as the provider
	 * counted, else the estimate; 0 where nothing is paid for. */
	int64_t tokens;
	int64_t answer_tokens; /* those of them that a model writes */
	int timeout_ms; /* before: what it may take at most */
	int status; /* after: of HTTP, 0: none */
	int64_t took_ms; /* after */
	int64_t held; /* number of what was set aside, 0: nothing */
};

struct spender {
	/* Sets s->held. REMEM_ELIMIT: it is not in the budget. NULL: there is
	 * no bound. */
	int (*hold)(void *ctx, struct spend *s, struct remem_err *err);
	/* After each request that was sent. NULL: nobody counts. */
	void (*settle)(void *ctx, const struct spend *s);
	/* What is held for a request that was not sent after all. */
	void (*drop)(void *ctx, const struct spend *s);
	void *ctx;
};

/* A refusal is not paid for, nor what was never sent; what broke off or was
 * too late may have been. */
static inline int64_t spend_paid(int status, bool timed_out, int64_t counted,
				 int64_t estimate)
{
	if (status >= 300 || (!status && !timed_out))
		return 0;
	return counted > 0 ? counted : estimate;
}

#endif
