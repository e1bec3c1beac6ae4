/*
 * remem_snapshot(): the last messages of a conversation into a note of their
 * own. Its record says which messages the last snapshot held; a note that has
 * the same ones (written before a kill, say) is not written again.
 */
#include <string.h>

#include "api/public.h"
#include "api/talk.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/log.h"
#include "memory/origin.h"
#include "memory/rewrite.h"
#include "memory/snapshot.h"

#define NAMES 1000 /* collisions that are numbered */

struct snapshot_call {
	struct talk_call c;
	const char *status, *reason; /* "written", "nothing", "skipped" */
	const char *path, *by; /* of the slug: "rules", "model", "time" */
	char slug[SLUG_BYTES];
	char sum[2 * SHA256_BYTES + 1]; /* of the lines */
	struct buf summary, note;
	int64_t journal, at_ms;
	enum remem_origin origin;
};

static void stop(struct snapshot_call *k, const char *status,
		 const char *reason)
{
	k->status = status;
	k->reason = reason;
}

/* When it began, else its first message, else now. */
static int64_t time_of(const struct snapshot_call *k)
{
	const struct talk *t = &k->c.talk;

	if (t->started_ms)
		return t->started_ms;
	for (size_t i = 0; i < t->n; i++)
		if (t->lines[i].time_ms)
			return t->lines[i].time_ms;
	return handle_now_ms(k->c.r);
}

static int sum_lines(struct snapshot_call *k, struct remem_err *err)
{
	struct buf lines = BUF_INIT(0);
	unsigned char sum[SHA256_BYTES];
	int rc;

	snapshot_lines(&lines, &k->c.talk);
	if (!(rc = buf_check(&lines, err))) {
		sha256_of(sum, buf_str(&lines), lines.len);
		hex_encode(k->sum, sum, SHA256_BYTES);
	}
	buf_release(&lines);
	return rc;
}

/* ---- its name ------------------------------------------------------------ */

static int ask_model(struct snapshot_call *k, struct remem_err *err)
{
	const struct settings *s = &k->c.r->settings;
	struct chat *chat = k->c.o.dry_run ||
			    !settings_bool(s, "sessionMemory.llmSlug") ?
		NULL : talk_call_chat(&k->c);
	struct remem_err why = { 0 };
	int rc = chat ? snapshot_ask(k->slug, &k->summary, chat, &k->c.talk,
				     &why) : 0;

	if (rc == REMEM_ENOMEM)
		return fail_nomem(err);
	if (rc) {
		k->c.degraded = arena_strdup(&k->c.a, why.message);
		log_msg(LOG_WARN, "chat", "%s", why.message);
		buf_reset(&k->summary);
	}
	return 0;
}

static int choose_slug(struct snapshot_call *k, struct remem_err *err)
{
	int rc = ask_model(k, err);

	if (rc)
		return rc;
	k->by = "model";
	if (!k->slug[0]) {
		k->by = "rules";
		slug_by_rules(k->slug, &k->c.talk);
	}
	if (!k->slug[0]) {
		k->by = "time";
		clock_zone_format(k->slug, sizeof(k->slug), "%H%M",
				  handle_zone(k->c.r), k->at_ms);
	}
	return 0;
}

static const char *path_of(struct snapshot_call *k, int number)
{
	char day[16];

	date_format(day, clock_zone_day(handle_zone(k->c.r), k->at_ms));
	if (number < 2)
		return arena_printf(&k->c.a, "memory/%s-%s.md", day, k->slug);
	return arena_printf(&k->c.a, "memory/%s-%s-%d.md", day, k->slug,
			    number);
}

/* ---- writing ------------------------------------------------------------- */

/* Whether the note at path holds just these messages. */
static int holds(bool *same, bool *found, struct snapshot_call *k,
		 const char *path, struct remem_err *err)
{
	struct buf old = BUF_INIT(0);
	unsigned char hash[32];
	const char *a, *b;
	size_t a_len, b_len;
	int rc = rewrite_read(&old, hash, found, &k->c.m, path, err);

	*same = false;
	if (!rc && *found) {
		a = snapshot_body(buf_str(&old), old.len, &a_len);
		b = snapshot_body(buf_str(&k->note), k->note.len, &b_len);
		*same = a && b && a_len == b_len && !memcmp(a, b, a_len);
	}
	buf_release(&old);
	/* What is there and cannot be read is somebody's all the same. */
	if (rc && rc != REMEM_ENOMEM) {
		*found = true;
		rc = 0;
	}
	return rc;
}

static int try_name(struct snapshot_call *k, bool *ready, struct remem_err *err)
{
	struct rewrite w = { .path = k->path,
			     .bytes = buf_str(&k->note),
			     .len = k->note.len,
			     .op = "snapshot",
			     .origin = k->origin,
			     .actor = k->c.actor };
	bool same, found;
	int rc = holds(&same, &found, k, k->path, err);

	*ready = same;
	if (rc || found) {
		if (same)
			stop(k, "skipped", "a note with these messages is "
			     "there");
		return rc;
	}
	rc = rewrite_file(&k->journal, &k->c.m, &w, err);
	/* Somebody else made a note of this name just now. */
	if (rc == REMEM_EBUSY)
		return 0;
	*ready = !rc;
	return rc;
}

