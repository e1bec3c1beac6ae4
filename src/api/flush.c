/*
 * remem_flush(): what matters of a conversation into today's note, once in a
 * compaction cycle. Every decision is logged with its reason and counted in
 * the record of the conversation (memory/due.h).
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/public.h"
#include "api/talk.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "memory/due.h"
#include "memory/flush.h"
#include "memory/origin.h"

#define WINDOW_TOKENS 200000 /* of the hosts' usual models */

struct flush_call {
	struct talk_call c;
	struct due due;
	struct due_record record;
	int64_t window, force_bytes, cycle;
	const char *status; /* "written", "nothing", "skipped", "due", … */
	const char *reason, *trigger; /* or NULL */
	const char *by; /* "rules", "model", "host", NULL */
	struct flush f;
	struct flush_done done;
};

/* ---- whether it is time -------------------------------------------------- */

/* "2mb", "512 KB", "1048576". */
static int64_t parse_bytes(const char *s)
{
	char *end;
	double n = strtod(s, &end);

	end += strspn(end, " ");
	if (!strncasecmp(end, "k", 1))
		n *= 1024;
	else if (!strncasecmp(end, "m", 1))
		n *= 1048576;
	else if (!strncasecmp(end, "g", 1))
		n *= 1073741824;
	return n > 0 && n < 1e15 ? (int64_t)n : 0;
}

static void compute(struct flush_call *k)
{
	const struct settings *s = &k->c.r->settings;
	const struct remem_talk_opts *o = &k->c.o;
	const struct talk *t = &k->c.talk;
	int64_t set = settings_int(s, "compaction.memoryFlush.contextWindow");
	struct due_opts d = { 0 };

	k->window = o->window_tokens > 0 ? o->window_tokens :
		    set > 0 ? set : WINDOW_TOKENS;
	k->force_bytes = parse_bytes(settings_str(
		s, "compaction.memoryFlush.forceFlushTranscriptBytes"));
	d.window = k->window;
	d.reserve = settings_int(s, "compaction.reserveTokensFloor");
	d.soft = settings_int(s, "compaction.memoryFlush.softThresholdTokens");
	d.force_bytes = k->force_bytes;
	d.total = o->used_tokens;
	d.stale = o->used_tokens <= 0;
	/* The usage of the transcript counts the last output already. */
	d.usage = t->context_tokens;
	d.after = t->after_tokens;
	d.bytes = t->bytes;
	due_compute(&k->due, &d);
	k->cycle = t->compactions;
}

static bool is_compaction(const char *reason)
{
	return reason && (!strncasecmp(reason, "compact", 7) ||
			  !strncasecmp(reason, "pre-compact", 11) ||
			  !strncasecmp(reason, "precompact", 10));
}

static const char *find_trigger(const struct flush_call *k)
{
	if (is_compaction(k->c.o.reason))
		return "compaction";
	if (k->due.by_tokens)
		return "tokens";
	if (k->due.by_bytes)
		return "bytes";
	return k->c.o.force ? "forced" : NULL;
}

static bool skip(struct flush_call *k, const char *status, const char *reason)
{
	k->status = status;
	k->reason = reason;
	return false;
}

/* Whether to go on; else status and reason are set. */
static bool decide(struct flush_call *k)
{
	const struct remem_talk_opts *o = &k->c.o;
	/* A host that is about to compact forces, and may say so twice. */
	bool again = o->force && !is_compaction(o->reason);

	k->trigger = find_trigger(k);
	if (!o->force && !settings_bool(&k->c.r->settings,
					"compaction.memoryFlush.enabled"))
		return skip(k, "skipped", "it is switched off by "
			    "compaction.memoryFlush.enabled");
	if (k->c.talk.own)
		return skip(k, "skipped", "the conversation is a request of "
			    "remem itself");
	if (!k->trigger)
		return skip(k, "notDue", "the conversation is not near its "
			    "compaction");
	if (!again && due_record_done(&k->record, k->cycle))
		return skip(k, "skipped", k->record.failures >= DUE_TRIES ?
			    "it failed three times since the last "
			    "compaction and is given up until the next" :
			    "it was done since the last compaction");
	if (o->check)
		return skip(k, "due", NULL);
	return true;
}

