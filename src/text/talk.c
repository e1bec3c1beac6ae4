/* See talk.h. */
#include "text/talk.h"

#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "text/chunk.h"
#include "text/sentence.h"
#include "text/token.h"

#define RUN_MAX 8 /* blanks of a longer run say nothing */
#define BREAKS_MAX 2

struct talk {
	struct note *n;
	struct arena *a;
	struct buf text;
	const struct note_opts *o;
	size_t passage_cap, chunk_cap;
	size_t mark; /* where the next span begins */
	unsigned tokens; /* of the chunk that is open */
	int first; /* its first passage */
};

const char *talk_part_name(struct arena *a, const char *name, int part)
{
	return part > 1 ? arena_printf(a, "%s~%d", name, part) : name;
}

size_t talk_name_len(const char *path, int *part)
{
	size_t n = strlen(path), end = n;
	int number = 0, scale = 1;

	*part = 1;
	while (end && path[end - 1] >= '0' && path[end - 1] <= '9' &&
	       n - end < 8) {
		number += (path[--end] - '0') * scale;
		scale *= 10;
	}
	if (end == n || !end || path[end - 1] != '~' || number < 2)
		return n;
	*part = number;
	return end - 1;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The message without blanks at its ends and long runs of them inside. */
static void add_text(struct buf *b, const char *s, size_t len)
{
	size_t run = 0, breaks = 0;

	while (len && is_blank(s[len - 1]))
		len--;
	while (len && is_blank(*s)) {
		s++;
		len--;
	}
	for (size_t i = 0; i < len; i++) {
		if (s[i] == '\r')
			continue;
		run = s[i] == ' ' || s[i] == '\t' ? run + 1 : 0;
		if (s[i] == '\n')
			breaks++;
		else if (!run)
			breaks = 0;
		if (run <= RUN_MAX && breaks <= BREAKS_MAX)
			buf_addc(b, s[i]);
	}
}

static void close_chunk(struct talk *t)
{
	struct note *n = t->n;
	struct passage *g = n->passages;
	struct chunk *c;
	int last = n->passage_count - 1;

	if (t->first > last)
		return;
	n->chunks = arena_grow(t->a, n->chunks, &t->chunk_cap,
			       (size_t)n->chunk_count + 1, sizeof(*c));
	if (!n->chunks)
		return;
	c = &n->chunks[n->chunk_count];
	memset(c, 0, sizeof(*c));
	c->lead = c->start = g[t->first].span_start;
	c->end = g[last].span_end;
	c->line_first = g[t->first].line_first;
	c->line_last = g[last].line_last;
	c->passage_first = t->first;
	c->passage_count = last + 1 - t->first;
	c->heading = -1;
	for (int i = t->first; i <= last; i++)
		g[i].chunk = n->chunk_count;
	n->chunk_count++;
	t->first = last + 1;
	t->tokens = 0;
}

/* Words [start, end) whose span begins at the mark and ends at span_end. */
static void add_passage(struct talk *t, const struct talk_message *m,
			const struct annotations *ann, size_t start,
			size_t end, size_t span_end, bool continues)
{
	struct note *n = t->n;
	const char *s = t->text.ptr;
	unsigned cost = (unsigned)token_estimate(s + t->mark,
						 span_end - t->mark);
	struct passage *g;

	if (t->tokens && t->tokens + cost > (unsigned)t->o->chunk_tokens)
		close_chunk(t);
	t->tokens += cost;
	n->passages = arena_grow(t->a, n->passages, &t->passage_cap,
				 (size_t)n->passage_count + 1, sizeof(*g));
	if (!n->passages)
		return;
	g = &n->passages[n->passage_count++];
	memset(g, 0, sizeof(*g));
	g->span_start = t->mark;
	g->span_end = span_end;
	g->start = start;
	g->end = end;
	g->line_first = g->line_last = m->line;
	g->kind = PASSAGE_MESSAGE;
	g->continues = continues;
	g->heading = -1;
	g->ann = ann;
	g->script = script_of_text(s + start, end - start);
	sha256_of(g->hash, s + start, end - start);
	t->mark = span_end;
}

static const struct annotations *annotate(struct talk *t, const char *origin)
{
	struct annotations *ann = origin ? ARENA_NEW(t->a, struct annotations) :
					   NULL;

	if (!ann)
		return NULL;
	ann->origin = arena_strdup(t->a, origin);
	ann->observed = DATE_NONE;
	return ann;
}

/* Cuts the message that stands from `from` on, with its line break. */
static void cut_message(struct talk *t, const struct talk_message *m,
			const struct annotations *ann, size_t from)
{
	const char *s = t->text.ptr;
	size_t end = t->text.len - 1, at = from;

	while (at < end && !t->a->failed) {
		size_t n = sentence_cut(s + at, end - at,
					(size_t)t->o->passage_tokens, false);
		size_t stop = at + n, words = stop;

		while (stop < end && is_blank(s[stop]))
			stop++;
		while (words > at && is_blank(s[words - 1]))
			words--;
		add_passage(t, m, ann, at, words > at ? words : at + n,
			    stop < end ? stop : t->text.len, at > from);
		at = stop;
	}
}

static void add_message(struct talk *t, const struct talk_message *m)
{
	size_t start = t->text.len, from;
	const struct annotations *ann;

	buf_adds(&t->text, m->who);
	buf_adds(&t->text, ": ");
	from = t->text.len;
	add_text(&t->text, m->text, m->len);
	if (t->text.failed || t->text.len == from) {
		buf_truncate(&t->text, start); /* blanks alone */
		return;
	}
	buf_addc(&t->text, '\n');
	if (t->text.failed)
		return;
	ann = annotate(t, m->origin);
	cut_message(t, m, ann, from);
}

static void finish(struct talk *t)
{
	struct note *n = t->n;

	close_chunk(t);
	n->text = arena_strndup(t->a, buf_str(&t->text), t->text.len);
	n->len = t->text.len;
	n->date = DATE_NONE;
	n->talk = true;
	for (int i = 0; n->text && i < n->chunk_count; i++) {
		struct chunk *c = &n->chunks[i];

		sha256_of(c->hash, n->text + c->start, c->end - c->start);
	}
}

int talk_cut(struct note *n, struct arena *a, const struct talk_message *m,
	     size_t count, const struct note_opts *opts, struct remem_err *err)
{
	struct talk t = { .n = n, .a = a, .o = opts, .text = BUF_INIT(0) };
	int rc = chunk_check(opts, err);

	memset(n, 0, sizeof(*n));
	if (rc)
		return rc;
	for (size_t i = 0; i < count && !a->failed; i++) {
		add_message(&t, &m[i]);
		n->line_count = m[i].line;
	}
	if (!(rc = buf_check(&t.text, err))) {
		finish(&t);
		rc = a->failed ? fail_nomem(err) : 0;
	}
	buf_release(&t.text);
	return rc;
}
