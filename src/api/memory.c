/* The workspace as its writers have it: see memory/memory.h. */
#include <string.h>

#include "api/handle.h"
#include "api/public.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"

#define TERMINAL "terminal" /* a person has used remem here */

int actor_take(struct remem_actor *out, const struct remem_actor *given,
	       struct remem_err *err)
{
	/* One that was never set has size 0. */
	return opts_take(out, sizeof(*out), given->size ? given : NULL, err);
}

enum remem_origin handle_edits(struct remem *r, struct state *s)
{
	const char *how = settings_str(&r->settings, "trust.edits");
	struct arena a = ARENA_INIT;
	bool terminal;

	if (!strcmp(how, "owner"))
		return REMEM_ORIGIN_OWNER;
	if (!strcmp(how, "untrusted"))
		return REMEM_ORIGIN_UNTRUSTED;
	if (!strcmp(how, "agent") || !s)
		return REMEM_ORIGIN_AGENT;
	terminal = state_meta_get(s, &a, TERMINAL) != NULL;
	arena_release(&a);
	return terminal ? REMEM_ORIGIN_OWNER : REMEM_ORIGIN_AGENT;
}

/*
 * Nothing is made. Where writing is allowed it is opened as writers do, for a
 * reader without a log must not meet one.
 */
static int open_origins(void *ctx, struct state **out,
			enum remem_origin *edits, struct remem_err *err)
{
	struct remem *r = ctx;
	struct remem_err why = { 0 };
	struct buf path = BUF_INIT(0);
	bool found;
	int rc;

	*edits = handle_edits(r, NULL);
	if (!r->id[0] || !r->state_base)
		return 0;
	buf_addf(&path, "%s/%s/state.sqlite", r->state_base, r->id);
	rc = buf_check(&path, err);
	found = !rc && file_exists(buf_str(&path));
	buf_release(&path);
	if (!found)
		return rc;
	rc = state_open(out, r->state_base, r->id, r->read_only, &why);
	if (rc && rc != REMEM_ENOTFOUND)
		return fail(err, rc, "%s", why.message);
	*edits = handle_edits(r, *out);
	return 0;
}

const struct index_origins *handle_origins(struct remem *r)
{
	r->origins.open = open_origins;
	r->origins.ctx = r;
	return origin_index_ops(&r->origins);
}

static void set_limits(struct memory *m, const struct settings *s)
{
	int east;

	m->zone = settings_str(s, "userTimezone");
	if (m->zone[0] && !zone_offset(&east, m->zone, 0))
		log_msg(LOG_WARN, "settings", "there is no time zone '%s': "
			"days are those of the system", m->zone);
	m->max_file_bytes = settings_int(s, "memorySearch.maxFileBytes");
	m->line_bytes = (int)settings_int(s, "trust.limits.lineBytes");
	m->text_bytes = (int)settings_int(s, "trust.limits.entryBytes");
	m->entries_per_minute =
		(int)settings_int(s, "trust.limits.entriesPerMinute");
	m->bytes_per_day = settings_int(s, "trust.limits.bytesPerDay");
	m->preimages = (int)settings_int(s, "trust.keep.files");
	m->preimage_bytes = settings_int(s, "trust.keep.bytes");
}

/* The state that a write needs: without it nothing could be explained or
 * taken back later. */
static int open_state(struct remem *r, struct remem_err *err)
{
	int rc;

	if (r->state)
		return 0;
	if (!r->state_base) {
		fail(err, REMEM_ENOTFOUND, "there is no home folder for the "
		     "journal");
		fail_action(err, "set HOME or XDG_STATE_HOME");
		return REMEM_ENOTFOUND;
	}
	if ((rc = handle_id(r, true, err)))
		return rc;
	rc = state_open(&r->state, r->state_base, r->id, false, err);
	if (rc)
		r->state = NULL;
	return rc;
}

int handle_memory(struct memory *m, struct remem *r, struct remem_err *err)
{
	int rc;

	memset(m, 0, sizeof(*m));
	m->root = r->workspace;
	m->now_ms = r->now_ms;
	m->root_fd = -1;
	m->lock = (struct lock)LOCK_INIT;
	if (r->read_only) {
		fail(err, REMEM_EPERM, "nothing is written: read-only");
		fail_action(err, "it is set by --read-only, readOnly or "
			    "REMEM_READ_ONLY");
		return REMEM_EPERM;
	}
	if ((rc = open_state(r, err)))
		return rc;
	m->state = r->state;
	m->edits = handle_edits(r, r->state);
	/* Made once: a server writes as long as it runs. */
	if (!r->write_lock)
		r->write_lock = arena_printf(&r->a, "%s/%s/write.lock",
					     r->state_base, r->id);
	if (!r->write_lock)
		return fail_nomem(err);
	m->lock_path = r->write_lock;
	set_limits(m, &r->settings);
	return memory_open(m, err);
}
