/* See review.h. */
#include "memory/review.h"

#include <string.h>

#include "base/json.h"
#include "memory/guard.h"
#include "memory/journal.h"
#include "memory/origin.h"
#include "text/suspect.h"

#define REJECTED "review" /* kind of the tombstone */

static bool is_curated(const char *path)
{
	return !strcmp(path, "MEMORY.md") || !strcmp(path, "USER.md");
}

const char *review_reason(const char *path, const char *text, size_t len,
			  enum remem_origin origin)
{
	if (!is_curated(path) || origin == REMEM_ORIGIN_OWNER)
		return NULL;
	if (text_suspect(text, len))
		return "it reads like an order to an assistant";
	if (origin < REMEM_ORIGIN_AGENT)
		return "it comes from a source that is not trusted";
	return NULL;
}

/* ---- proposing ---- */

static int look(struct review_done *out, struct memory *m,
		const struct review_put *p, struct remem_err *err)
{
	int64_t waiting;
	int rc;

	if (p->words &&
	    ((rc = state_review_find(m->state, p->path, p->words, &out->id,
				     err)) ||
	     (rc = state_tombstone_has(m->state, REJECTED, p->words,
				       &out->rejected, err))))
		return rc;
	out->known = out->id != 0;
	if (out->known || out->rejected)
		return 0;
	if ((rc = state_review_count(m->state, &waiting, err)))
		return rc;
	if (waiting >= REVIEW_MOST) {
		fail(err, REMEM_ELIMIT, "%d proposals wait for review already",
		     REVIEW_MOST);
		fail_action(err, "remem review list shows them");
		return REMEM_ELIMIT;
	}
	return 0;
}

static int put(struct review_done *out, struct memory *m,
	       const struct review_put *p, struct remem_err *err)
{
	const struct append *w = p->w;
	struct review_row row = { .at_ms = memory_now(m), .path = p->path,
				  .text = w->text, .len = w->len,
				  .source = w->source, .reason = p->reason,
				  .via = w->actor.via,
				  .session = w->actor.session,
				  .origin = p->origin };
	char detail[64];
	int rc;

	if (p->words)
		memcpy(row.words, p->words, LINE_HASH_BYTES);
	if ((rc = guard_rate(m, &w->actor, p->origin, w->len, err)) ||
	    (rc = state_review_add(m->state, &row, &out->id, err)))
		return rc;
	snprintf(detail, sizeof(detail), "{\"review\":%lld}",
		 (long long)out->id);
	return journal_add(&out->journal, m, &w->actor, "propose", p->path,
			   NULL, NULL, (int64_t)w->len, p->origin, detail,
			   err);
}

int review_propose(struct review_done *out, struct memory *m,
		   const struct review_put *p, struct remem_err *err)
{
	int rc;

	memset(out, 0, sizeof(*out));
	rc = look(out, m, p, err);
	if (rc || out->known || out->rejected || p->w->dry_run)
		return rc;
	if ((rc = state_begin(m->state, true, err)))
		return rc;
	if ((rc = put(out, m, p, err))) {
		state_rollback(m->state);
		return rc;
	}
	return state_commit(m->state, err);
}

/* ---- deciding ---- */

struct get {
	struct review_row *out;
	struct arena *a;
};

static int take(void *ctx, const struct review_row *row)
{
	struct get *g = ctx;

	*g->out = *row;
	g->out->path = arena_strdup(g->a, row->path);
	g->out->text = arena_strndup(g->a, row->text, row->len);
	g->out->source = arena_strdup(g->a, row->source);
	g->out->reason = arena_strdup(g->a, row->reason);
	g->out->via = arena_strdup(g->a, row->via);
	g->out->session = arena_strdup(g->a, row->session);
	return 0;
}

