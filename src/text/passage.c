/* Passages: cutting blocks, keeping the partition and the bounds. */
#include "text/passage.h"

#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "text/annotation.h"
#include "text/chunk.h"
#include "text/sentence.h"
#include "text/heading.h"
#include "text/line.h"
#include "text/speaker.h"
#include "text/token.h"

/* Room at first: a passage for so many bytes of text. */
#define TYPICAL_BYTES 96
/*
 * Hostile text ("a", blank line, "a", ...) would make a passage of 112 bytes
 * from each 3. Beyond FREE_COUNT, and when they get that dense, passages are
 * joined with the one before, and headings are text.
 */
#define FREE_COUNT 4096
#define DENSE_BYTES 32

void passages_init(struct passages *p, struct note *n, struct arena *a,
		   const struct note_opts *opts)
{
	size_t chunk = (size_t)opts->chunk_tokens, guess;

	*p = (struct passages){ .n = n, .a = a, .pending = -1, .heading = -1 };
	p->words_max = (size_t)opts->passage_tokens;
	if (p->words_max > chunk / 2 - 8)
		p->words_max = chunk / 2 - 8;
	p->gap_max = (chunk - p->words_max - CHUNK_SLACK) / 2;
	if (p->gap_max > p->words_max)
		p->gap_max = p->words_max;
	guess = (size_t)n->line_count + n->len / (4 * TYPICAL_BYTES);
	if (guess > n->len / TYPICAL_BYTES)
		guess = n->len / TYPICAL_BYTES;
	n->passages =
		arena_grow(a, NULL, &p->cap, guess + 8, sizeof(*n->passages));
	p->info =
		arena_grow(a, NULL, &p->info_cap, guess + 8, sizeof(*p->info));
}

static void set_mark(struct passages *p, size_t at)
{
	assert(!p->n->passage_count ||
	       at >= p->n->passages[p->n->passage_count - 1].end);
	if (!p->marked) {
		p->mark = at;
		p->marked = true;
	}
}

static bool too_dense(int count, size_t at)
{
	return count > FREE_COUNT && (size_t)count > at / DENSE_BYTES;
}

/* Appends words [start, end) to the last passage if they fit. */
static bool join_last(struct passages *p, size_t start, size_t end, int line)
{
	struct note *n = p->n;
	struct passage *last;

	if (!n->passage_count || !too_dense(n->passage_count, start))
		return false;
	last = &n->passages[n->passage_count - 1];
	if (last->heading != p->heading || end - last->start > p->words_max)
		return false;
	last->end = end;
	last->line_last = line + line_feeds(n->text, start, end);
	p->marked = false;
	p->gap_tokens = 0;
	return true;
}

static struct passage *add_passage(struct passages *p, size_t start, size_t end,
				   int line)
{
	struct note *n = p->n;
	size_t want = (size_t)n->passage_count + 1;
	struct passage *g;
	struct cut_info *info;

	n->passages = arena_grow(p->a, n->passages, &p->cap, want, sizeof(*g));
	p->info = arena_grow(p->a, p->info, &p->info_cap, want, sizeof(*info));
	if (p->a->failed)
		return NULL;
	g = &n->passages[n->passage_count];
	info = &p->info[n->passage_count++];
	*g = (struct passage){ .start = start, .end = end, .chunk = -1 };
	g->span_start = p->marked ? p->mark : start;
	g->line_first = line;
	g->line_last = line + line_feeds(n->text, start, end);
	g->heading = p->heading;
	*info = (struct cut_info){ p->gap_level, false };
	p->marked = false;
	p->gap_tokens = 0;
	p->gap_level = 0;
	return g;
}

/* True if so many bytes surely or measurably fit in a passage. */
static bool fits(const struct passages *p, const char *s, size_t len)
{
	/* A token has at least one byte, and of Latin about four. */
	if (len <= p->words_max)
		return true;
	return len <= 4 * p->words_max &&
	       token_estimate(s, len) <= p->words_max;
}

