/*
 * remem_search(): sync within bounds, options from the settings, the run, and
 * what the answer has to say about itself. Less is not failure: whatever keeps
 * the answer from being whole is named in it.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "api/as_of.h"
#include "api/public.h"
#include "api/results.h"
#include "api/check.h"
#include "api/refresh.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/path.h"
#include "text/term.h"

#define RESULTS_MAX 1000

struct search {
	struct remem *r;
	struct remem_results *res;
	const struct remem_search_opts *o;
	const char *query;
	size_t len;
	int64_t started_ns;
	struct refresh fresh;
	struct search_opts run;
	const char *off; /* why there are no vectors, NULL */
};

static int take_source(unsigned *out, const char *name, struct remem_err *err)
{
	static const char *const names[] = { "memory", "sessions" };

	*out = 0;
	if (!name || !strcmp(name, "all"))
		return 0;
	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		if (!strcmp(name, names[i]))
			*out = 1u << i;
	return *out ? 0 : fail(err, REMEM_EINVAL, "no source '%.40s', there "
			       "are memory and sessions", name);
}

/* A folder's name stands for what is below it. */
static const char *take_path(struct search *s, const char *path)
{
	struct arena *a = &s->res->a;
	struct stat st;
	const char *full;

	if (!path || !path[0])
		return NULL;
	while (path[0] == '.' && path[1] == '/')
		path += 2;
	if (!path[0] || path[strlen(path) - 1] == '/' || strpbrk(path, "*?["))
		return path[0] ? path : NULL;
	full = path[0] == '/' ? path : path_join(a, s->r->workspace, path);
	if (full && !stat(full, &st) && S_ISDIR(st.st_mode))
		return arena_printf(a, "%s/", path);
	return path;
}

static const char *fold(struct arena *a, const char *text)
{
	size_t cap = strlen(text ? text : "") * 4 + 16;
	char *out = text && text[0] ? arena_alloc(a, cap + 1) : NULL;

	if (out)
		out[term_fold(out, cap, text, strlen(text))] = '\0';
	return out;
}

static int take_filter(struct search *s, struct remem_err *err)
{
	struct store_filter *f = &s->run.filter;
	const struct remem_search_opts *o = s->o;
	int rc;

	if ((rc = take_source(&f->sources, o->source, err)) ||
	    (rc = opts_date(&f->after, o->after, "after", err)) ||
	    (rc = opts_date(&f->before, o->before, "before", err)))
		return rc;
	if (o->last_days < 0)
		return fail(err, REMEM_EINVAL, "last should not be negative");
	if (o->last_days) {
		int32_t from = s->run.today - o->last_days;

		if (f->after == DATE_NONE || f->after < from)
			f->after = from;
	}
	f->path = take_path(s, o->path);
	f->tag = fold(&s->res->a, o->tag);
	f->origin = o->origin && o->origin[0] ? o->origin : NULL;
	f->project = o->project && o->project[0] ? o->project : NULL;
	return s->res->a.failed ? fail_nomem(err) : 0;
}

static void take_ranking(struct search_opts *run, const struct settings *s)
{
	run->vector_weight =
		settings_num(s, "memorySearch.query.hybrid.vectorWeight");
	run->text_weight =
		settings_num(s, "memorySearch.query.hybrid.textWeight");
	run->candidate_multiplier = (int)settings_int(
		s, "memorySearch.query.hybrid.candidateMultiplier");
	run->decay =
		settings_bool(s, "memorySearch.query.temporalDecay.enabled");
	run->half_life_days =
		settings_num(s, "memorySearch.query.temporalDecay.halfLifeDays");
	run->decay_floor =
		settings_num(s, "memorySearch.query.temporalDecay.floor");
	run->mmr = settings_bool(s, "memorySearch.query.mmr.enabled");
	run->mmr_lambda = settings_num(s, "memorySearch.query.mmr.lambda");
	run->snippet_chars =
		(int)settings_int(s, "memorySearch.query.snippetChars");
}

