/* remem_git(): the workspace under git; and commits by themselves, where the
 * user asked for them. */
#include "memory/git.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/handle.h"
#include "api/public.h"
#include "base/json.h"
#include "base/log.h"

#define LOG_ENTRIES 20
#define HOUR_MS 3600000ll
#define COMMITTED "git.committed_at_ms"

struct git_call {
	struct remem *r;
	struct arena a;
	struct git g;
	struct buf b;
	struct json j;
};

static void begin(struct git_call *c, const char *action)
{
	json_begin(&c->j, &c->b);
	json_obj(&c->j);
	json_kint(&c->j, "version", 1);
	json_kstr(&c->j, "action", action);
	json_kstr(&c->j, "repository", c->g.top);
}

static int put_changes(struct git_call *c, struct remem_err *err)
{
	struct git_change *list;
	int count, rc = git_changes(&c->g, &list, &count, err);

	if (rc)
		return rc;
	json_key(&c->j, "changes");
	json_arr(&c->j);
	for (int i = 0; i < count; i++) {
		json_obj(&c->j);
		json_kstr(&c->j, "path", list[i].path);
		json_kstr(&c->j, "what", list[i].what);
		json_end(&c->j);
	}
	json_arr_end(&c->j);
	return 0;
}

static int act_init(struct git_call *c, struct remem_err *err)
{
	bool made;
	int rc = git_make(&c->g, &made, err);

	if (rc)
		return rc;
	begin(c, "init");
	json_kbool(&c->j, "made", made);
	return 0;
}

static int act_status(struct git_call *c, struct remem_err *err)
{
	begin(c, "status");
	json_kstr(&c->j, "busy", c->g.busy);
	json_kstr(&c->j, "commits", settings_str(&c->r->settings,
						  "git.commit"));
	return c->g.top ? put_changes(c, err) : 0;
}

static int act_log(struct git_call *c, struct remem_err *err)
{
	struct git_entry *list;
	int count, rc = git_log(&c->g, &list, &count, LOG_ENTRIES, err);

	if (rc)
		return rc;
	begin(c, "log");
	json_key(&c->j, "entries");
	json_arr(&c->j);
	for (int i = 0; i < count; i++) {
		json_obj(&c->j);
		json_kstr(&c->j, "commit", list[i].hash);
		json_ktime(&c->j, "at", list[i].at_ms);
		json_kstr(&c->j, "author", list[i].author);
		json_kstr(&c->j, "subject", list[i].subject);
		json_end(&c->j);
	}
	json_arr_end(&c->j);
	return 0;
}

static int act_commit(struct git_call *c, struct remem_err *err)
{
	char hash[GIT_HASH];
	int rc = git_commit(&c->g, hash, err);

	if (rc)
		return rc;
	begin(c, "commit");
	json_kstr(&c->j, "commit", hash[0] ? hash : NULL);
	return 0;
}

static const struct {
	const char *name;
	bool writes;
	int (*run)(struct git_call *c, struct remem_err *err);
} actions[] = {
	{ "init", true, act_init },
	{ "status", false, act_status },
	{ "log", false, act_log },
	{ "commit", true, act_commit },
};

static int act(struct git_call *c, const char *action, struct remem_err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
		if (strcmp(actions[i].name, action ? action : ""))
			continue;
		if (actions[i].writes && c->r->read_only)
			return fail(err, REMEM_EPERM,
				    "nothing is written: read-only");
		return actions[i].run(c, err);
	}
	return fail(err, REMEM_EINVAL, "git does init, status, log or commit, "
		    "not '%.40s'", action ? action : "");
}

PUBLIC int remem_git(struct remem *r, const char *action, char **json,
		     struct remem_err *err)
{
	struct git_call c = { .r = r, .a = ARENA_INIT, .b = BUF_INIT(0) };
	int rc;

	*json = NULL;
	if (!(rc = git_open(&c.g, &c.a, r->workspace, err)) &&
	    !(rc = act(&c, action, err))) {
		json_end(&c.j);
		rc = json_give(json, &c.b, err);
	}
	buf_release(&c.b);
	arena_release(&c.a);
	return rc;
}

/* Whether a commit is wanted now. */
static bool is_due(struct remem *r, struct arena *a)
{
	const char *how = settings_str(&r->settings, "git.commit"), *at;
	int64_t now = handle_now_ms(r), then;

	if (r->read_only || !strcmp(how, "off"))
		return false;
	if (!strcmp(how, "change") || !handle_state(r))
		return true;
	at = state_meta_get(r->state, a, COMMITTED);
	then = at ? strtoll(at, NULL, 10) : 0;
	/* A clock that was set back makes it due as well. */
	return now - then >= HOUR_MS || then > now;
}

void handle_commit_notes(struct remem *r)
{
	struct arena a = ARENA_INIT;
	struct remem_err why = { 0 };
	char hash[GIT_HASH], now[24];
	struct git g;

	if (!is_due(r, &a))
		goto out;
	if (git_open(&g, &a, r->workspace, &why) ||
	    (g.top && git_commit(&g, hash, &why))) {
		log_msg(LOG_WARN, "git", "%s", why.message);
		goto out;
	}
	snprintf(now, sizeof(now), "%" PRId64, handle_now_ms(r));
	if (g.top && handle_state(r))
		state_meta_set(r->state, COMMITTED, now, NULL);
out:
	arena_release(&a);
}