/* Cuts words into passages of at most words_max tokens. */
static void add_words(struct passages *p, const struct block *b,
		      const struct annotations *ann)
{
	const char *t = p->n->text;
	size_t start = b->start, part, end;
	int line = b->line;
	bool continues = false;
	struct passage *g;

	while (start < b->end && !p->a->failed) {
		size_t left = b->end - start;

		part = fits(p, t + start, left)
			       ? left
			       : sentence_cut(t + start, left, p->words_max,
					      b->kind == PASSAGE_CODE);
		end = trim_blank(t, start, start + part);
		if (end > start && !join_last(p, start, end, line)) {
			g = add_passage(p, start, end, line);
			if (!g)
				return;
			g->kind = b->kind;
			g->ann = ann;
			g->continues = continues;
			p->info[p->n->passage_count - 1].entry =
				b->entry && !continues;
			continues = true;
		}
		end = skip_blank(t, start + part, b->end);
		line += line_feeds(t, start, end);
		start = end;
	}
}

/* Next line of a paragraph that begins with a speaker, or end. */
static size_t next_speaker(const char *t, size_t i, size_t end, int *line)
{
	uint64_t id;

	for (;;) {
		i = line_end(t, i, end);
		if (i == end)
			return end;
		i++;
		++*line;
		if (speaker_label(&id, t + skip_blank(t, i, end),
				  end - skip_blank(t, i, end)))
			return i;
	}
}

/* At least half of the lines of a paragraph begin with a speaker. */
static bool is_dialogue(const char *t, size_t start, size_t end)
{
	int lines = 0, labels = 0;
	uint64_t id;

	if (!speaker_label(&id, t + start, end - start))
		return false;
	while (start < end) {
		size_t e = line_end(t, start, end);
		size_t from = skip_blank(t, start, e);

		labels += speaker_label(&id, t + from, e - from) > 0;
		lines++;
		start = e + 1;
	}
	return lines > 1 && labels * 2 >= lines;
}

const struct annotations *passages_block(struct passages *p,
					 const struct block *b)
{
	const char *t = p->n->text;
	struct block part = *b;
	const struct annotations *ann;
	size_t end = trim_blank(t, b->start, b->end), words = end, tail;

	ann = annotation_take(p->a, t, b->start, &words);
	/* Where only a short comment stands there is nothing to annotate; a
	 * long comment counts as words, so that spans stay bounded. */
	tail = words < end ? token_estimate(t + words, end - words) : 0;
	if (tail > p->gap_max)
		words = end;
	if (words == b->start) {
		passages_gap(p, b->line_start, end, b->line);
		return b->above;
	}
	set_mark(p, b->line_start);
	p->pending = -1;
	if (!ann)
		ann = b->above;
	part.end = words;
	if (b->kind == PASSAGE_PARAGRAPH && is_dialogue(t, b->start, words)) {
		while (part.start < words) {
			int line = part.line;

			part.end = next_speaker(t, part.start, words, &line);
			add_words(p, &part, ann);
			part.start = part.end;
			part.line = line;
			part.entry = false;
		}
	} else {
		add_words(p, &part, ann);
	}
	p->gap_tokens = words < end ? tail + 1 : 0;
	return ann;
}

/* Makes a passage of a gap: one that got too long, a heading alone. */
static void gap_to_passage(struct passages *p, size_t start, size_t end,
			   int line, enum passage_kind kind)
{
	struct block b = { .kind = kind, .line = line, .entry = true };

	b.start = skip_blank(p->n->text, start, end);
	b.end = trim_blank(p->n->text, b.start, end);
	b.line += line_feeds(p->n->text, start, b.start);
	add_words(p, &b, NULL);
	p->gap_tokens = 0;
}

void passages_gap(struct passages *p, size_t start, size_t end, int line)
{
	size_t tokens;

	set_mark(p, start);
	/* More bytes than this are too many tokens in any script. */
	tokens = end - start > 16 * p->gap_max
			 ? p->gap_max + 1
			 : token_estimate(p->n->text + start, end - start) + 1;
	if (p->gap_tokens + tokens > p->gap_max) {
		p->pending = -1;
		gap_to_passage(p, start, end, line, PASSAGE_PARAGRAPH);
	} else {
		p->gap_tokens += tokens;
	}
}

/* A heading has nothing below it: its own text is a passage, under the
 * heading above it. */
static void flush_pending(struct passages *p)
{
	const struct heading *h;
	int above = p->heading;

	if (p->pending < 0)
		return;
	h = &p->n->headings[p->pending];
	if (!h->empty_word && h->len) {
		p->heading = h->parent;
		gap_to_passage(p, p->pending_start, p->pending_end, h->line,
			       PASSAGE_HEADING);
		p->heading = above;
	}
	p->pending = -1;
}