static int take_opts(struct search *s, struct remem_err *err)
{
	const struct settings *set = &s->r->settings;
	const struct remem_search_opts *o = s->o;
	struct search_opts *run = &s->run;
	const char *project = settings_str(set, "project");
	int rc;

	if ((unsigned)o->mode > REMEM_MODE_VECTOR)
		return fail(err, REMEM_EINVAL, "no search mode %d",
			    (int)o->mode);
	if (o->max_results < 0 || o->max_results > RESULTS_MAX)
		return fail(err, REMEM_EINVAL, "maxResults should be from 1 to "
			    "%d, not %d", RESULTS_MAX, o->max_results);
	if (!(o->min_score <= 1))
		return fail(err, REMEM_EINVAL,
			    "minScore should be from 0 to 1");
	take_ranking(run, set);
	run->mode = o->mode;
	run->max_results = o->max_results ? o->max_results :
		(int)settings_int(set, "memorySearch.query.maxResults");
	run->min_score = o->min_score != 0 ? o->min_score :
		settings_num(set, "memorySearch.query.minScore");
	run->project = project[0] ? project : NULL;
	run->explain = o->explain != 0;
	if (o->deadline_ms > 0)
		run->deadline_ns = s->started_ns +
				   (int64_t)o->deadline_ms * 1000000;
	if ((rc = opts_date(&run->today, o->now, "now", err)))
		return rc;
	if (run->today == DATE_NONE)
		run->today = handle_today(s->r);
	return take_filter(s, err);
}

static void degrade(struct search_answer *a, const char *reason,
		    const char *detail, const char *action)
{
	a->degraded_reason = reason;
	a->degraded_detail = detail;
	a->degraded_action = action;
}

static bool is_cancelled(void *ctx)
{
	const struct remem_search_opts *o = ctx;

	return o->progress(o->progress_ctx, "query", 0, 0, 0, -1) != 0;
}

static bool makes(struct embedder *e, const char *fingerprint)
{
	return e && !strcmp(embedder_info(e)->fingerprint, fingerprint);
}

/* The chain of handle.h: the first one, its fallback, the former one. */
static struct embedder *provider_at(void *ctx, int i, const char *fingerprint,
				    const char **name, const char **why)
{
	struct remem *r = ctx;
	struct embedder *e;

	if (!i) {
		e = handle_embedder(r, why);
		*name = e ? embedder_info(e)->provider :
			    settings_str(&r->settings, "memorySearch.provider");
		return e;
	}
	e = handle_fallback(r, why);
	*name = r->fallback.name;
	if (i == 1 && *name)
		return e;
	*name = *why = NULL;
	/* With a fallback it is the third, else the second. */
	if (!fingerprint || i > 1 + (r->fallback.name != NULL) ||
	    makes(r->embedder, fingerprint) || makes(e, fingerprint))
		return NULL;
	e = handle_former(r, fingerprint, why);
	*name = r->former.name;
	return e;
}

static int run_once(struct search *s, struct remem_err *err)
{
	struct arena *a = &s->res->a;
	struct remem *r = s->r;
	struct embedder *e = NULL;
	int rc;

	if (s->run.mode != REMEM_MODE_TEXT)
		e = handle_embedder(r, &s->off);
	s->run.embedder = e;
	s->run.chain = provider_at;
	s->run.chain_ctx = r;
	if (e && s->o->progress)
		embedder_on_cancel(e, is_cancelled, (void *)(uintptr_t)s->o);
	rc = search_run(&s->res->answer, a, r->store, s->query, s->len,
			&s->run, err);
	if (e)
		embedder_on_cancel(e, NULL, NULL);
	return rc;
}