/* ---- finding and writing ------------------------------------------------- */

static int by_chat(struct flush_call *k, struct chat *chat,
		   struct remem_err *err)
{
	int64_t most = settings_int(&k->c.r->settings, "chat.maxInputTokens");
	struct remem_err why = { 0 };
	int rc = flush_by_chat(&k->f, chat, most, &why);

	if (!rc) {
		k->by = "model";
		return 0;
	}
	if (rc == REMEM_ENOMEM)
		return fail_nomem(err);
	/* Less is no failure: rules need no model. */
	k->c.degraded = arena_strdup(&k->c.a, why.message);
	log_msg(LOG_WARN, "chat", "%s", why.message);
	k->f.n = 0;
	memset(&k->f.stats, 0, sizeof(k->f.stats));
	k->by = "rules";
	return flush_by_rules(&k->f, err);
}

static int find(struct flush_call *k, struct remem_err *err)
{
	struct talk_call *c = &k->c;
	struct chat *chat;

	k->f.a = &c->a;
	k->f.talk = &c->talk;
	k->f.root = c->r->workspace;
	k->f.today = handle_today(c->r);
	k->f.ceiling = c->ceiling;
	if (c->o.answer) {
		k->by = "host";
		return flush_by_answer(&k->f, c->o.answer, c->o.answer_len,
				       err);
	}
	/* A dry run costs nothing. */
	chat = c->talk.n && !c->o.dry_run ? talk_call_chat(c) : NULL;
	if (chat)
		return by_chat(k, chat, err);
	k->by = "rules";
	return flush_by_rules(&k->f, err);
}

static int write_down(struct flush_call *k, struct remem_err *err)
{
	struct talk_call *c = &k->c;
	char at[8];
	const char *title;

	k->status = k->f.n ? "written" : "nothing";
	if (!k->f.n || c->o.dry_run)
		return 0;
	clock_zone_format(at, sizeof(at), "%H:%M", c->m.zone,
			  memory_now(&c->m));
	title = arena_printf(&c->a, "From a conversation with %s, %s",
			     talk_call_host(c), at);
	if (!title)
		return fail_nomem(err);
	return flush_write(&k->done, &k->f, &c->m, title, &c->actor, false,
			   err);
}

/* ---- the record ---------------------------------------------------------- */

static int keep_record(struct flush_call *k, struct remem_err *err)
{
	char text[DUE_RECORD_BYTES];

	k->record.line = k->c.talk.last_line;
	k->record.bytes = k->c.talk.bytes;
	k->record.at_ms = memory_now(&k->c.m);
	due_record_format(text, &k->record);
	return talk_call_keep(&k->c, "flush", text, err);
}

/* The user is told once in a cycle; the error itself goes up each time. */
static void on_failure(struct flush_call *k, const struct remem_err *err)
{
	char text[DUE_RECORD_BYTES];

	if (!k->c.writes || !k->c.state)
		return;
	if (due_record_failure(&k->record, k->cycle))
		log_msg(LOG_WARN, "flush", "what mattered in a conversation "
			"could not be saved three times: %.200s", err->message);
	k->record.at_ms = memory_now(&k->c.m);
	due_record_format(text, &k->record);
	talk_call_keep(&k->c, "flush", text, NULL);
}

static int flush(struct flush_call *k, struct remem_err *err)
{
	/* Without a model nothing is sent, and what is found is masked. */
	bool raw = !strcmp(settings_str(&k->c.r->settings, "chat.provider"),
			   "none");
	int rc = talk_call_read(&k->c, k->c.o.answer ? 0 : k->record.line,
				k->record.bytes, 0, raw, err);

	if (rc)
		return rc;
	compute(k);
	if (!decide(k))
		return 0;
	if ((rc = find(k, err)) || (rc = write_down(k, err)) ||
	    k->c.o.dry_run)
		return rc;
	due_record_success(&k->record, k->cycle, k->f.n > 0);
	return keep_record(k, err);
}

/* ---- the answer ---------------------------------------------------------- */

static void put_or_null(struct json *j, const char *key, const char *value)
{
	json_key(j, key);
	json_put_str(j, value);
}

