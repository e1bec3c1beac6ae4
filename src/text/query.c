/*
 * query_parse(): the question's terms in groups.
 *
 * term_cut() gives the terms; those of one run make a unit (a word with its
 * stem, an identifier with its parts, a run of CJK characters), and each kind
 * of unit says which terms to ask for, in which groups, and which are stop
 * words (query_unit.c). Terms that phrases refer to come first in the array,
 * in order; stems and parts stand behind them.
 */
#include "text/query.h"

#include <string.h>

#include "base/clock.h"
#include "text/cut.h"
#include "text/query_unit.h"

/* ---- the list of terms ------------------------------------------------ */

static struct query_term *find_in(const struct query_terms *l, const char *text,
				  size_t len)
{
	for (int i = 0; i < l->count; i++)
		if (l->terms[i].len == len &&
		    !memcmp(l->terms[i].text, text, len))
			return &l->terms[i];
	return NULL;
}

struct query_term *query_find(struct query_build *b, const char *text,
			      size_t len)
{
	struct query_term *t = find_in(&b->first, text, len);

	return t ? t : find_in(&b->later, text, len);
}

static struct query_term *list_add(struct query_build *b, struct query_terms *l,
				   const char *text, size_t len)
{
	struct query_term *t;

	if (b->first.count + b->later.count == QUERY_MAX_TERMS)
		return NULL;
	t = &l->terms[l->count];
	t->text = arena_strndup(b->arena, text, len);
	if (!t->text)
		return NULL;
	t->len = (uint32_t)len;
	l->count++;
	return t;
}

int query_add(struct query_build *b, struct query_terms *l,
	      const struct query_new *n, int group)
{
	struct query_term *t = query_find(b, n->text, n->len);

	if (t) {
		t->stop = t->stop && n->stop;
		return t->group;
	}
	t = list_add(b, l, n->text, n->len);
	if (!t)
		return group;
	t->flags = n->flags;
	t->stop = n->stop;
	t->prefix = n->prefix;
	t->group = group < 0 ? b->group_count++ : group;
	return t->group;
}

/* Notes that the first-list term stands at a place of the question. */
void query_occurs(struct query_build *b, const char *text, size_t len,
		  size_t start, size_t end)
{
	struct query_term *t = find_in(&b->first, text, len);
	struct query_place *places;

	if (!t)
		return;
	places = arena_grow(b->arena, b->places, &b->place_cap,
			    b->place_count + 1, sizeof(*places));
	if (!places)
		return;
	b->places = places;
	places[b->place_count++] =
		(struct query_place){ (int)(t - b->first.terms), start, end };
}

/* ---- phrases ---------------------------------------------------------- */

/* The longest stretch of places inside [start, end) whose terms follow each
 * other in the list: repeated terms break it, `folded` has all. */
static void phrase_terms(const struct query_build *b, struct query_phrase *p,
			 size_t start, size_t end)
{
	int first = 0, count = 0;

	for (size_t i = 0; i < b->place_count; i++) {
		const struct query_place *at = &b->places[i];

		if (at->start < start || at->end > end)
			continue;
		if (count && at->term == first + count) {
			count++;
		} else {
			first = at->term;
			count = 1;
		}
		if (count > p->count) {
			p->first = first;
			p->count = count;
		}
	}
}

void query_phrase_add(struct query_build *b, size_t start, size_t end,
		      bool quoted, bool identifier)
{
	const char *s = b->question.text + start;
	size_t len = end - start, cap = 4 * len + 64;
	struct query_phrase *p;
	char *folded;

	p = arena_grow(b->arena, b->phrases, &b->phrase_cap,
		       b->phrase_count + 1, sizeof(*p));
	if (!p)
		return;
	b->phrases = p;
	p += b->phrase_count;
	memset(p, 0, sizeof(*p));
	folded = arena_alloc(b->arena, cap + 1);
	p->text = arena_strndup(b->arena, s, len);
	if (!folded || !p->text)
		return;
	p->folded = folded;
	p->folded_len = (uint32_t)term_fold(folded, cap, s, len);
	p->quoted = quoted;
	p->identifier = identifier;
	phrase_terms(b, p, start, end);
	b->phrase_count++;
}

static void add_quotes(struct query_build *b)
{
	for (int i = 0; i < b->question.quote_count; i++) {
		struct span q = b->question.quotes[i];

		for (size_t k = 0; k < b->place_count; k++) {
			if (b->places[k].start < q.start ||
			    b->places[k].end > q.end)
				continue;
			query_phrase_add(b, q.start, q.end, true, false);
			break;
		}
	}
}

