/*
 * From ordered passages to answers: a window of whole lines around each,
 * inside its section, never overlapping a better answer's, with its own line
 * range as citation.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "search/work.h"
#include "source/names.h"
#include "text/suspect.h"
#include "text/window.h"

/* The own texts of a chunk and its neighbours, end to end. */
struct region {
	const char *text;
	size_t len;
	int first_line;
	size_t start, end; /* the passage */
	size_t low, high; /* its section */
	struct store_chunk near[3];
};

/* Loads chunk ord - 1, ord, ord + 1 of the hit's file. */
static int load_near(struct work *w, const struct cand *c,
		     struct store_chunk near[3], struct remem_err *err)
{
	int64_t *ids, want[3] = { 0, 0, 0 };
	int count, i, at = -1, rc;

	rc = w->s->ops->file_chunks(w->s, w->a, c->f->id, &ids, &count, err);
	if (rc)
		return rc;
	for (i = 0; i < count; i++)
		if (ids[i] == c->c->id)
			at = i;
	if (at < 0)
		return fail(err, REMEM_ECORRUPT,
			    "chunk %lld is in no file", (long long)c->c->id);
	for (i = -1; i <= 1; i++)
		if (at + i >= 0 && at + i < count)
			want[i + 1] = ids[at + i];
	return w->s->ops->chunks_get(w->s, w->a, 0, want, 3, near, err);
}

/* A line that gives orders to an assistant is no context for another. Only
 * what a window could reach is looked at. */
static bool gives_orders(const struct region *r, size_t from, size_t to)
{
	const size_t reach = 4096;

	if (to + reach < r->start || from > r->end + reach)
		return false;
	return text_suspect(r->text + from, to - from);
}

/* Worst first; what nobody knows counts as the worst. */
static int origin_rank(const char *origin)
{
	static const char *const names[] = { "unknown", "untrusted", "system",
					     "agent", "owner" };
	int rank = 0;

	for (int i = 0; origin && i < (int)ARRAY_LEN(names); i++)
		if (!strcmp(names[i], origin))
			rank = i;
	return rank;
}

/* An answer says whom it comes from: it shows no line of somebody worse. */
static bool is_worse(const struct store_passage *p,
		     const struct store_passage *than)
{
	return p->origin != than->origin &&
	       origin_rank(p->origin) < origin_rank(than->origin);
}

static void bound_section(struct region *r, const struct store_chunk near[3],
			  const struct cand *c)
{
	size_t at = 0;
	bool before = true, open = true;
	int i, j;

	r->low = r->start;
	r->high = r->end;
	for (i = 0; i < 3; i++) {
		for (j = 0; j < near[i].passage_count; j++) {
			const struct store_passage *p = &near[i].passages[j];
			size_t from = at + p->start, to = from + p->len;
			bool mine = same_heading(p, c->p) &&
				    !is_worse(p, c->p) &&
				    !gives_orders(r, from, to);

			if (from == r->start) {
				before = false;
				continue;
			}
			if (before) {
				if (!mine)
					r->low = r->start;
				else if (r->low > from)
					r->low = from;
			} else if (open) {
				open = mine;
				if (mine)
					r->high = to;
			}
		}
		at += near[i].len;
	}
}

static int load_region(struct work *w, const struct cand *c, struct region *r,
		       struct remem_err *err)
{
	struct store_chunk *near = r->near;
	struct buf text = BUF_INIT(0);
	int i, rc;

	memset(r, 0, sizeof(*r));
	if ((rc = load_near(w, c, near, err)))
		return rc;
	for (i = 0; i < 3; i++) {
		if (!near[i].id)
			continue;
		if (!text.len)
			r->first_line = near[i].first_line;
		if (i == 1)
			r->start = text.len + c->p->start;
		buf_add(&text, near[i].text, near[i].len);
	}
	r->end = r->start + c->p->len;
	r->len = text.len;
	if (!(rc = buf_check(&text, err))) {
		r->text = arena_strndup(w->a, buf_str(&text), text.len);
		if (!r->text)
			rc = fail_nomem(err);
	}
	buf_release(&text);
	if (rc)
		return rc;
	bound_section(r, near, c);
	/* Whole lines: with the marker of the list item. */
	while (r->low && r->text[r->low - 1] != '\n')
		r->low--;
	return 0;
}