int review_get(struct review_row *out, struct arena *a, struct state *s,
	       int64_t id, struct remem_err *err)
{
	struct get g = { out, a };
	int rc;

	memset(out, 0, sizeof(*out));
	if ((rc = state_review_each(s, id, take, &g, err)))
		return rc;
	if (a->failed)
		return fail_nomem(err);
	if (!out->id) {
		fail(err, REMEM_ENOTFOUND, "there is no proposal %lld",
		     (long long)id);
		fail_action(err, "remem review list shows them");
		return REMEM_ENOTFOUND;
	}
	return 0;
}

/* Members of the record: which one, whose word it was, who decided. */
static const char *detail_of(struct arena *a, const struct review_row *row,
			     const char *by)
{
	struct buf b = BUF_INIT(0);
	const char *out = NULL;
	struct json j;

	json_begin(&j, &b);
	json_obj(&j);
	json_kint(&j, "review", row->id);
	json_kstr(&j, "proposedBy", row->via);
	json_kstr(&j, "proposedOrigin",
		  origin_name((enum remem_origin)row->origin));
	json_kstr(&j, "decidedBy", by);
	json_end(&j);
	if (!b.failed)
		out = arena_strndup(a, buf_str(&b), b.len);
	buf_release(&b);
	return out;
}

static const struct remem_actor decider = { .size = sizeof(decider),
					    .via = "review",
					    .origin = REMEM_ORIGIN_AGENT };

static int apply(struct append_done *out, struct arena *a, struct memory *m,
		 const struct review_row *row, const char *detail,
		 bool dry_run, struct remem_err *err)
{
	/* The members without the braces around them. */
	struct append w = { .to = row->path, .text = row->text,
			    .len = row->len, .source = row->source,
			    .op = "apply", .actor = decider,
			    .origin = REMEM_ORIGIN_AGENT, .dry_run = dry_run,
			    .approved = true };
	int rc;

	w.detail = arena_strndup(a, detail + 1, strlen(detail) - 2);
	if (!w.detail)
		return fail_nomem(err);
	rc = append_lines(out, a, m, &w, err);
	return rc || dry_run ? rc : state_review_remove(m->state, row->id, err);
}

int review_apply(struct append_done *out, struct arena *a, struct memory *m,
		 const struct review_row *row, const char *by, bool dry_run,
		 struct remem_err *err)
{
	const char *detail = detail_of(a, row, by);
	int rc;

	if (!detail)
		return fail_nomem(err);
	if ((rc = memory_begin(m, err)))
		return rc;
	/* A kill between both leaves the proposal: applying it again finds the
	 * text there. */
	rc = apply(out, a, m, row, detail, dry_run, err);
	memory_end(m);
	return rc;
}

static int reject(int64_t *journal, struct memory *m,
		  const struct review_row *row, const char *detail,
		  struct remem_err *err)
{
	static const unsigned char none[LINE_HASH_BYTES];
	int rc = journal_add(journal, m, &decider, "reject", row->path, NULL,
			     NULL, (int64_t)row->len,
			     (enum remem_origin)row->origin, detail, err);

	if (!rc && memcmp(row->words, none, sizeof(none)))
		rc = state_tombstone_add(m->state, REJECTED, row->words,
					 memory_now(m), *journal, err);
	return rc ? rc : state_review_remove(m->state, row->id, err);
}

int review_reject(int64_t *journal, struct memory *m,
		  const struct review_row *row, const char *by,
		  struct remem_err *err)
{
	struct arena a = ARENA_INIT;
	const char *detail = detail_of(&a, row, by);
	int rc;

	if (!detail) {
		rc = fail_nomem(err);
		goto out;
	}
	if ((rc = memory_begin(m, err)))
		goto out;
	rc = state_begin(m->state, true, err);
	if (!rc && (rc = reject(journal, m, row, detail, err)))
		state_rollback(m->state);
	else if (!rc)
		rc = state_commit(m->state, err);
	memory_end(m);
out:
	arena_release(&a);
	return rc;
}
