/* remem_undo(): one write of the journal, taken back. */
#include "memory/undo.h"

#include "api/handle.h"
#include "api/public.h"

static int give(char **json, const struct undo *u, struct remem_err *err)
{
	struct buf b = BUF_INIT(0);
	struct json j;
	int rc;

	json_begin(&j, &b);
	json_obj(&j);
	json_kint(&j, "version", 1);
	json_kint(&j, "id", u->id);
	json_kstr(&j, "op", u->op);
	json_kstr(&j, "path", u->path);
	json_kbool(&j, "dryRun", u->dry_run);
	json_kbool(&j, "removesFile", u->removes_file);
	json_kstr(&j, "removed", u->removed);
	json_kstr(&j, "restored", u->restored);
	json_key(&j, "journal");
	if (u->journal)
		json_put_int(&j, u->journal);
	else
		json_put_null(&j);
	json_end(&j);
	rc = json_give(json, &b, err);
	buf_release(&b);
	return rc;
}

PUBLIC int remem_undo(struct remem *r, int64_t id, int dry_run, char **json,
		      struct remem_err *err)
{
	struct undo u = { .id = id, .dry_run = dry_run != 0 };
	struct arena a = ARENA_INIT;
	struct memory m;
	int rc;

	*json = NULL;
	u.actor = (struct remem_actor)REMEM_OPTS_INIT(u.actor);
	rc = handle_memory(&m, r, err);
	if (!rc)
		rc = undo_record(&u, &a, &m, err);
	if (!rc)
		rc = give(json, &u, err);
	memory_close(&m);
	arena_release(&a);
	if (!rc && !dry_run)
		handle_commit_notes(r);
	return rc;
}
