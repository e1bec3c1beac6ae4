/* See writes.h. */
#include "index/writes.h"

#include "base/file.h"

int writes_begin(struct writes *w, struct remem_err *err)
{
	int rc;

	file_fault_step();
	if (w->open)
		return 0;
	rc = w->s->ops->begin(w->s, err);
	w->open = !rc;
	return rc;
}

int writes_commit(struct writes *w, struct remem_err *err)
{
	if (!w->open)
		return 0;
	w->open = false;
	w->items = 0;
	w->bytes = 0;
	file_fault_step();
	return w->s->ops->commit(w->s, err);
}

int writes_end(struct writes *w, int rc, struct remem_err *err)
{
	struct remem_err end;

	if (!rc)
		rc = writes_commit(w, err);
	else if (rc == REMEM_ECANCELLED && writes_commit(w, &end))
		rc = fail(err, end.code, "%s", end.message);
	if (w->open)
		w->s->ops->rollback(w->s);
	return rc;
}
