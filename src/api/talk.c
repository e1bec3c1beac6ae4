/* See talk.h. */
#include "api/talk.h"

#include <string.h>

#include "api/public.h"
#include "base/hash.h"
#include "base/log.h"
#include "memory/origin.h"

#define LOCKS 16 /* files; two conversations may share one */
#define LOCK_MS 120000 /* another one may be asking a model */

/* What tells conversations apart: the session, else the file. */
static void key_of(const struct talk_call *c, char out[2 * 16 + 1])
{
	const char *what = c->o.session && c->o.session[0] ?
		c->o.session : c->o.transcript;
	unsigned char sum[SHA256_BYTES];

	sha256_of(sum, what, strlen(what));
	hex_encode(out, sum, 16);
}

static int take_lock(struct talk_call *c, struct remem_err *err)
{
	char key[33];
	const char *path;

	key_of(c, key);
	path = arena_printf(&c->a, "%s/%s/talk-%c.lock", c->r->state_base,
			    c->r->id, key[0]);
	_Static_assert(LOCKS == 16, "one for each hexadecimal digit");
	return path ? lock_take(&c->lock, path, LOCK_MS, err) :
		      fail_nomem(err);
}

static int open_writer(struct talk_call *c, struct remem_err *err)
{
	int rc = handle_memory(&c->m, c->r, err);

	c->writes = true;
	if (rc)
		return rc;
	c->state = c->r->state;
	/* Said now, before a model is asked for what cannot be kept. */
	if ((rc = memory_begin(&c->m, err)))
		return rc;
	memory_end(&c->m);
	return take_lock(c, err);
}

static void open_reader(struct talk_call *c)
{
	if (!handle_id(c->r, false, NULL) && c->r->id[0] &&
	    state_open(&c->state, c->r->state_base, c->r->id, true, NULL))
		c->state = NULL;
}

int talk_call_begin(struct talk_call *c, struct remem *r,
		    const struct remem_talk_opts *opts, struct remem_err *err)
{
	int rc;

	memset(c, 0, sizeof(*c));
	c->r = r;
	c->m.root_fd = -1;
	c->m.lock = c->lock = (struct lock)LOCK_INIT;
	if ((rc = opts_take(&c->o, sizeof(c->o), opts, err)) ||
	    (rc = actor_take(&c->actor, &c->o.actor, err)))
		return rc;
	if (!c->o.transcript || !c->o.transcript[0]) {
		fail(err, REMEM_EINVAL, "no transcript is named");
		fail_action(err, "give its file with --transcript");
		return REMEM_EINVAL;
	}
	if (!c->actor.session)
		c->actor.session = c->o.session;
	/* What is taken from a talk is an agent's work, even at a terminal. */
	c->ceiling = origin_min(origin_of(&c->actor), REMEM_ORIGIN_AGENT);
	if (!c->o.check && !c->o.dry_run)
		return open_writer(c, err);
	open_reader(c);
	return 0;
}

void talk_call_end(struct talk_call *c)
{
	chat_free(c->chat);
	lock_release(&c->lock);
	if (c->writes)
		memory_close(&c->m);
	else if (c->state)
		state_close(c->state);
	arena_release(&c->a);
}

static const char *record_key(struct talk_call *c, const char *kind)
{
	char key[33];

	key_of(c, key);
	return arena_printf(&c->a, "%s %s", kind, key);
}

const char *talk_call_record(struct talk_call *c, const char *kind)
{
	const char *key = record_key(c, kind);

	return key && c->state ? state_meta_get(c->state, &c->a, key) : NULL;
}

int talk_call_keep(struct talk_call *c, const char *kind, const char *value,
		   struct remem_err *err)
{
	const char *key = record_key(c, kind);

	return key ? state_meta_set(c->state, key, value, err) :
		     fail_nomem(err);
}

int talk_call_read(struct talk_call *c, int64_t after_line,
		   int64_t only_if_bytes, size_t last, bool raw,
		   struct remem_err *err)
{
	struct talk_opts o = { .path = c->o.transcript,
			       .format = c->o.format,
			       .session = c->o.session,
			       .after_line = after_line,
			       .only_if_bytes = only_if_bytes,
			       .last = last,
			       .raw = raw };
	int rc = talk_read(&c->talk, &c->a, &o, err);

	if (rc)
		fail_add(err, "the conversation cannot be read");
	return rc;
}

/* "hook:claude-code": the host for which it is done. */
static void name_host(struct talk_call *c)
{
	static const char before[] = "hook:";
	const char *via = c->o.actor.via;

	if (!c->r->client[0] && via && !strncmp(via, before, sizeof(before) - 1))
		remem_client(c->r, via + sizeof(before) - 1);
}

struct chat *talk_call_chat(struct talk_call *c)
{
	struct remem_err why = { 0 };

	name_host(c);
	if (!c->chat && handle_chat(&c->chat, c->r, &why)) {
		c->chat = NULL;
		c->degraded = arena_strdup(&c->a, why.message);
		log_msg(LOG_WARN, "chat", "%s", why.message);
	}
	return c->chat && !chat_off(c->chat) ? c->chat : NULL;
}

const char *talk_call_host(const struct talk_call *c)
{
	return c->talk.host && c->talk.host[0] ? c->talk.host : "an agent";
}
