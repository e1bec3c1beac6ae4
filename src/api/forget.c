/*
 * remem_forget(): what is to go is found in the notes, shown, taken out, and
 * then the index is made anew without a byte of it.
 */
#include <string.h>

#include "api/handle.h"
#include "api/public.h"
#include "base/clock.h"
#include "base/json.h"
#include "memory/forget.h"
#include "text/window.h"

#define SUSPECTS_OF 8 /* entries whose likes are looked for */
#define SUSPECTS_MAX 10
#define SUSPECT_RELEVANCE 0.6 /* what says the same in other words is above */

struct suspect {
	const char *citation, *text;
	double relevance;
};

struct forget_call {
	struct remem *r;
	struct arena a;
	struct remem_forget_opts o;
	struct remem_actor actor;
	struct forget_query q;
	struct forget_plan plan;
	struct suspect suspects[SUSPECTS_MAX];
	int suspect_count;
	const char *index_error; /* why the index still holds it, NULL */
};

static const char *given(const char *s)
{
	return s && s[0] ? s : NULL;
}

static int take_opts(struct forget_call *c, struct remem_err *err)
{
	const struct remem_forget_opts *o = &c->o;
	struct forget_query *q = &c->q;
	int rc;

	if ((rc = actor_take(&c->actor, &o->actor, err)) ||
	    (rc = opts_date(&q->after, o->after, "after", err)) ||
	    (rc = opts_date(&q->before, o->before, "before", err)))
		return rc;
	q->source = given(o->source);
	q->session = given(o->session);
	q->person = given(o->person);
	q->text = given(o->text);
	if (given(o->entry)) {
		citation_parse(&c->a, o->entry, &q->path, &q->line_first,
			       &q->line_last);
		if (q->line_first && !q->line_last)
			q->line_last = q->line_first;
	}
	if (!q->path && !q->source && !q->session && !q->person && !q->text &&
	    q->after == DATE_NONE && q->before == DATE_NONE) {
		fail(err, REMEM_EINVAL, "it is not said what is to be "
		     "forgotten");
		return REMEM_EINVAL;
	}
	return c->a.failed ? fail_nomem(err) : 0;
}

/* ---- what says the same ---- */

static bool is_planned(const struct forget_call *c, const struct remem_hit *h)
{
	for (size_t i = 0; i < c->plan.count; i++) {
		const struct forget_entry *e = &c->plan.entries[i];

		if (!strcmp(e->path, h->path) &&
		    e->line_first <= h->end_line &&
		    e->line_last >= h->start_line)
			return true;
	}
	return false;
}

static bool is_listed(const struct forget_call *c, const char *citation)
{
	for (int i = 0; i < c->suspect_count; i++)
		if (!strcmp(c->suspects[i].citation, citation))
			return true;
	return false;
}

static void look_for(struct forget_call *c, const struct forget_entry *e)
{
	struct remem_search_opts so = REMEM_OPTS_INIT(so);
	struct remem_results *res = NULL;

	so.min_score = SUSPECT_RELEVANCE;
	if (remem_search(c->r, e->text, e->len, &so, &res, NULL))
		return;
	for (size_t i = 0; i < remem_results_count(res); i++) {
		const struct remem_hit *h = remem_results_hit(res, i);

		if (h->relevance < SUSPECT_RELEVANCE || is_planned(c, h) ||
		    is_listed(c, h->citation) ||
		    c->suspect_count == SUSPECTS_MAX)
			continue;
		c->suspects[c->suspect_count++] = (struct suspect){
			arena_strdup(&c->a, h->citation),
			arena_strdup(&c->a, h->snippet), h->relevance,
		};
	}
	remem_results_free(res);
}

/* ---- the index ---- */

/* Once so that what is gone is not live any more, then anew from what is. */
static void purge_index(struct forget_call *c)
{
	struct remem *r = c->r;
	struct remem_err why = { 0 };
	struct index_report report;
	struct index_opts o;
	int rc;

	handle_close_reader(r);
	handle_index_opts(&o, r);
	o.wait_ms = -1;
	o.text_only = true;
	rc = index_run(&report, &c->a, &o, &why);
	if (!rc) {
		o.force = o.purge = true;
		/* Vectors come over by their keys; nothing is asked for again. */
		o.text_only = handle_text_only(r);
		if (!o.text_only)
			handle_vectors(&o, r, false, NULL);
		rc = index_run(&report, &c->a, &o, &why);
	}
	if (rc)
		c->index_error = arena_strdup(&c->a, why.message);
}

/* ---- the report ---- */

static void put_entries(struct json *j, const struct forget_plan *p)
{
	json_key(j, "entries");
	json_arr(j);
	for (size_t i = 0; i < p->count; i++) {
		const struct forget_entry *e = &p->entries[i];

		json_obj(j);
		json_kstr(j, "path", e->path);
		json_kint(j, "startLine", e->line_first);
		json_kint(j, "endLine", e->line_last);
		json_key(j, "text");
		json_put_strn(j, e->text, e->len);
		json_end(j);
	}
	json_arr_end(j);
	json_key(j, "outside");
	json_arr(j);
	for (size_t i = 0; i < p->outside_count; i++)
		json_put_str(j, p->outside[i]);
	json_arr_end(j);
}

static int give(char **out, struct forget_call *c, struct remem_err *err)
{
	struct buf b = BUF_INIT(0);
	struct json j;
	int rc;

	json_begin(&j, &b);
	json_obj(&j);
	json_kint(&j, "version", 1);
	json_kbool(&j, "applied", !c->o.dry_run);
	json_kint(&j, "files", c->plan.files);
	put_entries(&j, &c->plan);
	json_key(&j, "suspects");
	json_arr(&j);
	for (int i = 0; i < c->suspect_count; i++) {
		json_obj(&j);
		json_kstr(&j, "citation", c->suspects[i].citation);
		json_kstr(&j, "text", c->suspects[i].text);
		json_kfixed(&j, "relevance", c->suspects[i].relevance, 4);
		json_end(&j);
	}
	json_arr_end(&j);
	json_kstr(&j, "indexError", c->index_error);
	json_end(&j);
	rc = c->a.failed ? fail_nomem(err) : json_give(out, &b, err);
	buf_release(&b);
	return rc;
}

static int forget(struct forget_call *c, struct memory *m,
		  struct remem_err *err)
{
	struct source_list list = { 0 };
	int rc = source_walk(&list, &c->a, &c->r->source, err);

	if (!rc)
		rc = forget_find(&c->plan, &c->a, m, &list, &c->r->note, &c->q,
				 err);
	source_list_release(&list);
	for (size_t i = 0; !rc && i < c->plan.count && i < SUSPECTS_OF; i++)
		look_for(c, &c->plan.entries[i]);
	if (rc || c->o.dry_run)
		return rc;
	rc = forget_apply(m, &c->plan, &c->q, &c->actor, err);
	if (!rc)
		purge_index(c);
	return rc;
}

PUBLIC int remem_forget(struct remem *r, const struct remem_forget_opts *opts,
			char **json, struct remem_err *err)
{
	struct forget_call c = { .r = r, .a = ARENA_INIT };
	struct memory m;
	int rc;

	*json = NULL;
	if ((rc = opts_take(&c.o, sizeof(c.o), opts, err)) ||
	    (rc = take_opts(&c, err)))
		goto out;
	rc = handle_memory(&m, r, err);
	if (!rc)
		rc = forget(&c, &m, err);
	if (!rc)
		rc = give(json, &c, err);
	memory_close(&m);
out:
	arena_release(&c.a);
	return rc;
}
