/* Batch jobs as remem_index() and remem_status() see them. */
#ifndef API_BATCH_H
#define API_BATCH_H

#include "api/handle.h"
#include "base/json.h"

/* Whether the settings ask for jobs, and the provider knows them. */
bool batch_wanted(struct remem *r);
/* What a text costs by a job, as a share of its price; 1 where so many texts
 * would go at once. */
double batch_share(struct remem *r, int64_t texts);
/* Options of a run: it makes jobs and asks after them. */
void batch_connect(struct index_opts *o, struct remem *r);
/*
 * Waits until a job may be asked after. False when there is none to wait for,
 * the settings do not want it, or progress asked to stop (*stopped). With
 * o->wait_ms < 0 for ever, else as long as the settings say from start_ns on.
 */
bool batch_wait(struct remem *r, const struct remem_index_opts *o,
		int64_t start_ns, bool *stopped);
/* "batch" of a report of index; null where no jobs are wanted. */
void batch_put_report(struct json *j, struct remem *r);
/* "batch" of the status: every job that is remembered. */
void batch_put_status(struct json *j, struct remem *r);
/* Asks the provider to end all open ones. */
int batch_cancel(struct remem *r, struct remem_err *err);

#endif
