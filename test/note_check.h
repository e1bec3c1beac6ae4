/* What holds for every note that was cut, whatever its bytes: used by unit
 * tests and the fuzzer. note_flaw() returns NULL or what is wrong. */
#ifndef NOTE_CHECK_H
#define NOTE_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/utf8.h"
#include "text/line.h"
#include "text/note.h"
#include "text/token.h"

static char note_flaw_text[200];

#define FLAW(...)                                                              \
	do {                                                                   \
		snprintf(note_flaw_text, sizeof(note_flaw_text), __VA_ARGS__); \
		return note_flaw_text;                                         \
	} while (0)

/* Tokens; a run of blanks longer than 4 bytes counts as one blank. */
static size_t note_tokens(const char *t, size_t start, size_t end)
{
	char *s = malloc(end - start + 1);
	size_t n = 0;

	while (start < end) {
		size_t to = skip_blank(t, start, end);

		if (to - start > 4)
			s[n++] = ' ';
		else
			for (size_t i = start; i < to; i++)
				s[n++] = t[i];
		start = to;
		if (start < end)
			s[n++] = t[start++];
	}
	n = token_estimate(s, n);
	free(s);
	return n;
}

static int note_line_of(const struct note *n, size_t at, size_t *seen,
			int *line)
{
	for (; *seen < at; ++*seen)
		*line += n->text[*seen] == '\n';
	return *line;
}

static int note_inside_char(const struct note *n, size_t at)
{
	return at < n->len && ((unsigned char)n->text[at] & 0xc0) == 0x80;
}

static const char *note_passages_flaw(const struct note *n,
				      const struct note_opts *o)
{
	size_t at = 0, seen = 0;
	int line = 1;

	for (int i = 0; i < n->passage_count; i++) {
		const struct passage *g = &n->passages[i];
		unsigned char hash[SHA256_BYTES];

		if (g->span_start != at || g->span_end <= at)
			FLAW("span of passage %d is no partition", i);
		at = g->span_end;
		if (g->start < g->span_start || g->end <= g->start ||
		    g->end > g->span_end)
			FLAW("words of passage %d outside of its span", i);
		if (byte_blank(n->text[g->end - 1]))
			FLAW("passage %d ends with a blank", i);
		if (note_inside_char(n, g->start) ||
		    note_inside_char(n, g->end) ||
		    note_inside_char(n, g->span_start))
			FLAW("passage %d cuts a character", i);
		if (token_estimate(n->text + g->start, g->end - g->start) >
		    (size_t)o->passage_tokens)
			FLAW("passage %d is too long", i);
		if (g->line_first != note_line_of(n, g->start, &seen, &line))
			FLAW("passage %d: first line %d, is %d", i,
			     g->line_first, line);
		if (g->line_last != note_line_of(n, g->end, &seen, &line))
			FLAW("passage %d: last line %d, is %d", i, g->line_last,
			     line);
		if (g->heading >= n->heading_count || g->heading < -1)
			FLAW("passage %d has no such heading", i);
		if (g->heading >= 0 &&
		    n->headings[g->heading].line > g->line_first)
			FLAW("heading of passage %d is below it", i);
		if (g->chunk < 0 || g->chunk >= n->chunk_count)
			FLAW("passage %d is in no chunk", i);
		sha256_of(hash, n->text + g->start, g->end - g->start);
		if (memcmp(hash, g->hash, sizeof(hash)))
			FLAW("passage %d has another hash", i);
	}
	if (n->passage_count && at != n->len)
		FLAW("spans end at %zu of %zu", at, n->len);
	return NULL;
}

static const char *note_chunks_flaw(const struct note *n,
				    const struct note_opts *o)
{
	size_t at = 0;
	int passage = 0;

	for (int i = 0; i < n->chunk_count; i++) {
		const struct chunk *c = &n->chunks[i];
		size_t lead = c->lead < n->body ? n->body : c->lead;

		if (c->start != at || c->end <= at || c->lead > c->start)
			FLAW("range of chunk %d is no partition", i);
		at = c->end;
		if (c->passage_first != passage || c->passage_count < 1)
			FLAW("passages of chunk %d", i);
		passage += c->passage_count;
		if (n->passages[c->passage_first].span_start != c->start ||
		    n->passages[passage - 1].span_end != c->end)
			FLAW("chunk %d is no run of passages", i);
		if (note_tokens(n->text, lead, c->end) >
		    (size_t)o->chunk_tokens)
			FLAW("chunk %d has %zu tokens", i,
			     note_tokens(n->text, lead, c->end));
		if (c->lead < c->start && note_tokens(n->text, lead, c->start) >
						  (size_t)o->overlap_tokens)
			FLAW("overlap of chunk %d is too long", i);
		if (o->curated && c->lead != c->start)
			FLAW("curated chunk %d overlaps", i);
	}
	if (passage != n->passage_count || (passage && at != n->len))
		FLAW("chunks do not hold all passages");
	return NULL;
}

static const char *note_flaw(const struct note *n, const struct note_opts *o)
{
	const char *flaw;

	if (!utf8_valid(n->text, n->len))
		FLAW("text is not UTF-8");
	if (n->body > n->len)
		FLAW("body is behind the text");
	for (int i = 0; i < n->heading_count; i++) {
		const struct heading *h = &n->headings[i];

		if (h->parent >= i || h->level < 1 || h->level > 6 ||
		    (h->parent >= 0 &&
		     n->headings[h->parent].level >= h->level))
			FLAW("heading %d", i);
		if (!utf8_valid(h->text, h->len))
			FLAW("heading %d is not UTF-8", i);
	}
	if ((flaw = note_passages_flaw(n, o)))
		return flaw;
	return note_chunks_flaw(n, o);
}

#endif
