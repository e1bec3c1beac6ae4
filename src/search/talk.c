/*
 * Answers from transcripts. A line there is a record, however long its text:
 * windows are made of whole messages, and cite the records they stand in. What
 * follows goes before what precedes: it is the answer to what was asked.
 */
#include <string.h>

#include "base/utf8.h"
#include "search/work.h"
#include "text/suspect.h"
#include "text/talk.h"

struct place { /* of a passage in the text */
	size_t start, end;
	int line;
};

const char *talk_shown(struct arena *a, const struct store_file *f)
{
	int part;
	size_t n;

	if (f->source != STORE_SESSIONS)
		return f->path;
	n = talk_name_len(f->path, &part);
	return f->path[n] ? arena_strndup(a, f->path, n) : f->path;
}

static bool is_shown(const struct work *w, const char *path, int line)
{
	for (int i = 0; i < w->out->count; i++) {
		const struct search_hit *h = &w->out->hits[i];

		if (!strcmp(h->path, path) && h->start_line <= line &&
		    h->end_line >= line)
			return true;
	}
	return false;
}

/* From the name of who speaks on. */
static size_t with_label(const char *text, size_t start)
{
	size_t from = start;

	while (from && text[from - 1] != '\n')
		from--;
	return start - from <= 16 ? from : start;
}

static size_t list_places(struct place *p, const struct store_chunk near[3],
			  const char *text)
{
	size_t n = 0, at = 0;

	for (int i = 0; i < 3; i++) {
		for (int k = 0; near[i].id && k < near[i].passage_count; k++) {
			const struct store_passage *g = &near[i].passages[k];

			p[n].start = at + g->start;
			if (!g->continues)
				p[n].start = with_label(text, p[n].start);
			p[n].end = at + g->start + g->len;
			p[n++].line = g->line_first;
		}
		at += near[i].id ? near[i].len : 0;
	}
	return n;
}

static bool may_join(const struct work *w, const char *path, const char *text,
		     const struct place *p)
{
	return !is_shown(w, path, p->line) &&
	       !text_suspect(text + p->start, p->end - p->start);
}

bool talk_window(struct window *out, const struct work *w, const struct cand *c,
		 const struct store_chunk near[3], const char *text,
		 size_t start, size_t end)
{
	size_t max = (size_t)w->o->snippet_chars, total = 0, n, i, at, from, to;
	const char *path = talk_shown(w->a, c->f);
	struct place *p;

	for (i = 0; i < 3; i++)
		total += near[i].id ? (size_t)near[i].passage_count : 0;
	p = ARENA_ARRAY(w->a, struct place, total + 1);
	if (!p || !path || is_shown(w, path, c->p->line_first))
		return false;
	n = list_places(p, near, text);
	for (at = 0; at < n && p[at].end != end; at++)
		;
	if (at == n) {
		p[at = n++] = (struct place){ start, end, c->p->line_first };
	}
	from = to = at;
	while (to + 1 < n && may_join(w, path, text, &p[to + 1]) &&
	       utf8_count(text + p[from].start,
			  p[to + 1].end - p[from].start) <= max)
		to++;
	while (from > 0 && may_join(w, path, text, &p[from - 1]) &&
	       utf8_count(text + p[from - 1].start,
			  p[to].end - p[from - 1].start) <= max)
		from--;
	out->start = p[from].start;
	out->end = p[to].end;
	out->line_first = p[from].line;
	out->line_last = p[to].line;
	if (utf8_count(text + out->start, out->end - out->start) > max)
		out->end = out->start + utf8_offset(text + out->start,
						    out->end - out->start, max);
	return out->end > out->start;
}
