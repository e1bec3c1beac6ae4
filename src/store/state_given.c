/* What was put in front of a model; see state_note.h. */
#include "store/state_db.h"
#include "store/state_note.h"

#define DAY_MS 86400000ll
#define SWEEP_MASK 63 /* old rows go with about every 64th one */

static int sweep(struct state *s, int64_t before_ms, struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, "DELETE FROM given WHERE time < ?1", &st, err);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, before_ms);
	return state_done(s, st, err);
}

int state_given_add(struct state *s, const char *session,
		    const unsigned char words[LINE_HASH_BYTES], int64_t at_ms,
		    struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc = state_ask(s, "INSERT OR REPLACE INTO given VALUES(?1, ?2, ?3)",
			   &st, err);

	if (rc)
		return rc;
	sqlite3_bind_blob(st, 1, words, LINE_HASH_BYTES, SQLITE_STATIC);
	state_text(st, 2, session ? session : "");
	sqlite3_bind_int64(st, 3, at_ms);
	if ((rc = state_done(s, st, err)))
		return rc;
	return words[0] & SWEEP_MASK ? 0 :
		       sweep(s, at_ms - GIVEN_DAYS * DAY_MS, err);
}

int state_given_has(struct state *s, const char *session,
		    const unsigned char words[LINE_HASH_BYTES], bool *has,
		    struct remem_err *err)
{
	sqlite3_stmt *st;
	int rc;

	*has = false;
	/* A reader may find a state of before. */
	if (s->version < 3)
		return 0;
	rc = state_ask(s, "SELECT 1 FROM given WHERE words = ?1 AND "
			  "(?2 IS NULL OR session = ?2) LIMIT 1", &st, err);
	if (rc)
		return rc;
	sqlite3_bind_blob(st, 1, words, LINE_HASH_BYTES, SQLITE_STATIC);
	if (session)
		state_text(st, 2, session);
	while (state_row(s, st, &rc, err))
		*has = true;
	return rc;
}
