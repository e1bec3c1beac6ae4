/* remem_session_start(): in step before the first question of a conversation. */
#include "api/public.h"
#include "api/refresh.h"
#include "base/alloc.h"

PUBLIC int remem_session_start(struct remem *r, char **why,
			       struct remem_err *err)
{
	struct refresh y = { .session = true };
	struct arena a = ARENA_INIT;
	bool again;
	int rc, end;

	*why = NULL;
	y.text_only = handle_text_only(r);
	rc = refresh_begin(&y, r, &a, err);
	/* Joined also after a failure. */
	end = refresh_end(&y, &again, r, &a, rc ? NULL : err);
	rc = rc ? rc : end;
	if (!rc && y.stale && !(*why = mem_strdup(y.why)))
		rc = fail_nomem(err);
	arena_release(&a);
	return rc;
}