static void put_due(struct json *j, const struct flush_call *k)
{
	json_key(j, "due");
	json_obj(j);
	json_kint(j, "window", k->window);
	json_kint(j, "projected", k->due.projected);
	json_kint(j, "flushAt", k->due.flush_at);
	json_kint(j, "compactAt", k->due.compact_at);
	json_kint(j, "bytes", k->c.talk.bytes);
	json_kint(j, "forceBytes", k->force_bytes);
	json_kint(j, "cycle", k->cycle);
	json_end(j);
}

static void put_entries(struct json *j, struct flush_call *k)
{
	json_key(j, "entries");
	json_arr(j);
	for (size_t i = 0; i < k->f.n; i++) {
		const struct flush_entry *e = &k->f.entries[i];

		json_obj(j);
		json_kstr(j, "text", e->text);
		json_kstr(j, "kind", e->kind);
		put_or_null(j, "who", e->who);
		json_kstr(j, "origin", origin_name(e->origin));
		put_or_null(j, "source",
			    flush_source(&k->c.a, &k->c.talk, e->line));
		json_end(j);
	}
	json_arr_end(j);
}

static void put_counts(struct json *j, const struct flush_call *k)
{
	const struct extract_stats *s = &k->f.stats;

	json_key(j, "counts");
	json_obj(j);
	json_kint(j, "messages", (int64_t)k->c.talk.n);
	json_kint(j, "sentences", (int64_t)s->sentences);
	json_kint(j, "found", (int64_t)s->found);
	json_kint(j, "repeated", (int64_t)s->repeated);
	json_kint(j, "suspect", (int64_t)s->suspect);
	json_kint(j, "beyond", (int64_t)s->beyond);
	json_kint(j, "secrets", k->c.talk.secrets + k->f.secrets);
	json_kint(j, "flushes", k->record.written);
	json_kint(j, "empty", k->record.nothing);
	json_kint(j, "failed", k->record.failed);
	json_end(j);
}

static int give(struct flush_call *k, char **json, struct remem_err *err)
{
	struct buf b = BUF_INIT(0);
	struct json j;
	int rc;

	json_begin(&j, &b);
	json_obj(&j);
	json_kint(&j, "version", 1);
	json_kstr(&j, "status", k->status);
	put_or_null(&j, "reason", k->reason);
	put_or_null(&j, "trigger", k->trigger);
	put_or_null(&j, "by", k->by);
	put_or_null(&j, "degraded", k->c.degraded);
	json_kbool(&j, "dryRun", k->c.o.dry_run != 0);
	put_or_null(&j, "path", k->done.path);
	put_or_null(&j, "citation", k->done.citation);
	json_key(&j, "journal");
	json_arr(&j);
	for (int i = 0; i < 2; i++)
		if (k->done.journal[i])
			json_put_int(&j, k->done.journal[i]);
	json_arr_end(&j);
	put_entries(&j, k);
	put_counts(&j, k);
	put_due(&j, k);
	json_end(&j);
	rc = json_give(json, &b, err);
	buf_release(&b);
	return rc;
}

PUBLIC int remem_flush(struct remem *r, const struct remem_talk_opts *opts,
		       char **json, struct remem_err *err)
{
	struct flush_call k = { .status = "nothing" };
	struct remem_err own = { 0 };
	int rc;

	*json = NULL;
	if (!err)
		err = &own;
	rc = talk_call_begin(&k.c, r, opts, err);
	if (!rc) {
		due_record_parse(&k.record, talk_call_record(&k.c, "flush"));
		rc = flush(&k, err);
		if (rc)
			on_failure(&k, err);
	}
	if (!rc)
		log_msg(LOG_TRACE, "flush", "%s%s%s", k.status,
			k.reason ? ": " : "", k.reason ? k.reason : "");
	if (!rc)
		rc = give(&k, json, err);
	talk_call_end(&k.c);
	if (!rc)
		handle_commit_notes(r);
	return rc;
}

PUBLIC int remem_flush_prompt(char **text, struct remem_err *err)
{
	struct buf b = BUF_INIT(0);
	int rc;

	flush_prompt(&b);
	rc = json_give(text, &b, err);
	buf_release(&b);
	return rc;
}
