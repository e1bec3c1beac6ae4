/*
 * Chunks. A new one is begun when the next passage would not fit, and before
 * that at a heading, where a section that is cut would cost more than a chunk
 * that is not full:
 *
 *   any heading          once the chunk is 60 % full
 *   heading of level 1, 2   once it is 35 % full: sections of a topic file
 *                        ("## Name") are rarely longer than half a chunk, and
 *                        packed together one person's lines lend their terms
 *                        to another's
 *
 * The overlap is whole passages and never reaches over a heading of level 1
 * or 2. Front matter lies in the first chunk's range but is not counted: it
 * is neither matched nor embedded.
 */
#include "text/chunk.h"

#include <assert.h>

#include "text/line.h"
#include "text/token.h"

#define FULL_AT_HEADING 60 /* per cent */
#define FULL_AT_SECTION 35
#define SECTION_LEVEL 2
#define SHORT_BLANK 8 /* bytes that need not be looked at for blanks */
#define RUN_BLANK 4 /* blanks of a longer run are not counted */

int chunk_check(const struct note_opts *o, struct remem_err *err)
{
	if (o->chunk_tokens < CHUNK_MIN_TOKENS)
		return fail(err, REMEM_EINVAL,
			    "a chunk of %d tokens is too small (least: %d)",
			    o->chunk_tokens, CHUNK_MIN_TOKENS);
	if (o->overlap_tokens < 0 || o->overlap_tokens >= o->chunk_tokens)
		return fail(err, REMEM_EINVAL,
			    "an overlap of %d tokens does not go with chunks"
			    " of %d",
			    o->overlap_tokens, o->chunk_tokens);
	if (o->passage_tokens < 4)
		return fail(err, REMEM_EINVAL,
			    "a passage of %d tokens is too small (least: 4)",
			    o->passage_tokens);
	return 0;
}

/* Tokens of text whose long runs of blanks count as one. */
static size_t squeezed(const char *t, size_t start, size_t end)
{
	size_t sum = 0, from = start;

	if (end - start <= SHORT_BLANK)
		return end > start ? token_estimate(t + start, end - start) : 0;
	while (start < end) {
		size_t to = skip_blank(t, start, end);

		if (to - start > RUN_BLANK) {
			sum += token_estimate(t + from, start - from) + 1;
			from = to;
		}
		start = to < end ? to + 1 : to;
	}
	return sum + token_estimate(t + from, end - from);
}

static size_t cost_of(const struct note *n, const struct passage *g)
{
	size_t start = g->span_start;

	if (start < n->body)
		start = n->body < g->start ? n->body : g->start;
	if (g->start - start <= SHORT_BLANK &&
	    g->span_end - g->end <= SHORT_BLANK)
		return token_estimate(n->text + start, g->span_end - start);
	return squeezed(n->text, start, g->start) +
	       token_estimate(n->text + g->start, g->end - g->start) +
	       squeezed(n->text, g->end, g->span_end);
}

struct chunker {
	struct note *n;
	struct arena *a;
	const struct cut_info *info;
	unsigned *cost; /* tokens of each span */
	unsigned limit, overlap;
	bool curated;
	size_t cap;
};

/* First passage of the overlap before passage f; *tokens what it costs. */
static int overlap_from(const struct chunker *c, int f, int low,
			unsigned *tokens)
{
	unsigned room = c->limit - c->cost[f];
	int k = f;

	if (room > c->overlap)
		room = c->overlap;
	*tokens = 0;
	if (c->curated)
		return f;
	while (k > low && *tokens + c->cost[k - 1] <= room) {
		unsigned level = c->info[k].level;

		if (level && level <= SECTION_LEVEL)
			break;
		k--;
		*tokens += c->cost[k];
	}
	return k;
}

/* True if passage i begins a new chunk though it might fit. */
static bool begins_chunk(const struct chunker *c, int i, unsigned tokens)
{
	unsigned level = c->info[i].level;

	if (c->curated)
		return c->info[i].entry;
	if (!level)
		return false;
	return tokens * 100 >= c->limit * (level <= SECTION_LEVEL
						   ? FULL_AT_SECTION
						   : FULL_AT_HEADING);
}

static void finish(struct chunker *c, int first, int last, int lead)
{
	struct note *n = c->n;
	struct passage *g = n->passages;
	struct chunk *k;

	n->chunks = arena_grow(c->a, n->chunks, &c->cap,
			       (size_t)n->chunk_count + 1, sizeof(*k));
	if (!n->chunks)
		return;
	k = &n->chunks[n->chunk_count];
	*k = (struct chunk){
		.lead = g[lead].span_start,
		.start = g[first].span_start,
		.end = g[last].span_end,
		.line_first = g[first].line_first,
		.line_last = g[last].line_last,
		.passage_first = first,
		.passage_count = last + 1 - first,
		.heading = g[first].heading,
	};
	for (int i = first; i <= last; i++)
		g[i].chunk = n->chunk_count;
	sha256_of(k->hash, n->text + k->lead, k->end - k->lead);
	n->chunk_count++;
}

void chunk_make(const struct passages *p, const struct note_opts *opts)
{
	struct note *n = p->n;
	struct chunker c = { .n = n, .a = p->a, .info = p->info };
	int f = 0, before = 0;

	c.limit = (unsigned)opts->chunk_tokens;
	c.overlap = (unsigned)opts->overlap_tokens;
	c.curated = opts->curated;
	c.cost = ARENA_ARRAY(p->a, unsigned, (size_t)n->passage_count);
	if (!c.cost)
		return;
	for (int i = 0; i < n->passage_count; i++) {
		c.cost[i] = (unsigned)cost_of(n, &n->passages[i]);
		assert(c.cost[i] <= c.limit);
	}
	while (f < n->passage_count && !p->a->failed) {
		unsigned tokens;
		int lead = overlap_from(&c, f, before, &tokens), i = f;

		do
			tokens += c.cost[i++];
		while (i < n->passage_count && tokens + c.cost[i] <= c.limit &&
		       !begins_chunk(&c, i, tokens));
		finish(&c, f, i - 1, lead);
		before = f;
		f = i;
	}
}