static int write_note(struct snapshot_call *k, struct remem_err *err)
{
	bool ready = false;
	int rc = 0;

	for (int i = 1; i <= NAMES && !rc && !ready; i++) {
		k->path = path_of(k, i);
		rc = k->path ? try_name(k, &ready, err) : fail_nomem(err);
	}
	if (!rc && !ready)
		rc = fail(err, REMEM_ELIMIT, "there are %d notes called '%s' "
			  "of this day", NAMES, k->slug);
	if (!rc)
		rc = talk_call_keep(&k->c, "snapshot", k->sum, err);
	return rc;
}

static int make_note(struct snapshot_call *k, struct remem_err *err)
{
	struct snapshot_head h = { .at_ms = k->at_ms,
				   .zone = handle_zone(k->c.r),
				   .reason = k->c.o.reason };

	h.summary = k->summary.len ? buf_str(&k->summary) : NULL;
	snapshot_note(&k->note, &k->c.talk, &h);
	return buf_check(&k->note, err);
}

static bool is_done(struct snapshot_call *k)
{
	const char *record = talk_call_record(&k->c, "snapshot");

	return record && !strcmp(record, k->sum) && !k->c.o.force;
}

static int snapshot(struct snapshot_call *k, struct remem_err *err)
{
	const struct settings *s = &k->c.r->settings;
	int64_t last = settings_int(s, "sessionMemory.messages");
	int rc = talk_call_read(&k->c, 0, 0, (size_t)last, false, err);

	if (rc)
		return rc;
	if (k->c.talk.own)
		stop(k, "skipped", "the conversation is a request of remem "
		     "itself");
	else if (!k->c.talk.n)
		stop(k, "nothing", "nobody said anything that is kept");
	if (k->reason || (rc = sum_lines(k, err)))
		return rc;
	if (is_done(k)) {
		stop(k, "skipped", "nothing was said since the last snapshot");
		return 0;
	}
	k->at_ms = time_of(k);
	k->origin = origin_min(k->c.ceiling, talk_origin(&k->c.talk));
	if ((rc = choose_slug(k, err)) || (rc = make_note(k, err)))
		return rc;
	if (!k->c.o.dry_run && !k->c.o.check)
		return write_note(k, err);
	k->path = path_of(k, 1);
	return k->path ? 0 : fail_nomem(err);
}

/* ---- the answer ---------------------------------------------------------- */

static void put_or_null(struct json *j, const char *key, const char *value)
{
	json_key(j, key);
	json_put_str(j, value);
}

static int give(struct snapshot_call *k, char **json, struct remem_err *err)
{
	struct buf b = BUF_INIT(0);
	struct json j;
	int rc;

	json_begin(&j, &b);
	json_obj(&j);
	json_kint(&j, "version", 1);
	json_kstr(&j, "status", k->status);
	put_or_null(&j, "reason", k->reason);
	json_kbool(&j, "dryRun", k->c.o.dry_run != 0);
	put_or_null(&j, "path", k->path);
	put_or_null(&j, "slugBy", k->by);
	put_or_null(&j, "degraded", k->c.degraded);
	put_or_null(&j, "summary", k->summary.len ? buf_str(&k->summary) :
						    NULL);
	put_or_null(&j, "origin", k->path ? origin_name(k->origin) : NULL);
	json_key(&j, "journal");
	if (k->journal)
		json_put_int(&j, k->journal);
	else
		json_put_null(&j);
	json_kint(&j, "messages", (int64_t)k->c.talk.n);
	json_kint(&j, "leftOut", k->c.talk.left_out);
	json_kint(&j, "secrets", k->c.talk.secrets);
	put_or_null(&j, "text", k->c.o.dry_run && k->note.len ?
					buf_str(&k->note) : NULL);
	json_end(&j);
	rc = json_give(json, &b, err);
	buf_release(&b);
	return rc;
}

PUBLIC int remem_snapshot(struct remem *r, const struct remem_talk_opts *opts,
			  char **json, struct remem_err *err)
{
	struct snapshot_call k = { .status = "written" };
	int rc;

	*json = NULL;
	buf_init(&k.summary, 0);
	buf_init(&k.note, 0);
	rc = talk_call_begin(&k.c, r, opts, err);
	if (!rc)
		rc = snapshot(&k, err);
	if (!rc) {
		log_msg(LOG_TRACE, "snapshot", "%s%s%s", k.status,
			k.reason ? ": " : "", k.reason ? k.reason : "");
		rc = give(&k, json, err);
	}
	buf_release(&k.summary);
	buf_release(&k.note);
	talk_call_end(&k.c);
	if (!rc)
		handle_commit_notes(r);
	return rc;
}
