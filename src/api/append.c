/* remem_append(): a text into a note. */
#include <string.h>

#include "api/handle.h"
#include "api/public.h"
#include "memory/append.h"
#include "memory/origin.h"
#include "source/secret.h"

static int compose(struct buf *out, const struct memory *m, const char *text,
		   size_t len, const struct remem_append_opts *o,
		   struct remem_err *err)
{
	struct entry e = { .text = text,
			   .len = len,
			   .importance = o->importance,
			   .triggers = o->triggers,
			   .project = o->project,
			   .source = o->source,
			   .observed = o->observed };

	if (!o->verbatim)
		return entry_compose(out, m, &e, err);
	if (o->importance || o->triggers || o->project || o->observed)
		return fail(err, REMEM_EINVAL, "verbatim lines take no "
			    "importance, trigger, project or observed day");
	buf_add(out, text, len);
	return buf_check(out, err);
}

static int give(char **json, const struct append_done *d,
		const struct append *w, int64_t secrets,
		struct remem_err *err)
{
	struct buf b = BUF_INIT(0);
	struct json j;
	int rc;

	json_begin(&j, &b);
	json_obj(&j);
	json_kint(&j, "version", 1);
	json_kstr(&j, "path", d->path);
	json_kstr(&j, "citation", d->citation);
	json_kbool(&j, "duplicate", d->duplicate);
	json_kbool(&j, "forgotten", d->forgotten);
	json_kbool(&j, "created", d->created);
	json_kbool(&j, "dryRun", w->dry_run);
	json_kstr(&j, "origin", origin_name(w->origin));
	json_kint(&j, "bytes", d->bytes);
	json_key(&j, "journal");
	if (d->journal)
		json_put_int(&j, d->journal);
	else
		json_put_null(&j);
	json_key(&j, "review");
	if (d->review)
		json_put_int(&j, d->review);
	else
		json_put_null(&j);
	json_kstr(&j, "reviewReason", d->review_why);
	json_kbool(&j, "rejected", d->rejected);
	json_kint(&j, "secrets", secrets);
	json_kstr(&j, "text", w->text);
	json_end(&j);
	rc = json_give(json, &b, err);
	buf_release(&b);
	return rc;
}

/* All but the owner's own words go in without keys and tokens. */
static int mask(struct buf *lines, int64_t *secrets, struct remem_err *err)
{
	struct buf masked = BUF_INIT(0);
	int rc;

	*secrets = (int64_t)secret_mask(&masked, buf_str(lines), lines->len,
					0);
	rc = buf_check(&masked, err);
	if (!rc && *secrets) {
		buf_reset(lines);
		buf_add(lines, buf_str(&masked), masked.len);
		rc = buf_check(lines, err);
	}
	buf_release(&masked);
	return rc;
}

/* A source may be an address with a password in it. */
static int mask_source(struct append *w, struct arena *a,
		       struct remem_err *err)
{
	struct buf b = BUF_INIT(0);
	int rc;

	if (!w->source)
		return 0;
	secret_mask(&b, w->source, strlen(w->source), 0);
	if (!(rc = buf_check(&b, err)) &&
	    !(w->source = arena_strndup(a, buf_str(&b), b.len)))
		rc = fail_nomem(err);
	buf_release(&b);
	return rc;
}

/* From then on hand-made changes here are taken to be the owner's. */
static void note_terminal(struct remem *r, struct arena *a,
			  const struct remem_actor *actor)
{
	if (actor->origin == REMEM_ORIGIN_OWNER && actor->via &&
	    !strcmp(actor->via, "cli") &&
	    !state_meta_get(r->state, a, "terminal"))
		state_meta_set(r->state, "terminal", "1", NULL);
}

static int append(struct remem *r, struct memory *m, const char *text,
		  size_t len, const struct remem_append_opts *o, char **json,
		  struct remem_err *err)
{
	struct append w = { .to = o->to, .source = o->source,
			    .dry_run = o->dry_run };
	struct buf lines = BUF_INIT(0);
	struct arena a = ARENA_INIT;
	struct append_done d;
	int64_t secrets = 0;
	int rc;

	if ((rc = actor_take(&w.actor, &o->actor, err)))
		return rc;
	if (!w.dry_run)
		note_terminal(r, &a, &w.actor);
	w.origin = origin_of(&w.actor);
	rc = compose(&lines, m, text, len, o, err);
	if (!rc && w.origin != REMEM_ORIGIN_OWNER &&
	    !(rc = mask(&lines, &secrets, err)))
		rc = mask_source(&w, &a, err);
	w.text = buf_str(&lines);
	w.len = lines.len;
	if (!rc)
		rc = append_lines(&d, &a, m, &w, err);
	if (!rc)
		rc = give(json, &d, &w, secrets, err);
	buf_release(&lines);
	arena_release(&a);
	return rc;
}

PUBLIC int remem_append(struct remem *r, const char *text, size_t len,
			const struct remem_append_opts *opts, char **json,
			struct remem_err *err)
{
	struct remem_append_opts o;
	struct memory m;
	int rc;

	*json = NULL;
	if ((rc = opts_take(&o, sizeof(o), opts, err)))
		return rc;
	rc = handle_memory(&m, r, err);
	if (!rc)
		rc = append(r, &m, text, len, &o, json, err);
	memory_close(&m);
	if (!rc && !o.dry_run)
		handle_commit_notes(r);
	return rc;
}