static int parent_of(const struct note *n, int heading, int level)
{
	while (heading >= 0 && n->headings[heading].level >= level)
		heading = n->headings[heading].parent;
	return heading;
}

bool passages_heading(struct passages *p, size_t line_start, size_t start,
		      size_t end, int level, int line)
{
	struct note *n = p->n;
	struct heading *h;
	size_t tokens;

	if (too_dense(n->heading_count, line_start))
		return false;
	if (p->pending >= 0 && n->headings[p->pending].level >= level)
		flush_pending(p);
	p->pending = -1;
	n->headings = arena_grow(p->a, n->headings, &p->heading_cap,
				 (size_t)n->heading_count + 1, sizeof(*h));
	if (p->a->failed)
		return true;
	h = &n->headings[n->heading_count];
	*h = (struct heading){ .level = level, .line = line };
	h->parent = parent_of(n, n->heading_count - 1, level);
	heading_set(h, p->a, n->text + start, end - start);
	set_mark(p, line_start);
	p->heading = h->parent;
	if (!p->gap_level || level < p->gap_level)
		p->gap_level = (unsigned char)level;
	tokens = end - line_start > 16 * p->gap_max
			 ? p->gap_max + 1
			 : token_estimate(n->text + line_start,
					  end - line_start) +
				   1;
	if (p->gap_tokens + tokens > p->gap_max) {
		gap_to_passage(p, start, end, line, PASSAGE_HEADING);
	} else {
		p->gap_tokens += tokens;
		p->pending = n->heading_count;
		p->pending_start = start;
		p->pending_end = end;
	}
	p->heading = n->heading_count++;
	return true;
}

#define NAMES 8 /* speakers of one dialogue */

/*
 * Items or paragraphs of one section are messages when two thirds begin with
 * a label and the labels come again: "Tim: …", "John: …", "Tim: …". A list of
 * keys and values has another label on every line.
 */
static void mark_messages(const struct note *n, int first, int count)
{
	uint64_t names[NAMES], id;
	int distinct = 0, labels = 0, whole = 0, k;

	for (int i = first; i < first + count; i++) {
		const struct passage *g = &n->passages[i];

		if (g->continues || g->kind > PASSAGE_ITEM)
			continue;
		whole++;
		if (!speaker_label(&id, n->text + g->start, g->end - g->start))
			continue;
		labels++;
		for (k = 0; k < distinct && names[k] != id; k++)
			;
		if (k == NAMES)
			return;
		if (k == distinct)
			names[distinct++] = id;
	}
	if (labels < 3 || labels * 3 < whole * 2 || labels < 2 * distinct - 1)
		return;
	for (int i = first; i < first + count; i++) {
		if (n->passages[i].kind <= PASSAGE_ITEM)
			n->passages[i].kind = PASSAGE_MESSAGE;
	}
}

static bool is_ascii(const char *s, size_t len)
{
	size_t i = 0;
	uint64_t any = 0, word;

	for (; len - i >= 8; i += 8) {
		memcpy(&word, s + i, 8);
		any |= word;
	}
	for (; i < len; i++)
		any |= (uint64_t)(s[i] & 0x80);
	return !(any & 0x8080808080808080u);
}

static void finish_passage(struct passage *g, const char *text)
{
	const char *s = text + g->start;
	size_t len = g->end - g->start;

	/* What script_of_text() says of ASCII, quicker. */
	g->script = is_ascii(s, len) ? SCRIPT_LATIN : script_of_text(s, len);
	sha256_of(g->hash, s, len);
}

void passages_done(struct passages *p)
{
	struct note *n = p->n;
	int first = 0;

	flush_pending(p);
	if (p->a->failed || !n->passage_count)
		return;
	n->passages[0].span_start = 0;
	for (int i = 0; i < n->passage_count; i++) {
		struct passage *g = &n->passages[i];
		bool last = i + 1 == n->passage_count;

		g->span_end = last ? n->len : g[1].span_start;
		finish_passage(g, n->text);
		if (last || g[1].heading != g->heading) {
			mark_messages(n, first, i + 1 - first);
			first = i + 1;
		}
	}
}