/* ---- units ------------------------------------------------------------ */

static int collect(void *ctx, const struct term *t)
{
	struct query_build *b = ctx;
	struct term *raws = arena_grow(b->arena, b->raws, &b->raw_cap,
				       b->raw_count + 1, sizeof(*raws));

	if (!raws)
		return REMEM_ENOMEM;
	b->raws = raws;
	raws[b->raw_count] = *t;
	raws[b->raw_count].text = arena_strndup(b->arena, t->text, t->len);
	if (!raws[b->raw_count].text)
		return REMEM_ENOMEM;
	b->raw_count++;
	return 0;
}

/* The language of the words in Latin letters: whose stop words are most. */
static enum stop_language language_of(const struct query_build *b)
{
	int hits[STOP_LATIN_COUNT] = { 0 };
	enum stop_language best = STOP_EN;

	for (size_t i = 0; i < b->raw_count; i++)
		for (int l = 0;
		     b->raws[i].flags & TERM_WORD && l < STOP_LATIN_COUNT; l++)
			hits[l] += stop_word((enum stop_language)l,
					     b->raws[i].text, b->raws[i].len);
	for (int l = 0; l < STOP_LATIN_COUNT; l++)
		if (hits[l] > hits[best] && hits[l] > 1)
			best = (enum stop_language)l;
	return best;
}

/* True when a word is an option: `ls -a`, `just --list`. */
static bool is_command(const struct query_build *b)
{
	const char *s = b->question.text;

	for (size_t i = 0; i < b->raw_count; i++) {
		size_t at = b->raws[i].start;

		if (at == 0 || s[at - 1] != '-')
			continue;
		while (at > 0 && s[at - 1] == '-')
			at--;
		if (at > 0 && s[at - 1] == ' ')
			return true;
	}
	return false;
}

static void add_units(struct query_build *b)
{
	size_t i = 0;

	while (i < b->raw_count && !b->arena->failed) {
		struct query_unit u = { &b->raws[i], 0 };

		while (i < b->raw_count && b->raws[i].run == u.raws[0].run) {
			u.count++;
			i++;
		}
		query_unit_add(b, &u);
	}
}

/* ---- result ----------------------------------------------------------- */

static void set_dates(struct query *q, const struct question *w)
{
	q->date_from = q->date_to = DATE_NONE;
	for (int i = 0; i < w->time_count; i++) {
		const struct time_span *t = &w->times[i];

		if (q->date_from == DATE_NONE || t->from < q->date_from)
			q->date_from = t->from;
		if (q->date_to == DATE_NONE || t->to > q->date_to)
			q->date_to = t->to;
	}
}

static void set_terms(struct query *q, struct query_build *b)
{
	memcpy(b->first.terms + b->first.count, b->later.terms,
	       (size_t)b->later.count * sizeof(*b->later.terms));
	q->terms = b->first.terms;
	q->term_count = b->first.count + b->later.count;
	q->group_count = b->group_count;
	q->phrases = b->phrases;
	q->phrase_count = (int)b->phrase_count;
	q->all_stop = q->term_count > 0;
	for (int i = 0; i < q->term_count; i++)
		q->all_stop = q->all_stop && q->terms[i].stop;
}

int query_parse(struct query *q, struct arena *a, const char *text, size_t len,
		int32_t today, struct remem_err *err)
{
	struct query_build b = { .arena = a };

	memset(q, 0, sizeof(*q));
	q->text = "";
	question_read(&b.question, a, text, len, today);
	b.first.terms = ARENA_ARRAY(a, struct query_term, QUERY_MAX_TERMS);
	b.later.terms = ARENA_ARRAY(a, struct query_term, QUERY_MAX_TERMS);
	if (a->failed || term_cut(b.question.text, b.question.len, collect, &b))
		return fail_nomem(err);
	q->text = b.question.text;
	q->len = b.question.len;
	q->script = script_of_text(q->text, q->len);
	b.japanese = q->script == SCRIPT_KANA;
	b.language = language_of(&b);
	b.command = is_command(&b);
	add_units(&b);
	add_quotes(&b);
	if (a->failed)
		return fail_nomem(err);
	set_dates(q, &b.question);
	set_terms(q, &b);
	return 0;
}
