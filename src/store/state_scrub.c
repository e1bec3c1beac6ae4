/* Bytes of rows that were deleted; see state_note.h. */
#include "store/state_db.h"
#include "store/state_note.h"

int state_scrub(struct state *s, struct remem_err *err)
{
	int rc = state_run(s, "VACUUM", err);

	/* Its log holds pages of before. */
	return rc ? rc : state_run(s, "PRAGMA wal_checkpoint(TRUNCATE)", err);
}