/* A damaged index is built anew once; the question is then asked again. */
static int run(struct search *s, struct remem_err *err)
{
	struct remem *r = s->r;
	int rc;

	memset(&s->res->answer, 0, sizeof(s->res->answer));
	s->res->answer.mode = s->run.mode;
	if (!r->store)
		return 0;
	rc = run_once(s, err);
	if (rc != REMEM_ECORRUPT)
		return rc;
	memset(&s->res->answer, 0, sizeof(s->res->answer));
	if ((rc = refresh_rebuild(&s->fresh, r, &s->res->a, err)) || !r->store)
		return rc;
	return run_once(s, err);
}

/*
 * Searches while the disk is looked at; what has changed is indexed, and the
 * question asked again. A small workspace is looked at first, and searched
 * once.
 */
static int run_fresh(struct search *s, struct remem_err *err)
{
	struct arena *a = &s->res->a;
	bool again = false, beside;
	int rc, end;

	rc = refresh_begin(&s->fresh, s->r, a, err);
	beside = !rc && check_is_beside(s->fresh.check);
	if (beside)
		rc = run(s, err);
	/* Joined also after a failure. */
	end = refresh_end(&s->fresh, &again, s->r, a, rc ? NULL : err);
	if (rc || end)
		return rc ? rc : end;
	return beside && !again ? 0 : run(s, err);
}

static int64_t pending_of(struct search *s)
{
	const struct store_info *info = &s->res->info;

	if (handle_text_only(s->r))
		return 0;
	return info->passages > info->embedded ?
		       info->passages - info->embedded : 0;
}

static int take_info(struct search *s, struct remem_err *err)
{
	struct remem *r = s->r;
	struct remem_results *res = s->res;
	struct search_answer *a = &res->answer;
	int rc;

	if (!r->store)
		return 0;
	if ((rc = r->ops->info(r->store, &res->info, err)))
		return rc;
	res->pending = pending_of(s);
	if (s->run.mode == REMEM_MODE_TEXT)
		return 0;
	if (!r->embedder && s->off)
		degrade(a, "no_provider", s->off, r->embedder_err.action);
	else if (!a->degraded_reason && res->pending)
		degrade(a, "vectors_pending", arena_printf(
			&res->a, "%lld of %lld passages have no vector yet",
			(long long)res->pending,
			(long long)res->info.passages), "run: remem index");
	return 0;
}

/* Sentences that are there, with "; " between them. */
static const char *join(struct arena *a, const char *x, const char *y)
{
	if (!x || !y)
		return x ? x : y;
	return arena_printf(a, "%s; %s", x, y);
}

static void say(struct search *s)
{
	struct remem_results *res = s->res;
	struct search_answer *a = &res->answer;
	const char *message = a->message;

	for (int i = 0; i < a->step_count; i++)
		log_msg(LOG_INFO, "search", "vectors by %s: %s",
			a->steps[i].provider, a->steps[i].reason ?
			a->steps[i].reason : "answers");
	res->stale = s->fresh.stale;
	if (res->stale)
		message = join(&res->a, message, s->fresh.why);
	if (a->degraded_reason) {
		res->degraded = join(&res->a, a->degraded_detail,
				     a->degraded_action && a->degraded_action[0] ?
				     a->degraded_action : NULL);
		if (!a->count && !strcmp(a->degraded_reason, "vectors_pending"))
			message = join(&res->a, message, a->degraded_detail);
	}
	res->message = message;
}

static void fill_hits(struct remem_results *res)
{
	struct search_answer *s = &res->answer;

	res->hits = ARENA_ARRAY(&res->a, struct remem_hit,
				(size_t)s->count + 1);
	for (int i = 0; res->hits && i < s->count; i++) {
		const struct search_hit *h = &s->hits[i];
		struct remem_hit *to = &res->hits[i];
		char date[16];

		date_format(date, h->date);
		to->path = h->path;
		to->start_line = h->start_line;
		to->end_line = h->end_line;
		to->score = h->score;
		to->relevance = h->relevance;
		to->snippet = h->snippet;
		to->source = h->source;
		to->citation = h->citation;
		to->date = arena_strdup(&res->a, date);
		to->origin = h->origin ? h->origin : "";
		to->flags = h->flags ? h->flags : "";
		to->superseded_by = h->superseded_by;
		to->heading = h->heading ? h->heading : "";
	}
}

