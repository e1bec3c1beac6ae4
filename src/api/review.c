/* remem_review(): what waits for a person's word, and the word. */
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/handle.h"
#include "api/public.h"
#include "memory/origin.h"
#include "memory/review.h"

#define LOGIN_BYTES 4096 /* what a line of the user list may need */

struct review_call {
	struct remem *r;
	struct arena a;
	struct memory m;
	struct json j;
	int64_t id;
	bool dry_run;
};

static int need_id(struct review_call *c, const char *id,
		   struct remem_err *err)
{
	char *end = NULL;

	errno = 0;
	if (id && *id)
		c->id = strtoll(id, &end, 10);
	if (end && !*end && !errno && c->id > 0)
		return 0;
	fail(err, REMEM_EINVAL, "'%.40s' is no number of a proposal",
	     id ? id : "");
	fail_action(err, "remem review list shows them");
	return REMEM_EINVAL;
}

/* Who decides, as the system knows him. */
static const char *person(struct arena *a)
{
	struct passwd pw, *found = NULL;
	char *room = arena_alloc(a, LOGIN_BYTES);

	if (room && !getpwuid_r(getuid(), &pw, room, LOGIN_BYTES, &found) &&
	    found)
		return pw.pw_name;
	return arena_printf(a, "uid %ld", (long)getuid());
}

/* ---- looking ---- */

static int put_row(void *ctx, const struct review_row *row)
{
	struct review_call *c = ctx;
	struct json *j = &c->j;

	json_obj(j);
	json_kint(j, "id", row->id);
	json_ktime(j, "time", row->at_ms);
	json_kstr(j, "path", row->path);
	json_kstr(j, "origin", origin_name((enum remem_origin)row->origin));
	json_kstr(j, "reason", row->reason);
	json_kstr(j, "actor", row->via);
	json_kstr(j, "session", row->session[0] ? row->session : NULL);
	json_kstr(j, "source", row->source[0] ? row->source : NULL);
	json_key(j, "text");
	json_put_strn(j, row->text, row->len);
	json_end(j);
	return 0;
}

/* A state that is not there yet holds nothing. */
static int open_to_read(struct state **own, struct state **s,
			struct remem *r, struct remem_err *err)
{
	int rc;

	*own = NULL;
	*s = r->state;
	if (*s || !r->state_base)
		return 0;
	if ((rc = handle_id(r, false, err)))
		return rc;
	if (!r->id[0])
		return 0;
	rc = state_open(own, r->state_base, r->id, true, err);
	*s = *own;
	return rc == REMEM_ENOTFOUND ? 0 : rc;
}

static int list(struct review_call *c, struct remem_err *err)
{
	struct state *own, *s;
	int rc = open_to_read(&own, &s, c->r, err);
	struct review_row row;

	json_key(&c->j, "proposals");
	json_arr(&c->j);
	if (!rc && s)
		rc = state_review_each(s, c->id, put_row, c, err);
	if (!rc && c->id)
		rc = s ? review_get(&row, &c->a, s, c->id, err) :
		     fail(err, REMEM_ENOTFOUND, "there is no proposal %lld",
			  (long long)c->id);
	json_arr_end(&c->j);
	state_close(own);
	return rc;
}

/* ---- deciding ---- */

static void put_decision(struct review_call *c, const struct review_row *row,
			 const char *action, const struct append_done *d,
			 int64_t journal)
{
	struct json *j = &c->j;

	json_kint(j, "id", row->id);
	json_kstr(j, "action", action);
	json_kbool(j, "dryRun", c->dry_run);
	json_kstr(j, "path", row->path);
	json_kstr(j, "citation", d ? d->citation : NULL);
	json_kbool(j, "duplicate", d && d->duplicate);
	json_kbool(j, "forgotten", d && d->forgotten);
	json_key(j, "text");
	json_put_strn(j, row->text, row->len);
	json_key(j, "journal");
	if (journal)
		json_put_int(j, journal);
	else
		json_put_null(j);
}

static int decide(struct review_call *c, bool apply, struct remem_err *err)
{
	struct append_done d = { 0 };
	struct review_row row;
	int64_t journal = 0;
	int rc = handle_memory(&c->m, c->r, err);

	if (!rc)
		rc = review_get(&row, &c->a, c->m.state, c->id, err);
	if (rc)
		return rc;
	if (apply) {
		rc = review_apply(&d, &c->a, &c->m, &row, person(&c->a),
				  c->dry_run, err);
		journal = d.journal;
	} else if (!c->dry_run) {
		rc = review_reject(&journal, &c->m, &row, person(&c->a), err);
	}
	if (!rc)
		put_decision(c, &row, apply ? "apply" : "reject",
			     apply ? &d : NULL, journal);
	return rc;
}

static int act(struct review_call *c, const char *action, const char *id,
	       struct remem_err *err)
{
	int rc;

	if (!action || !strcmp(action, "list"))
		return list(c, err);
	if (strcmp(action, "show") && strcmp(action, "apply") &&
	    strcmp(action, "reject"))
		return fail(err, REMEM_EINVAL, "'%.40s' is no action: list, "
			    "show, apply or reject", action);
	if ((rc = need_id(c, id, err)))
		return rc;
	return action[0] == 's' ? list(c, err) :
				  decide(c, action[0] == 'a', err);
}

PUBLIC int remem_review(struct remem *r, const char *action, const char *id,
			int dry_run, char **json, struct remem_err *err)
{
	struct review_call c = { .r = r, .a = ARENA_INIT,
				 .m = { .root_fd = -1,
					.lock = LOCK_INIT },
				 .dry_run = dry_run != 0 };
	struct buf b = BUF_INIT(0);
	int rc;

	*json = NULL;
	json_begin(&c.j, &b);
	json_obj(&c.j);
	json_kint(&c.j, "version", 1);
	rc = act(&c, action, id, err);
	json_end(&c.j);
	if (!rc)
		rc = json_give(json, &b, err);
	memory_close(&c.m);
	buf_release(&b);
	arena_release(&c.a);
	return rc;
}