/* Byte where line `line` of the region begins; end of text if none. */
static size_t line_start(const struct region *r, int line)
{
	size_t i = 0;
	int at = r->first_line;

	while (at < line && i < r->len) {
		const char *nl = memchr(r->text + i, '\n', r->len - i);

		if (!nl)
			return r->len;
		i = (size_t)(nl - r->text) + 1;
		at++;
	}
	return i;
}

/* Keeps the window off lines that better answers of this file show. */
static bool keep_off(const struct work *w, const struct cand *c,
		     struct region *r)
{
	int i;

	for (i = 0; i < w->out->count; i++) {
		const struct search_hit *h = &w->out->hits[i];

		if (strcmp(h->path, c->f->path))
			continue;
		if (h->start_line <= c->p->line_last &&
		    h->end_line >= c->p->line_first)
			return false; /* shown already */
		if (h->end_line < c->p->line_first) {
			size_t low = line_start(r, h->end_line + 1);

			if (low > r->low && low <= r->start)
				r->low = low;
		} else {
			size_t high = line_start(r, h->start_line);

			if (high < r->high && high >= r->end)
				r->high = high;
		}
	}
	return true;
}

static const char *flags_of(struct work *w, const struct cand *c)
{
	const char *s = c->superseded_by ? "superseded" : "";

	if (c->p->status && !c->superseded_by &&
	    !strcmp(c->p->status, "superseded"))
		s = "superseded";
	if (c->suspect)
		s = arena_printf(w->a, "%s%sinjection", s, *s ? "," : "");
	return s;
}

static void explain(struct search_hit *h, const struct cand *c)
{
	h->cosine = c->cosine;
	h->coverage_passage = c->cover_passage;
	h->coverage_chunk = c->cover_chunk;
	h->decay = c->decay;
	h->importance = c->importance;
	h->project = c->project;
	h->name = c->name;
}

static void fill_hit(struct work *w, const struct cand *c,
		     const struct region *r, const struct window *win)
{
	struct search_hit *h = &w->out->hits[w->out->count++];
	const struct cand *by = c->superseded_by;

	h->path = talk_shown(w->a, c->f);
	h->source = c->f->source == STORE_SESSIONS ? "sessions" : "memory";
	h->snippet = arena_strndup(w->a, r->text + win->start,
				   win->end - win->start);
	h->start_line = win->line_first;
	h->end_line = win->line_last;
	if (c->f->source == STORE_MEMORY && name_media_kind(h->path)) {
		/* It has no lines; what is shown is its label. */
		h->start_line = h->end_line = 0;
		h->citation = h->path;
	} else {
		h->citation = citation_format(w->a, h->path, h->start_line,
					      h->end_line);
	}
	h->heading = c->c->heading_path;
	h->origin = c->p->origin ? c->p->origin : "unknown";
	h->score = score_shown(w, c->score);
	h->relevance = score_shown(w, c->relevance);
	h->vector = isnan(c->cosine) ? NAN : c->vector;
	h->text = c->text_score;
	h->date = c->date;
	h->flags = flags_of(w, c);
	h->superseded_by = by ? citation_format(w->a, by->f->path,
						by->p->line_first,
						by->p->line_last) : NULL;
	h->passage = c->p->id;
	explain(h, c);
}

static int add_hit(struct work *w, const struct cand *c, struct remem_err *err)
{
	struct region r;
	struct window win;
	int rc;

	if ((rc = load_region(w, c, &r, err)))
		return rc;
	if (c->f->source == STORE_SESSIONS) {
		if (talk_window(&win, w, c, r.near, r.text, r.start, r.end))
			fill_hit(w, c, &r, &win);
		return w->a->failed ? fail_nomem(err) : 0;
	}
	if (!keep_off(w, c, &r))
		return 0;
	window_around(&win, r.text, r.len, r.first_line, r.start, r.end, r.low,
		      r.high, (size_t)w->o->snippet_chars);
	if (win.end > win.start)
		fill_hit(w, c, &r, &win);
	return w->a->failed ? fail_nomem(err) : 0;
}

int answer_all(struct work *w, struct remem_err *err)
{
	int i, rc;

	w->out->hits = ARENA_ARRAY(w->a, struct search_hit,
				   (size_t)w->o->max_results + 1);
	if (!w->out->hits)
		return fail_nomem(err);
	for (i = 0; i < w->best_count &&
		    w->out->count < w->o->max_results; i++)
		if ((rc = add_hit(w, w->best[i], err)))
			return rc;
	return 0;
}