/* failClosed: no answer rather than one by keywords alone. */
static int check_closed(struct search *s, struct remem_err *err)
{
	const struct search_answer *a = &s->res->answer;

	if (!a->degraded_reason || s->run.mode == REMEM_MODE_TEXT ||
	    !strcmp(a->degraded_reason, "vectors_pending") ||
	    !settings_bool(&s->r->settings, "memorySearch.failClosed"))
		return 0;
	fail(err, REMEM_EREMOTE, "no vectors: %s", a->degraded_detail);
	fail_action(err, "%s", a->degraded_action ? a->degraded_action : "");
	return REMEM_EREMOTE;
}

static int answer(struct search *s, struct remem_err *err)
{
	int rc;

	s->fresh.never = s->o->no_sync != 0;
	s->fresh.text_only = s->run.mode == REMEM_MODE_TEXT;
	s->fresh.deadline_ms = s->o->deadline_ms > 0 ? s->o->deadline_ms : 0;
	s->fresh.progress = s->o->progress;
	s->fresh.progress_ctx = s->o->progress_ctx;
	if ((rc = run_fresh(s, err)) || (rc = take_info(s, err)) ||
	    (rc = check_closed(s, err)))
		return rc;
	return 0;
}

static int search(struct search *s, struct remem_err *err)
{
	struct remem_results *res = s->res;
	int rc;

	if ((rc = take_opts(s, err)))
		return rc;
	if (handle_text_only(s->r) &&
	    s->run.mode == REMEM_MODE_HYBRID)
		s->run.mode = REMEM_MODE_TEXT;
	res->explain = s->run.explain;
	res->answer.mode = s->run.mode;
	if (!settings_bool(&s->r->settings, "memorySearch.enabled")) {
		degrade(&res->answer, "disabled", "memory search is switched "
			"off", "set memorySearch.enabled: true");
		res->answer.message = "memory search is switched off";
	} else if ((rc = answer(s, err))) {
		return rc;
	}
	fill_hits(res);
	say(s);
	res->took_ms = (clock_mono_ns() - s->started_ns) / 1000000;
	return res->a.failed ? fail_nomem(err) : 0;
}

static int search_as_of(struct remem *r, const char *query, size_t len,
			struct remem_search_opts *o, struct remem_results **out,
			struct remem_err *err)
{
	struct remem *then;
	int rc = as_of_open(&then, r, o->as_of, err);

	if (rc)
		return rc;
	/* That day was today. */
	if (!o->now)
		o->now = o->as_of;
	o->as_of = NULL;
	o->size = sizeof(*o);
	rc = remem_search(then, query, len, o, out, err);
	remem_close(then);
	return rc;
}

PUBLIC int remem_search(struct remem *r, const char *query, size_t query_len,
			const struct remem_search_opts *opts,
			struct remem_results **out, struct remem_err *err)
{
	struct remem_search_opts o;
	struct search s = { .r = r, .o = &o, .query = query ? query : "",
			    .len = query ? query_len : 0 };
	int rc;

	*out = NULL;
	s.started_ns = clock_mono_ns();
	if ((rc = opts_take(&o, sizeof(o), opts, err)))
		return rc;
	if (o.as_of)
		return search_as_of(r, s.query, s.len, &o, out, err);
	s.res = mem_zalloc(sizeof(*s.res));
	if (!s.res)
		return fail_nomem(err);
	arena_init(&s.res->a, 0);
	rc = search(&s, err);
	if (rc)
		remem_results_free(s.res);
	else
		*out = s.res;
	return rc;
}
